"""An add of two arrays through shared memory, beside the same call in messages and streams.

./dev exec python tests/bench/shared_memory.py [--device=cuda] [--mib=64]
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import gpucall


def median_ms(call: Callable[[], object], seconds: float = 3) -> float:
    """Of calls for so long, the first two left out."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times[2:]) * 1e3


def measure(client: gpucall.Client, plain: gpucall.Client, mib: float) -> None:
    count = int(mib * (1 << 18))
    x, y = (client.empty(count, np.float32) for _ in range(2))
    x[:], y[:] = 1, 2
    ordinary = np.array(x), np.array(y)
    rows = {
        "shared arrays": median_ms(lambda: client.add(x, y)),
        "ordinary arrays, copied to shared memory": median_ms(
            lambda: client.add(*ordinary)
        ),
        "sent": median_ms(lambda: plain.add(*ordinary)),
        "numpy, here": median_ms(lambda: np.add(*ordinary)),
    }
    base = rows["shared arrays"]
    for name, ms in rows.items():
        print(f"add of 2 x {mib:g} MiB  {name:42} {ms:9.3f} ms  {ms / base:6.2f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="auto")
    parser.add_argument("--mib", type=float, nargs="*", default=[0.25, 1, 4, 16, 64])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder, "ready")
        server = subprocess.Popen(
            [
                "gpucall-server",
                f"--listen=unix:{folder}/s",
                f"--device={arguments.device}",
                f"--port_file={ready}",
                "--log_level=warning",
            ]
        )
        try:
            while not ready.exists():
                if server.poll() is not None:
                    raise SystemExit("the server did not start")
                time.sleep(0.02)
            Path(folder, "plain").symlink_to(
                f"{folder}/s"
            )  # has no second socket beside it
            with (
                gpucall.connect(f"unix:{folder}/s", timeout=60) as client,
                gpucall.connect(f"unix:{folder}/plain", timeout=60) as plain,
            ):
                print("device:", client.info().devices[0].name)
                for mib in arguments.mib:
                    measure(client, plain, mib)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
