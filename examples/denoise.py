"""A photograph with specks and with grain, before and after a filter made for each.

One pixel in ten is made black or white, as a bad sensor does; the median of each 3 x 3
window does not see them. Grain is on every pixel, as in the dark; a bilateral filter takes
the mean of neighbours that look alike, so that edges stay.
"""

import cv2
import numpy as np
import scipy.ndimage
from common import Array, arguments, check, connected
from pictures import photograph, save_panels

import gpucall

DIAMETER, COLOUR, SPACE = 9, 60, 2.5


def specks(photo: Array) -> Array:
    noisy: Array = photo.copy()
    hit = np.random.default_rng(0).random(photo.shape[:2])
    noisy[hit < 0.05], noisy[hit > 0.95] = 0, 255
    return noisy


def grain(photo: Array) -> Array:
    noise = np.random.default_rng(1).normal(0, 15, photo.shape)
    return np.clip(photo + noise, 0, 255).astype(np.uint8)


def decibels(picture: Array, photo: Array) -> float:
    """Peak signal-to-noise ratio: the higher, the nearer to the photograph."""
    error = np.mean((picture.astype(float) - photo) ** 2)
    return float(10 * np.log10(255**2 / error))


def main() -> None:
    options = arguments(__doc__, pictures=True)
    photo = photograph(options.photo)
    speckled, grainy = specks(photo), grain(photo)
    with connected(options.server) as c:
        with gpucall.receipts() as receipts:
            clean = c.median(speckled, size=3)  # of each channel by itself
            smooth = c.bilateral(grainy, DIAMETER, COLOUR, SPACE)  # of all together

        for name, receipt in zip(("median", "bilateral"), receipts, strict=True):
            milliseconds = receipt.compute_ns / 1e6
            print(f"{name} of {photo.shape} on {receipt.device}: {milliseconds:.2f} ms")
        for name, noisy, after in (
            ("specks", speckled, clean),
            ("grain", grainy, smooth),
        ):
            before, later = decibels(noisy, photo), decibels(after, photo)
            print(f"{name}: {before:.1f} dB before, {later:.1f} dB after")
        panels = [
            ("with specks", speckled),
            ("median 3 x 3", clean),
            ("with grain", grainy),
            (f"bilateral {DIAMETER}", smooth),
        ]
        print(f"saved: {save_panels(options.output / 'denoised.png', panels)}")
        check("median", clean, scipy.ndimage.median_filter(speckled, (3, 3, 1)))
        right = cv2.bilateralFilter(grainy, DIAMETER, COLOUR, SPACE)
        check("bilateral", smooth, right, 1)  # a sum of floats may round the other way


if __name__ == "__main__":
    main()
