"""Derivatives of images."""

from __future__ import annotations

import operator
from typing import SupportsIndex

import numpy.typing as npt

from gpucall._filter_caller import Axes, FilterCaller, Modes, Pair, floats
from gpucall._operations import Operand, Result


class Derivatives(FilterCaller[Operand, Result]):
    """Filters whose results are float32 unless asked otherwise."""

    def sobel(
        self,
        image: Operand,
        /,
        axis: SupportsIndex = -1,
        *,
        mode: Modes = "reflect",
        cval: float = 0.0,
        axes: Axes = None,
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
        return self._filter(
            {"sobel": sobel}, image, mode, cval, output, timeout, axes=axes
        )

    def laplacian(
        self,
        image: Operand,
        /,
        *,
        mode: Modes = "reflect",
        cval: float = 0.0,
        axes: Axes = None,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Second derivative, 4-neighbour form, as scipy.ndimage.laplace.

        Examples
        --------
        >>> c.laplacian(np.float32([[0, 1, 4, 9]]))
        array([[ 1.,  2.,  2., -5.]], dtype=float32)
        """
        return self._filter(
            {"laplacian": {}}, image, mode, cval, output, timeout, axes=axes
        )

    def prewitt(
        self,
        image: Operand,
        /,
        axis: SupportsIndex = -1,
        *,
        mode: Modes = "reflect",
        cval: float = 0.0,
        axes: Axes = None,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """First derivative, [1 1 1] along the other axis, of each channel.

        Parameters
        ----------
        axis : int
            0: down the rows; 1 or -1: along the columns.

        Examples
        --------
        >>> c.prewitt(np.uint8([[0, 0, 5, 5]]))
        array([[ 0., 15., 15.,  0.]], dtype=float32)
        """
        prewitt = {"axis": operator.index(axis)}
        return self._filter(
            {"prewitt": prewitt}, image, mode, cval, output, timeout, axes=axes
        )

    def scharr(
        self,
        image: Operand,
        /,
        axis: SupportsIndex = -1,
        *,
        mode: Modes = "reflect",
        cval: float = 0.0,
        axes: Axes = None,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """First derivative, [3 10 3] along the other axis, of each channel.

        Parameters
        ----------
        axis : int
            0: down the rows; 1 or -1: along the columns.

        Examples
        --------
        >>> c.scharr(np.uint8([[0, 0, 5, 5]]))
        array([[ 0., 80., 80.,  0.]], dtype=float32)
        """
        scharr = {"axis": operator.index(axis)}
        return self._filter(
            {"scharr": scharr}, image, mode, cval, output, timeout, axes=axes
        )

    def gaussian_laplace(
        self,
        image: Operand,
        /,
        sigma: Pair,
        *,
        mode: Modes = "reflect",
        cval: float = 0.0,
        truncate: float = 4.0,
        axes: Axes = None,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Sum of the second derivatives of a Gaussian, as scipy.ndimage.gaussian_laplace.

        Parameters
        ----------
        sigma : float or sequence of float
            Standard deviation in pixels, one for all axes or one for each.
        truncate : float
            Radius of the kernel in standard deviations.

        Examples
        --------
        >>> c.gaussian_laplace(np.float32([[0, 0, 8, 8]]), sigma=0.5).round(1)
        array([[  0.1,   9.9, -18.8,  -9.1]], dtype=float32)
        """
        gaussian = {"sigma": floats(sigma), "truncate": truncate}
        kind = {"gaussian_laplace": gaussian}
        return self._filter(kind, image, mode, cval, output, timeout, axes=axes)

    def gaussian_gradient_magnitude(
        self,
        image: Operand,
        /,
        sigma: Pair,
        *,
        mode: Modes = "reflect",
        cval: float = 0.0,
        truncate: float = 4.0,
        axes: Axes = None,
        output: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Root of the sum of squares of the first derivatives of a Gaussian, as scipy.ndimage.gaussian_gradient_magnitude.

        Parameters
        ----------
        sigma : float or sequence of float
            Standard deviation in pixels, one for all axes or one for each.
        truncate : float
            Radius of the kernel in standard deviations.

        Examples
        --------
        >>> c.gaussian_gradient_magnitude(np.float32([[0, 0, 8, 8]]), sigma=0.5).round(1)
        array([[0. , 3.4, 3.4, 0. ]], dtype=float32)
        """
        gaussian = {"sigma": floats(sigma), "truncate": truncate}
        kind = {"gaussian_gradient_magnitude": gaussian}
        return self._filter(kind, image, mode, cval, output, timeout, axes=axes)
