"""What TensorFlow's and PyTorch's introductions begin with: which devices are there, and
the product of two 2 x 2 matrices on the best of them.

    tf.config.list_physical_devices("GPU")
    device = "cuda" if torch.cuda.is_available() else "cpu"

A gpucall server chooses by itself when it starts, says why, and gives the same answers on
either; --device=cuda would have it refuse to start without a GPU.
"""

import numpy as np
from common import arguments, check, connected

import gpucall


def main() -> None:
    with connected(arguments(__doc__).server) as c:
        info = c.info()
        for device in info.devices:
            gigabytes = device.memory_bytes / 1e9
            print(f"device {device.id}: {device.name}, {gigabytes:.0f} GB")
        if not any(device.id.startswith("cuda") for device in info.devices):
            print(f"no GPU, so the CPU computes. The server says: {info.device_choice}")

        a = np.array([[1, 2], [3, 4]], np.float32)
        b = np.array([[1, 1], [0, 1]], np.float32)
        with gpucall.receipts() as receipts:
            product = c.matmul(a, b)

        print(f"{product} on {receipts[0].device}")
        check("a @ b", product, a @ b)


if __name__ == "__main__":
    main()
