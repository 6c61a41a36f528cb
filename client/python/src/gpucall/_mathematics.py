"""Exponentials, logarithms, angles, with NumPy's names."""

from __future__ import annotations

from gpucall._elementwise_call import ElementwiseCaller
from gpucall._operations import Operand, Result


class Mathematics(ElementwiseCaller[Operand, Result]):
    """Exponentials, logarithms, angles.

    In floating point: integers become the float dtype that holds them, as in NumPy.
    """

    def exp2(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """2 to the power `x`.

        Examples
        --------
        >>> c.exp2(np.float32([0, 3]))
        array([1., 8.], dtype=float32)
        """
        return self._elementwise("exp2", x, timeout=timeout)

    def expm1(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """exp(x) - 1, also for small `x`.

        Examples
        --------
        >>> c.expm1(np.float64([0, 1])).round(3)
        array([0.   , 1.718])
        """
        return self._elementwise("expm1", x, timeout=timeout)

    def log2(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Logarithm to base 2.

        Examples
        --------
        >>> c.log2(np.float32([1, 8]))
        array([0., 3.], dtype=float32)
        """
        return self._elementwise("log2", x, timeout=timeout)

    def log10(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Logarithm to base 10.

        Examples
        --------
        >>> c.log10(np.float64([1, 1000])).round(3)
        array([0., 3.])
        """
        return self._elementwise("log10", x, timeout=timeout)

    def log1p(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """log(1 + x), also for small `x`.

        Examples
        --------
        >>> c.log1p(np.float64([0, 1])).round(3)
        array([0.   , 0.693])
        """
        return self._elementwise("log1p", x, timeout=timeout)

    def cbrt(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Cube root.

        Examples
        --------
        >>> c.cbrt(np.float64([8, -27])).round(3)
        array([ 2., -3.])
        """
        return self._elementwise("cbrt", x, timeout=timeout)

    def sin(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Sine of radians.

        Examples
        --------
        >>> c.sin(np.float64([0, 1])).round(3)
        array([0.   , 0.841])
        """
        return self._elementwise("sin", x, timeout=timeout)

    def cos(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Cosine of radians.

        Examples
        --------
        >>> c.cos(np.float64([0, 1])).round(3)
        array([1.  , 0.54])
        """
        return self._elementwise("cos", x, timeout=timeout)

    def tan(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Tangent of radians.

        Examples
        --------
        >>> c.tan(np.float64([0, 1])).round(3)
        array([0.   , 1.557])
        """
        return self._elementwise("tan", x, timeout=timeout)

    def asin(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Inverse sine.

        Examples
        --------
        >>> c.asin(np.float64([0, 1])).round(3)
        array([0.   , 1.571])
        """
        return self._elementwise("asin", x, timeout=timeout)

    def acos(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Inverse cosine.

        Examples
        --------
        >>> c.acos(np.float64([0, 1])).round(3)
        array([1.571, 0.   ])
        """
        return self._elementwise("acos", x, timeout=timeout)

    def atan(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Inverse tangent.

        Examples
        --------
        >>> c.atan(np.float64([0, 1])).round(3)
        array([0.   , 0.785])
        """
        return self._elementwise("atan", x, timeout=timeout)

    def sinh(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Hyperbolic sine.

        Examples
        --------
        >>> c.sinh(np.float64([0, 1])).round(3)
        array([0.   , 1.175])
        """
        return self._elementwise("sinh", x, timeout=timeout)

    def cosh(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Hyperbolic cosine.

        Examples
        --------
        >>> c.cosh(np.float64([0, 1])).round(3)
        array([1.   , 1.543])
        """
        return self._elementwise("cosh", x, timeout=timeout)

    def asinh(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Inverse hyperbolic sine.

        Examples
        --------
        >>> c.asinh(np.float64([0, 1])).round(3)
        array([0.   , 0.881])
        """
        return self._elementwise("asinh", x, timeout=timeout)

    def acosh(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Inverse hyperbolic cosine.

        Examples
        --------
        >>> c.acosh(np.float64([1, 2])).round(3)
        array([0.   , 1.317])
        """
        return self._elementwise("acosh", x, timeout=timeout)

    def atanh(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Inverse hyperbolic tangent.

        Examples
        --------
        >>> c.atanh(np.float64([0, 0.5])).round(3)
        array([0.   , 0.549])
        """
        return self._elementwise("atanh", x, timeout=timeout)

    def atan2(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """Angle of the point (x2, x1).

        Examples
        --------
        >>> c.atan2(np.float64([0, 1]), np.float64([-1, 0])).round(3)
        array([3.142, 1.571])
        """
        return self._elementwise("atan2", x1, x2, timeout=timeout)

    def hypot(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """sqrt(x1 * x1 + x2 * x2), without overflow.

        Examples
        --------
        >>> c.hypot(np.float32([3, 5]), np.float32([4, 12]))
        array([ 5., 13.], dtype=float32)
        """
        return self._elementwise("hypot", x1, x2, timeout=timeout)

    def logaddexp(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """log(exp(x1) + exp(x2)), without overflow.

        Examples
        --------
        >>> c.logaddexp(np.float64([0, 1000]), 0).round(3)
        array([6.93e-01, 1.00e+03])
        """
        return self._elementwise("logaddexp", x1, x2, timeout=timeout)
