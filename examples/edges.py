"""The edges of a photograph: the magnitude of its Sobel derivatives, and Canny's lines.

Gray, smoothed, two derivatives with a little arithmetic, and Canny's thin edges of the same
smooth picture: all in one round trip.
"""

import cv2
import numpy as np
import scipy.ndimage
from common import arguments, check, connected
from pictures import photograph, save_panels

import gpucall

LOW, HIGH = 40, 120


def main() -> None:
    options = arguments(__doc__, pictures=True)
    photo = photograph(options.photo)
    with connected(options.server) as c:
        p = gpucall.Program()
        gray = p.convert_colour(p.input(), "rgb_to_gray")
        smooth = p.gaussian(gray, sigma=1, output=np.float32)
        down, across = p.sobel(smooth, axis=0), p.sobel(smooth, axis=1)
        magnitude = np.sqrt(down * down + across * across)
        p.output(magnitude / np.max(magnitude))
        p.output(p.canny(p.gaussian(gray, sigma=1), LOW, HIGH))
        edges, lines = c.run(p, photo)

        panels = [
            ("photograph", photo),
            ("Sobel", (255 * edges).astype(np.uint8)),
            (f"Canny {LOW}, {HIGH}", lines),
        ]
        print(f"saved: {save_panels(options.output / 'edges.png', panels)}")
        gray_photo = cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY)
        exact = scipy.ndimage.gaussian_filter(gray_photo.astype(float), 1)
        right = np.hypot(*(scipy.ndimage.sobel(exact, axis) for axis in (0, 1)))
        check("edges, 0 to 1", edges, right / right.max(), 5e-6)
        blurred = c.gaussian(gray_photo, sigma=1)
        check("Canny's lines", lines, cv2.Canny(blurred, LOW, HIGH))


if __name__ == "__main__":
    main()
