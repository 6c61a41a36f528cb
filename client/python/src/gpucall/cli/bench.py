"""Measurements of a server from one client process."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

import gpucall


@dataclass(frozen=True)
class Row:
    """One measurement; `gigabytes_per_second` counts inputs and outputs."""

    call: str
    callers: int
    p50_ms: float
    p99_ms: float
    calls_per_second: float
    gigabytes_per_second: float | None
    mean_batch: float | None
    device: str


def measure(
    client: gpucall.Client, seconds: float, callers: int, megabytes: int
) -> list[Row]:
    """The latency of small calls, their rate from many threads, a large call's throughput."""
    small = np.ones(256, np.float32)
    large = np.ones(megabytes * 250_000, np.float32)
    return [
        _time("empty", lambda: client.info(), seconds),
        _time("add, 1 KiB", lambda: client.add(small, small), seconds),
        _time("add, 1 KiB", lambda: client.add(small, small), seconds, callers),
        _time(
            f"add, {megabytes} MB",
            lambda: client.add(large, large),
            seconds,
            size_bytes=3 * large.nbytes,
        ),
    ]


def cells(row: Row) -> list[str]:
    """A Row as text, in the order of its fields."""
    rate = row.gigabytes_per_second
    return [
        row.call,
        str(row.callers),
        f"{row.p50_ms:.3f}",
        f"{row.p99_ms:.3f}",
        f"{row.calls_per_second:,.0f}",
        "-" if rate is None else f"{rate:.2f}",
        "-" if row.mean_batch is None else f"{row.mean_batch:.1f}",
        row.device or "-",
    ]


def _time(
    name: str,
    call: Callable[[], object],
    seconds: float,
    callers: int = 1,
    size_bytes: int | None = None,
) -> Row:
    for _ in range(3):
        call()
    start = time.perf_counter()
    with ThreadPoolExecutor(callers) as pool:
        works = [pool.submit(_repeat, call, start + seconds) for _ in range(callers)]
    spent = time.perf_counter() - start
    times = [t for work in works for t in work.result()[0]]
    receipts = [r for work in works for r in work.result()[1]]
    p50, p99 = np.percentile(times, [50, 99]) * 1e3
    return Row(
        call=name,
        callers=callers,
        p50_ms=float(p50),
        p99_ms=float(p99),
        calls_per_second=len(times) / spent,
        gigabytes_per_second=size_bytes and size_bytes * len(times) / spent / 1e9,
        mean_batch=float(np.mean([r.batch_size for r in receipts]))
        if receipts
        else None,
        device=receipts[0].device if receipts else "",
    )


def _repeat(
    call: Callable[[], object], end: float
) -> tuple[list[float], list[gpucall.Receipt]]:
    """Seconds and receipt of each call, one after the other until `end`."""
    times = []
    with gpucall.receipts() as receipts:
        while (start := time.perf_counter()) < end:
            call()
            times.append(time.perf_counter() - start)
    return times, receipts
