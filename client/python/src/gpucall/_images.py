"""Operations on images that are more than filters: colours."""

from __future__ import annotations

from typing import Any

import numpy as np

from gpucall import _wire
from gpucall._error import invalid
from gpucall._operations import Call, Caller, Operand, Result


class Images(Caller[Operand, Result]):
    """Operations on images.

    `image` has shape (rows, columns), (rows, columns, channels) or, for several images,
    (..., rows, columns, channels). `timeout` is in seconds.

    Every operation raises Error: INVALID_ARGUMENT for a wrong shape or parameter,
    UNIMPLEMENTED for a dtype not offered; and TypeError for dtypes that cannot be sent.
    """

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
        number = _named("conversion", conversion, _wire.COLOUR_CONVERSIONS)
        return self._image(image, timeout, convert_colour={"conversion": number})

    def _image(self, image: Operand, timeout: float | None, **kind: Any) -> Result:
        operation = _wire.Operation(image=_wire.Image(**kind))
        return self._call(Call(operation, (image,), timeout=timeout))


def image_dtype(operation: Any, image: np.dtype[Any]) -> np.dtype[Any]:
    """Of the result."""
    return image


def _named(what: str, name: str, numbers: dict[str, int]) -> int:
    number = numbers.get(name)
    if number is None:
        raise invalid(f"{what} {name!r} is not one; allowed: {', '.join(numbers)}")
    return number
