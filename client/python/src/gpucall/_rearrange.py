"""Arrays of the elements of others, with NumPy's names."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex

from gpucall import _wire
from gpucall._error import invalid
from gpucall._operations import Call, Caller, Operand, Result
from gpucall._reductions import Axis, axis_numbers

Sizes = SupportsIndex | Iterable[SupportsIndex]


class Rearrange(Caller[Operand, Result]):
    """Arrays of the elements of others, of any dtype. `timeout` is in seconds.

    Every operation raises Error INVALID_ARGUMENT for shapes, axes and sizes that do not
    go together, and TypeError for dtypes that cannot be sent.
    """

    def reshape(
        self, x: Operand, /, shape: Sizes, *, timeout: float | None = None
    ) -> Result:
        """The same elements in another shape; a size of -1 is what is left.

        Examples
        --------
        >>> c.reshape(np.int32([1, 2, 3, 4]), (2, -1))
        array([[1, 2],
               [3, 4]], dtype=int32)
        """
        return self._rearrange(timeout, (x,), reshape={"shape": _numbers(shape)})

    def transpose(
        self,
        x: Operand,
        /,
        axes: Iterable[SupportsIndex] | None = None,
        *,
        timeout: float | None = None,
    ) -> Result:
        """Dimensions in the order of `axes`; reversed without.

        Examples
        --------
        >>> c.transpose(np.int32([[1, 2], [3, 4]]))
        array([[1, 3],
               [2, 4]], dtype=int32)
        """
        return self._rearrange(timeout, (x,), transpose={"axes": _axes(axes)})

    def concatenate(
        self,
        arrays: Sequence[Operand],
        /,
        axis: SupportsIndex = 0,
        *,
        timeout: float | None = None,
    ) -> Result:
        """Arrays of one dtype joined along an axis.

        Examples
        --------
        >>> c.concatenate([np.int32([1, 2]), np.int32([3])])
        array([1, 2, 3], dtype=int32)
        """
        axis = operator.index(axis)
        return self._rearrange(timeout, tuple(arrays), concatenate={"axis": axis})

    def stack(
        self,
        arrays: Sequence[Operand],
        /,
        axis: SupportsIndex = 0,
        *,
        timeout: float | None = None,
    ) -> Result:
        """Arrays of one shape and dtype joined along a new axis.

        Examples
        --------
        >>> c.stack([np.int32([1, 2]), np.int32([3, 4])], axis=1)
        array([[1, 3],
               [2, 4]], dtype=int32)
        """
        axis = operator.index(axis)
        return self._rearrange(timeout, tuple(arrays), stack={"axis": axis})

    def slice(self, x: Operand, /, key: Any, *, timeout: float | None = None) -> Result:
        """x[key]: a slice or an index for each of the leading dimensions.

        A Program's values take the key in brackets.

        Examples
        --------
        >>> c.slice(np.int32([1, 2, 3, 4]), np.s_[::-2])
        array([4, 2], dtype=int32)
        """
        keys = key if isinstance(key, tuple) else (key,)
        ranges = [_range(k) for k in keys]
        return self._rearrange(timeout, (x,), slice={"ranges": ranges})

    def pad(
        self,
        x: Operand,
        /,
        pad_width: Any,
        *,
        constant_values: float = 0,
        timeout: float | None = None,
    ) -> Result:
        """Surrounded by a value.

        Parameters
        ----------
        pad_width : int, (before, after), or a pair for each dimension
            Elements before and after.
        constant_values : float
            The value; must be representable in the dtype.

        Examples
        --------
        >>> c.pad(np.int32([1, 2]), (1, 2), constant_values=9)
        array([9, 1, 2, 9, 9], dtype=int32)
        """
        before, after = _pad_widths(pad_width)
        pad = {"before": before, "after": after, "value": constant_values}
        return self._rearrange(timeout, (x,), pad=pad)

    def flip(
        self, x: Operand, /, axis: Axis = None, *, timeout: float | None = None
    ) -> Result:
        """Elements in reverse order along axes; None: all.

        Examples
        --------
        >>> c.flip(np.int32([[1, 2], [3, 4]]), axis=1)
        array([[2, 1],
               [4, 3]], dtype=int32)
        """
        return self._rearrange(timeout, (x,), flip={"axes": _axes(axis)})

    def tile(
        self, x: Operand, /, repetitions: Sizes, *, timeout: float | None = None
    ) -> Result:
        """Repeated along each dimension, the last ones first.

        Examples
        --------
        >>> c.tile(np.int32([1, 2]), (2, 2))
        array([[1, 2, 1, 2],
               [1, 2, 1, 2]], dtype=int32)
        """
        tile = {"repetitions": _numbers(repetitions)}
        return self._rearrange(timeout, (x,), tile=tile)

    def broadcast_to(
        self, x: Operand, /, shape: Sizes, *, timeout: float | None = None
    ) -> Result:
        """Broadcast to a shape.

        Examples
        --------
        >>> c.broadcast_to(np.int32([1, 2]), (2, 2))
        array([[1, 2],
               [1, 2]], dtype=int32)
        """
        return self._rearrange(timeout, (x,), broadcast_to={"shape": _numbers(shape)})

    def roll(
        self,
        x: Operand,
        /,
        shift: Sizes,
        axis: Axis = None,
        *,
        timeout: float | None = None,
    ) -> Result:
        """Elements moved on along axes, in again at the start; None: of the flat array.

        Parameters
        ----------
        shift : int, or ints
            One for all axes, or one each.

        Examples
        --------
        >>> c.roll(np.int32([1, 2, 3]), 1)
        array([3, 1, 2], dtype=int32)
        """
        shifts, axes = _numbers(shift), _axes(axis)
        if axes is not None and len(shifts) == 1:
            shifts = shifts * len(axes["axis"])
        return self._rearrange(timeout, (x,), roll={"shift": shifts, "axes": axes})

    def _rearrange(
        self, timeout: float | None, operands: tuple[Any, ...], **kind: dict[str, Any]
    ) -> Result:
        return self._call(rearrange_call(operands, timeout, **kind))


def rearrange_call(
    operands: tuple[Any, ...], timeout: float | None = None, **kind: dict[str, Any]
) -> Call:
    operation = _wire.Operation(rearrange=_wire.Rearrange(**kind))
    return Call(operation, operands, timeout=timeout)


def _numbers(sizes: Sizes) -> list[int]:
    return axis_numbers(sizes)


def _axes(axis: Any) -> dict[str, list[int]] | None:
    return None if axis is None else {"axis": axis_numbers(axis)}


def _range(key: Any) -> dict[str, Any]:
    if not isinstance(key, slice):
        return {"start": operator.index(key), "drop": True}
    parts = {"start": key.start, "stop": key.stop, "step": key.step}
    return {
        name: max(-(2**62), min(operator.index(part), 2**62))
        for name, part in parts.items()
        if part is not None
    }


def _pad_widths(widths: Any) -> tuple[list[int], list[int]]:
    if not isinstance(widths, Iterable):
        return _numbers(widths), _numbers(widths)
    pairs: list[Any] = list(widths)
    if len(pairs) == 2 and not any(isinstance(pair, Iterable) for pair in pairs):
        pairs = [pairs]
    if any(not isinstance(pair, Iterable) or len(list(pair)) != 2 for pair in pairs):
        raise invalid(
            f"pad_width is {widths!r}; allowed: a number, (before, after), or such a pair "
            "for each dimension"
        )
    return [operator.index(b) for b, _ in pairs], [operator.index(a) for _, a in pairs]
