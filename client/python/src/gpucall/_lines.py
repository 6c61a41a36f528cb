"""Operations along one axis that keep or reorder elements, with NumPy's names."""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex

from gpucall import _wire
from gpucall._error import invalid
from gpucall._operations import Call, Caller, Operand, Result


class Lines(Caller[Operand, Result]):
    """Operations along one axis. `timeout` is in seconds.

    `axis` is an int, or None for the flattened array. Every operation raises Error:
    INVALID_ARGUMENT for an axis out of range; UNIMPLEMENTED for a dtype not offered; and
    TypeError for dtypes that cannot be sent.
    """

    def sort(
        self,
        x: Operand,
        /,
        axis: SupportsIndex | None = -1,
        *,
        descending: bool = False,
        timeout: float | None = None,
    ) -> Result:
        """Elements in order; equal ones stay as they were.

        NaN counts as larger than all numbers: it comes last, or first where
        `descending`. Of any dtype but complex ones.

        Examples
        --------
        >>> c.sort(np.float32([[3, 1, 2], [5, np.nan, 4]]))
        array([[ 1.,  2.,  3.],
               [ 4.,  5., nan]], dtype=float32)
        """
        return self._sort(x, axis, timeout, descending=descending)

    def argsort(
        self,
        x: Operand,
        /,
        axis: SupportsIndex | None = -1,
        *,
        descending: bool = False,
        timeout: float | None = None,
    ) -> Result:
        """Indices along the axis, int64, of the elements in the order of `sort`.

        Examples
        --------
        >>> c.argsort(np.int32([20, 30, 10, 20]))
        array([2, 0, 3, 1])
        """
        return self._sort(x, axis, timeout, descending=descending, indices=True)

    def _sort(
        self, x: Operand, axis: Any, timeout: float | None, **fields: Any
    ) -> Result:
        message = _wire.Sort(axis=axis_number(axis), **fields)
        return self._call(Call(_wire.Operation(sort=message), (x,), timeout=timeout))


def axis_number(axis: SupportsIndex | None) -> int | None:
    """An axis, or None, as the wire has it."""
    if axis is None:
        return None
    number = operator.index(axis)
    if not -(2**63) <= number < 2**63:
        raise invalid(f"axis {number} does not fit in 64 bits")
    return number
