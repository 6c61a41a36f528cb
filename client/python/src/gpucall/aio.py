"""The asyncio client: gpucall's operations as coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, final

import grpc
import grpc.aio
import numpy.typing as npt

from gpucall import _info, _progress, _wire
from gpucall._aio_residents import Keeper, RemoteArray, ResidentClient
from gpucall._aio_status import server_status
from gpucall._channel import channel_options, full_target
from gpucall._deadline import Deadline
from gpucall._error import Error, from_rpc
from gpucall._families import Operations
from gpucall._matmul_many import AsyncMatMulMany
from gpucall._operations import Call
from gpucall._program import Program
from gpucall._remote import ArrayOrRemote
from gpucall._request import (
    Request,
    StreamReply,
    request_of_call,
    request_of_run,
    result_is_too_large,
)
from gpucall._several import Several
from gpucall._shared_call import SharedCall, arena_of, empty
from gpucall._tensors import Array, decode_reply

__all__ = ["Client", "RemoteArray", "connect"]

Result = Coroutine[Any, Any, Array]


def connect(
    target: str,
    *,
    timeout: float | None = None,
    max_in_flight: int = 64,
    connections: int | None = None,
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
    connections : int, optional
        Those that large arrays may be divided among, as for gpucall.connect.

    Examples
    --------
    >>> async def main():
    ...     async with gpucall.aio.connect(target) as client:
    ...         return await client.add(np.float32([1, 2]), 3)
    >>> asyncio.run(main())
    array([4., 5.], dtype=float32)
    """
    return Client(
        target, timeout=timeout, max_in_flight=max_in_flight, connections=connections
    )


@final
class Client(
    Several[Coroutine[Any, Any, tuple[Array, ...]]],
    Operations[ArrayOrRemote, Result],
    AsyncMatMulMany,
    ResidentClient,
):
    """Calls a server's operations; the methods are those of gpucall.Client, awaited.

    Made by `connect`, inside the event loop that uses it. Cancelling a task cancels its
    call.
    """

    def __init__(
        self,
        target: str,
        *,
        timeout: float | None = None,
        max_in_flight: int = 64,
        connections: int | None = None,
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
        self._arena = arena_of(self.target)
        self._run_stream = self._channel.stream_stream(_wire.RUN_STREAM, None, None)
        self._open_residents(self._channel, connections)
        self.keep = Keeper(self)

    async def run(
        self,
        program: Program,
        /,
        *inputs: ArrayOrRemote,
        keep: bool = False,
        timeout: float | None = None,
    ) -> Any:
        """Run a Program, as gpucall.Client.run."""
        receipts = _info.collector()

        def prepare() -> Request:
            return request_of_run(program, inputs, receipts is not None)

        arrays: list[Any] = (
            await self._compute_kept(prepare, timeout)
            if keep
            else await self._compute(prepare, timeout)
        )
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    async def _run_all(
        self, programs: Sequence[Program], inputs: Sequence[Any], timeout: float | None
    ) -> tuple[Array, ...]:
        results: tuple[Array, ...] = ()
        for program in programs:
            made = await self.run(program, *inputs, timeout=timeout)
            results += made if isinstance(made, tuple) else (made,)
        return results

    async def statistics(self, *, timeout: float | None = None) -> _info.Statistics:
        """What the server holds now, for all its callers."""
        reply = await self._send(_wire.GET_STATISTICS, b"", timeout)
        return _info.statistics(_wire.Statistics.FromString(reply))

    def empty(self, shape: int | Sequence[int], dtype: npt.DTypeLike = float) -> Array:
        """A new array in memory shared with the server, as gpucall.Client.empty."""
        return empty(self._arena, shape, dtype)

    async def info(self, *, timeout: float | None = None) -> _info.ServerInfo:
        """The server's version, devices and limits."""
        reply = await self._send(_wire.GET_INFO, b"", timeout)
        return _info.server_info(_wire.ServerInfo.FromString(reply))

    async def ops(self, *, timeout: float | None = None) -> list[_info.OperationInfo]:
        """The operations that the server offers, with the dtypes each accepts."""
        reply = await self._send(_wire.GET_CATALOGUE, b"", timeout)
        return _info.operations(_wire.Catalogue.FromString(reply))

    async def close(self) -> None:
        """End calls in flight, free RemoteArrays; later calls raise Error CANCELLED."""
        if not self._closed:
            await self._session.close()
        self._closed = True
        if self._arena is not None:
            self._arena.close()
        await self._stripes.close()
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
            shared = await self._share(request, deadline)
            if shared is None and request.uses_residents:
                return await self._compute_resident(request, deadline)
            arrays, receipt = shared or await self._exchange(request, deadline)
        _info.collect(receipt)
        return arrays

    async def _share(
        self, request: Request, deadline: Deadline
    ) -> tuple[list[Any], Any] | None:
        shared = SharedCall.prepare(self._arena, request)
        if shared is None:
            return None
        try:
            reply = await self._unary(request.path, shared.message, deadline)
            return shared.finish(reply)
        except BaseException as error:
            if not shared.failed(error):
                raise
        return None

    async def _exchange(
        self, request: Request, deadline: Deadline
    ) -> tuple[list[Array], Any]:
        if request.is_large:
            return await self._stream(request, deadline)
        try:
            reply = await self._unary(request.path, request.encode(), deadline)
            return decode_reply(reply)
        except Error as error:
            if not result_is_too_large(error.code.name, error.message):
                raise
        return await self._stream(request, deadline)

    async def _send(self, path: str, request: bytes, timeout: float | None) -> bytes:
        async with self._place(timeout) as deadline:
            return await self._unary(path, request, deadline)

    @asynccontextmanager
    async def _place(self, timeout: float | None) -> AsyncIterator[Deadline]:
        """One of the places for calls in flight, and when a call must be done."""
        deadline = Deadline(self._timeout if timeout is None else timeout)
        async with self._places:
            if self._closed:
                raise Error(grpc.StatusCode.CANCELLED, "the client is closed")
            yield deadline

    async def _unary(self, path: str, request: bytes, deadline: Deadline) -> bytes:
        try:
            reply: bytes = await self._methods[path](request, timeout=deadline.left())
        except grpc.RpcError as error:
            raise from_rpc(error, self.target) from None
        return reply

    async def _stream(
        self, request: Request, deadline: Deadline
    ) -> tuple[list[Array], Any]:
        progress = _progress.current()
        reply = StreamReply(progress)
        call = self._run_stream(request.chunks(progress), timeout=deadline.left())
        try:
            async with server_status(call):
                async for message in call:
                    reply.add(message)
        except grpc.RpcError as error:
            raise from_rpc(error, self.target) from None
        finally:
            call.cancel()  # where it is not over
            progress.check()
        return reply.arrays, reply.receipt
