"""Operations along one axis that keep or reorder elements, with NumPy's names."""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex

import numpy as np

from gpucall import _wire
from gpucall._error import invalid
from gpucall._operations import Call, Caller, Operand, Result
from gpucall._tensors import is_weak


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

    def cumsum(
        self,
        x: Operand,
        /,
        axis: SupportsIndex | None = None,
        *,
        timeout: float | None = None,
    ) -> Result:
        """Sum of the elements so far: of integers and bools 64 bits wide, wrapping.

        Floats are accumulated in float64.

        Examples
        --------
        >>> c.cumsum(np.float32([[1, 2], [3, 4]]), axis=1)
        array([[1., 3.],
               [3., 7.]], dtype=float32)
        """
        return self._scan("cumsum", x, axis, timeout)

    def cumprod(
        self,
        x: Operand,
        /,
        axis: SupportsIndex | None = None,
        *,
        timeout: float | None = None,
    ) -> Result:
        """Product of the elements so far, as `cumsum`.

        Examples
        --------
        >>> c.cumprod(np.int32([2, 3, 7]))
        array([ 2,  6, 42])
        """
        return self._scan("cumprod", x, axis, timeout)

    def take(
        self,
        x: Operand,
        /,
        indices: Operand,
        axis: SupportsIndex | None = None,
        *,
        timeout: float | None = None,
    ) -> Result:
        """Elements by their indices: the axis becomes the dimensions of `indices`.

        Parameters
        ----------
        indices : array_like, int32 or int64
            Negative ones count from the last; Error INVALID_ARGUMENT: out of range.

        Examples
        --------
        >>> c.take(np.float32([[1, 2, 3], [4, 5, 6]]), [0, -1], axis=1)
        array([[1., 3.],
               [4., 6.]], dtype=float32)
        """
        return self._take(x, indices, axis, timeout)

    def take_along_axis(
        self,
        x: Operand,
        /,
        indices: Operand,
        axis: SupportsIndex | None = -1,
        *,
        timeout: float | None = None,
    ) -> Result:
        """Elements by an index for each: `indices` has as many dimensions as `x`.

        Dimensions but the axis broadcast. Otherwise as `take`.

        Examples
        --------
        >>> x = np.float32([[3, 1, 2], [5, 6, 4]])
        >>> c.take_along_axis(x, c.argsort(x), axis=1)
        array([[1., 2., 3.],
               [4., 5., 6.]], dtype=float32)
        """
        return self._take(x, indices, axis, timeout, along=True)

    def _take(
        self,
        x: Operand,
        indices: Any,
        axis: Any,
        timeout: float | None,
        **fields: bool,
    ) -> Result:
        message = _wire.Take(axis=axis_number(axis), **fields)
        if is_weak(indices):
            indices = np.asarray(indices)
        operands = (x, indices)
        return self._call(
            Call(_wire.Operation(take=message), operands, timeout=timeout)
        )

    def _scan(self, name: str, x: Operand, axis: Any, timeout: float | None) -> Result:
        message = _wire.Scan(op=_wire.SCAN_OPS[name], axis=axis_number(axis))
        return self._call(Call(_wire.Operation(scan=message), (x,), timeout=timeout))

    def _sort(
        self, x: Operand, axis: Any, timeout: float | None, **fields: Any
    ) -> Result:
        message = _wire.Sort(axis=axis_number(axis), **fields)
        return self._call(Call(_wire.Operation(sort=message), (x,), timeout=timeout))


def top_k_of(
    caller: Lines[Any, Any], x: Any, k: SupportsIndex, axis: Any, largest: bool
) -> tuple[Any, Any]:
    """Operations of a Program that give the values and their indices."""
    message = _wire.Sort(
        axis=axis_number(axis),
        descending=largest,
        indices=True,
        count=operator.index(k),
    )
    indices = caller._call(Call(_wire.Operation(sort=message), (x,)))
    return caller.take_along_axis(x, indices, axis), indices


def axis_number(axis: SupportsIndex | None) -> int | None:
    """An axis, or None, as the wire has it."""
    if axis is None:
        return None
    number = operator.index(axis)
    if not -(2**63) <= number < 2**63:
        raise invalid(f"axis {number} does not fit in 64 bits")
    return number
