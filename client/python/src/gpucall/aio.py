"""The asyncio client: gpucall's operations as coroutines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, final

import grpc
import grpc.aio
import numpy.typing as npt

from gpucall import _info, _wire
from gpucall._channel import channel_options, full_target
from gpucall._elementwise import Elementwise
from gpucall._error import Error, expired, from_rpc
from gpucall._filters import Filters
from gpucall._operations import Call, MatMul
from gpucall._program import Program
from gpucall._request import (
    Request,
    StreamReply,
    request_of_call,
    request_of_run,
    result_is_too_large,
)
from gpucall._tensors import Array, decode_reply

Result = Coroutine[Any, Any, Array]


def connect(
    target: str, *, timeout: float | None = None, max_in_flight: int = 64
) -> Client:
    """A client of the server at `target`, for the running event loop.

    Parameters
    ----------
    target : str
        "host:port", "host" (port 7625), "unix:/path", or any other gRPC name.
    timeout : float, optional
        Seconds that a call may take, with its wait for a place; None: no limit.
    max_in_flight : int
        Calls under way at once. Others wait, before their arrays are copied into a
        request: thousands of calls may be started together in bounded memory.

    Examples
    --------
    >>> async def main():
    ...     async with gpucall.aio.connect(target) as client:
    ...         return await client.add(np.float32([1, 2]), 3)
    >>> asyncio.run(main())
    array([4., 5.], dtype=float32)
    """
    return Client(target, timeout=timeout, max_in_flight=max_in_flight)


@final
class Client(
    Elementwise[npt.ArrayLike, Result],
    MatMul[npt.ArrayLike, Result],
    Filters[npt.ArrayLike, Result],
):
    """Calls a server's operations; the methods are those of gpucall.Client, awaited.

    Made by `connect`, inside the event loop that uses it. Cancelling a task cancels its
    call.
    """

    def __init__(
        self, target: str, *, timeout: float | None = None, max_in_flight: int = 64
    ) -> None:
        self.target = full_target(target)
        self._timeout = timeout
        self._closed = False
        self._places = asyncio.Semaphore(max_in_flight)
        self._channel = grpc.aio.insecure_channel(
            self.target, channel_options(self.target)
        )
        self._methods = {
            path: self._channel.unary_unary(path, None, None) for path in _wire.METHODS
        }
        self._run_stream = self._channel.stream_stream(_wire.RUN_STREAM, None, None)

    async def run(
        self,
        program: Program,
        /,
        *inputs: npt.ArrayLike,
        timeout: float | None = None,
    ) -> Any:
        """Run a Program, as gpucall.Client.run."""
        receipts = _info.collector()
        arrays = await self._compute(
            lambda: request_of_run(program, inputs, receipts is not None), timeout
        )
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    async def info(self, *, timeout: float | None = None) -> _info.ServerInfo:
        """The server's version, devices and limits."""
        reply = await self._send(_wire.GET_INFO, b"", timeout)
        return _info.server_info(_wire.ServerInfo.FromString(reply))

    async def ops(self, *, timeout: float | None = None) -> list[_info.OperationInfo]:
        """The operations that the server offers, with the dtypes each accepts."""
        reply = await self._send(_wire.GET_CATALOGUE, b"", timeout)
        return _info.operations(_wire.Catalogue.FromString(reply))

    async def close(self) -> None:
        """End calls in flight; later calls raise Error CANCELLED."""
        self._closed = True
        await self._channel.close(None)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def _call(self, call: Call) -> Array:
        receipts = _info.collector()
        arrays = await self._compute(
            lambda: request_of_call(call, receipts is not None), call.timeout
        )
        return arrays[0]

    async def _compute(
        self, prepare: Callable[[], Request], timeout: float | None
    ) -> list[Array]:
        async with self._place(timeout) as deadline:
            request = prepare()
            if request.is_large:
                arrays, receipt = await self._stream(request, deadline)
            else:
                try:
                    reply = await self._unary(request.path, request.encode(), deadline)
                    arrays, receipt = decode_reply(reply)
                except Error as error:
                    if not result_is_too_large(error.code.name, error.message):
                        raise
                    arrays, receipt = await self._stream(request, deadline)
        receipts = _info.collector()
        if receipts is not None and receipt is not None:
            receipts.append(_info.receipt(receipt))
        return arrays

    async def _send(self, path: str, request: bytes, timeout: float | None) -> bytes:
        async with self._place(timeout) as deadline:
            return await self._unary(path, request, deadline)

    @asynccontextmanager
    async def _place(self, timeout: float | None) -> AsyncIterator[_Deadline]:
        """One of the places for calls in flight, and when a call must be done."""
        deadline = _Deadline(self._timeout if timeout is None else timeout)
        async with self._places:
            if self._closed:
                raise Error(grpc.StatusCode.CANCELLED, "the client is closed")
            yield deadline

    async def _unary(self, path: str, request: bytes, deadline: _Deadline) -> bytes:
        try:
            reply: bytes = await self._methods[path](request, timeout=deadline.left())
        except grpc.RpcError as error:
            raise from_rpc(error, self.target) from None
        return reply

    async def _stream(
        self, request: Request, deadline: _Deadline
    ) -> tuple[list[Array], Any]:
        reply = StreamReply()
        call = self._run_stream(request.chunks(), timeout=deadline.left())
        try:
            async for message in call:
                reply.add(message)
        except grpc.RpcError as error:
            raise from_rpc(error, self.target) from None
        return reply.arrays, reply.receipt


class _Deadline:
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
