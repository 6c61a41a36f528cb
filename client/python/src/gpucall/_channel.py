"""Targets, channel options and requests, the same for both clients."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from gpucall import _wire
from gpucall._binding import bind
from gpucall._operations import Call
from gpucall._program import Program
from gpucall._tensors import as_arrays, encode_request

DEFAULT_PORT = 7625

_LOOPBACK = re.compile(r"(unix:|localhost(:|$)|127\.\d|\[?::1\b)")
_HAS_PORT = re.compile(r":\d+$|^(unix|dns|ipv4|ipv6|xds)[:-]")


def full_target(target: str) -> str:
    """`target` with the default port where it names only a host."""
    return target if _HAS_PORT.search(target) else f"{target}:{DEFAULT_PORT}"


def channel_options(target: str) -> list[tuple[str, Any]]:
    """Messages of any size (the server sets the limits); no proxy to this host."""
    options: list[tuple[str, Any]] = [
        ("grpc.max_send_message_length", -1),
        ("grpc.max_receive_message_length", -1),
    ]
    if _LOOPBACK.match(re.sub(r"^(dns|ipv4|ipv6):/*", "", target)):
        options.append(("grpc.enable_http_proxy", 0))
    return options


def encode_call(call: Call, want_receipt: bool) -> tuple[str, bytes]:
    """Path and request of one operation."""
    arrays = as_arrays(call.operands, call.first_promoted)
    options = _wire.CallOptions(want_receipt=True) if want_receipt else None
    operation = call.operation
    if operation.WhichOneof("kind") == "elementwise":
        head = _wire.ElementwiseRequest(op=operation.elementwise, options=options)
        return _wire.ELEMENTWISE, encode_request(head, [(2, a) for a in arrays])
    if operation.WhichOneof("kind") == "matmul":
        head = _wire.MatMulRequest(attributes=operation.matmul, options=options)
        return _wire.MATMUL, encode_request(
            head, list(zip((1, 2), arrays, strict=True))
        )
    if operation.WhichOneof("kind") == "reduce":
        head = _wire.ReduceRequest(reduce=operation.reduce, options=options)
        return _wire.REDUCE, encode_request(head, [(1, arrays[0])])
    if operation.WhichOneof("kind") == "rearrange":
        head = _wire.RearrangeRequest(rearrange=operation.rearrange, options=options)
        return _wire.REARRANGE, encode_request(head, [(1, a) for a in arrays])
    head = _wire.FilterRequest(filter=operation.filter, options=options)
    return _wire.FILTER, encode_request(head, list(zip((1, 3), arrays, strict=False)))


def encode_run(
    program: Program, inputs: Sequence[Any], want_receipt: bool
) -> tuple[str, bytes]:
    """Path and request of a Program on its inputs."""
    message, arrays = bind(program, inputs)
    options = _wire.CallOptions(want_receipt=True) if want_receipt else None
    head = _wire.RunRequest(program=message, options=options)
    return _wire.RUN, encode_request(head, [(2, a) for a in arrays])
