"""Requests that wait for a lane together, and so share batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import grpc
import numpy as np

from gpucall import _wire
from gpucall._tensors import decode_reply, encode_request
from server_process import DEVICE


@dataclass(frozen=True)
class Reply:
    """Arrays and the Receipt message, or None, of a call; or code and message."""

    arrays: list[Any]
    receipt: Any = None
    error: tuple[grpc.StatusCode, str] | None = None


# Medians of 15 x 15, one after the other, in a slow call: enough for some tens of
# milliseconds.
SLOW_STEPS = 1 if DEVICE == "cpu" else 100


def slow_request(rows: int = 1400, repeat: int = 1) -> tuple[str, bytes]:
    """A call that keeps a lane busy for a time that grows with `rows` and `repeat`."""
    image = np.random.default_rng(0).random((rows, 512), np.float32)
    median = _wire.Filter(median={"size": [15]})
    steps = range(SLOW_STEPS * repeat)
    operations = [_wire.Operation(filter=median, inputs=[i]) for i in steps]
    head = _wire.RunRequest(program=_wire.Program(operations=operations))
    return _wire.RUN, encode_request(head, [(2, image)])


def start(channel: grpc.Channel, path: str, request: bytes, timeout: float = 60) -> Any:
    """The call's future."""
    return channel.unary_unary(path, None, None).future(request, timeout=timeout)


def finish(future: Any) -> Reply:
    try:
        return Reply(*decode_reply(future.result()))
    except grpc.RpcError as error:
        return Reply([], error=(error.code(), error.details() or ""))


def send_together(
    channel: grpc.Channel, requests: Sequence[tuple[str, bytes]]
) -> list[Reply]:
    """The replies to requests that are all in flight at once."""
    futures = [start(channel, path, request) for path, request in requests]
    return [finish(future) for future in futures]


def gathered(
    channel: grpc.Channel, requests: Sequence[tuple[str, bytes]]
) -> list[Reply]:
    """The replies to requests that come while the server's only lane is busy.

    On a loaded machine the lane may be free again before most have come: then they are
    sent once more, behind a slower call.
    """
    replies: list[Reply] = []
    for rows in (300, 1400, 5600):
        slow = start(channel, *slow_request(rows))
        replies = send_together(channel, requests)
        assert finish(slow).error is None
        sizes = [reply.receipt.batch_size for reply in replies if reply.receipt]
        if max(sizes, default=0) * 2 >= len(requests):
            break
    return replies
