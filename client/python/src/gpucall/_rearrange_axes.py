"""Dimensions added, taken away and moved; elements repeated. NumPy's names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsIndex

from gpucall._lines import axis_number
from gpucall._operations import Call, Operand, Result
from gpucall._rearrange import Rearrange, Sizes, rearrange_call
from gpucall._reductions import Axis, axis_numbers

Axes = SupportsIndex | Iterable[SupportsIndex]


class RearrangeAxes(Rearrange[Operand, Result]):
    """Rearrangements that name dimensions; `Rearrange` says what all of them raise."""

    def expand_dims(
        self, x: Operand, /, axis: Axes = 0, *, timeout: float | None = None
    ) -> Result:
        """With dimensions of size 1 at these places of the result.

        Examples
        --------
        >>> c.expand_dims(np.int32([1, 2]), axis=1)
        array([[1],
               [2]], dtype=int32)
        """
        return self._rearrange(timeout, (x,), expand_dims={"axes": _axes(axis)})

    def squeeze(
        self, x: Operand, /, axis: Axis = None, *, timeout: float | None = None
    ) -> Result:
        """Without dimensions of size 1; None: without any.

        Error INVALID_ARGUMENT also for a dimension of another size.

        Examples
        --------
        >>> c.squeeze(np.int32([[[1], [2]]]), axis=(0, -1))
        array([1, 2], dtype=int32)
        """
        axes = None if axis is None else _axes(axis)
        return self._rearrange(timeout, (x,), squeeze={"axes": axes})

    def moveaxis(
        self,
        x: Operand,
        /,
        source: Axes,
        destination: Axes,
        *,
        timeout: float | None = None,
    ) -> Result:
        """Dimensions moved to other places; the others keep their order.

        Examples
        --------
        >>> c.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape
        (3, 4, 2)
        """
        moved = {"source": _axes(source), "destination": _axes(destination)}
        return self._rearrange(timeout, (x,), moveaxis=moved)

    def repeat(
        self,
        x: Operand,
        /,
        repeats: Sizes,
        axis: SupportsIndex | None = None,
        *,
        timeout: float | None = None,
    ) -> Result:
        """Each element several times along an axis; None: of the flat array.

        Parameters
        ----------
        repeats : int, or ints
            One for all elements, or one each, then at most 65,536; 0 or more.

        Examples
        --------
        >>> c.repeat(np.int32([[1, 2, 3]]), [2, 0, 1], axis=1)
        array([[1, 1, 3]], dtype=int32)
        """
        counts = {"repeats": axis_numbers(repeats), "axis": axis_number(axis)}
        return self._rearrange(timeout, (x,), repeat=counts)


def unstack_calls(x: Any, axis: int, count: int) -> list[Call]:
    """For each element of an axis of `x`, whose size is `count`."""
    return [
        rearrange_call((x,), unstack={"axis": axis, "index": index, "count": count})
        for index in range(count)
    ]


def _axes(axes: Any) -> dict[str, list[int]]:
    return {"axis": axis_numbers(axes)}
