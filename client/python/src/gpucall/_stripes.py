"""Large arrays to a server and back, over several connections where that is faster."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

import grpc

from gpucall import _progress, _wire
from gpucall._channel import connection_count, further_channel_options, is_local
from gpucall._deadline import Deadline
from gpucall._residents import Part, Reading, Writing, parts_of
from gpucall._tensors import Array


class Connection:
    """The methods of one channel that move bytes."""

    def __init__(self, channel: grpc.Channel) -> None:
        self.channel = channel
        self.write: Any = channel.stream_unary(_wire.WRITE, None, None)
        self.read: Any = channel.unary_stream(_wire.READ, None, None)


class Calls:
    """Calls under way, to be cancelled together. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: list[Any] = []
        self._cancelled = False

    def add(self, call: Any) -> Any:
        """The call, cancelled where the others are."""
        with self._lock:
            self._calls.append(call)
            if self._cancelled:
                call.cancel()
        return call

    def cancel(self) -> None:
        with self._lock:
            self._cancelled = True
            for call in self._calls:
                call.cancel()


# Moves a part over a connection, with its call among the calls.
Move = Callable[[Connection, Part, Calls], None]


class Stripes:
    """Writes and reads the bytes of arrays on a server. Thread-safe.

    The further connections are for one transfer at a time, and others under way then do
    with the first: a client has never more threads of its own than connections. They are
    made with the first array that is large enough. Where they turn out to lead elsewhere,
    as through a load balancer, they are not used again.

    `write` and `read` raise grpc.RpcError, that of the first connection to fail. By then
    nothing is under way any more.
    """

    def __init__(self, target: str, channel: grpc.Channel, wanted: int | None) -> None:
        self._target = target
        self._is_local = is_local(target)
        self._connections = [Connection(channel)]
        self._count = connection_count(target, wanted)
        self._further = threading.Lock()  # held by who uses the further ones
        self._closed = False

    def serve_call(self, sent: Sequence[int], result: int) -> bool:
        """Whether a call had better put its arrays, and get its result, than stream both.

        A stream moves both ways at a time over one connection; puts and gets move one way
        after the other over several. On one host, where the processors are what limits,
        that is not faster (docs/transfers.md); else it is reckoned from the bytes, with a
        margin for what it costs beside.
        """
        connections = len(parts_of(max(*sent, result), self._count))
        one_stream = max(sum(sent), result)
        several = (sum(sent) + result) / connections
        return not self._is_local and several * 1.25 < one_stream

    def write(self, handle: bytes, array: Array, deadline: Deadline) -> None:
        """Fill an array on the server, of which nothing is written yet."""
        progress = _progress.current()
        writing = Writing(handle, array, progress)

        def move(connection: Connection, part: Part, calls: Calls) -> None:
            messages = writing.messages(part)
            calls.add(
                connection.write.future(messages, timeout=deadline.left())
            ).result()

        try:
            self._move(array.nbytes, move)
        finally:
            progress.check()

    def read(
        self, handle: bytes, shape: tuple[int, ...], dtype: Any, deadline: Deadline
    ) -> Array:
        """The elements of an array on the server."""
        reading = Reading(handle, shape, dtype, _progress.current())

        def move(connection: Connection, part: Part, calls: Calls) -> None:
            call = connection.read(reading.request(part), timeout=deadline.left())
            for message in calls.add(call):
                reading.add(message)

        self._move(reading.array.nbytes, move)
        return reading.array

    def close(self) -> None:
        """End what is under way, but for the first connection, which is not its own."""
        self._closed = True
        for connection in self._connections[1:]:
            connection.channel.close()

    def _move(self, size_bytes: int, move: Move) -> None:
        calls = Calls()
        with self._use(len(parts_of(size_bytes, self._count))) as connections:
            parts = parts_of(size_bytes, len(connections))
            try:
                if len(parts) == 1:
                    move(connections[0], parts[0], calls)
                else:
                    self._move_parts(connections, parts, move, calls)
            except BaseException:
                calls.cancel()
                raise

    def _move_parts(
        self,
        connections: list[Connection],
        parts: list[Part],
        move: Move,
        calls: Calls,
    ) -> None:
        def one(connection: Connection, part: Part) -> None:
            try:
                move(connection, part, calls)
            except grpc.RpcError as error:
                first = connection is connections[0]
                if first or error.code() is not grpc.StatusCode.NOT_FOUND:
                    raise
                self._count = 1  # another server answers there
                move(connections[0], part, calls)

        with ThreadPoolExecutor(len(parts), "gpucall-stripe") as pool:
            try:
                works = [
                    pool.submit(one, connection, part)
                    for connection, part in zip(connections, parts, strict=True)
                ]
                _raise_first(wait(works, return_when=FIRST_EXCEPTION).done)
            except BaseException:
                calls.cancel()  # before the pool waits for its threads
                raise

    @contextmanager
    def _use(self, count: int) -> Iterator[list[Connection]]:
        """So many connections, or the first alone."""
        if count == 1 or not self._further.acquire(blocking=False):
            yield self._connections[:1]
            return
        try:
            while len(self._connections) < count and not self._closed:
                options = further_channel_options(self._target, len(self._connections))
                channel = grpc.insecure_channel(self._target, options)
                self._connections.append(Connection(channel))
            yield self._connections[:count]
        finally:
            self._further.release()


def _raise_first(works: set[Future[None]]) -> None:
    for work in works:
        work.result()
