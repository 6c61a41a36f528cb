"""A tensor larger than any message goes through a stream, and the server holds only a part of it.

GPUCALL_TEST_STREAM_BYTES says how large; 3221225472 is past what 32 bits count.
"""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gpucall import _wire
from gpucall._tensors import encode_chunk, read_stream_reply
from server_process import ServerProcess

STREAM_BYTES = int(os.environ.get("GPUCALL_TEST_STREAM_BYTES", "1073741824"))
CHUNK_BYTES = 1 << 20
# Blocks on their way in and out, what gRPC buffers of both and the allocator keeps: some 100 MB of
# either size, and more for a moment where the processors have other work. All would be 2 GiB.
MOST_BYTES = 512 << 20


def chunk_of(number: int) -> Any:
    """The elements of a chunk: no two alike, and cheap to make."""
    numbers = np.arange(CHUNK_BYTES // 4, dtype=np.uint32)
    return numbers * np.uint32(2654435761) + np.uint32(number)


def requests(operation: str) -> Iterator[bytes]:
    program = _wire.Program(
        operations=[
            _wire.Operation(elementwise=_wire.ELEMENTWISE_OPS[operation], inputs=[0])
        ]
    )
    tensor = _wire.Tensor(
        dtype=_wire.DTYPES["uint32"],
        shape=[STREAM_BYTES // 4],
        streamed=_wire.Streamed(),
    )
    start = _wire.RunStreamStart(program=program, inputs=[tensor])
    yield _wire.RunStreamRequest(start=start).SerializeToString()
    for i in range(STREAM_BYTES // CHUNK_BYTES):
        data = memoryview(chunk_of(i).view(np.uint8).data)
        yield encode_chunk(0, i * CHUNK_BYTES, data)


class Watch:
    """The most memory that a server has between start and stop."""

    def __init__(self, server: ServerProcess) -> None:
        self._server = server
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self.most = 0

    def _look(self) -> None:
        while not self._over.wait(0.01):
            self.most = max(self.most, self._server.resident_bytes())

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()


@pytest.mark.skipif(
    "ASAN_OPTIONS" in os.environ, reason="AddressSanitizer keeps what is freed"
)
def test_memory_does_not_grow_with_the_tensor(
    start_server: Callable[..., ServerProcess],
) -> None:
    server = start_server()
    server.check_alive()
    before = server.resident_bytes()
    stream: Any = server.channel.stream_stream(_wire.RUN_STREAM, None, None)
    right, got, received = 0, 0, 0
    for i in range(STREAM_BYTES // CHUNK_BYTES):
        right = zlib.crc32((~chunk_of(i)).tobytes(), right)
    watch = Watch(server)
    watch.start()
    for message in stream(requests("bitwise_invert"), timeout=600):
        result, chunk = read_stream_reply(message)
        if result is not None:
            assert list(result.outputs[0].shape) == [STREAM_BYTES // 4]
        if chunk is not None:
            number, offset, data = chunk
            assert number == 0 and offset == received  # in order, nothing twice
            got = zlib.crc32(data, got)
            received += len(data)
    watch.stop()
    assert received == STREAM_BYTES and got == right
    print(f"{STREAM_BYTES} bytes, grown by at most {watch.most - before}")
    assert watch.most - before < MOST_BYTES
    server.check_alive()
