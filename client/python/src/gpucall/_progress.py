"""How far transfers are, for callers who want to know."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Progress:
    """Adds up the bytes of transfers for a callback, if there is one. Thread-safe."""

    def __init__(self, callback: Callable[[int, int], object] | None) -> None:
        self._callback = callback
        self._lock = threading.Lock()
        self._done = 0
        self._in_all = 0
        self._error: BaseException | None = None

    def expect(self, size_bytes: int) -> None:
        """So many more will be moved."""
        with self._lock:
            self._in_all += size_bytes

    def moved(self, size_bytes: int) -> bool:
        """So many more have been. False: the callback has raised, move no more."""
        if self._callback is None:
            return True
        with self._lock:
            if self._error is not None:
                return False
            self._done = min(self._done + size_bytes, self._in_all)
            try:
                self._callback(self._done, self._in_all)
            except BaseException as error:  # noqa: BLE001  # check raises it
                self._error = error
            return self._error is None

    def check(self) -> None:
        """Raise what the callback has raised."""
        with self._lock:
            error, self._error = self._error, None
        if error is not None:
            raise error


NOT_WANTED = Progress(None)
_CURRENT: ContextVar[Progress] = ContextVar("gpucall_progress", default=NOT_WANTED)


@contextmanager
def progress(callback: Callable[[int, int], object]) -> Iterator[None]:
    """Tell `callback` how far the large arrays are that this block sends and receives.

    Those of calls made by this thread or asyncio task and too large for one message;
    small ones, and ones in memory shared with the server, are not counted.

    Parameters
    ----------
    callback : callable
        Called with the bytes moved in the block so far, and with those of all its
        transfers that are known by then. It runs on other threads too, one at a time,
        and should be quick. What it raises ends the transfer and is raised by the call.

    Examples
    --------
    >>> with gpucall.progress(lambda done, in_all: print(f"{done / in_all:.0%}")):
    ...     x = c.put(np.zeros(6 << 20, np.uint8))
    17%
    33%
    50%
    67%
    83%
    100%
    """
    token = _CURRENT.set(Progress(callback))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current() -> Progress:
    """That of the block that the caller is in."""
    return _CURRENT.get()
