"""Thresholds, histograms and colours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsFloat, SupportsIndex

from gpucall import _wire
from gpucall._image_caller import ImageCaller, named, numbers, whole
from gpucall._operations import Operand, Result


class ImageValues(ImageCaller[Operand, Result]):
    """Operations on images whose pixels stay where they are; see Images."""

    def convert_colour(
        self, image: Operand, /, conversion: str, *, timeout: float | None = None
    ) -> Result:
        """Colours of another kind, with OpenCV's formulas and rounding.

        Parameters
        ----------
        image : array_like, uint8, uint16 (not for hsv) or float32 of 0 to 1
        conversion : {"rgb_to_gray", "gray_to_rgb", "rgb_to_hsv", "hsv_to_rgb", \
"rgb_to_ycrcb", "ycrcb_to_rgb"}
            Hue is 0 to 180 of uint8, in degrees of float32. Gray of one image has shape
            (rows, columns).

        Examples
        --------
        >>> c.convert_colour(np.uint8([[[255, 0, 0], [90, 90, 90]]]), "rgb_to_gray")
        array([[76, 90]], dtype=uint8)
        """
        number = named("conversion", conversion, _wire.COLOUR_CONVERSIONS)
        return self._image(image, timeout, convert_colour={"conversion": number})

    def threshold(
        self,
        image: Operand,
        /,
        value: SupportsFloat | str,
        *,
        kind: str = "binary",
        max_value: float = 255,
        timeout: float | None = None,
    ) -> Result:
        """Elements above a threshold, or those that are not, as OpenCV's threshold.

        Parameters
        ----------
        image : array_like, uint8, uint16, int16 or float32
        value : float or "otsu"
            Of integers rounded down; "otsu": what `otsu` gives, of uint8.
        kind : {"binary", "binary_inv", "trunc", "tozero", "tozero_inv"}
            What elements above become: white; 0; the threshold; as they are; 0. And the
            others: 0; white; as they are; 0; as they are.
        max_value : float
            What is white.

        Examples
        --------
        >>> c.threshold(np.uint8([[100, 101, 102]]), 101)
        array([[  0,   0, 255]], dtype=uint8)
        """
        number = named("kind", kind, _wire.THRESHOLD_KINDS)
        of: dict[str, Any] = {"kind": number, "max_value": max_value}
        if isinstance(value, str):
            named("value", value, {"otsu": 1})
            of["otsu"] = True
        else:
            of["value"] = float(value)
        return self._image(image, timeout, threshold=of)

    def adaptive_threshold(
        self,
        image: Operand,
        /,
        size: SupportsIndex,
        offset: float = 0,
        *,
        method: str = "mean",
        kind: str = "binary",
        max_value: float = 255,
        timeout: float | None = None,
    ) -> Result:
        """White where an element is above the mean around it, as OpenCV's.

        Parameters
        ----------
        image : array_like, uint8
        size : int
            Side of the square around an element: odd, 3 to 255.
        offset : float
            What is taken off the mean.
        method : {"mean", "gaussian"}
        kind : {"binary", "binary_inv"}

        Examples
        --------
        >>> c.adaptive_threshold(np.uint8([[10, 10, 40, 10]]), 3)
        array([[  0,   0, 255,   0]], dtype=uint8)
        """
        of = {
            "method": named("method", method, _wire.ADAPTIVE_METHODS),
            "kind": named("kind", kind, _wire.THRESHOLD_KINDS),
            "size": whole("size", size),
            "offset": offset,
            "max_value": max_value,
        }
        return self._image(image, timeout, adaptive_threshold=of)

    def otsu(self, image: Operand, /, *, timeout: float | None = None) -> Result:
        """Threshold that divides the gray values of an image best, as OpenCV's.

        Of uint8 with one channel: 0-d, or one for each image of several.

        Examples
        --------
        >>> c.otsu(np.uint8([[10, 12, 200, 210]]))
        array(12, dtype=uint8)
        """
        return self._image(image, timeout, otsu={})

    def histogram(
        self,
        image: Operand,
        /,
        bins: SupportsIndex = 256,
        range: tuple[float, float] | None = None,
        *,
        timeout: float | None = None,
    ) -> Result:
        """How many elements lie in each of several bins, as numpy.histogram.

        Parameters
        ----------
        image : array_like of any shape, uint8, uint16, int16 or float32
        bins : int, 1 to 65536
        range : (float, float)
            Outer edges; of uint8 (0, 256) where it is not given.

        Returns
        -------
        array, (bins,), int64

        Examples
        --------
        >>> c.histogram(np.float32([0, 0.2, 0.9, 1]), 2, (0, 1))
        array([2, 2])
        """
        of: dict[str, Any] = {"bins": whole("bins", bins)}
        if range is not None:
            of["low"], of["high"] = map(float, range)
        return self._image(image, timeout, histogram=of)

    def equalise_histogram(
        self, image: Operand, /, *, timeout: float | None = None
    ) -> Result:
        """Gray values spread evenly, as OpenCV's equalizeHist: uint8, one channel.

        Examples
        --------
        >>> c.equalise_histogram(np.uint8([[9, 10, 11]]))
        array([[  0, 128, 255]], dtype=uint8)
        """
        return self._image(image, timeout, equalise_histogram={})

    def integral(self, image: Operand, /, *, timeout: float | None = None) -> Result:
        """Sums of all elements above and to the left: one row and one column more.

        The first row and column are 0. Integers are 64 bits wide, floats float64.

        Examples
        --------
        >>> c.integral(np.int16([[1, 2], [3, 4]]))
        array([[ 0,  0,  0],
               [ 0,  1,  3],
               [ 0,  4, 10]])
        """
        return self._image(image, timeout, integral={})

    def normalise(
        self,
        image: Operand,
        /,
        mean: SupportsFloat | Iterable[SupportsFloat],
        deviation: SupportsFloat | Iterable[SupportsFloat],
        *,
        scale: float = 1,
        timeout: float | None = None,
    ) -> Result:
        """(image * scale - mean) / deviation, float32.

        Parameters
        ----------
        image : array_like, uint8, uint16, int16 or float32
        mean, deviation : float or one for each channel
        scale : float
            1 / 255 takes uint8 to 0 to 1.

        Examples
        --------
        >>> c.normalise(np.uint8([[[255, 0]]]), [0.5, 0.4], 0.5, scale=1 / 255)
        array([[[ 1. , -0.8]]], dtype=float32)
        """
        of = {"mean": numbers(mean), "deviation": numbers(deviation), "scale": scale}
        return self._image(image, timeout, normalise=of)
