"""The main job, on a real photograph and arrays, checked against NumPy and SciPy.

Starts the server that GPUCALL_SERVER_BINARY names (or uses --server), sends it image
filters, a Program, fused arithmetic, and 512 small matrix products from 16 clients at
once; prints a table and saves a picture of before and after. The server it started ends
with it.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.ndimage
from local_server import server_process
from pictures import photograph, save_panels
from rich.console import Console
from rich.table import Table

import gpucall

Array = npt.NDArray[Any]

CLIENTS, PRODUCTS = 16, 512
SHARPEN = np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]], np.float32)


@dataclass(frozen=True)
class Check:
    """What the comparison with NumPy or SciPy said."""

    right: bool
    error: float
    allowed: str


@dataclass(frozen=True)
class Row:
    """One line of the table; the error is in units of the result, times are of one call."""

    operation: str
    shape: str
    device: str
    round_trip_ms: float
    compute_ms: float
    batch: str
    check: Check


def measured(
    name: str,
    shape: str,
    call: Callable[[], Array],
    check: Callable[[Array], Check],
) -> tuple[Row, Array]:
    """A Row of the quickest of five calls, and the result."""
    times, results = [], []
    with gpucall.receipts() as receipts:
        for _ in range(5):
            start = time.perf_counter()
            results.append(call())
            times.append((time.perf_counter() - start) * 1e3)
    best = int(np.argmin(times))
    receipt = receipts[best]
    row = Row(
        operation=name,
        shape=shape,
        device=receipt.device,
        round_trip_ms=times[best],
        compute_ms=receipt.compute_ns / 1e6,
        batch=str(receipt.batch_size),
        check=min((check(result) for result in results), key=lambda c: c.right),
    )
    return row, results[0]


def within(got: Array, right: Array, allowed: float) -> Check:
    error = float(np.abs(got - right).max())
    return Check(error <= allowed, error, f"{allowed:.2g}")


def rounded(got: Array, exact: Array) -> Check:
    """Against `exact` rounded half to even and saturated.

    1 off is right only where the exact value is so near a half that float32 sums cannot
    say which way it goes.
    """
    wrong = np.abs(got - np.clip(np.rint(exact), 0, 255))
    tie = np.abs(exact - np.floor(exact) - 0.5) < 255 * 1e-6
    right = bool(np.all((wrong == 0) | (tie & (wrong == 1))))
    return Check(right, float(wrong.max()), "0; 1 at ties")


def channels(function: Callable[..., Array], image: Array, *args: Any) -> Array:
    """A scipy.ndimage filter in float64, on each channel."""
    planes = np.moveaxis(image.astype(np.float64), -1, 0)
    return np.stack([function(plane, *args) for plane in planes], axis=-1)


def size_text(array: Array) -> str:
    return " x ".join(map(str, array.shape)) + f" {array.dtype}"


def filters(
    c: gpucall.Client, photo: Array
) -> tuple[list[Row], list[tuple[str, Array]]]:
    """Filters of a colour photograph: rows, and titled pictures."""
    rng = np.random.default_rng(0)
    noisy = photo.copy()
    hit = rng.random(photo.shape[:2])
    noisy[hit < 0.05], noisy[hit > 0.95] = 0, 255

    def filtered(
        name: str, image: Array, call: Callable[[], Array], *exact: Any
    ) -> tuple[Row, Array]:
        right = channels(exact[0], image, *exact[1:])
        shape = size_text(image)
        return measured(name, shape, call, lambda got: rounded(got, right))

    smooth = filtered(
        "gaussian, sigma 3",
        photo,
        lambda: c.gaussian(photo, sigma=3),
        scipy.ndimage.gaussian_filter,
        3,
    )
    middle = filtered(
        "median, 5 x 5",
        noisy,
        lambda: c.median(noisy, size=5),
        scipy.ndimage.median_filter,
        5,
    )
    sharp = filtered(
        "convolve, 3 x 3",
        photo,
        lambda: c.convolve(photo, SHARPEN),
        scipy.ndimage.convolve,
        SHARPEN,
    )
    pictures = [
        ("Gaussian, sigma 3", smooth[1]),
        ("noise added", noisy),
        ("median, 5 x 5", middle[1]),
        ("sharpened, 3 x 3 kernel", sharp[1]),
    ]
    return [smooth[0], middle[0], sharp[0]], pictures


def edges(c: gpucall.Client, photo: Array) -> tuple[Row, Array]:
    """The Sobel magnitude of a gray photograph: one Program, one round trip."""
    gray = photo.mean(axis=2, dtype=np.float32)
    p = gpucall.Program()
    image = p.input()
    dx, dy = p.sobel(image, axis=1), p.sobel(image, axis=0)
    p.output(np.sqrt(dx * dx + dy * dy))

    exact = gray.astype(np.float64)
    right = np.hypot(scipy.ndimage.sobel(exact, 1), scipy.ndimage.sobel(exact, 0))
    allowed = float(right.max()) * 1e-6
    row, got = measured(
        "Sobel magnitude (Program of 6)",
        size_text(gray),
        lambda: c.run(p, gray),
        lambda result: within(result, right, allowed),
    )
    return row, np.clip(got / 4, 0, 255).astype(np.uint8)


def arithmetic(c: gpucall.Client) -> list[Row]:
    """Elementwise work on a million elements: one operation, and a fused chain."""
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal(1_000_000, np.float32) for _ in range(2))
    p = gpucall.Program()
    a, b = p.input(), p.input()
    p.output(np.tanh(a * 2 + 1) * np.exp(-b * b) + np.maximum(a, 0))

    wide_x, wide_y = x.astype(np.float64), y.astype(np.float64)
    chain = np.tanh(wide_x * 2 + 1) * np.exp(-wide_y * wide_y) + np.maximum(wide_x, 0)
    rows = [
        measured(
            "add",
            size_text(x),
            lambda: c.add(x, y),
            lambda got: within(got, x + y, 0),
        ),
        measured(
            "tanh(2x+1) exp(-yy) + max(x,0)",
            size_text(x),
            lambda: c.run(p, x, y),
            lambda got: within(got, chain, 2e-6),
        ),
    ]
    return [row for row, _ in rows]


def products(target: str) -> Row:
    """512 products of 64 x 64 matrices, from 16 clients at once."""
    rng = np.random.default_rng(2)
    a, b = (rng.standard_normal((PRODUCTS, 64, 64), np.float32) for _ in range(2))

    def work(caller: int) -> tuple[list[Array], list[gpucall.Receipt]]:
        with gpucall.connect(target) as client, gpucall.receipts() as receipts:
            mine = range(caller, PRODUCTS, CLIENTS)
            return [client.matmul(a[i], b[i]) for i in mine], receipts

    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(work, range(CLIENTS)))  # warms up
        start = time.perf_counter()
        replies = list(pool.map(work, range(CLIENTS)))
        milliseconds = (time.perf_counter() - start) * 1e3
    got = np.empty_like(a)
    for caller, (results, _) in enumerate(replies):
        got[caller::CLIENTS] = results
    receipts = [receipt for _, mine in replies for receipt in mine]
    sizes = [receipt.batch_size for receipt in receipts]
    exact = np.matmul(a.astype(np.float64), b.astype(np.float64))
    bound = np.matmul(np.abs(a), np.abs(b)).max() * 64 * np.finfo(np.float32).eps
    return Row(
        operation=f"matmul, {PRODUCTS} calls, {CLIENTS} clients",
        shape="64 x 64 float32",
        device=receipts[0].device,
        round_trip_ms=milliseconds / PRODUCTS,
        compute_ms=sum(r.compute_ns / r.batch_size for r in receipts) / 1e6 / PRODUCTS,
        batch=f"{np.mean(sizes):.1f} (at most {max(sizes)})",
        check=within(got, exact, float(bound)),
    )


def show(rows: list[Row]) -> None:
    table = Table(title="gpucall: each result against NumPy and SciPy")
    for column in ("operation", "shape", "device"):
        table.add_column(column)
    for column in ("ms a call", "ms computing", "batch", "largest error", "allowed"):
        table.add_column(column, justify="right")
    table.add_column("")
    for row in rows:
        table.add_row(
            row.operation,
            row.shape,
            row.device,
            f"{row.round_trip_ms:.3f}",
            f"{row.compute_ms:.3f}",
            row.batch,
            f"{row.check.error:.2g}",
            row.check.allowed,
            "right" if row.check.right else "[bold red]WRONG[/bold red]",
        )
    width = None if sys.stdout.isatty() else 150
    Console(width=width).print(table)


def demo(target: str, photo: Array, folder: Path) -> bool:
    """Runs everything; whether all results are right."""
    with gpucall.connect(target, timeout=120) as c:
        info = c.info()
        print(f"gpucall {info.version} at {target}: {info.device_choice}", flush=True)
        rows, pictures = filters(c, photo)
        row, edge_picture = edges(c, photo)
        rows = [*rows, row, *arithmetic(c), products(target)]
    show(rows)
    pictures = [("the photograph", photo), ("Sobel magnitude", edge_picture), *pictures]
    path = save_panels(folder / "demo.png", pictures)
    print(f"before and after: {path}")
    right = all(row.check.right for row in rows)
    print("every result is right" if right else "some results are WRONG")
    return right


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", help="use this server, host:port; start none")
    parser.add_argument("--photo", type=Path, help="an image file of your own")
    parser.add_argument("--output", type=Path, default=Path("out"), help="folder")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        photo = photograph(arguments.photo)
        if arguments.server:
            right = demo(arguments.server, photo, arguments.output)
        else:
            with server_process() as target:
                right = demo(target, photo, arguments.output)
    except KeyboardInterrupt:
        sys.exit(130)
    except (gpucall.Error, OSError) as error:
        sys.exit(f"demo: {error}")
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
