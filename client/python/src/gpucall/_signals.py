"""Filters of signals along one axis, with scipy.signal's names and arguments."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any, SupportsIndex, overload

import grpc
import numpy as np
import numpy.typing as npt

from gpucall import _wire
from gpucall._error import Error, invalid
from gpucall._lines import axis_number
from gpucall._operations import Call, Caller, Operand, Result


class Signals(Caller[Operand, Result]):
    """Recurrences along an axis, computed in float64.

    Results have the signal's dtype, float64 for integers and bools. Coefficients are real.
    With `zi`, the state at the start, results are (y, zf), as in scipy.signal: in one pass
    where `zi` has all its elements and 64 bits (each part), and x is no integer or half,
    else in two.
    """

    @overload
    def lfilter(
        self,
        b: npt.ArrayLike,
        a: npt.ArrayLike,
        x: Operand,
        axis: SupportsIndex = -1,
        zi: None = None,
        *,
        timeout: float | None = None,
    ) -> Result: ...
    @overload
    def lfilter(
        self,
        b: npt.ArrayLike,
        a: npt.ArrayLike,
        x: Operand,
        axis: SupportsIndex = -1,
        *,
        zi: Operand,
        timeout: float | None = None,
    ) -> Any: ...
    def lfilter(
        self,
        b: npt.ArrayLike,
        a: npt.ArrayLike,
        x: Operand,
        axis: SupportsIndex = -1,
        zi: Operand | None = None,
        *,
        timeout: float | None = None,
    ) -> Any:
        """Filtered by a rational transfer function, IIR or FIR.

        Parameters
        ----------
        b, a : sequences of float, up to 4096
            Numerator and denominator; a[0] is not 0, all are divided by it.
        zi : array_like, optional
            x's shape, with max(len(a), len(b)) - 1 elements along the axis; sizes of 1
            broadcast.

        Returns
        -------
        y, or (y, zf) where there is a zi

        Raises
        ------
        Error
            INVALID_ARGUMENT: a[0] is 0, a coefficient is not finite, `axis`, zi's shape;
            UNIMPLEMENTED: complex coefficients.

        Examples
        --------
        >>> c.lfilter([1], [1, -0.5], np.float32([1, 0, 0, 0]))
        array([1.   , 0.5  , 0.25 , 0.125], dtype=float32)
        >>> y, zf = c.lfilter([0.5, 0.5], [1], np.float32([2, 4]), zi=[0.5])
        >>> y, zf
        (array([1.5, 3. ], dtype=float32), array([2.], dtype=float32))
        """
        lfilter = _wire.LFilter(
            b=_coefficients("lfilter: b", b), a=_coefficients("lfilter: a", a)
        )
        return self._filtered(x, axis, zi, timeout, lfilter=lfilter)

    @overload
    def sosfilt(
        self,
        sos: npt.ArrayLike,
        x: Operand,
        axis: SupportsIndex = -1,
        zi: None = None,
        *,
        timeout: float | None = None,
    ) -> Result: ...
    @overload
    def sosfilt(
        self,
        sos: npt.ArrayLike,
        x: Operand,
        axis: SupportsIndex = -1,
        *,
        zi: Operand,
        timeout: float | None = None,
    ) -> Any: ...
    def sosfilt(
        self,
        sos: npt.ArrayLike,
        x: Operand,
        axis: SupportsIndex = -1,
        zi: Operand | None = None,
        *,
        timeout: float | None = None,
    ) -> Any:
        """Filtered by second-order sections, one after another.

        Parameters
        ----------
        sos : array_like, sections x 6, up to 64 sections
            b0, b1, b2, 1, a1, a2 of each, as scipy.signal's designs give them.
        zi : array_like, optional
            Sections x the shape of x with 2 elements along the axis; sizes of 1 broadcast.

        Returns
        -------
        y, or (y, zf) where there is a zi

        Raises
        ------
        Error
            INVALID_ARGUMENT: as `lfilter`, or an a0 is not 1.

        Examples
        --------
        >>> c.sosfilt([[1, 0, 0, 1, -0.5, 0]] * 2, np.float32([1, 0, 0, 0]))
        array([1.  , 1.  , 0.75, 0.5 ], dtype=float32)
        """
        numbers = _coefficients("sosfilt: sos", sos, ndim=2)
        if numbers.shape[1] != 6:
            raise invalid(
                f"sosfilt: sos has shape {numbers.shape}; allowed is sections x 6"
            )
        sosfilt = _wire.SosFilter(sections=numbers.reshape(-1))
        return self._filtered(x, axis, zi, timeout, sosfilt=sosfilt)

    def _filtered(
        self,
        x: Operand,
        axis: SupportsIndex,
        zi: Operand | None,
        timeout: float | None,
        **kind: Any,
    ) -> Any:
        signal = _wire.Signal(axis=axis_number(operator.index(axis)), **kind)
        operands = (x,) if zi is None else (x, zi)
        call = Call(_wire.Operation(signal=signal), operands, timeout=timeout)
        if zi is None:
            return self._call(call)
        signal.final_state = True
        state = replace(call, operation=_wire.Operation(signal=signal))
        return self._call_all([call, state], timeout)


def _coefficients(name: str, numbers: npt.ArrayLike, ndim: int = 1) -> Any:
    array = np.atleast_1d(np.asarray(numbers))
    if array.dtype.kind == "c":
        raise Error(
            grpc.StatusCode.UNIMPLEMENTED,
            f"{name} is {array.dtype}, which is not offered; allowed are real numbers",
        )
    if array.ndim != ndim:
        raise invalid(f"{name} has {array.ndim} dimensions; allowed is {ndim}")
    return array.astype(np.float64)
