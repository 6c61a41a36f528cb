"""Targets, channel options and requests, the same for both clients."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from gpucall._operations import Call
from gpucall._program import Program
from gpucall._request import request_of_call, request_of_run

DEFAULT_PORT = 7625

_LOOPBACK = re.compile(r"(unix:|localhost(:|$)|127\.\d|\[?::1\b)")
_HAS_PORT = re.compile(r":\d+$|^(unix|dns|ipv4|ipv6|xds)[:-]")


def full_target(target: str) -> str:
    """`target` with the default port where it names only a host."""
    return target if _HAS_PORT.search(target) else f"{target}:{DEFAULT_PORT}"


def is_local(target: str) -> bool:
    """Whether `target` says that it is on this host."""
    return bool(_LOOPBACK.match(re.sub(r"^(dns|ipv4|ipv6):/*", "", target)))


def connection_count(target: str, wanted: int | None) -> int:
    """How many a client has for large arrays; ValueError: less than one is wanted.

    By default 4, but no more than there are processors: each end of a connection is
    about one's work. On one host both ends are.
    """
    if wanted is None:
        processors = os.cpu_count() or 1
        wanted = min(4, max(processors // (2 if is_local(target) else 1), 1))
    if wanted < 1:
        raise ValueError(f"connections is {wanted}; at least 1 is needed")
    return wanted


def channel_options(target: str) -> list[tuple[str, Any]]:
    """Messages of any size (the server sets the limits); no proxy to this host."""
    options: list[tuple[str, Any]] = [
        ("grpc.max_send_message_length", -1),
        ("grpc.max_receive_message_length", -1),
    ]
    if is_local(target):
        options.append(("grpc.enable_http_proxy", 0))
    return options


def further_channel_options(target: str, number: int) -> list[tuple[str, Any]]:
    """Those of a client's further channels: with an argument that no other has, for
    channels with the same arguments share a connection."""
    return [*channel_options(target), ("gpucall.connection", number)]


def encode_call(call: Call, want_receipt: bool) -> tuple[str, bytes]:
    """Path and request of one operation, as one message."""
    request = request_of_call(call, want_receipt)
    return request.path, request.encode()


def encode_run(
    program: Program, inputs: Sequence[Any], want_receipt: bool
) -> tuple[str, bytes]:
    """Path and request of a Program on its inputs, as one message."""
    request = request_of_run(program, inputs, want_receipt)
    return request.path, request.encode()
