"""Requests that are wrong: the exact code, and a message that says what and what instead."""

from __future__ import annotations

from typing import Any

import grpc
import numpy as np
import pytest

from bad_requests import (
    ADD,
    EXHAUSTED,
    INVALID,
    ONE,
    REQUESTS,
    UNIMPLEMENTED,
    Bad,
    add,
    image_filter,
    raw,
    run,
    step,
)
from gpucall import _wire
from raw import refused, send, tensor
from server_process import ServerProcess


@pytest.mark.parametrize("bad", REQUESTS, ids=[bad.name for bad in REQUESTS])
def test_refused(bad: Bad, server: ServerProcess) -> None:
    code, message = refused(server.channel, bad.request)
    assert code is bad.code, message
    for word in bad.words:
        assert word in message
    assert len(message) < 1000
    server.check_alive()


MALFORMED = {
    "text": b"not protobuf",
    "truncated": _wire.ElementwiseRequest(op=ADD, inputs=[ONE]).SerializeToString()[
        :-3
    ],
    "field 0": b"\x00\x00",
    "endless varint": b"\x08" + b"\xff" * 20,
    "length past the end": b"\x12\xff\xff\xff\xff\x0f",
    "wrong wire type": b"\x12" * 9,
}


@pytest.mark.parametrize("path", _wire.METHODS[:4])
@pytest.mark.parametrize("data", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_protobuf(data: bytes, path: str, server: ServerProcess) -> None:
    code, message = refused(server.channel, data, path)
    assert code is INVALID, message
    assert "request" in message
    server.check_alive()


def test_deep_nesting_of_unknown_fields(server: ServerProcess) -> None:
    code, message = refused(server.channel, b"\x7b" * 100_000, _wire.RUN)
    assert code is INVALID, message
    server.check_alive()


def test_unknown_method(server: ServerProcess) -> None:
    code, _ = refused(server.channel, b"", "/gpucall.v1.Compute/Frobnicate")
    assert code is UNIMPLEMENTED
    server.check_alive()


def test_unknown_fields_are_ignored(server: ServerProcess) -> None:
    later = add(ONE, ONE).SerializeToString() + b"\xa2\x3f\x03new"
    [result] = send(server.channel, later, _wire.ELEMENTWISE)
    np.testing.assert_array_equal(result, [2, 4])


def test_longest_program(server: ServerProcess) -> None:
    square = _wire.ELEMENTWISE_OPS["negative"]
    operations = [step(i, elementwise=square) for i in range(4096)]
    [result] = send(server.channel, run([ONE], operations))
    np.testing.assert_array_equal(result, [1, 2])


def test_most_values(server: ServerProcess) -> None:
    operations = [step(0, 1, elementwise=ADD)]
    operations += [step(62 + i, i, elementwise=ADD) for i in range(2, 64)]
    outputs = tuple(range(64))
    results = send(server.channel, run([ONE] * 64, operations, outputs))
    assert len(results) == 64
    [total] = send(server.channel, run([ONE] * 64, operations))
    np.testing.assert_array_equal(total, [64, 128])


def test_refused_quickly_and_without_memory(server: ServerProcess) -> None:
    before = server.resident_bytes()
    for request in (
        add(raw([2**38], 16), ONE),
        add(raw([20000, 1], 80000), raw([1, 20000], 80000)),
        image_filter(gaussian={"sigma": [1e9]}),
        image_filter(median={"size": [2**31 - 1]}),
    ):
        refused(server.channel, request)
    assert server.resident_bytes() - before < 100e6


def test_messages_over_the_limit(start_server: Any) -> None:
    server = start_server("--max_message_bytes=1000000")
    fits = tensor(np.ones(120_000))
    np.testing.assert_array_equal(send(server.channel, add(fits, fits))[0], 2)
    code, message = refused(server.channel, add(tensor(np.ones(300_000)), ONE))
    assert code is EXHAUSTED
    assert "1200" in message and "1000000" in message
    rows, columns = tensor(np.ones((1000, 1))), tensor(np.ones((1, 1000)))
    code, message = refused(server.channel, add(rows, columns))
    assert code is EXHAUSTED, message
    assert "1000000" in message
    server.check_alive()
    assert server.stop() == 0


def test_full_queue(start_server: Any) -> None:
    server = start_server("--lanes=1", "--max_batch_tasks=1", "--max_queue_tasks=4")
    slow = image_filter(tensor(np.ones((700, 700))), median={"size": [25]})
    method = server.channel.unary_unary(_wire.FILTER, None, None)
    calls = [method.future(slow.SerializeToString(), timeout=60) for _ in range(40)]
    codes = [call.code() for call in calls]
    assert codes.count(grpc.StatusCode.UNAVAILABLE) > 0
    assert codes.count(grpc.StatusCode.OK) >= 5
    assert set(codes) == {grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE}
    text = next(c.details() for c in calls if c.code() is grpc.StatusCode.UNAVAILABLE)
    assert "queue" in text and "4" in text
    server.check_alive()
    assert server.stop() == 0


@pytest.mark.parametrize(
    "shape", [(), (0,), (0, 3), (3, 0), (2, 0, 4), (1,) * 8, (0,) * 8], ids=str
)
def test_zero_size_and_0d_are_valid(
    shape: tuple[int, ...], server: ServerProcess
) -> None:
    x = np.full(shape, 3, np.float32)
    [result] = send(server.channel, add(tensor(x), tensor(x)))
    assert result.shape == shape
    np.testing.assert_array_equal(result, x + x)
