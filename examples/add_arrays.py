"""CuPy's first example: add two arrays of 100,000 floats.

    x = cupy.arange(100_000, dtype=cupy.float32)
    y = cupy.ones(100_000, dtype=cupy.float32)
    cupy.asnumpy(x + y)

Here the arrays are NumPy's, the GPU is the server's, and this program needs neither CUDA
nor a driver.
"""

import numpy as np
from common import arguments, check, connected

import gpucall


def main() -> None:
    with connected(arguments(__doc__).server) as c:
        x = np.arange(100_000, dtype=np.float32)
        y = np.ones(100_000, dtype=np.float32)

        # One call: the arrays go to the server, their sum comes back. The receipt says
        # where it was computed, and how long that took.
        with gpucall.receipts() as receipts:
            z = c.add(x, y)

        print(f"z = {z}, {z.size:,} {z.dtype}")
        print(f"on {receipts[0].device}, {receipts[0].compute_ns / 1e3:.0f} us")
        check("x + y", z, x + y)


if __name__ == "__main__":
    main()
