"""Operations along axes, with NumPy's names."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, SupportsIndex

from gpucall import _wire
from gpucall._error import invalid
from gpucall._operations import Call, Caller, Operand, Result

Axis = SupportsIndex | Iterable[SupportsIndex] | None


class Reductions(Caller[Operand, Result]):
    """Operations along axes.

    Common parameters:

    axis : int, or ints, or None
        Axes to go along; None: all, () : none.
    keepdims : bool
        Keep these axes, with size 1.
    timeout : float, optional
        Seconds; instead of the client's.

    Floating-point sums are accumulated in float64. Sums of integers are 64 bits wide and
    wrap; means, variances and norms of integers are float64.

    Every operation raises Error: INVALID_ARGUMENT for an axis out of range or given
    twice, and for no elements where that has no result; UNIMPLEMENTED for a dtype not
    offered; and TypeError for dtypes that cannot be sent.
    """

    def sum(
        self,
        x: Operand,
        /,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        timeout: float | None = None,
    ) -> Result:
        """Sum.

        Examples
        --------
        >>> c.sum(np.float32([[1, 2], [3, 4]]), axis=0)
        array([4., 6.], dtype=float32)
        """
        return self._reduce("sum", x, axis, keepdims, timeout)

    def prod(
        self,
        x: Operand,
        /,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        timeout: float | None = None,
    ) -> Result:
        """Product.

        Examples
        --------
        >>> c.prod(np.int32([2, 3, 7]))
        array(42)
        """
        return self._reduce("prod", x, axis, keepdims, timeout)

    def mean(
        self,
        x: Operand,
        /,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        timeout: float | None = None,
    ) -> Result:
        """Mean; NaN of no elements.

        Examples
        --------
        >>> c.mean(np.uint8([[1, 2], [3, 4]]), axis=1, keepdims=True)
        array([[1.5],
               [3.5]])
        """
        return self._reduce("mean", x, axis, keepdims, timeout)

    def var(
        self,
        x: Operand,
        /,
        axis: Axis = None,
        *,
        correction: float = 0.0,
        keepdims: bool = False,
        timeout: float | None = None,
    ) -> Result:
        """Variance: the sum of squared differences over max(0, count - `correction`).

        Examples
        --------
        >>> c.var(np.float32([1, 2, 3, 4]), correction=1).round(3)
        np.float32(1.667)
        """
        return self._reduce("var", x, axis, keepdims, timeout, correction=correction)

    def std(
        self,
        x: Operand,
        /,
        axis: Axis = None,
        *,
        correction: float = 0.0,
        keepdims: bool = False,
        timeout: float | None = None,
    ) -> Result:
        """Standard deviation, the square root of `var`.

        Examples
        --------
        >>> c.std(np.float32([[1, 3], [2, 2]]), axis=1)
        array([1., 0.], dtype=float32)
        """
        return self._reduce("std", x, axis, keepdims, timeout, correction=correction)

    def min(
        self,
        x: Operand,
        /,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        timeout: float | None = None,
    ) -> Result:
        """Smallest element; NaN if any is.

        Examples
        --------
        >>> c.min(np.uint8([[3, 2], [1, 4]]), axis=1)
        array([2, 1], dtype=uint8)
        """
        return self._reduce("min", x, axis, keepdims, timeout)

    def max(
        self,
        x: Operand,
        /,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        timeout: float | None = None,
    ) -> Result:
        """Largest element; NaN if any is.

        Examples
        --------
        >>> c.max(np.uint8([[3, 2], [1, 4]]), axis=1)
        array([3, 4], dtype=uint8)
        """
        return self._reduce("max", x, axis, keepdims, timeout)

    def argmin(
        self,
        x: Operand,
        /,
        axis: SupportsIndex | None = None,
        *,
        keepdims: bool = False,
        timeout: float | None = None,
    ) -> Result:
        """Index of the first smallest element; without an axis, in the flattened array.

        Examples
        --------
        >>> c.argmin(np.float32([[3, 2], [1, 4]]))
        array(2)
        """
        return self._reduce("argmin", x, axis, keepdims, timeout)

    def argmax(
        self,
        x: Operand,
        /,
        axis: SupportsIndex | None = None,
        *,
        keepdims: bool = False,
        timeout: float | None = None,
    ) -> Result:
        """Index of the first largest element; without an axis, in the flattened array.

        Examples
        --------
        >>> c.argmax(np.float32([[3, 2], [1, 4]]), axis=1)
        array([0, 1])
        """
        return self._reduce("argmax", x, axis, keepdims, timeout)

    def any(
        self,
        x: Operand,
        /,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        timeout: float | None = None,
    ) -> Result:
        """Whether any element is not 0.

        Examples
        --------
        >>> c.any(np.uint8([[0, 0], [0, 5]]), axis=0)
        array([False,  True])
        """
        return self._reduce("any", x, axis, keepdims, timeout)

    def all(
        self,
        x: Operand,
        /,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        timeout: float | None = None,
    ) -> Result:
        """Whether all elements are not 0.

        Examples
        --------
        >>> c.all(np.uint8([[0, 1], [2, 5]]), axis=1)
        array([False,  True])
        """
        return self._reduce("all", x, axis, keepdims, timeout)

    def count_nonzero(
        self,
        x: Operand,
        /,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        timeout: float | None = None,
    ) -> Result:
        """How many elements are not 0.

        Examples
        --------
        >>> c.count_nonzero(np.float32([0, 1, np.nan]))
        array(2)
        """
        return self._reduce("count_nonzero", x, axis, keepdims, timeout)

    def norm(
        self,
        x: Operand,
        /,
        ord: float = 2,
        axis: Axis = None,
        *,
        keepdims: bool = False,
        timeout: float | None = None,
    ) -> Result:
        """Norm of vectors, as numpy.linalg.vector_norm: (sum of abs(x)**ord)**(1/ord).

        Parameters
        ----------
        ord : float
            Infinite: the largest, or smallest, absolute value; 0: how many are not 0.

        Examples
        --------
        >>> c.norm(np.float32([[3, 4], [6, 8]]), axis=1)
        array([ 5., 10.], dtype=float32)
        """
        return self._reduce("norm", x, axis, keepdims, timeout, order=ord)

    def softmax(
        self,
        x: Operand,
        /,
        axis: Axis = -1,
        *,
        timeout: float | None = None,
    ) -> Result:
        """exp(x) / sum(exp(x)), without overflow, as scipy.special.softmax.

        Examples
        --------
        >>> c.softmax(np.float32([0, 0, 1000]))
        array([0., 0., 1.], dtype=float32)
        """
        return self._reduce("softmax", x, axis, False, timeout)

    def log_softmax(
        self,
        x: Operand,
        /,
        axis: Axis = -1,
        *,
        timeout: float | None = None,
    ) -> Result:
        """log(softmax(x)), as scipy.special.log_softmax.

        Examples
        --------
        >>> c.log_softmax(np.float32([0, 1000]))
        array([-1000.,     0.], dtype=float32)
        """
        return self._reduce("log_softmax", x, axis, False, timeout)

    def layer_norm(
        self,
        x: Operand,
        /,
        axis: Axis = -1,
        *,
        epsilon: float = 1e-5,
        timeout: float | None = None,
    ) -> Result:
        """(x - mean) / sqrt(var + `epsilon`); weights and bias are elementwise after it.

        Examples
        --------
        >>> c.layer_norm(np.float32([1, 3]), epsilon=0)
        array([-1.,  1.], dtype=float32)
        """
        return self._reduce("layer_norm", x, axis, False, timeout, epsilon=epsilon)

    def standardise(
        self,
        x: Operand,
        /,
        axis: Axis = None,
        *,
        correction: float = 0.0,
        timeout: float | None = None,
    ) -> Result:
        """(x - mean) / std; NaN where all elements are equal.

        Examples
        --------
        >>> c.standardise(np.float32([[1, 10], [3, 30]]), axis=0)
        array([[-1., -1.],
               [ 1.,  1.]], dtype=float32)
        """
        name = "standardise"
        return self._reduce(name, x, axis, False, timeout, correction=correction)

    def _reduce(
        self,
        name: str,
        x: Operand,
        axis: Axis,
        keepdims: bool,
        timeout: float | None,
        **parameter: float,
    ) -> Result:
        axes = None if axis is None else {"axis": axis_numbers(axis)}
        message = _wire.Reduce(
            op=_wire.REDUCE_OPS[name], axes=axes, keepdims=keepdims, **parameter
        )
        return self._call(Call(_wire.Operation(reduce=message), (x,), timeout=timeout))


def axis_numbers(axis: Any) -> list[int]:
    """One axis or several, as the wire has them."""
    axes = axis if isinstance(axis, Iterable) else [axis]
    numbers = [operator.index(number) for number in axes]
    for number in numbers:
        if not -(2**63) <= number < 2**63:
            raise invalid(f"axis {number} does not fit in 64 bits")
    return numbers
