"""The blocking client."""

from __future__ import annotations

from types import TracebackType
from typing import Any, final

import grpc
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


def connect(target: str, *, timeout: float | None = None) -> Client:
    """A client of the server at `target`; it connects with the first call.

    Clients of one target share its connection. Calls go out as they are made, so a
    process has at most as many in flight as threads that call.

    Parameters
    ----------
    target : str
        "host:port", "host" (port 7625), "unix:/path", or any other gRPC name.
    timeout : float, optional
        Seconds that a call may take unless it says otherwise; None: no limit.

    Examples
    --------
    >>> with gpucall.connect(target, timeout=10) as client:
    ...     client.multiply(np.float32([1, 2]), 3)
    array([3., 6.], dtype=float32)
    """
    return Client(target, timeout=timeout)


@final
class Client(
    Elementwise[npt.ArrayLike, Array],
    MatMul[npt.ArrayLike, Array],
    Filters[npt.ArrayLike, Array],
):
    """Calls a server's operations; each takes array_like and returns a new array.

    Made by `connect`. Thread-safe. Closing it, or leaving its `with` block, ends its
    calls in flight.
    """

    def __init__(self, target: str, *, timeout: float | None = None) -> None:
        self.target = full_target(target)
        self._timeout = timeout
        self._closed = False
        self._channel = grpc.insecure_channel(self.target, channel_options(self.target))
        self._methods = {
            path: self._channel.unary_unary(path, None, None) for path in _wire.METHODS
        }
        self._run_stream = self._channel.stream_stream(_wire.RUN_STREAM, None, None)

    def run(
        self,
        program: Program,
        /,
        *inputs: npt.ArrayLike,
        timeout: float | None = None,
    ) -> Any:
        """Run a Program: one round trip.

        Parameters
        ----------
        program : Program
        *inputs : array_like
            One for each of the Program's inputs.
        timeout : float, optional
            Seconds; instead of the client's.

        Returns
        -------
        array, or a tuple of them for a Program with several outputs

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
        arrays = self._compute(
            request_of_run(program, inputs, _info.collector() is not None), timeout
        )
        return arrays[0] if len(arrays) == 1 else tuple(arrays)

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

    def close(self) -> None:
        """End calls in flight; later calls raise Error CANCELLED.

        Examples
        --------
        >>> client = gpucall.connect(target)
        >>> client.close()
        """
        self._closed = True
        self._channel.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _call(self, call: Call) -> Array:
        request = request_of_call(call, _info.collector() is not None)
        return self._compute(request, call.timeout)[0]

    def _compute(self, request: Request, timeout: float | None) -> list[Array]:
        if request.is_large:
            arrays, receipt = self._stream(request, timeout)
        else:
            try:
                reply = self._send(request.path, request.encode(), timeout)
                arrays, receipt = decode_reply(reply)
            except Error as error:
                if not result_is_too_large(error.code.name, error.message):
                    raise
                arrays, receipt = self._stream(request, timeout)
        collected = _info.collector()
        if collected is not None and receipt is not None:
            collected.append(_info.receipt(receipt))
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
        reply = StreamReply()
        try:
            for message in self._run_stream(request.chunks(), timeout=timeout):
                reply.add(message)
        except grpc.RpcError as error:
            raise from_rpc(error, self.target) from None
        return reply.arrays, reply.receipt

    def _time_left(self, timeout: float | None) -> float | None:
        if self._closed:
            raise Error(grpc.StatusCode.CANCELLED, "the client is closed")
        timeout = self._timeout if timeout is None else timeout
        if timeout is not None and timeout <= 0:
            raise expired(timeout)
        return timeout
