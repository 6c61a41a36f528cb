"""Image filters, with scipy.ndimage's names."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np
import numpy.typing as npt

from gpucall import _wire
from gpucall._error import invalid
from gpucall._operations import Call, Caller, Operand, Result
from gpucall._tensors import dtype_number

Pair = SupportsFloat | Iterable[SupportsFloat]  # one for both axes, or (rows, columns)
IndexPair = SupportsIndex | Iterable[SupportsIndex]

_ALIASES = {"grid-mirror": "reflect", "grid-wrap": "wrap", "grid-constant": "constant"}


class Filters(Caller[Operand, Result]):
    """Image filters.

    `image` has shape (rows, columns) or (rows, columns, channels), each channel by
    itself, and dtype uint8 or float32. Common parameters:

    mode : {"nearest", "reflect", "mirror", "wrap", "constant"}
        What lies outside the image, with scipy.ndimage's meaning.
    cval : float
        The value outside, for mode "constant".
    output : dtype, optional
        Default: the image's; float32 for `sobel` and `laplacian` of integers. Integer
        results are rounded to nearest, halves to even, and saturate.
    timeout : float, optional
        Seconds; instead of the client's.

    Every filter raises Error: INVALID_ARGUMENT for a wrong shape or parameter,
    UNIMPLEMENTED for a dtype not offered; and TypeError for dtypes that cannot be sent.
    """

    def gaussian(
        self,
        image: Operand,
        /,
        sigma: Pair,
        *,
        mode: str = "reflect",
        cval: float = 0.0,
        truncate: float = 4.0,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Gaussian smoothing, as scipy.ndimage.gaussian_filter.

        Parameters
        ----------
        sigma : float or (float, float)
            Standard deviation in pixels, of both axes or (rows, columns).
        truncate : float
            Radius of the kernel in standard deviations.

        Examples
        --------
        >>> c.gaussian(np.float32([[0, 0, 16, 0, 0]]), sigma=0.5).round(1)
        array([[ 0. ,  1.7, 12.6,  1.7,  0. ]], dtype=float32)
        """
        gaussian = {"sigma": _floats(sigma), "truncate": truncate}
        return self._filter({"gaussian": gaussian}, image, mode, cval, output, timeout)

    def box(
        self,
        image: Operand,
        /,
        size: IndexPair = 3,
        *,
        mode: str = "reflect",
        cval: float = 0.0,
        origin: IndexPair = 0,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Mean over a window, as scipy.ndimage.uniform_filter.

        Parameters
        ----------
        size : int or (int, int)
            Window, (rows, columns).
        origin : int or (int, int)
            Shift of the window.

        Examples
        --------
        >>> c.box(np.uint8([[0, 3, 6, 9]]), size=(1, 3))
        array([[1, 3, 6, 8]], dtype=uint8)
        """
        box = {"size": _integers("size", size), "origin": _integers("origin", origin)}
        return self._filter({"box": box}, image, mode, cval, output, timeout)

    def sobel(
        self,
        image: Operand,
        /,
        axis: SupportsIndex = -1,
        *,
        mode: str = "reflect",
        cval: float = 0.0,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """First derivative, as scipy.ndimage.sobel of each channel.

        Parameters
        ----------
        axis : int
            0: down the rows; 1 or -1: along the columns.

        Examples
        --------
        >>> c.sobel(np.uint8([[0, 0, 5, 5]]))
        array([[ 0., 20., 20.,  0.]], dtype=float32)
        """
        sobel = {"axis": operator.index(axis)}
        return self._filter({"sobel": sobel}, image, mode, cval, output, timeout)

    def laplacian(
        self,
        image: Operand,
        /,
        *,
        mode: str = "reflect",
        cval: float = 0.0,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Second derivative, 4-neighbour form, as scipy.ndimage.laplace.

        Examples
        --------
        >>> c.laplacian(np.float32([[0, 1, 4, 9]]))
        array([[ 1.,  2.,  2., -5.]], dtype=float32)
        """
        return self._filter({"laplacian": {}}, image, mode, cval, output, timeout)

    def median(
        self,
        image: Operand,
        /,
        size: IndexPair = 3,
        *,
        mode: str = "reflect",
        cval: float = 0.0,
        origin: IndexPair = 0,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Median over a window, as scipy.ndimage.median_filter.

        Parameters
        ----------
        size : int or (int, int)
            Window, (rows, columns); of an even count the upper middle value is taken.
        origin : int or (int, int)
            Shift of the window.

        Examples
        --------
        >>> c.median(np.uint8([[1, 9, 2, 3]]), size=(1, 3))
        array([[1, 2, 3, 3]], dtype=uint8)
        """
        median = {
            "size": _integers("size", size),
            "origin": _integers("origin", origin),
        }
        return self._filter({"median": median}, image, mode, cval, output, timeout)

    def correlate(
        self,
        image: Operand,
        weights: Operand,
        /,
        *,
        mode: str = "reflect",
        cval: float = 0.0,
        origin: IndexPair = 0,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Correlation with a 2-D kernel, as scipy.ndimage.correlate.

        Parameters
        ----------
        weights : array_like, (rows, columns)
            A list is taken as float64.
        origin : int or (int, int)
            Shift of the kernel.

        Examples
        --------
        >>> c.correlate(np.float32([[0, 1, 0]]), np.float32([[1, 2, 3]]), mode="constant")
        array([[3., 2., 1.]], dtype=float32)
        """
        correlate = {"origin": _integers("origin", origin)}
        return self._filter(
            {"correlate": correlate},
            image,
            mode,
            cval,
            output,
            timeout,
            _weights(weights),
        )

    def convolve(
        self,
        image: Operand,
        weights: Operand,
        /,
        *,
        mode: str = "reflect",
        cval: float = 0.0,
        origin: IndexPair = 0,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Convolution with a 2-D kernel, as scipy.ndimage.convolve.

        Parameters
        ----------
        weights : array_like, (rows, columns)
            A list is taken as float64.
        origin : int or (int, int)
            Shift of the kernel.

        Examples
        --------
        >>> c.convolve(np.float32([[0, 1, 0]]), np.float32([[1, 2, 3]]), mode="constant")
        array([[1., 2., 3.]], dtype=float32)
        """
        convolve = {"origin": _integers("origin", origin)}
        return self._filter(
            {"convolve": convolve},
            image,
            mode,
            cval,
            output,
            timeout,
            _weights(weights),
        )

    def _filter(
        self,
        kind: dict[str, Any],
        image: Operand,
        mode: str,
        cval: float,
        output: npt.DTypeLike | None,
        timeout: float | None,
        *weights: Operand,
    ) -> Result:
        message = _wire.Filter(
            **kind,
            border={"mode": _border_mode(mode), "cval": cval},
            output_dtype=0 if output is None else dtype_number(output),
        )
        operation = _wire.Operation(filter=message)
        return self._call(Call(operation, (image, *weights), timeout=timeout))


def _border_mode(mode: str) -> int:
    number = _wire.BORDER_MODES.get(_ALIASES.get(mode, mode))
    if number is None:
        allowed = ", ".join(_wire.BORDER_MODES)
        raise invalid(f"mode {mode!r} is not a border mode; allowed: {allowed}")
    return number


def _weights(weights: Any) -> Any:
    return np.asarray(weights, np.float64) if isinstance(weights, list) else weights


def _floats(value: Pair) -> list[float]:
    return [float(v) for v in value] if isinstance(value, Iterable) else [float(value)]


def _integers(name: str, value: IndexPair) -> list[int]:
    numbers = value if isinstance(value, Iterable) else [value]
    integers = [operator.index(number) for number in numbers]
    for integer in integers:
        if not -(2**63) <= integer < 2**63:
            raise invalid(f"{name} {integer} does not fit in 64 bits")
    return integers
