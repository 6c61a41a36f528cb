"""Images and arrays, to and from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageSequence

Array = npt.NDArray[Any]

_PLAIN = ("L", "RGB", "RGBA", "F")
_CONVERTED = {"1": "L", "LA": "RGB", "P": "RGB", "CMYK": "RGB", "YCbCr": "RGB"}


def load(path: Path) -> list[Array]:
    """A .npy array as it is, or the pages of an image: one, but of a TIFF of several.

    Pages are uint8, uint16 or float32, (rows, columns) or with channels.
    """
    if path.suffix == ".npy":
        return [np.load(path, allow_pickle=False)]
    with Image.open(path) as image:
        if image.format != "TIFF":
            return [_page(path, image)]
        return [_page(path, page) for page in ImageSequence.Iterator(image)]


def _page(path: Path, image: Image.Image) -> Array:
    if image.mode in _PLAIN:
        return np.asarray(image)
    if image.mode in _CONVERTED:
        return np.asarray(image.convert(_CONVERTED[image.mode]))
    if image.mode.startswith("I;16") or image.mode == "I":
        pixels = np.asarray(image)
        if pixels.min(initial=0) >= 0 and pixels.max(initial=0) < 2**16:
            return pixels.astype(np.uint16)
    raise ValueError(f"{path}: image mode {image.mode} is not 8 or 16 bits a channel")


def save(path: Path, pages: list[Array]) -> None:
    """One array as .npy; or an image, of several pages a TIFF.

    Gray uint16 is saved with 16 bits. Otherwise what is not uint8 becomes absolute
    values, rounded, at most 255.
    """
    if path.suffix == ".npy":
        with path.open("wb") as file:
            np.save(file, pages[0] if len(pages) == 1 else np.stack(pages))
        return
    first, *others = [Image.fromarray(_pixels(page)) for page in pages]
    if not others:
        first.save(path)
    elif path.suffix.lower() in (".tif", ".tiff"):
        first.save(path, save_all=True, append_images=others)
    else:
        raise ValueError(f"{path}: {len(pages)} pages need a .tif or a .npy file")


def _pixels(array: Array) -> Array:
    if array.dtype == np.uint8 or (array.dtype == np.uint16 and array.ndim == 2):
        return array
    return np.clip(np.rint(np.abs(array)), 0, 255).astype(np.uint8)
