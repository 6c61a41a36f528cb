"""What the blocking client does with arrays that stay on the server."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, final

import grpc

from gpucall import _info, _residents, _wire
from gpucall._deadline import Deadline
from gpucall._error import Error, from_rpc
from gpucall._families import Operations
from gpucall._operations import Call
from gpucall._program import Program
from gpucall._remote import ArrayOrRemote, Holder, RemoteArray
from gpucall._request import (
    MAX_UNARY_BYTES,
    Request,
    request_of_call,
    request_of_run,
    result_is_too_large,
)
from gpucall._session import Releaser, Session
from gpucall._several import Several
from gpucall._shared_call import result_bytes
from gpucall._stripes import Stripes
from gpucall._tensors import Array, as_array, decode_reply, numpy_dtype


class ResidentClient(Holder):
    """A client's part for them; the client itself sends messages."""

    @abstractmethod
    def _send(self, path: str, request: bytes, timeout: float | None) -> bytes: ...

    @abstractmethod
    def _unary(self, request: Request, timeout: float | None) -> list[Any]: ...

    @abstractmethod
    def _share(self, request: Request, timeout: float | None) -> list[Any] | None:
        """The call's results, through shared memory; None: it must go otherwise."""

    @abstractmethod
    def _time_left(self, timeout: float | None) -> float | None: ...

    def _open_residents(self, channel: grpc.Channel, connections: int | None) -> None:
        self._free_method = channel.unary_unary(_wire.FREE, None, None)
        self._stripes = Stripes(self.target, channel, connections)
        self._session = Session(channel)
        self._releaser = Releaser(self._free_all)

    def _close_residents(self) -> None:
        self._session.close()
        self._releaser.stop()
        self._stripes.close()

    def put(self, array: ArrayOrRemote, *, timeout: float | None = None) -> RemoteArray:
        """Send an array that stays on the server.

        A large one goes over several connections; where that fails nothing stays.

        Raises
        ------
        Error
            RESOURCE_EXHAUSTED: more than the caller may keep there, or no memory.

        Examples
        --------
        >>> weights = c.put(np.float32([[1, 2], [3, 4]]))
        >>> c.matmul(np.float32([[1, 1]]), weights)
        array([[4., 6.]], dtype=float32)
        """
        sent = as_array(array)
        if isinstance(sent, RemoteArray):
            return sent
        deadline = Deadline(self._time_left(timeout))
        session = self._session_id(deadline)
        request = _residents.put_request(sent, session)
        kept = self._share(request, deadline.left())
        if kept is None and sent.nbytes <= _residents.MAX_PUT_BYTES:
            kept = self._unary(request, deadline.left())
        if kept is not None:
            return self._remote(kept[0])
        create = _residents.create_request(sent, session)
        reply = self._send(_wire.CREATE, create, deadline.left())
        remote = self._remote(_wire.ResidentTensor.FromString(reply))
        try:
            self._stripes.write(remote.handle, sent, deadline)
        except BaseException as error:
            remote._discard()
            if isinstance(error, grpc.RpcError):
                raise from_rpc(error, self.target) from None
            raise
        return remote

    def _compute_resident(self, request: Request, timeout: float | None) -> list[Array]:
        deadline = Deadline(self._time_left(timeout))
        request = self._with_large_put(request, deadline)
        try:
            return self._unary(request, deadline.left())
        except Error as error:
            if not result_is_too_large(error.code.name, error.message):
                raise
        kept = self._compute_kept(request, deadline.left())
        return [array.get(timeout=deadline.left()) for array in kept]

    def _serves_striped(self, request: Request) -> bool:
        sent = [array.nbytes for _, array in request.tensors]
        return self._stripes.serve_call(sent, result_bytes(request))

    def _compute_striped(self, request: Request, timeout: float | None) -> list[Array]:
        """The call on arrays that are put beforehand, with results fetched afterwards."""
        deadline = Deadline(self._time_left(timeout))
        remotes: list[RemoteArray] = []
        try:
            arrays: list[Any] = [array for _, array in request.tensors]
            for i, array in enumerate(arrays):
                if array.nbytes > MAX_UNARY_BYTES:
                    arrays[i] = self.put(array, timeout=deadline.left())
                    remotes.append(arrays[i])
            request = request.with_tensors(arrays)
            if result_bytes(request) <= MAX_UNARY_BYTES:
                return self._compute_resident(request, deadline.left())
            kept = self._compute_kept(request, deadline.left())
            remotes += kept
            return [array.get(timeout=deadline.left()) for array in kept]
        finally:
            for remote in remotes:
                remote._discard()

    def _compute_kept(
        self, request: Request, timeout: float | None
    ) -> list[RemoteArray]:
        deadline = Deadline(self._time_left(timeout))
        request.keep(self._session_id(deadline))
        results = self._share(request, deadline.left())
        if results is None:
            request = self._with_large_put(request, deadline)
            results = self._unary(request, deadline.left())
        return [self._remote(tensor) for tensor in results]

    def _with_large_put(self, request: Request, deadline: Deadline) -> Request:
        """The request with its arrays sent beforehand, where they are too large for it."""
        if not request.is_large:
            return request
        arrays = [
            self.put(array, timeout=deadline.left()) for _, array in request.tensors
        ]
        return request.with_tensors(arrays)

    def _remote(self, tensor: Any) -> RemoteArray:
        self._releaser.start()
        dtype = numpy_dtype(tensor.dtype)
        return RemoteArray(self, tensor.handle, tuple(tensor.shape), dtype)

    def _session_id(self, deadline: Deadline) -> bytes:
        try:
            return self._session.id(deadline)
        except grpc.RpcError as error:
            raise from_rpc(error, self.target) from None

    def _get(self, array: RemoteArray, timeout: float | None) -> Array:
        shared = self._share(_residents.fetch_request(array), timeout)
        if shared is not None:
            fetched: Array = shared[0]
            return fetched
        if array.nbytes <= _residents.MAX_GET_BYTES:
            request = _wire.GetRequest(handle=array.handle).SerializeToString()
            result: Array = decode_reply(self._send(_wire.GET, request, timeout))[0][0]
            return result
        deadline = Deadline(self._time_left(timeout))
        try:
            return self._stripes.read(array.handle, array.shape, array.dtype, deadline)
        except grpc.RpcError as error:
            raise from_rpc(error, self.target) from None

    def _view(self, array: RemoteArray, **kind: Any) -> RemoteArray:
        deadline = Deadline(self._time_left(None))
        session = self._session_id(deadline)
        request = _wire.ViewRequest(handle=array.handle, session=session, **kind)
        reply = self._send(_wire.VIEW, request.SerializeToString(), deadline.left())
        return self._remote(_wire.ResidentTensor.FromString(reply))

    def _free(self, handle: bytes, timeout: float | None) -> None:
        if not self._session.is_closed:
            request = _wire.FreeRequest(handles=[handle]).SerializeToString()
            self._send(_wire.FREE, request, timeout)

    def _release(self, handle: bytes) -> None:
        self._releaser.release(handle)

    def _free_all(self, handles: list[bytes]) -> None:
        if handles and not self._session.is_closed:
            request = _wire.FreeRequest(handles=handles).SerializeToString()
            self._free_method(request, timeout=30)


@final
class Keeper(
    Several[tuple[RemoteArray, ...]],
    Operations[ArrayOrRemote, RemoteArray],
):
    """A client's operations, with results that stay on the server as RemoteArrays.

    Examples
    --------
    >>> x = c.keep.add(np.float32([1, 2]), 1)
    >>> c.keep.multiply(x, x).get()
    array([4., 9.], dtype=float32)
    """

    def __init__(self, client: ResidentClient) -> None:
        self._client = client

    def _call(self, call: Call) -> RemoteArray:
        request = request_of_call(call, _info.collector() is not None)
        return self._client._compute_kept(request, call.timeout)[0]

    def _run_all(
        self, programs: Sequence[Program], inputs: Sequence[Any], timeout: float | None
    ) -> tuple[RemoteArray, ...]:
        kept: list[RemoteArray] = []
        for program in programs:
            request = request_of_run(program, inputs, _info.collector() is not None)
            kept += self._client._compute_kept(request, timeout)
        return tuple(kept)
