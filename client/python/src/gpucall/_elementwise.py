"""Elementwise operations, with NumPy's names."""

from __future__ import annotations

from gpucall._activations import Activations
from gpucall._logic import Logic
from gpucall._mathematics import Mathematics
from gpucall._operations import Operand, Result
from gpucall._rounding import Rounding


class Elementwise(
    Activations[Operand, Result],
    Logic[Operand, Result],
    Mathematics[Operand, Result],
    Rounding[Operand, Result],
):
    """Elementwise operations.

    Operands are array_like and broadcast as in NumPy. The result has NumPy 2's dtype:
    Python scalars take the dtype of the arrays beside them. Integers wrap. `timeout`
    is in seconds and replaces the client's.

    Every operation raises Error: INVALID_ARGUMENT where shapes do not broadcast or NumPy
    refuses the dtype; and TypeError for dtypes that cannot be sent. bfloat16 is that of
    ml_dtypes.
    """

    def abs(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Absolute value.

        Examples
        --------
        >>> c.abs(np.float32([-1.5, 2]))
        array([1.5, 2. ], dtype=float32)
        """
        return self._elementwise("abs", x, timeout=timeout)

    def negative(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """-x.

        Examples
        --------
        >>> c.negative(np.int32([1, -2]))
        array([-1,  2], dtype=int32)
        """
        return self._elementwise("negative", x, timeout=timeout)

    def exp(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """e to the power `x`.

        Examples
        --------
        >>> c.exp(np.float32([0, 1])).round(3)
        array([1.   , 2.718], dtype=float32)
        """
        return self._elementwise("exp", x, timeout=timeout)

    def log(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Natural logarithm; -inf at 0, NaN below.

        Examples
        --------
        >>> c.log(np.float32([1, 0]))
        array([  0., -inf], dtype=float32)
        """
        return self._elementwise("log", x, timeout=timeout)

    def sqrt(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Square root; NaN below 0.

        Examples
        --------
        >>> c.sqrt(np.float32([4, 9]))
        array([2., 3.], dtype=float32)
        """
        return self._elementwise("sqrt", x, timeout=timeout)

    def tanh(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Hyperbolic tangent.

        Examples
        --------
        >>> c.tanh(np.float64([0, 1])).round(3)
        array([0.   , 0.762])
        """
        return self._elementwise("tanh", x, timeout=timeout)

    def sigmoid(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """1 / (1 + exp(-x)).

        Examples
        --------
        >>> c.sigmoid(np.float32([0, 2])).round(3)
        array([0.5  , 0.881], dtype=float32)
        """
        return self._elementwise("sigmoid", x, timeout=timeout)

    def relu(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """maximum(x, 0).

        Examples
        --------
        >>> c.relu(np.float32([-1, 2]))
        array([0., 2.], dtype=float32)
        """
        return self._elementwise("relu", x, timeout=timeout)

    def square(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """x * x.

        Examples
        --------
        >>> c.square(np.uint8([3, 20]))
        array([  9, 144], dtype=uint8)
        """
        return self._elementwise("square", x, timeout=timeout)

    def add(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """x1 + x2; logical or of bools.

        Examples
        --------
        >>> c.add(np.float32([1, 2]), np.float32([3, 4]))
        array([4., 6.], dtype=float32)
        """
        return self._elementwise("add", x1, x2, timeout=timeout)

    def subtract(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """x1 - x2.

        Examples
        --------
        >>> c.subtract(np.int32([[1], [2]]), np.int32([0, 1]))
        array([[1, 0],
               [2, 1]], dtype=int32)
        """
        return self._elementwise("subtract", x1, x2, timeout=timeout)

    def multiply(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """x1 * x2; logical and of bools.

        Examples
        --------
        >>> c.multiply(np.float32([1, 2]), 2)
        array([2., 4.], dtype=float32)
        """
        return self._elementwise("multiply", x1, x2, timeout=timeout)

    def divide(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """x1 / x2; float64 for integers.

        Examples
        --------
        >>> c.divide(np.int32([1, 2]), 2)
        array([0.5, 1. ])
        """
        return self._elementwise("divide", x1, x2, timeout=timeout)

    def power(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """`x1` to the power `x2`; integers to a negative one are INVALID_ARGUMENT.

        Examples
        --------
        >>> c.power(np.float32([2, 3]), 2)
        array([4., 9.], dtype=float32)
        """
        return self._elementwise("power", x1, x2, timeout=timeout)

    def minimum(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """The smaller of both; NaN if either is.

        Examples
        --------
        >>> c.minimum(np.float32([1, 5]), np.float32([3, np.nan]))
        array([ 1., nan], dtype=float32)
        """
        return self._elementwise("minimum", x1, x2, timeout=timeout)

    def maximum(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """The larger of both; NaN if either is.

        Examples
        --------
        >>> c.maximum(np.int32([1, 5]), 3)
        array([3, 5], dtype=int32)
        """
        return self._elementwise("maximum", x1, x2, timeout=timeout)

    def clip(
        self,
        a: Operand,
        a_min: Operand | None = None,
        a_max: Operand | None = None,
        *,
        timeout: float | None = None,
    ) -> Result:
        """minimum(maximum(a, a_min), a_max); NaN where any of the three is.

        Without one of the bounds, that of the other side alone.

        Examples
        --------
        >>> c.clip(np.float32([-1, 0.5, 7]), 0, 1)
        array([0. , 0.5, 1. ], dtype=float32)
        """
        if a_min is None and a_max is None:
            raise TypeError("clip: give a_min, a_max or both")
        if a_min is None:
            return self._elementwise("minimum", a, a_max, timeout=timeout)
        if a_max is None:
            return self._elementwise("maximum", a, a_min, timeout=timeout)
        return self._elementwise("clip", a, a_min, a_max, timeout=timeout)

    def where(
        self,
        condition: Operand,
        x: Operand,
        y: Operand,
        /,
        *,
        timeout: float | None = None,
    ) -> Result:
        """`x` where `condition` is not 0, else `y`.

        Examples
        --------
        >>> c.where(np.array([True, False]), np.float32([1, 2]), 0)
        array([1., 0.], dtype=float32)
        """
        return self._elementwise("where", condition, x, y, timeout=timeout, promoted=1)

    def multiply_add(
        self,
        a: Operand,
        b: Operand,
        c: Operand,
        /,
        *,
        timeout: float | None = None,
    ) -> Result:
        """a * b + c in one pass, rounded after each of the two.

        Examples
        --------
        >>> c.multiply_add(np.float32([1, 2]), 10, np.float32([3, 4]))
        array([13., 24.], dtype=float32)
        """
        return self._elementwise("multiply_add", a, b, c, timeout=timeout)
