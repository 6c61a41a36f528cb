"""Makes docs/images/images.jpg: a photograph, and what operations on images make of it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "examples"))

from common import arguments, connected
from pictures import photograph, save_panels

SHAPE = (200, 300)


def main() -> None:
    options = arguments(__doc__, pictures=True)
    with connected(options.server) as c:
        photo = c.resize(
            photograph(options.photo)[:424, :636], SHAPE, interpolation="area"
        )
        gray = c.convert_colour(photo, "rgb_to_gray")
        noise = np.random.default_rng(0).normal(0, 20, photo.shape)
        grainy = np.clip(photo + noise, 0, 255).astype(np.uint8)
        panels = [
            ("photograph", photo),
            ("rgb_to_gray", gray),
            ("equalise_histogram", c.equalise_histogram(gray)),
            ("threshold, otsu", c.threshold(gray, "otsu")),
            ("adaptive_threshold", c.adaptive_threshold(gray, 25, 5)),
            ("canny", c.canny(c.gaussian(gray, 1), 60, 150)),
            ("with grain", grainy),
            ("bilateral", c.bilateral(grainy, 9, 80, 2.5)),
            ("unsharp_mask", c.unsharp_mask(photo, 1.5, 2)),
            ("rotate", c.rotate(photo, 20, SHAPE, mode="mirror")),
            ("pyramid down and up", c.pyramid_up(c.pyramid_down(photo))),
            ("hsv: saturation", c.convert_colour(photo, "rgb_to_hsv")[..., 1]),
        ]
    sheet = save_panels(options.output / "images.png", panels)
    with Image.open(sheet) as picture:
        picture.convert("RGB").save(HERE / "images.jpg", quality=70)


if __name__ == "__main__":
    main()
