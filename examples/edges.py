"""The edges of a photograph: the magnitude of its Sobel derivatives.

Two filters, a little arithmetic and a maximum over the whole picture, in one round trip.
"""

import numpy as np
import scipy.ndimage
from common import arguments, check, connected
from pictures import photograph, save_panels

import gpucall


def main() -> None:
    options = arguments(__doc__, pictures=True)
    photo = photograph(options.photo)
    with connected(options.server) as c:
        p = gpucall.Program()
        gray = np.mean(p.input(), axis=2)
        smooth = p.gaussian(gray, sigma=1)
        down, across = p.sobel(smooth, axis=0), p.sobel(smooth, axis=1)
        magnitude = np.sqrt(down * down + across * across)
        p.output(magnitude / np.max(magnitude))
        edges = c.run(p, photo.astype(np.float32))

        panels = [("photograph", photo), ("edges", (255 * edges).astype(np.uint8))]
        print(f"saved: {save_panels(options.output / 'edges.png', panels)}")
        exact = scipy.ndimage.gaussian_filter(photo.mean(axis=2), 1)
        right = np.hypot(*(scipy.ndimage.sobel(exact, axis) for axis in (0, 1)))
        check("edges, 0 to 1", edges, right / right.max(), 5e-6)


if __name__ == "__main__":
    main()
