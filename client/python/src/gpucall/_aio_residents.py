"""What the asyncio client does with arrays that stay on the server."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, final

import grpc
import grpc.aio

from gpucall import _info, _residents, _wire
from gpucall._aio_session import Session
from gpucall._aio_stripes import Stripes
from gpucall._deadline import Deadline
from gpucall._error import Error, from_rpc
from gpucall._families import Operations
from gpucall._index import slice_bounds
from gpucall._operations import Call
from gpucall._program import Program
from gpucall._remote import ArrayOrRemote, RemoteRef
from gpucall._request import (
    Request,
    request_of_call,
    request_of_run,
    result_is_too_large,
)
from gpucall._several import Several
from gpucall._tensors import Array, as_array, decode_reply, numpy_dtype


class ResidentClient(ABC):
    """A client's part for them; the client itself sends messages."""

    target: str

    @abstractmethod
    def _place(
        self, timeout: float | None
    ) -> AbstractAsyncContextManager[Deadline]: ...

    @abstractmethod
    async def _send(
        self, path: str, request: bytes, timeout: float | None
    ) -> bytes: ...

    @abstractmethod
    async def _share(self, request: Request, deadline: Deadline) -> Any:
        """Results and receipt, through shared memory; None: it must go otherwise."""

    @abstractmethod
    async def _unary(self, path: str, request: bytes, deadline: Deadline) -> bytes: ...

    def _open_residents(
        self, channel: grpc.aio.Channel, connections: int | None
    ) -> None:
        self._stripes = Stripes(self.target, channel, connections)
        self._session = Session(channel)
        self._loop = asyncio.get_running_loop()
        self._freeing: set[asyncio.Task[None]] = set()

    async def put(
        self, array: ArrayOrRemote, *, timeout: float | None = None
    ) -> RemoteArray:
        """Send an array that stays on the server, as gpucall.Client.put."""
        async with self._place(timeout) as deadline:
            remote: RemoteArray = await self._put(as_array(array), deadline)
            return remote

    async def _compute_resident(
        self, request: Request, deadline: Deadline
    ) -> list[Array]:
        request = await self._with_large_put(request, deadline)
        try:
            return await self._one_message(request, deadline)
        except Error as error:
            if not result_is_too_large(error.code.name, error.message):
                raise
        kept = await self._keep_results(request, deadline)
        return [await self._fetch(array, deadline) for array in kept]

    async def _compute_kept(
        self, prepare: Callable[[], Request], timeout: float | None
    ) -> list[RemoteArray]:
        async with self._place(timeout) as deadline:
            return await self._keep_results(prepare(), deadline)

    async def _keep_results(
        self, request: Request, deadline: Deadline
    ) -> list[RemoteArray]:
        request.keep(await self._session_id(deadline))
        shared = await self._share(request, deadline)
        if shared is None:
            request = await self._with_large_put(request, deadline)
            results = await self._one_message(request, deadline)
        else:
            results, receipt = shared
            _info.collect(receipt)
        return [self._remote(tensor) for tensor in results]

    async def _one_message(self, request: Request, deadline: Deadline) -> list[Any]:
        reply = await self._unary(request.path, request.encode(), deadline)
        arrays, receipt = decode_reply(reply)
        _info.collect(receipt)
        return arrays

    async def _with_large_put(self, request: Request, deadline: Deadline) -> Request:
        """The request with its arrays sent beforehand, where they are too large for it."""
        if not request.is_large:
            return request
        arrays = [await self._put(array, deadline) for _, array in request.tensors]
        return request.with_tensors(arrays)

    async def _put(self, array: Any, deadline: Deadline) -> Any:
        if isinstance(array, RemoteRef):
            return array
        session = await self._session_id(deadline)
        request = _residents.put_request(array, session)
        shared = await self._share(request, deadline)
        if shared is not None:
            return self._remote(shared[0][0])
        if array.nbytes <= _residents.MAX_PUT_BYTES:
            return self._remote((await self._one_message(request, deadline))[0])
        create = _residents.create_request(array, session)
        reply = await self._unary(_wire.CREATE, create, deadline)
        remote = self._remote(_wire.ResidentTensor.FromString(reply))
        try:
            await self._stripes.write(remote.handle, array, deadline)
        except BaseException as error:
            remote._discard()
            if isinstance(error, grpc.RpcError):
                raise from_rpc(error, self.target) from None
            raise
        return remote

    async def _fetch(self, array: RemoteRef, deadline: Deadline) -> Array:
        shared = await self._share(_residents.fetch_request(array), deadline)
        if shared is not None:
            fetched: Array = shared[0][0]
            return fetched
        if array.nbytes <= _residents.MAX_GET_BYTES:
            request = _wire.GetRequest(handle=array.handle).SerializeToString()
            reply = await self._unary(_wire.GET, request, deadline)
            result: Array = decode_reply(reply)[0][0]
            return result
        try:
            return await self._stripes.read(
                array.handle, array.shape, array.dtype, deadline
            )
        except grpc.RpcError as error:
            raise from_rpc(error, self.target) from None

    async def _view(self, array: RemoteRef, **kind: Any) -> RemoteArray:
        async with self._place(None) as deadline:
            session = await self._session_id(deadline)
            request = _wire.ViewRequest(handle=array.handle, session=session, **kind)
            message = request.SerializeToString()
            reply = await self._unary(_wire.VIEW, message, deadline)
        return self._remote(_wire.ResidentTensor.FromString(reply))

    async def _free(self, handle: bytes, timeout: float | None) -> None:
        if not self._session.is_closed:
            request = _wire.FreeRequest(handles=[handle]).SerializeToString()
            await self._send(_wire.FREE, request, timeout)

    def _release(self, handle: bytes) -> None:
        """Free it soon. Called by the garbage collector, on any thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._start_free, handle)

    def _start_free(self, handle: bytes) -> None:
        async def free() -> None:
            try:
                await self._free(handle, 30)
            except Error:
                pass  # freed already, or it goes with the connection

        task = asyncio.ensure_future(free())
        self._freeing.add(task)
        task.add_done_callback(self._freeing.discard)

    def _remote(self, tensor: Any) -> RemoteArray:
        dtype = numpy_dtype(tensor.dtype)
        return RemoteArray(self, tensor.handle, tuple(tensor.shape), dtype)

    async def _session_id(self, deadline: Deadline) -> bytes:
        try:
            return await self._session.id(deadline)
        except grpc.RpcError as error:
            raise from_rpc(error, self.target) from None


@final
class RemoteArray(RemoteRef):
    """An array on a server, as gpucall.RemoteArray; what calls the server is awaited."""

    def __init__(
        self, client: ResidentClient, handle: bytes, shape: tuple[int, ...], dtype: Any
    ) -> None:
        super().__init__(client.target, client._release, handle, shape, dtype)
        self._client = client

    async def get(self, *, timeout: float | None = None) -> Array:
        """The elements, as a new NumPy array."""
        async with self._client._place(timeout) as deadline:
            return await self._client._fetch(self, deadline)

    async def free(self, *, timeout: float | None = None) -> None:
        """Free it now; the second time nothing happens."""
        if self._finalizer.detach() is not None:
            await self._client._free(self.handle, timeout)

    async def reshape(self, *shape: Any) -> RemoteArray:
        """The same elements in another shape, sharing memory."""
        return await self._client._view(self, **self._reshape(shape))

    async def transpose(self, *axes: Any) -> RemoteArray:
        """The axes in another order, where that moves no elements."""
        return await self._client._view(self, **self._transpose(axes))

    async def part(self, key: Any) -> RemoteArray:
        """What gpucall.RemoteArray gives for array[key]."""
        start, stop, shape = slice_bounds(self.shape, key)
        part = await self._client._view(self, slice={"start": start, "stop": stop})
        return part if part.shape == shape else await part.reshape(shape)

    async def __aenter__(self) -> RemoteArray:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.free()


KeptResult = Coroutine[Any, Any, RemoteArray]


@final
class Keeper(
    Several[Coroutine[Any, Any, tuple[RemoteArray, ...]]],
    Operations[ArrayOrRemote, KeptResult],
):
    """A client's operations, with results that stay on the server as RemoteArrays."""

    def __init__(self, client: ResidentClient) -> None:
        self._client = client

    async def _call(self, call: Call) -> RemoteArray:
        receipts = _info.collector()
        arrays = await self._client._compute_kept(
            lambda: request_of_call(call, receipts is not None), call.timeout
        )
        return arrays[0]

    async def _run_all(
        self, programs: Sequence[Program], inputs: Sequence[Any], timeout: float | None
    ) -> tuple[RemoteArray, ...]:
        receipts = _info.collector()
        kept: list[RemoteArray] = []
        for program in programs:

            def prepare(program: Program = program) -> Request:
                return request_of_run(program, inputs, receipts is not None)

            kept += await self._client._compute_kept(prepare, timeout)
        return tuple(kept)
