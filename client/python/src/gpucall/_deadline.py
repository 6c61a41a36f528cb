"""Ends of timeouts."""

from __future__ import annotations

import time

from gpucall._error import expired


class Deadline:
    """The end of a timeout, in seconds, that begins now; None: no limit."""

    def __init__(self, timeout: float | None) -> None:
        self._timeout = timeout
        self._end = None if timeout is None else time.monotonic() + timeout

    def left(self) -> float | None:
        """Seconds. Error DEADLINE_EXCEEDED: none."""
        if self._end is None:
            return None
        left = self._end - time.monotonic()
        if left <= 0:
            raise expired(self._timeout)
        return left
