"""Linear regression by gradient descent, with the data resident on the server.

10,000 rows are sent once. A step is one Program; its result, the new weights, stays on the
server and is the next step's input, so 200 steps send nothing but handles of 16 bytes.
"""

import numpy as np
from common import arguments, check, connected

import gpucall

STEPS, RATE = 200, 0.1


def descent() -> gpucall.Program:
    """One step, of inputs x (rows, k), y (rows, 1) and w (k, 1): the new w."""
    p = gpucall.Program()
    x, y, w, rate = p.input(), p.input(), p.input(), p.input()
    gradient = p.matmul(x, x @ w - y, transpose_a=True)
    p.output(w - gradient * rate)
    return p


def main() -> None:
    with connected(arguments(__doc__).server) as c:
        rng = np.random.default_rng(0)
        truth = np.array([[3], [-2], [0.5], [7]], np.float32)
        data = rng.standard_normal((10_000, 4), np.float32)
        noise = 0.1 * rng.standard_normal((10_000, 1), np.float32)
        target = data @ truth + noise

        x, y = c.put(data), c.put(target)
        w = c.put(np.zeros((4, 1), np.float32))
        rate = c.put(np.float32(RATE / len(data)))
        step = descent()
        for i in range(STEPS):
            w = c.run(step, x, y, w, rate, keep=True)  # the old w is freed
            if i + 1 in (1, 10, 50, STEPS):
                print(f"after {i + 1:3} steps: w = {w.get().ravel().round(4)}")

        right = np.linalg.lstsq(data.astype(float), target.astype(float))[0]
        check("the fit, against numpy.linalg.lstsq", w.get(), right, 1e-5)


if __name__ == "__main__":
    main()
