"""A two-layer perceptron's forward pass as one Program: 784 pixels, 128 units, 10 classes.

The weights are put on the server once. After that each batch of images is one call, of
which only the images go out and the probabilities come back; bias, relu and softmax run as
a few fused passes around the two matrix products.
"""

import numpy as np
from common import Array, arguments, check, connected

import gpucall


def forward(x: Array, w1: Array, b1: Array, w2: Array, b2: Array) -> Array:
    """The same in NumPy."""
    scores = np.maximum(x @ w1 + b1, 0) @ w2 + b2
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def main() -> None:
    with connected(arguments(__doc__).server) as c:
        rng = np.random.default_rng(0)
        sizes = {"w1": (784, 128), "b1": (128,), "w2": (128, 10), "b2": (10,)}
        weights = {
            name: (rng.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)
            for name, shape in sizes.items()
        }
        resident = {name: c.put(array) for name, array in weights.items()}

        p = gpucall.Program()
        x = p.input()
        hidden = p.relu(x @ resident["w1"] + resident["b1"])
        scores = hidden @ resident["w2"] + resident["b2"]
        powers = np.exp(scores - np.max(scores, axis=1, keepdims=True))
        p.output(powers / np.sum(powers, axis=1, keepdims=True))

        images = rng.random((256, 784), np.float32)
        with gpucall.receipts() as receipts:
            probabilities = c.run(p, images)

        counts = np.bincount(probabilities.argmax(axis=1), minlength=10)
        print(f"{len(p.calls)} operations, one round trip, on {receipts[0].device}")
        print(f"images that were given each class: {counts}")
        exact = [array.astype(np.float64) for array in (images, *weights.values())]
        check("probabilities", probabilities, forward(*exact), 1e-6)


if __name__ == "__main__":
    main()
