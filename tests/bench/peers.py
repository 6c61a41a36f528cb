"""Operations on resident arrays beside CuPy and PyTorch on the same GPU.

./dev exec python tests/bench/peers.py [--device=cuda] [SECTION...]
Sections: elementwise, reductions, filters, network, small_matmuls, compile. Ours is the
compute time of the receipts (the server's, launches included); the peers' is by CUDA events
around 10 calls, results allocated by their pools. Medians of 11; of peers that take over
100 ms one call. Needs CuPy and PyTorch; without them their columns stay empty.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import gpucall

try:
    import cupy as cp
    import cupyx.scipy.ndimage as nd
except ImportError:
    cp = None
try:
    import torch
except ImportError:
    torch = None

ROUNDS = 11


def ours_ms(call: Callable[[], object]) -> float:
    """Median compute time; the first two calls are left out."""
    with gpucall.receipts() as receipts:
        for _ in range(ROUNDS + 2):
            call()
    return statistics.median(r.compute_ns for r in receipts[2:]) / 1e6


def cupy_once_ms(call: Callable[[], object], calls: int) -> float:
    begin, end = cp.cuda.Event(), cp.cuda.Event()
    begin.record()
    for _ in range(calls):
        call()
    end.record()
    end.synchronize()
    return float(cp.cuda.get_elapsed_time(begin, end)) / calls


def torch_once_ms(call: Callable[[], object], calls: int) -> float:
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(calls):
        call()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / calls


def peer_ms(once_ms: Callable[[Callable[[], object], int], float], call: Any) -> float:
    """Median; of slow calls only the second."""
    once_ms(call, 1)
    second = once_ms(call, 1)
    if second > 100:
        return second
    return statistics.median(once_ms(call, 10) for _ in range(ROUNDS))


def wall_ms(call: Callable[[], object], rounds: int = ROUNDS) -> float:
    times = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:]) * 1e3


def row(
    name: str,
    size_bytes: int,
    ours: Callable[[], object],
    cupy: Callable[[], object] | None = None,
    pytorch: Callable[[], object] | None = None,
) -> None:
    """`size_bytes` are what the operation must read and write."""
    ms = ours_ms(ours)
    line = f"{name:44} {ms:9.4f} ms {size_bytes / ms / 1e6:7.0f} GB/s"
    for peer, call, once_ms in (
        ("CuPy", cupy if cp else None, cupy_once_ms),
        ("PyTorch", pytorch if torch else None, torch_once_ms),
    ):
        if call is not None:
            theirs = peer_ms(once_ms, call)
            line += f"  {peer} {theirs:9.4f} ms {theirs / ms:6.2f}x"
    print(line, flush=True)


def elementwise(c: gpucall.Client) -> None:
    count = 64 << 20
    x = np.linspace(-2, 2, count, dtype=np.float32)
    a, b = c.put(x), c.put(x[::-1])
    ga, gb = (cp.asarray(x), cp.asarray(x[::-1])) if cp else (None, None)
    p = gpucall.Program()
    u, v = p.input(), p.input()
    p.output(p.tanh((u + v) * u - v))
    row(
        "chain of 4, 256 MiB float32",
        3 * x.nbytes,
        lambda: c.run(p, a, b, keep=True),
        lambda: cp.tanh((ga + gb) * ga - gb),
    )
    row("add, 256 MiB float32", 3 * x.nbytes, lambda: c.keep.add(a, b), lambda: ga + gb)
    for dtype in (np.float16, np.int8):
        y = np.resize(x.astype(dtype), (256 << 20) // np.dtype(dtype).itemsize)
        d = c.put(y)
        gd = cp.asarray(y) if cp else None
        name = f"add, 256 MiB {np.dtype(dtype).name}"
        row(name, 3 * y.nbytes, lambda d=d: c.keep.add(d, d), lambda gd=gd: gd + gd)


def reductions(c: gpucall.Client) -> None:
    x = np.random.default_rng(0).random((8192, 8192), np.float32)
    a = c.put(x)
    ga = cp.asarray(x) if cp else None
    ta = torch.from_numpy(x).cuda() if torch else None
    for name in ("sum", "mean", "max"):
        for axis in (None, 0, 1):
            dims = () if axis is None else (axis,)
            row(
                f"{name}, 8192 x 8192 float32, axis {axis}",
                x.nbytes,
                partial(getattr(c.keep, name), a, axis=axis),
                partial(getattr(ga, name), axis) if cp else None,
                partial(getattr(torch, name.replace("max", "amax")), ta, *dims)
                if torch
                else None,
            )
    row(
        "softmax, 8192 x 8192 float32, axis 1",
        2 * x.nbytes,
        lambda: c.keep.softmax(a, axis=1),
        None,
        lambda: torch.softmax(ta, 1),
    )


def filters(c: gpucall.Client) -> None:
    rng = np.random.default_rng(0)
    cases: tuple[tuple[str, str, dict[str, Any], str, tuple[Any, ...]], ...] = (
        ("gaussian 2.5", "gaussian", {"sigma": 2.5}, "gaussian_filter", (2.5,)),
        ("sobel", "sobel", {}, "sobel", (0,)),
        ("box 9", "box", {"size": 9}, "uniform_filter", (9,)),
        ("erosion 5", "minimum_filter", {"size": 5}, "minimum_filter", (5,)),
        ("median 5", "median", {"size": 5}, "median_filter", (5,)),
        ("median 15", "median", {"size": 15}, "median_filter", (15,)),
    )
    for name, x in (
        ("8192 x 8192 float32", rng.random((8192, 8192), np.float32)),
        ("2160 x 3840 uint8", rng.integers(0, 256, (2160, 3840), np.uint8)),
    ):
        a = c.put(x)
        ga = cp.asarray(x) if cp else None
        for label, method, options, peer, peer_options in cases:
            row(
                f"{label}, {name}",
                2 * x.nbytes,
                partial(getattr(c.keep, method), a, **options),
                partial(getattr(nd, peer), ga, *peer_options) if cp else None,
            )
    batch = rng.integers(0, 256, (64, 512, 512, 3), np.uint8)
    images = c.put(batch)
    singles = [c.put(image) for image in batch]
    row(
        "gaussian 2.5, 64 of 512 x 512 x 3 uint8",
        2 * batch.nbytes,
        lambda: c.keep.gaussian(images, sigma=2.5),
    )
    together = wall_ms(lambda: c.keep.gaussian(images, sigma=2.5))
    alone = wall_ms(lambda: [c.keep.gaussian(one, sigma=2.5) for one in singles], 3)
    print(f"the same in one call {together:.3f} ms, in 64 calls {alone:.3f} ms")


def network(c: gpucall.Client) -> None:
    """The network of examples/small_cnn.py."""
    rng = np.random.default_rng(0)
    for layer, shape, kernels in (
        ("conv2d 3 -> 16", (256, 3, 32, 32), (16, 3, 3, 3)),
        ("conv2d 16 -> 32", (256, 16, 16, 16), (32, 16, 3, 3)),
        ("conv2d 64 -> 64", (256, 64, 32, 32), (64, 64, 3, 3)),
    ):
        x, w = rng.random(shape, np.float32), rng.random(kernels, np.float32)
        a, k = c.put(x), c.put(w)
        ta, tk = (
            (torch.from_numpy(x).cuda(), torch.from_numpy(w).cuda())
            if torch
            else (None, None)
        )
        if torch:
            torch.backends.cudnn.allow_tf32 = False
        row(
            f"{layer}, batch 256 float32",
            x.nbytes + 4 * shape[0] * kernels[0] * shape[2] * shape[3],
            lambda a=a, k=k: c.keep.conv2d(a, k, padding=1),
            None,
            lambda ta=ta, tk=tk: torch.nn.functional.conv2d(ta, tk, padding=1),
        )


def small_matmuls(c: gpucall.Client) -> None:
    """1024 products of 64 x 64, arrays in and out of this process."""
    rng = np.random.default_rng(0)
    a, b = c.empty((1024, 64, 64), np.float32), c.empty((1024, 64, 64), np.float32)
    a[:], b[:] = rng.random(a.shape), rng.random(a.shape)
    batched = wall_ms(lambda: c.matmul(a, b))
    like = [(a[i], b[i]) for i in range(1024)]
    unlike = [(a[i, : 33 + i % 16], b[i]) for i in range(1024)]
    many = wall_ms(lambda: c.matmul_many(like), 5)
    odd = wall_ms(lambda: c.matmul_many(unlike), 5)
    single = wall_ms(lambda: [c.matmul(*pair) for pair in like], 2)
    print(
        f"1024 of 64 x 64: one array {batched:.3f} ms, like pairs {many:.3f} ms, unlike "
        f"{odd:.3f} ms, one call each {single:.3f} ms"
    )
    if cp:

        def direct() -> None:
            cp.matmul(cp.asarray(a), cp.asarray(b)).get()

        print(f"CuPy, copies included: {wall_ms(direct):.3f} ms")


def compile_times(connect: Callable[[], Any]) -> None:
    """First use of an expression, steady use, first use after a restart."""
    x = np.ones(1024, np.float32)
    p = gpucall.Program()
    u = p.input()
    p.output(p.tanh(p.exp(u * 0.25) + p.sqrt(u)) - u * 3)
    for name in ("a new expression", "after a restart"):
        with connect() as c:
            c.add(x, x)
            start = time.perf_counter()
            c.run(p, x)
            first = (time.perf_counter() - start) * 1e3
            second = wall_ms(lambda c=c: c.run(p, x), 1)
            steady = wall_ms(lambda c=c: c.run(p, x), 200)
        print(f"{name}: first {first:.2f} ms, second {second:.3f}, steady {steady:.3f}")


class Server:
    """A server on a Unix socket in a folder of its own."""

    def __init__(self, folder: str, device: str) -> None:
        self.folder, self.device = folder, device

    def __enter__(self) -> gpucall.Client:
        ready = Path(self.folder, "ready")
        ready.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [
                "gpucall-server",
                f"--listen=unix:{self.folder}/s",
                f"--device={self.device}",
                f"--port_file={ready}",
                "--log_level=warning",
            ],
            env={**os.environ, "XDG_CACHE_HOME": self.folder},
        )
        while not ready.exists():
            if self.process.poll() is not None:
                raise SystemExit("the server did not start")
            time.sleep(0.02)
        self.client = gpucall.connect(f"unix:{self.folder}/s", timeout=120)
        return self.client

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.process.terminate()
        self.process.wait()


SECTIONS = {
    f.__name__: f for f in (elementwise, reductions, filters, network, small_matmuls)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto")
    parser.add_argument("sections", nargs="*", metavar="SECTION")
    arguments = parser.parse_args()
    wanted = arguments.sections or [*SECTIONS, "compile"]
    with tempfile.TemporaryDirectory() as folder:
        for name in wanted:
            try:
                if name == "compile":
                    compile_times(lambda: Server(folder, arguments.device))
                else:
                    with Server(folder, arguments.device) as client:
                        SECTIONS[name](client)
            except (gpucall.Error, AttributeError, RuntimeError) as error:
                print(f"{name}: {error!r}", file=sys.stderr)


if __name__ == "__main__":
    main()
