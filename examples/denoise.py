"""A photograph with specks, before and after a median filter.

One pixel in ten is made black or white, as a bad sensor does; the median of each 3 x 3
window does not see them.
"""

import numpy as np
import scipy.ndimage
from common import Array, arguments, check, connected
from pictures import photograph, save_panels

import gpucall


def specks(photo: Array) -> Array:
    noisy: Array = photo.copy()
    hit = np.random.default_rng(0).random(photo.shape[:2])
    noisy[hit < 0.05], noisy[hit > 0.95] = 0, 255
    return noisy


def decibels(picture: Array, photo: Array) -> float:
    """Peak signal-to-noise ratio: the higher, the nearer to the photograph."""
    error = np.mean((picture.astype(float) - photo) ** 2)
    return float(10 * np.log10(255**2 / error))


def main() -> None:
    options = arguments(__doc__, pictures=True)
    photo = photograph(options.photo)
    noisy = specks(photo)
    with connected(options.server) as c:
        with gpucall.receipts() as receipts:
            clean = c.median(noisy, size=3)  # of each channel by itself

        milliseconds = receipts[0].compute_ns / 1e6
        print(f"{noisy.shape} on {receipts[0].device}: {milliseconds:.2f} ms")
        before, after = decibels(noisy, photo), decibels(clean, photo)
        print(f"signal to noise: {before:.1f} dB before, {after:.1f} dB after")
        panels = [
            ("photograph", photo),
            ("with specks", noisy),
            ("median 3 x 3", clean),
        ]
        print(f"saved: {save_panels(options.output / 'denoised.png', panels)}")
        check("median", clean, scipy.ndimage.median_filter(noisy, (3, 3, 1)))


if __name__ == "__main__":
    main()
