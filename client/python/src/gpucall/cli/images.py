"""Images and arrays, to and from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

Array = npt.NDArray[Any]


def load(path: Path) -> Array:
    """A .npy array as it is; an image as uint8, (rows, columns) or with channels."""
    if path.suffix == ".npy":
        array: Array = np.load(path, allow_pickle=False)
        return array
    with Image.open(path) as image:
        if image.mode in ("L", "RGB", "RGBA"):
            return np.asarray(image)
        if image.mode in ("1", "LA", "P", "CMYK", "YCbCr"):
            return np.asarray(image.convert("L" if image.mode == "1" else "RGB"))
        raise ValueError(f"{path}: image mode {image.mode} is not 8 bits a channel")


def save(path: Path, array: Array) -> None:
    """The array as .npy, or as an image: absolute values, rounded, at most 255."""
    if path.suffix == ".npy":
        with path.open("wb") as file:
            np.save(file, array)
        return
    if array.dtype != np.uint8:
        array = np.clip(np.rint(np.abs(array)), 0, 255).astype(np.uint8)
    Image.fromarray(array).save(path)
