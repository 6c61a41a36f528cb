"""Operations on images that are more than filters."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import SupportsFloat, SupportsIndex

import numpy as np

from gpucall import _wire
from gpucall._image_caller import Sides, border, named, sides, whole
from gpucall._image_values import ImageValues
from gpucall._operations import Operand, Result

Matrix = Iterable[Iterable[SupportsFloat]]


class Images(ImageValues[Operand, Result]):
    """Operations on images.

    `image` has shape (rows, columns), (rows, columns, channels) or, for several images,
    (..., rows, columns, channels). `timeout` is in seconds.

    Every operation raises Error: INVALID_ARGUMENT for a wrong shape or parameter,
    UNIMPLEMENTED for a dtype not offered; and TypeError for dtypes that cannot be sent.
    """

    def resize(
        self,
        image: Operand,
        /,
        shape: Sides,
        *,
        interpolation: str = "bilinear",
        timeout: float | None = None,
    ) -> Result:
        """Another size, as OpenCV's resize; nothing is smoothed first.

        Parameters
        ----------
        image : array_like, uint8, uint16, int16 or float32
        shape : (int, int)
            Rows and columns of the result.
        interpolation : {"nearest", "bilinear", "bicubic", "area"}
            "area": the mean of what a pixel covers, best to make images smaller.

        Examples
        --------
        >>> c.resize(np.float32([[0, 4]]), (1, 4))
        array([[0., 1., 3., 4.]], dtype=float32)
        """
        number = named("interpolation", interpolation, _wire.INTERPOLATIONS)
        of = {**sides(shape), "interpolation": number}
        return self._image(image, timeout, resize=of)

    def warp_affine(
        self,
        image: Operand,
        /,
        matrix: Matrix,
        shape: Sides,
        *,
        inverse: bool = False,
        interpolation: str = "bilinear",
        mode: str = "constant",
        cval: float = 0.0,
        timeout: float | None = None,
    ) -> Result:
        """Turned, scaled, sheared and moved, as OpenCV's warpAffine.

        Parameters
        ----------
        image : array_like, uint8, uint16, int16 or float32
        matrix : (2, 3) of float
            Takes (x, y, 1) of the image, x along the columns, to (x, y) of the result.
        shape : (int, int)
            Rows and columns of the result.
        inverse : bool
            `matrix` takes the result's to the image's, as OpenCV's WARP_INVERSE_MAP.
        interpolation : {"nearest", "bilinear"}
        mode : {"nearest", "reflect", "mirror", "wrap", "constant"}
            What lies outside the image; "constant": `cval`.

        Examples
        --------
        >>> c.warp_affine(np.float32([[1, 2, 3]]), [[1, 0, 1], [0, 1, 0]], (1, 3))
        array([[0., 1., 2.]], dtype=float32)
        """
        to_image = np.array([[float(v) for v in row] for row in matrix])
        if not inverse:
            to_image = _inverted(to_image)
        of = {
            **sides(shape),
            "matrix": to_image.ravel().tolist(),
            "interpolation": named(
                "interpolation", interpolation, _wire.INTERPOLATIONS
            ),
            "border": border(mode, cval),
        }
        return self._image(image, timeout, warp_affine=of)

    def rotate(
        self,
        image: Operand,
        /,
        degrees: float,
        shape: Sides,
        *,
        scale: float = 1,
        interpolation: str = "bilinear",
        mode: str = "constant",
        cval: float = 0.0,
        timeout: float | None = None,
    ) -> Result:
        """Turned about its middle, counter-clockwise: a `warp_affine`.

        Parameters
        ----------
        shape : (int, int)
            Rows and columns of the image, and of the result.
        scale : float
            What is larger in the result, above 1, or smaller.

        Examples
        --------
        >>> c.rotate(np.float32([[1, 2], [3, 4]]), 90, (2, 2)).round()
        array([[2., 4.],
               [1., 3.]], dtype=float32)
        """
        x, y = ((int(side) - 1) / 2 for side in (shape[1], shape[0]))
        across = scale * math.cos(math.radians(degrees))
        down = scale * math.sin(math.radians(degrees))
        matrix = [
            [across, down, x - across * x - down * y],
            [-down, across, y + down * x - across * y],
        ]
        return self.warp_affine(
            image,
            matrix,
            shape,
            interpolation=interpolation,
            mode=mode,
            cval=cval,
            timeout=timeout,
        )

    def pyramid_down(
        self, image: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """Smoothed, and half the size, as OpenCV's pyrDown.

        Examples
        --------
        >>> c.pyramid_down(np.float32([[0, 0, 16, 0, 0]]))
        array([[2., 6., 2.]], dtype=float32)
        """
        return self._image(image, timeout, pyramid_down={})

    def pyramid_up(self, image: Operand, /, *, timeout: float | None = None) -> Result:
        """Twice the size, and smoothed, as OpenCV's pyrUp.

        Examples
        --------
        >>> c.pyramid_up(np.float32([[0, 8]]))[0]
        array([2., 4., 7., 8.], dtype=float32)
        """
        return self._image(image, timeout, pyramid_up={})

    def bilateral(
        self,
        image: Operand,
        /,
        diameter: SupportsIndex,
        sigma_colour: float,
        sigma_space: float,
        *,
        mode: str = "mirror",
        cval: float = 0.0,
        timeout: float | None = None,
    ) -> Result:
        """Smoothed but for edges, as OpenCV's bilateralFilter.

        Parameters
        ----------
        image : array_like, uint8 or float32, 1 or 3 channels
        diameter : int
            Of the circle around a pixel, at most 255; 0: 1.5 `sigma_space` each way.
        sigma_colour, sigma_space : float
            How far values, and places, may lie apart and still count.

        Examples
        --------
        >>> c.bilateral(np.uint8([[10, 12, 200, 202]]), 3, 20, 2)
        array([[ 11,  12, 200, 201]], dtype=uint8)
        """
        of = {
            "diameter": whole("diameter", diameter),
            "sigma_colour": sigma_colour,
            "sigma_space": sigma_space,
            "border": border(mode, cval),
        }
        return self._image(image, timeout, bilateral=of)

    def unsharp_mask(
        self,
        image: Operand,
        /,
        sigma: float = 1,
        amount: float = 1,
        *,
        truncate: float = 4.0,
        timeout: float | None = None,
    ) -> Result:
        """Sharpened: image + amount * (image - gaussian(image, sigma)).

        Parameters
        ----------
        image : array_like, uint8, uint16, int16 or float32
        sigma, truncate : float
            As for `gaussian`; borders are reflected.

        Examples
        --------
        >>> c.unsharp_mask(np.uint8([[50, 50, 90, 90]]), sigma=0.5)
        array([[50, 46, 94, 90]], dtype=uint8)
        """
        of = {"sigma": sigma, "amount": amount, "truncate": truncate}
        return self._image(image, timeout, unsharp_mask=of)

    def canny(
        self,
        image: Operand,
        /,
        low: float,
        high: float,
        *,
        l2: bool = False,
        timeout: float | None = None,
    ) -> Result:
        """Edges, 255 and one pixel wide, as OpenCV's Canny with 3 x 3 Sobels.

        Parameters
        ----------
        image : array_like, uint8, 1 to 4 channels
        low, high : float
            Steeper than `high` is an edge; than `low`, if it touches one.
        l2 : bool
            Steepness is the root of the sum of squares, else the sum of absolute values.

        Returns
        -------
        array, uint8
            Of one image (rows, columns).

        Examples
        --------
        >>> c.canny(np.uint8([[0, 0, 90, 90]] * 3), 100, 200)[1]
        array([  0, 255,   0,   0], dtype=uint8)
        """
        return self._image(image, timeout, canny={"low": low, "high": high, "l2": l2})


def _inverted(matrix: np.ndarray) -> np.ndarray:
    """Of the affine map; numpy.linalg.LinAlgError where there is none."""
    if matrix.shape != (2, 3):
        return matrix  # the server says what is allowed
    square = np.linalg.inv(matrix[:, :2])
    return np.column_stack([square, -square @ matrix[:, 2]])
