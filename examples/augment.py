"""Augment a batch of images for training: cut, mirrored, turned, resized, normalised.

What a data loader does for each batch, as one Program: the pictures go out once, as bytes,
and come back as the float32 that a network wants, channels first.
"""

import numpy as np
from common import Array, arguments, check, connected
from pictures import photograph, save_panels

import gpucall

SIDE = 96
MEAN, DEVIATION = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]  # ImageNet's


def crops(photo: Array, count: int) -> Array:
    """(count, side, side, 3): squares from all over the photograph."""
    rng = np.random.default_rng(0)
    side = min(photo.shape[:2]) * 2 // 3
    rows = rng.integers(0, photo.shape[0] - side + 1, count)
    columns = rng.integers(0, photo.shape[1] - side + 1, count)
    return np.stack(
        [photo[r : r + side, k : k + side] for r, k in zip(rows, columns, strict=True)]
    )


def main() -> None:
    options = arguments(__doc__, pictures=True)
    batch = crops(photograph(options.photo), 8)
    with connected(options.server) as c:
        p = gpucall.Program()
        images = p.input()
        mirrored = np.flip(images, axis=2)  # left to right
        both = np.concatenate([images, mirrored])
        small = p.resize(both, (SIDE, SIDE), interpolation="area")
        turned = p.rotate(small, 10, (SIDE, SIDE), mode="mirror")
        ready = p.normalise(turned, MEAN, DEVIATION, scale=1 / 255)
        p.output(turned, np.transpose(ready, (0, 3, 1, 2)))
        turned, ready = c.run(p, batch)

        print(f"{batch.shape} {batch.dtype} became {ready.shape} {ready.dtype}")
        panels = [(f"image {i}", turned[i]) for i in (0, 8, 1, 9)]
        print(f"saved: {save_panels(options.output / 'augmented.png', panels)}")
        exact = (turned / 255.0 - MEAN) / DEVIATION
        check("normalised", ready, exact.transpose(0, 3, 1, 2), 1e-6)
        again = c.resize(batch, (SIDE, SIDE), interpolation="area")
        again = c.rotate(again, 10, (SIDE, SIDE), mode="mirror")
        check("as one by one", turned[:8], again)
        check("channels' means", ready.mean((0, 2, 3)), exact.mean((0, 1, 2)), 1e-5)


if __name__ == "__main__":
    main()
