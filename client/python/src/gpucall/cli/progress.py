"""A bar for transfers that take a while."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

import gpucall

SHOW_AFTER_SECONDS = 1.0


@contextmanager
def progress_bar() -> Iterator[None]:
    """Show how far the block's transfers are, on standard error where it is a terminal.

    The bar appears when they have taken a second, and is gone after the block.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn())
    display = Progress(*columns, TimeRemainingColumn(), console=console, transient=True)
    task = display.add_task("")
    began: float | None = None

    def show(done: int, in_all: int) -> None:
        nonlocal began
        began = began or time.monotonic()
        display.update(task, completed=done, total=in_all)
        if time.monotonic() - began >= SHOW_AFTER_SECONDS:
            display.start()

    try:
        with gpucall.progress(show):
            yield
    finally:
        display.stop()
