"""Image filters, with scipy.ndimage's names."""

from __future__ import annotations

import numpy.typing as npt

from gpucall._binary_morphology import BinaryMorphology
from gpucall._derivatives import Derivatives
from gpucall._filter_caller import (
    Axes,
    IndexPair,
    Modes,
    Pair,
    floats,
    integers,
    kernel,
    window,
)
from gpucall._line_filters import LineFilters
from gpucall._morphology import Morphology
from gpucall._operations import Operand, Result
from gpucall._rank_filters import RankFilters


class Filters(
    BinaryMorphology[Operand, Result],
    Derivatives[Operand, Result],
    LineFilters[Operand, Result],
    Morphology[Operand, Result],
    RankFilters[Operand, Result],
):
    """Filters of images, signals and volumes.

    Without `axes`, `image` has shape (rows, columns), (rows, columns, channels) or, for
    several images, (..., rows, columns, channels), each image and channel by itself; with
    `axes` it has any shape. dtypes are all real ones but bool.
    Common parameters:

    axes : int or sequence of int, optional
        The axes that are filtered, in this order; sizes, origins, sigmas, orders and
        modes are one for all of them or one for each. `axis` of a derivative says which
        of them: 0 is the first. ``axes=range(x.ndim)`` is scipy.ndimage's default.
    mode : {"nearest", "reflect", "mirror", "wrap", "constant"}, or a sequence of them
        What lies outside the image, with scipy.ndimage's meaning.
    cval : float
        The value outside, for mode "constant".
    footprint : array_like, optional
        Elements of the window that are not 0 take part; in place of `size`.
    output : dtype, optional
        Default: the image's; float32 for derivatives of integers, float64 where they
        have 32 bits or more. Integer results saturate. Of uint8 and float32 images
        without axes they are rounded to nearest, halves to even; else they are cut off
        towards zero after each axis, as scipy.ndimage's.
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
        order: IndexPair = 0,
        *,
        mode: Modes = "reflect",
        cval: float = 0.0,
        truncate: float = 4.0,
        axes: Axes = None,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Gaussian smoothing, as scipy.ndimage.gaussian_filter.

        Parameters
        ----------
        sigma : float or sequence of float
            Standard deviation in pixels, one for all axes or one for each.
        order : int or sequence of int
            Of the derivative, 0 to 2; 0 smooths.
        truncate : float
            Radius of the kernel in standard deviations.

        Examples
        --------
        >>> c.gaussian(np.float32([[0, 0, 16, 0, 0]]), sigma=0.5).round(1)
        array([[ 0. ,  1.7, 12.6,  1.7,  0. ]], dtype=float32)
        """
        gaussian = {
            "sigma": floats(sigma),
            "truncate": truncate,
            "order": integers("order", order),
        }
        return self._filter(
            {"gaussian": gaussian}, image, mode, cval, output, timeout, axes=axes
        )

    def box(
        self,
        image: Operand,
        /,
        size: IndexPair = 3,
        *,
        mode: Modes = "reflect",
        cval: float = 0.0,
        origin: IndexPair = 0,
        axes: Axes = None,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Mean over a window, as scipy.ndimage.uniform_filter.

        Parameters
        ----------
        size : int or sequence of int
            Window, one for all axes or one for each.
        origin : int or sequence of int
            Shift of the window.

        Examples
        --------
        >>> c.box(np.uint8([[0, 3, 6, 9]]), size=(1, 3))
        array([[1, 3, 6, 8]], dtype=uint8)
        """
        box = {"box": window(size, origin)}
        return self._filter(box, image, mode, cval, output, timeout, axes=axes)

    def median(
        self,
        image: Operand,
        /,
        size: IndexPair = 3,
        *,
        mode: Modes = "reflect",
        cval: float = 0.0,
        origin: IndexPair = 0,
        axes: Axes = None,
        footprint: npt.ArrayLike | None = None,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Median over a window, as scipy.ndimage.median_filter.

        Parameters
        ----------
        size : int or sequence of int
            Window, one for all axes or one for each; of an even count the upper middle value is taken.
        origin : int or sequence of int
            Shift of the window.

        Examples
        --------
        >>> c.median(np.uint8([[1, 9, 2, 3]]), size=(1, 3))
        array([[1, 2, 3, 3]], dtype=uint8)
        """
        median = {"median": window(size, origin)}
        return self._filter(
            median, image, mode, cval, output, timeout, axes=axes, footprint=footprint
        )

    def correlate(
        self,
        image: Operand,
        weights: Operand,
        /,
        *,
        mode: Modes = "reflect",
        cval: float = 0.0,
        origin: IndexPair = 0,
        axes: Axes = None,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Correlation with a kernel, as scipy.ndimage.correlate.

        Parameters
        ----------
        weights : array_like, one dimension for each axis
            A list is taken as float64.
        origin : int or sequence of int
            Shift of the kernel.

        Examples
        --------
        >>> c.correlate(np.float32([[0, 1, 0]]), np.float32([[1, 2, 3]]), mode="constant")
        array([[3., 2., 1.]], dtype=float32)
        """
        correlate = {"origin": integers("origin", origin)}
        return self._filter(
            {"correlate": correlate},
            image,
            mode,
            cval,
            output,
            timeout,
            kernel(weights),
            axes=axes,
        )

    def convolve(
        self,
        image: Operand,
        weights: Operand,
        /,
        *,
        mode: Modes = "reflect",
        cval: float = 0.0,
        origin: IndexPair = 0,
        axes: Axes = None,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Convolution with a kernel, as scipy.ndimage.convolve.

        Parameters
        ----------
        weights : array_like, one dimension for each axis
            A list is taken as float64.
        origin : int or sequence of int
            Shift of the kernel.

        Examples
        --------
        >>> c.convolve(np.float32([[0, 1, 0]]), np.float32([[1, 2, 3]]), mode="constant")
        array([[1., 2., 3.]], dtype=float32)
        """
        convolve = {"origin": integers("origin", origin)}
        return self._filter(
            {"convolve": convolve},
            image,
            mode,
            cval,
            output,
            timeout,
            kernel(weights),
            axes=axes,
        )
