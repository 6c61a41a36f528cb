"""The one exception of the package."""

from __future__ import annotations

import grpc


class Error(Exception):
    """A call that did not give a result.

    Attributes
    ----------
    code : grpc.StatusCode
        INVALID_ARGUMENT for wrong shapes, sizes and attributes; UNIMPLEMENTED for
        operations or dtypes not offered; RESOURCE_EXHAUSTED for too much data;
        UNAVAILABLE where the server is away, busy or draining (try again later);
        DEADLINE_EXCEEDED and CANCELLED.
    message : str
        What was wrong, what it was and what is allowed.

    Examples
    --------
    >>> try:
    ...     c.add(np.zeros(3), np.zeros(4))
    ... except gpucall.Error as error:
    ...     print(error.code.name)
    INVALID_ARGUMENT
    """

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.code.name}: {self.message}"


def invalid(message: str) -> Error:
    return Error(grpc.StatusCode.INVALID_ARGUMENT, message)


def from_rpc(error: grpc.RpcError, target: str) -> Error:
    """The Error of a failed call to `target`."""
    code = error.code()
    details = error.details() or code.name
    if code is grpc.StatusCode.UNAVAILABLE and "connect" in details:
        details = f"no gpucall server answers at {target}: {details}"
    return Error(code, details)


def expired(timeout: float | None) -> Error:
    """The Error of a call whose time was over before it was sent."""
    message = f"the call was not sent within its timeout of {timeout} s"
    return Error(grpc.StatusCode.DEADLINE_EXCEEDED, message)
