"""A small convolutional network's forward pass as one Program: 32x32x3 images, 10 classes.

Twice a convolution, relu and a pool, then two dense layers. The weights, random here, are
put on the server once; after that each batch of images is one call, of which only the
images go out and ten numbers for each come back.
"""

import numpy as np
from common import Array, arguments, check, connected

import gpucall

SHAPES = {
    "kernels1": (16, 3, 3, 3),
    "bias1": (16,),
    "kernels2": (32, 16, 3, 3),
    "bias2": (32,),
    "dense1": (32 * 8 * 8, 64),
    "bias3": (64,),
    "dense2": (64, 10),
    "bias4": (10,),
}


def convolved(x: Array, kernels: Array, bias: Array) -> Array:
    """Padded by 1, in NumPy."""
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    sums = np.tensordot(windows, kernels, axes=([1, 4, 5], [1, 2, 3]))
    return np.asarray(np.moveaxis(sums + bias, -1, 1))


def pooled(x: Array) -> Array:
    """The largest of each 2 x 2 elements, in NumPy."""
    images, channels, rows, columns = x.shape
    squares = x.reshape(images, channels, rows // 2, 2, columns // 2, 2)
    return np.asarray(squares.max((3, 5)))


def forward(x: Array, w: dict[str, Array]) -> Array:
    """The same in NumPy."""
    x = pooled(np.maximum(convolved(x, w["kernels1"], w["bias1"]), 0))
    x = pooled(np.maximum(convolved(x, w["kernels2"], w["bias2"]), 0))
    x = np.maximum(x.reshape(len(x), -1) @ w["dense1"] + w["bias3"], 0)
    return np.asarray(x @ w["dense2"] + w["bias4"])


def main() -> None:
    with connected(arguments(__doc__).server) as c:
        rng = np.random.default_rng(0)
        weights = {
            name: rng.normal(0, 1 / np.sqrt(np.prod(shape[1:])), shape).astype("f")
            for name, shape in SHAPES.items()
        }
        w = {name: c.put(array) for name, array in weights.items()}

        p = gpucall.Program()
        images = p.input()
        x = p.relu(p.conv2d(images, w["kernels1"], w["bias1"], padding=1))
        x = p.relu(p.conv2d(p.max_pool2d(x, 2), w["kernels2"], w["bias2"], padding=1))
        x = p.reshape(p.max_pool2d(x, 2), (-1, 32 * 8 * 8))
        x = p.matmul(x, w["dense1"], bias=w["bias3"], activation="relu")
        p.output(p.matmul(x, w["dense2"], bias=w["bias4"]))

        batch = rng.random((64, 3, 32, 32), np.float32)
        with gpucall.receipts() as receipts:
            scores = c.run(p, batch)

        counts = np.bincount(scores.argmax(axis=1), minlength=10)
        print(f"{len(p.calls)} operations, one round trip, on {receipts[0].device}")
        print(f"images that were given each class: {counts}")
        exact = {name: array.astype(np.float64) for name, array in weights.items()}
        check("scores", scores, forward(batch.astype(np.float64), exact), 1e-4)


if __name__ == "__main__":
    main()
