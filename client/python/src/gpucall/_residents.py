"""Messages that move arrays to a server and back, apart from how they are sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gpucall import _wire
from gpucall._progress import Progress
from gpucall._remote import RemoteRef
from gpucall._request import CHUNK_BYTES, Request
from gpucall._tensors import (
    Array,
    byte_view,
    dtype_number,
    encode_chunk,
    read_stream_reply,
)

# Larger arrays go in chunks (tests/bench/python_transport.py).
MAX_PUT_BYTES = 2 << 20
MAX_GET_BYTES = 1 << 19

# A connection of its own is worth its cost to so many bytes (the same).
STRIPE_BYTES = 8 << 20

_IDENTITY = _wire.Program(outputs=[0])

Part = tuple[int, int]  # offset and size in bytes


def parts_of(size_bytes: int, connections: int) -> list[Part]:
    """What each connection carries of an array: whole chunks, but at the end."""
    count = max(min(connections, size_bytes // STRIPE_BYTES), 1)
    chunks = -(-size_bytes // CHUNK_BYTES)
    ends = [
        min(chunks * (i + 1) // count * CHUNK_BYTES, size_bytes) for i in range(count)
    ]
    return [(first, end - first) for first, end in zip([0, *ends], ends, strict=False)]


def put_request(array: Array, session: bytes) -> Request:
    """A Put."""
    head = _wire.PutRequest(options=_wire.CallOptions(session=session))
    return Request(_wire.PUT, head, [(1, array)], _IDENTITY)


def fetch_request(array: RemoteRef) -> Request:
    """A call whose result is `array`: what a Get is, where it may be in shared memory."""
    head = _wire.RunRequest(program=_IDENTITY)
    tensor: Any = array
    return Request(_wire.RUN, head, [(2, tensor)], _IDENTITY)


def create_request(array: Array, session: bytes) -> bytes:
    """A CreateRequest for an array like this one."""
    request = _wire.CreateRequest(
        dtype=dtype_number(array.dtype), shape=array.shape, session=session
    )
    data: bytes = request.SerializeToString()
    return data


def read_request(handle: bytes, part: Part) -> bytes:
    """A ReadRequest."""
    request = _wire.ReadRequest(handle=handle, offset=part[0], size_bytes=part[1])
    data: bytes = request.SerializeToString()
    return data


class Writing:
    """Makes the messages of the Writes that fill an array on a server."""

    def __init__(self, handle: bytes, array: Array, progress: Progress) -> None:
        self._handle = handle
        self._bytes = byte_view(array)
        self._progress = progress
        progress.expect(len(self._bytes))

    def messages(self, part: Part) -> Iterator[bytes]:
        """Those of one Write, each made when it is asked for."""
        first, size = part
        start = _wire.WriteStart(handle=self._handle, offset=first, size_bytes=size)
        yield _wire.WriteRequest(start=start).SerializeToString()
        for offset in range(first, first + size, CHUNK_BYTES):
            end = min(offset + CHUNK_BYTES, first + size)
            yield encode_chunk(0, offset, self._bytes[offset:end])
            if not self._progress.moved(end - offset):
                return  # which the server refuses


class Reading:
    """Puts the messages of the Reads of an array together."""

    def __init__(
        self, handle: bytes, shape: tuple[int, ...], dtype: Any, progress: Progress
    ) -> None:
        self.array: Array = np.empty(shape, dtype)
        self._handle = handle
        self._bytes = self.array.reshape(-1).view(np.uint8)
        self._progress = progress
        progress.expect(self.array.nbytes)

    def request(self, part: Part) -> bytes:
        return read_request(self._handle, part)

    def add(self, message: bytes) -> None:
        """Take the next message of any of them. Raises what a progress callback has."""
        _, chunk = read_stream_reply(message)
        if chunk is not None:
            _, offset, data = chunk
            # NumPy lets other threads run while it copies.
            self._bytes[offset : offset + len(data)] = np.frombuffer(data, np.uint8)
            if not self._progress.moved(len(data)):
                self._progress.check()
