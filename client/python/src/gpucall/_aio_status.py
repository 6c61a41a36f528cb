"""The status that a server sent, where grpc.aio puts INTERNAL in its place.

A server that refuses a stream ends the call while its client still writes. That write fails, and
grpc.aio says INTERNAL for it, also where the server's status is there already or comes a moment
later (grpc/grpc issue 36066).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio

_REPLACEMENT = "Internal error from Core"
_WAIT_S = 1.0


@asynccontextmanager
async def server_status(call: Any) -> AsyncIterator[None]:
    """Around what awaits `call`, which sends a stream: raises the server's own status."""
    statuses: list[tuple[grpc.StatusCode, str]] = []
    changed = asyncio.Event()

    def note(call: Any) -> None:  # at each status that the call is given
        code, details = _result(call.code()), _result(call.details())
        if details != _REPLACEMENT:
            statuses.append((code, details))
            changed.set()

    call.add_done_callback(note)
    try:
        yield
    except grpc.aio.AioRpcError as error:
        if error.details() != _REPLACEMENT:
            raise
        try:
            await asyncio.wait_for(changed.wait(), _WAIT_S)
        except asyncio.TimeoutError:
            raise error from None
        none = grpc.aio.Metadata()
        raise grpc.aio.AioRpcError(
            statuses[0][0], none, none, statuses[0][1], None
        ) from None


def _result(finished: Coroutine[Any, Any, Any]) -> Any:
    """The result of a coroutine that has nothing to wait for."""
    try:
        finished.send(None)
    except StopIteration as stop:
        return stop.value
    finished.close()
    raise AssertionError("a finished call has a status")
