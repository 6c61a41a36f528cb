"""Messages that move arrays to a server and back, apart from how they are sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gpucall import _wire
from gpucall._request import CHUNK_BYTES
from gpucall._tensors import (
    Array,
    byte_view,
    dtype_number,
    encode_chunk,
    encode_request,
    read_stream_reply,
)


def put_request(array: Array, session: bytes) -> bytes:
    """A PutRequest."""
    options = _wire.CallOptions(session=session)
    return encode_request(_wire.PutRequest(options=options), [(1, array)])


def create_request(array: Array, session: bytes) -> bytes:
    """A CreateRequest for an array like this one."""
    request = _wire.CreateRequest(
        dtype=dtype_number(array.dtype), shape=array.shape, session=session
    )
    data: bytes = request.SerializeToString()
    return data


def write_requests(handle: bytes, array: Array) -> Iterator[bytes]:
    """The messages of a Write of all of `array`, each made when it is asked for."""
    start = _wire.WriteStart(handle=handle)
    yield _wire.WriteRequest(start=start).SerializeToString()
    data = byte_view(array)
    for offset in range(0, len(data), CHUNK_BYTES):
        yield encode_chunk(0, offset, data[offset : offset + CHUNK_BYTES])


class Reading:
    """Puts the messages of a Read together."""

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.array: Array = np.empty(shape, dtype)
        self._bytes = byte_view(self.array)

    def add(self, message: bytes) -> None:
        """Take the next message."""
        _, chunk = read_stream_reply(message)
        if chunk is not None:
            _, offset, data = chunk
            self._bytes[offset : offset + len(data)] = data
