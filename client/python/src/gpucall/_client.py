"""The blocking client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import grpc
import numpy.typing as npt

from gpucall import _info, _progress, _wire
from gpucall._channel import channel_options, full_target
from gpucall._error import Error, expired, from_rpc
from gpucall._families import Operations
from gpucall._matmul_many import MatMulMany
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
from gpucall._resident_client import Keeper, ResidentClient
from gpucall._several import Several
from gpucall._shared_call import SharedCall, arena_of, empty
from gpucall._tensors import Array, decode_reply


def connect(
    target: str, *, timeout: float | None = None, connections: int | None = None
) -> Client:
    """A client of the server at `target`; it connects with the first call.

    Clients of one target share its connection. Calls go out as they are made, so a
    process has at most as many in flight as threads that call.

    Parameters
    ----------
    target : str
        "host:port", "host" (port 7625), "unix:/path", or any other gRPC name.
    timeout : float, optional
        Seconds that a call may take unless it says otherwise; None: no limit.
    connections : int, optional
        Those that arrays of 16 MiB and more may be divided among; 1: none is divided.
        Default: 4, or the number of processors, half of it on one host, where less.

    Examples
    --------
    >>> with gpucall.connect(target, timeout=10) as client:
    ...     client.multiply(np.float32([1, 2]), 3)
    array([3., 6.], dtype=float32)
    """
    return Client(target, timeout=timeout, connections=connections)


@final
class Client(
    Several[tuple[Array, ...]],
    Operations[ArrayOrRemote, Array],
    MatMulMany,
    ResidentClient,
):
    """Calls a server's operations; each takes array_like and returns a new array.

    Made by `connect`. Thread-safe. Closing it, or leaving its `with` block, ends its
    calls in flight and frees its arrays on the server.

    Attributes
    ----------
    keep : Keeper
        The same operations, with results that stay on the server.
    """

    def __init__(
        self,
        target: str,
        *,
        timeout: float | None = None,
        connections: int | None = None,
    ) -> None:
        self.target = full_target(target)
        self._timeout = timeout
        self._closed = False
        self._channel = grpc.insecure_channel(self.target, channel_options(self.target))
        self._methods = {
            path: self._channel.unary_unary(path, None, None) for path in _wire.METHODS
        }
        self._arena = arena_of(self.target)
        self._run_stream = self._channel.stream_stream(_wire.RUN_STREAM, None, None)
        self._open_residents(self._channel, connections)
        self.keep = Keeper(self)

    def run(
        self,
        program: Program,
        /,
        *inputs: ArrayOrRemote,
        keep: bool = False,
        timeout: float | None = None,
    ) -> Any:
        """Run a Program: one round trip.

        Parameters
        ----------
        program : Program
        *inputs : array_like
            One for each of the Program's inputs.
        keep : bool
            Leave the results on the server.
        timeout : float, optional
            Seconds; instead of the client's.

        Returns
        -------
        array, or a tuple of them for a Program with several outputs; RemoteArrays with
        `keep`

        Raises
        ------
        Error
            INVALID_ARGUMENT: what any of the operations refuses, or too many operations.

        Examples
        --------
        >>> p = gpucall.Program()
        >>> x = p.input()
        >>> p.output(p.relu(x * 2 - 1))
        >>> c.run(p, np.float32([0, 1, 2]))
        array([0., 1., 3.], dtype=float32)
        """
        request = request_of_run(program, inputs, _info.collector() is not None)
        arrays: list[Any] = (
            self._compute_kept(request, timeout)
            if keep
            else self._compute(request, timeout)
        )
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

    def _run_all(
        self, programs: Sequence[Program], inputs: Sequence[Any], timeout: float | None
    ) -> tuple[Array, ...]:
        results: tuple[Array, ...] = ()
        for program in programs:
            made = self.run(program, *inputs, timeout=timeout)
            results += made if isinstance(made, tuple) else (made,)
        return results

    def empty(self, shape: int | Sequence[int], dtype: npt.DTypeLike = float) -> Array:
        """A new array, its elements not set, in memory shared with the server.

        Calls on it, and on parts of it that lie together, copy nothing on this host. Its
        memory lives as long as any array or view on it. Where the server is not reached
        through a Unix socket it is an ordinary array.

        Parameters
        ----------
        shape : int or sequence of int
        dtype : dtype

        Examples
        --------
        >>> x = c.empty((2, 2), np.float32)
        >>> x[:] = 3
        >>> c.add(x, x)
        array([[6., 6.],
               [6., 6.]], dtype=float32)
        """
        return empty(self._arena, shape, dtype)

    def info(self, *, timeout: float | None = None) -> _info.ServerInfo:
        """The server's version, devices and limits.

        Examples
        --------
        >>> c.info().limits.max_dimensions
        8
        """
        reply = self._send(_wire.GET_INFO, b"", timeout)
        return _info.server_info(_wire.ServerInfo.FromString(reply))

    def ops(self, *, timeout: float | None = None) -> list[_info.OperationInfo]:
        """The operations that the server offers, with the dtypes each accepts.

        Examples
        --------
        >>> [op.inputs for op in c.ops() if op.name == "multiply_add"]
        [3]
        """
        reply = self._send(_wire.GET_CATALOGUE, b"", timeout)
        return _info.operations(_wire.Catalogue.FromString(reply))

    def statistics(self, *, timeout: float | None = None) -> _info.Statistics:
        """What the server holds now, for all its callers.

        Examples
        --------
        >>> x = c.put(np.zeros(1000, np.float32))
        >>> c.statistics().resident_bytes >= 4000
        True
        """
        reply = self._send(_wire.GET_STATISTICS, b"", timeout)
        return _info.statistics(_wire.Statistics.FromString(reply))

    def close(self) -> None:
        """End calls in flight and free RemoteArrays; later calls raise Error CANCELLED.

        Examples
        --------
        >>> client = gpucall.connect(target)
        >>> client.close()
        """
        if not self._closed:
            self._close_residents()
        self._closed = True
        if self._arena is not None:
            self._arena.close()
        self._channel.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, call: Call) -> Array:
        request = request_of_call(call, _info.collector() is not None)
        return self._compute(request, call.timeout)[0]

    def _compute(self, request: Request, timeout: float | None) -> list[Array]:
        shared = self._share(request, timeout)
        if shared is not None:
            return shared
        if request.uses_residents:
            return self._compute_resident(request, timeout)
        if request.is_large and self._serves_striped(request):
            try:
                return self._compute_striped(request, timeout)
            except Error as error:
                if error.code is not grpc.StatusCode.RESOURCE_EXHAUSTED:
                    raise  # else there is no room for all of it at once
        if request.is_large:
            arrays, receipt = self._stream(request, timeout)
        else:
            try:
                return self._unary(request, timeout)
            except Error as error:
                if not result_is_too_large(error.code.name, error.message):
                    raise
                arrays, receipt = self._stream(request, timeout)
        _info.collect(receipt)
        return arrays

    def _unary(self, request: Request, timeout: float | None) -> list[Any]:
        reply = self._send(request.path, request.encode(), timeout)
        arrays, receipt = decode_reply(reply)
        _info.collect(receipt)
        return arrays

    def _share(self, request: Request, timeout: float | None) -> list[Any] | None:
        shared = SharedCall.prepare(self._arena, request)
        if shared is None:
            return None
        try:
            reply = self._send(request.path, shared.message, timeout)
            arrays, receipt = shared.finish(reply)
        except BaseException as error:
            if not shared.failed(error):
                raise
            return None
        _info.collect(receipt)
        return arrays

    def _send(self, path: str, request: bytes, timeout: float | None) -> bytes:
        timeout = self._time_left(timeout)
        try:
            reply: bytes = self._methods[path](request, timeout=timeout)
        except grpc.RpcError as error:
            raise from_rpc(error, self.target) from None
        return reply

    def _stream(
        self, request: Request, timeout: float | None
    ) -> tuple[list[Array], Any]:
        timeout = self._time_left(timeout)
        progress = _progress.current()
        reply = StreamReply(progress)
        call: Any = self._run_stream(request.chunks(progress), timeout=timeout)
        try:
            for message in call:
                reply.add(message)
        except grpc.RpcError as error:
            raise from_rpc(error, self.target) from None
        finally:
            call.cancel()  # where it is not over
            progress.check()
        return reply.arrays, reply.receipt

    def _time_left(self, timeout: float | None) -> float | None:
        if self._closed:
            raise Error(grpc.StatusCode.CANCELLED, "the client is closed")
        timeout = self._timeout if timeout is None else timeout
        if timeout is not None and timeout <= 0:
            raise expired(timeout)
        return timeout
