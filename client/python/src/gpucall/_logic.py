"""Comparisons, logic and bits, with NumPy's names."""

from __future__ import annotations

from gpucall._elementwise_call import ElementwiseCaller
from gpucall._operations import Operand, Result


class Logic(ElementwiseCaller[Operand, Result]):
    """Comparisons, logic and bits. Comparisons and logic give bool."""

    def equal(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """x1 == x2.

        Examples
        --------
        >>> c.equal(np.int32([1, 2]), 1)
        array([ True, False])
        """
        return self._elementwise("equal", x1, x2, timeout=timeout)

    def not_equal(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """x1 != x2.

        Examples
        --------
        >>> c.not_equal(np.int32([1, 2]), 1)
        array([False,  True])
        """
        return self._elementwise("not_equal", x1, x2, timeout=timeout)

    def less(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """x1 < x2; complex numbers by real part, then imaginary.

        Examples
        --------
        >>> c.less(np.float32([1, 2]), 2)
        array([ True, False])
        """
        return self._elementwise("less", x1, x2, timeout=timeout)

    def less_equal(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """x1 <= x2.

        Examples
        --------
        >>> c.less_equal(np.float32([1, 2]), 1)
        array([ True, False])
        """
        return self._elementwise("less_equal", x1, x2, timeout=timeout)

    def greater(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """x1 > x2.

        Examples
        --------
        >>> c.greater(np.float32([1, 2]), 1)
        array([False,  True])
        """
        return self._elementwise("greater", x1, x2, timeout=timeout)

    def greater_equal(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """x1 >= x2.

        Examples
        --------
        >>> c.greater_equal(np.float32([1, 2]), 2)
        array([False,  True])
        """
        return self._elementwise("greater_equal", x1, x2, timeout=timeout)

    def isnan(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Whether `x` is NaN.

        Examples
        --------
        >>> c.isnan(np.float32([1, np.nan]))
        array([False,  True])
        """
        return self._elementwise("isnan", x, timeout=timeout)

    def isinf(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Whether `x` is infinite.

        Examples
        --------
        >>> c.isinf(np.float32([1, -np.inf]))
        array([False,  True])
        """
        return self._elementwise("isinf", x, timeout=timeout)

    def isfinite(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Whether `x` is neither NaN nor infinite.

        Examples
        --------
        >>> c.isfinite(np.float32([1, np.inf]))
        array([ True, False])
        """
        return self._elementwise("isfinite", x, timeout=timeout)

    def signbit(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Whether `x` has a minus sign; -0 has.

        Examples
        --------
        >>> c.signbit(np.float32([0.0, -0.0]))
        array([False,  True])
        """
        return self._elementwise("signbit", x, timeout=timeout)

    def logical_not(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Whether `x` is 0.

        Examples
        --------
        >>> c.logical_not(np.float32([0, 2]))
        array([ True, False])
        """
        return self._elementwise("logical_not", x, timeout=timeout)

    def logical_and(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """Whether neither is 0.

        Examples
        --------
        >>> c.logical_and(np.int32([0, 2]), 3)
        array([False,  True])
        """
        return self._elementwise("logical_and", x1, x2, timeout=timeout)

    def logical_or(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """Whether one is not 0.

        Examples
        --------
        >>> c.logical_or(np.int32([0, 2]), 0)
        array([False,  True])
        """
        return self._elementwise("logical_or", x1, x2, timeout=timeout)

    def logical_xor(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """Whether just one is not 0.

        Examples
        --------
        >>> c.logical_xor(np.int32([0, 2]), 3)
        array([ True, False])
        """
        return self._elementwise("logical_xor", x1, x2, timeout=timeout)

    def bitwise_invert(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Every bit the other; logical not of bools.

        Examples
        --------
        >>> c.bitwise_invert(np.uint8([0, 1]))
        array([255, 254], dtype=uint8)
        """
        return self._elementwise("bitwise_invert", x, timeout=timeout)

    def bitwise_and(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """The bits that both have.

        Examples
        --------
        >>> c.bitwise_and(np.uint8([5, 6]), 3)
        array([1, 2], dtype=uint8)
        """
        return self._elementwise("bitwise_and", x1, x2, timeout=timeout)

    def bitwise_or(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """The bits that either has.

        Examples
        --------
        >>> c.bitwise_or(np.uint8([5, 6]), 3)
        array([7, 7], dtype=uint8)
        """
        return self._elementwise("bitwise_or", x1, x2, timeout=timeout)

    def bitwise_xor(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """The bits that one of both has.

        Examples
        --------
        >>> c.bitwise_xor(np.uint8([5, 6]), 3)
        array([6, 5], dtype=uint8)
        """
        return self._elementwise("bitwise_xor", x1, x2, timeout=timeout)

    def left_shift(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """x1 * 2**x2, wrapped; 0 where `x2` is negative or no less than the bits.

        Examples
        --------
        >>> c.left_shift(np.uint8([1, 3]), 7)
        array([128, 128], dtype=uint8)
        """
        return self._elementwise("left_shift", x1, x2, timeout=timeout)

    def right_shift(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """floor(x1 / 2**x2); where `x2` is negative or no less than the bits, 0, or
        -1 of a negative `x1`.

        Examples
        --------
        >>> c.right_shift(np.int8([64, -64]), 3)
        array([ 8, -8], dtype=int8)
        """
        return self._elementwise("right_shift", x1, x2, timeout=timeout)
