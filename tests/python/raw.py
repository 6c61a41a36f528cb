"""Calls with messages as they are, past the client's own checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import grpc
import numpy as np

from gpucall import _wire
from gpucall._tensors import decode_reply

PATHS = {
    "ElementwiseRequest": _wire.ELEMENTWISE,
    "MatMulRequest": _wire.MATMUL,
    "FilterRequest": _wire.FILTER,
    "ReduceRequest": _wire.REDUCE,
    "RearrangeRequest": _wire.REARRANGE,
    "SortRequest": _wire.SORT,
    "ScanRequest": _wire.SCAN,
    "TakeRequest": _wire.TAKE,
    "NetworkRequest": _wire.NETWORK,
    "ImageRequest": _wire.IMAGE,
    "RunRequest": _wire.RUN,
}


def tensor(values: Any, dtype: str = "float32") -> Any:
    """A wire tensor of an array."""
    array = np.asarray(values, dtype)
    number = _wire.DTYPES[str(array.dtype)]
    return _wire.Tensor(dtype=number, shape=array.shape, data=array.tobytes())


def send(
    channel: grpc.Channel,
    message: Any,
    path: str | None = None,
    timeout: float = 60,
) -> list[Any]:
    """The arrays of the reply to `message`, a request message or its bytes."""
    request = message if isinstance(message, bytes) else message.SerializeToString()
    path = path or PATHS[message.DESCRIPTOR.name]
    reply: bytes = channel.unary_unary(path, None, None)(request, timeout=timeout)
    return decode_reply(reply)[0]


def refused(
    channel: grpc.Channel, message: Any, path: str | None = None
) -> tuple[grpc.StatusCode, str]:
    """Code and message of the error that `message` is answered with."""
    try:
        arrays = send(channel, message, path)
    except grpc.RpcError as error:
        return error.code(), error.details() or ""
    raise AssertionError(f"answered with arrays: {arrays}")


def program(operations: Sequence[Any], outputs: Sequence[int] = ()) -> Any:
    return _wire.Program(operations=operations, outputs=outputs)
