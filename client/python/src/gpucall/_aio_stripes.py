"""Large arrays over several connections, for the asyncio client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import grpc
import grpc.aio

from gpucall import _progress, _wire
from gpucall._aio_status import server_status
from gpucall._channel import connection_count, further_channel_options
from gpucall._deadline import Deadline
from gpucall._residents import Part, Reading, Writing, parts_of
from gpucall._tensors import Array


class Connection:
    """The methods of one channel that move bytes."""

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.channel = channel
        self.write: Any = channel.stream_unary(_wire.WRITE, None, None)
        self.read: Any = channel.unary_stream(_wire.READ, None, None)


Move = Callable[[Connection, Part], Coroutine[Any, Any, None]]


class Stripes:
    """As gpucall._stripes.Stripes."""

    def __init__(
        self, target: str, channel: grpc.aio.Channel, wanted: int | None
    ) -> None:
        self._target = target
        self._connections = [Connection(channel)]
        self._count = connection_count(target, wanted)
        self._busy = False  # the further ones are in use

    async def write(self, handle: bytes, array: Array, deadline: Deadline) -> None:
        """Fill an array on the server, of which nothing is written yet."""
        progress = _progress.current()
        writing = Writing(handle, array, progress)

        async def move(connection: Connection, part: Part) -> None:
            call = connection.write(writing.messages(part), timeout=deadline.left())
            async with server_status(call):
                await call

        try:
            await self._move(array.nbytes, move)
        finally:
            progress.check()

    async def read(
        self, handle: bytes, shape: tuple[int, ...], dtype: Any, deadline: Deadline
    ) -> Array:
        """The elements of an array on the server."""
        reading = Reading(handle, shape, dtype, _progress.current())

        async def move(connection: Connection, part: Part) -> None:
            request = reading.request(part)
            async for message in connection.read(request, timeout=deadline.left()):
                reading.add(message)

        await self._move(reading.array.nbytes, move)
        return reading.array

    async def close(self) -> None:
        """End what is under way on the further connections."""
        for connection in self._connections[1:]:
            await connection.channel.close(None)

    async def _move(self, size_bytes: int, move: Move) -> None:
        parts = parts_of(size_bytes, 1 if self._busy else self._count)
        if len(parts) == 1:
            await move(self._connections[0], parts[0])
            return
        self._busy = True
        try:
            self._open(len(parts))
            works = zip(self._connections[: len(parts)], parts, strict=True)
            tasks = [asyncio.ensure_future(self._one(*work, move)) for work in works]
            try:
                await asyncio.gather(*tasks)
            finally:  # where one has failed the others end too
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            self._busy = False

    async def _one(self, connection: Connection, part: Part, move: Move) -> None:
        try:
            await move(connection, part)
        except grpc.RpcError as error:
            first = connection is self._connections[0]
            if first or error.code() is not grpc.StatusCode.NOT_FOUND:
                raise
            self._count = 1  # another server answers there
            await move(self._connections[0], part)

    def _open(self, count: int) -> None:
        while len(self._connections) < count:
            options = further_channel_options(self._target, len(self._connections))
            channel = grpc.aio.insecure_channel(self._target, options)
            self._connections.append(Connection(channel))
