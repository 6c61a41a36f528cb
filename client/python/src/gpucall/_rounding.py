"""Rounding, signs and parts of numbers, with NumPy's names."""

from __future__ import annotations

import numpy.typing as npt

from gpucall import _wire
from gpucall._elementwise_call import ElementwiseCaller
from gpucall._operations import Call, Operand, Result
from gpucall._tensors import dtype_number


class Rounding(ElementwiseCaller[Operand, Result]):
    """Rounding, signs, parts of numbers, and casts."""

    def positive(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """`x` itself.

        Examples
        --------
        >>> c.positive(np.int8([-1, 2]))
        array([-1,  2], dtype=int8)
        """
        return self._elementwise("positive", x, timeout=timeout)

    def sign(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """-1, 0 or 1; NaN of NaN; of complex numbers x / abs(x).

        Examples
        --------
        >>> c.sign(np.float32([-2, 0, 3]))
        array([-1.,  0.,  1.], dtype=float32)
        """
        return self._elementwise("sign", x, timeout=timeout)

    def reciprocal(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """1 / x; of integers cut off, and 0 of 0.

        Examples
        --------
        >>> c.reciprocal(np.float32([4, -0.5]))
        array([ 0.25, -2.  ], dtype=float32)
        """
        return self._elementwise("reciprocal", x, timeout=timeout)

    def floor(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """The largest integer not above `x`.

        Examples
        --------
        >>> c.floor(np.float32([-1.5, 1.5]))
        array([-2.,  1.], dtype=float32)
        """
        return self._elementwise("floor", x, timeout=timeout)

    def ceil(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """The smallest integer not below `x`.

        Examples
        --------
        >>> c.ceil(np.float32([-1.5, 1.5]))
        array([-1.,  2.], dtype=float32)
        """
        return self._elementwise("ceil", x, timeout=timeout)

    def trunc(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """`x` without its fraction.

        Examples
        --------
        >>> c.trunc(np.float32([-1.5, 1.5]))
        array([-1.,  1.], dtype=float32)
        """
        return self._elementwise("trunc", x, timeout=timeout)

    def round(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """The nearest integer, halves to even, in the same dtype.

        Examples
        --------
        >>> c.round(np.float32([0.5, 1.5, 2.6]))
        array([0., 2., 3.], dtype=float32)
        """
        return self._elementwise("round", x, timeout=timeout)

    def conj(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Complex conjugate.

        Examples
        --------
        >>> c.conj(np.complex64([1 + 2j]))
        array([1.-2.j], dtype=complex64)
        """
        return self._elementwise("conj", x, timeout=timeout)

    def real(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Real part.

        Examples
        --------
        >>> c.real(np.complex64([1 + 2j]))
        array([1.], dtype=float32)
        """
        return self._elementwise("real", x, timeout=timeout)

    def imag(self, x: Operand, /, *, timeout: float | None = None) -> Result:
        """Imaginary part; 0 of what is not complex.

        Examples
        --------
        >>> c.imag(np.complex64([1 + 2j]))
        array([2.], dtype=float32)
        """
        return self._elementwise("imag", x, timeout=timeout)

    def copysign(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """`x1` with the sign of `x2`.

        Examples
        --------
        >>> c.copysign(np.float32([1, 2]), np.float32([-0.0, 3]))
        array([-1.,  2.], dtype=float32)
        """
        return self._elementwise("copysign", x1, x2, timeout=timeout)

    def nextafter(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """`x1`'s neighbour towards `x2`.

        Examples
        --------
        >>> c.nextafter(np.float32([1]), np.float32([2]))
        array([1.0000001], dtype=float32)
        """
        return self._elementwise("nextafter", x1, x2, timeout=timeout)

    def fmin(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """The smaller of both; NaN only if both are.

        Examples
        --------
        >>> c.fmin(np.float32([1, 5]), np.float32([3, np.nan]))
        array([1., 5.], dtype=float32)
        """
        return self._elementwise("fmin", x1, x2, timeout=timeout)

    def fmax(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """The larger of both; NaN only if both are.

        Examples
        --------
        >>> c.fmax(np.float32([1, 5]), np.float32([3, np.nan]))
        array([3., 5.], dtype=float32)
        """
        return self._elementwise("fmax", x1, x2, timeout=timeout)

    def floor_divide(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """floor(x1 / x2); of integers 0 where `x2` is 0, and wrapped.

        Examples
        --------
        >>> c.floor_divide(np.int32([7, -7]), 2)
        array([ 3, -4], dtype=int32)
        """
        return self._elementwise("floor_divide", x1, x2, timeout=timeout)

    def remainder(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """x1 - x2 * floor(x1 / x2), of `x2`'s sign; of integers 0 where `x2` is 0.

        Examples
        --------
        >>> c.remainder(np.int32([7, -7]), 4)
        array([3, 1], dtype=int32)
        """
        return self._elementwise("remainder", x1, x2, timeout=timeout)

    def fmod(
        self, x1: Operand, x2: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """x1 - x2 * trunc(x1 / x2), of `x1`'s sign; of integers 0 where `x2` is 0.

        Examples
        --------
        >>> c.fmod(np.int32([7, -7]), 4)
        array([ 3, -3], dtype=int32)
        """
        return self._elementwise("fmod", x1, x2, timeout=timeout)

    def astype(
        self, x: Operand, dtype: npt.DTypeLike, /, *, timeout: float | None = None
    ) -> Result:
        """`x` as another dtype.

        Floats become integers towards zero; what the dtype does not hold becomes the
        nearest that it does, NaN 0. Integers wrap. To bool: whether `x` is not 0.

        Examples
        --------
        >>> c.astype(np.float32([-1, 2.7, 300]), np.uint8)
        array([  0,   2, 255], dtype=uint8)
        """
        operation = _wire.Operation(
            elementwise=_wire.ELEMENTWISE_OPS["cast"], output_dtype=dtype_number(dtype)
        )
        return self._call(Call(operation, (x,), timeout=timeout))
