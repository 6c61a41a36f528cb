"""OpenCV's first program: read an image, make it gray, blur it by 15 x 15, save it.

    gray = cv2.cvtColor(cv2.imread("in.jpg"), cv2.COLOR_BGR2GRAY)
    cv2.imwrite("out.png", cv2.GaussianBlur(gray, (15, 15), 0))

Gray and blur are one Program here: the photograph goes out once and only the blurred
picture comes back.
"""

import cv2
import scipy.ndimage
from common import arguments, check, check_rounded, connected
from pictures import photograph, save

import gpucall

# OpenCV's sigma and border for a window of 15.
SIZE = 15
SIGMA = 0.3 * ((SIZE - 1) / 2 - 1) + 0.8
RADIUS_IN_SIGMAS = (SIZE // 2) / SIGMA


def main() -> None:
    options = arguments(__doc__, pictures=True)
    photo = photograph(options.photo)
    with connected(options.server) as c:
        p = gpucall.Program()
        gray = p.convert_colour(p.input(), "rgb_to_gray")
        p.output(p.gaussian(gray, SIGMA, truncate=RADIUS_IN_SIGMAS, mode="mirror"))
        blurred = c.run(p, photo)

        print(f"{photo.shape} {photo.dtype} became {blurred.shape} {blurred.dtype}")
        print(f"saved: {save(options.output / 'blurred.png', blurred)}")
        gray_photo = cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY)
        right = scipy.ndimage.gaussian_filter(
            gray_photo.astype(float), SIGMA, truncate=RADIUS_IN_SIGMAS, mode="mirror"
        )
        check_rounded("gray, then Gaussian 15 x 15", blurred, right)
        # OpenCV's weights of a blur of bytes have 8 bits.
        check("OpenCV's", blurred, cv2.GaussianBlur(gray_photo, (SIZE, SIZE), 0), 1)


if __name__ == "__main__":
    main()
