"""Callers whose work shares batches: right answers, errors of their own, no waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc
import numpy as np

import gpucall
from batches import Reply, gathered, send_together
from gpucall import _wire
from gpucall._tensors import encode_request
from raw import tensor
from server_process import ServerProcess

Request = tuple[str, bytes]


def add(x: Any, y: Any) -> Request:
    options = _wire.CallOptions(want_receipt=True)
    head = _wire.ElementwiseRequest(op=_wire.ELEMENTWISE_OPS["add"], options=options)
    return _wire.ELEMENTWISE, encode_request(head, [(2, x), (2, y)])


def matmul(a: Any, b: Any) -> Request:
    head = _wire.MatMulRequest(options=_wire.CallOptions(want_receipt=True))
    return _wire.MATMUL, encode_request(head, [(1, a), (2, b)])


def gaussian(image: Any) -> Request:
    head = _wire.FilterRequest(
        filter=_wire.Filter(gaussian={"sigma": [1.5]}),
        options=_wire.CallOptions(want_receipt=True),
    )
    return _wire.FILTER, encode_request(head, [(1, image)])


def batch_sizes(replies: list[Reply]) -> set[int]:
    return {reply.receipt.batch_size for reply in replies if reply.receipt}


def rows(i: int, columns: int = 5) -> Any:
    return np.random.default_rng(i).standard_normal((i % 7 + 1, columns), np.float32)


def test_adds_of_many_shapes_share_a_batch(one_lane: ServerProcess) -> None:
    replies = gathered(one_lane.channel, [add(rows(i), rows(i)) for i in range(32)])
    for i, reply in enumerate(replies):
        np.testing.assert_array_equal(reply.arrays[0], rows(i) + rows(i))
    assert max(batch_sizes(replies)) >= 16


def test_matmuls_share_a_batch_and_are_bit_equal(one_lane: ServerProcess) -> None:
    pairs = [(rows(i, 64), rows(i, 64).T.copy()) for i in range(32)]
    requests = [matmul(a, b) for a, b in pairs]
    alone = [send_together(one_lane.channel, [request])[0] for request in requests]
    together = gathered(one_lane.channel, requests)
    assert batch_sizes(alone) == {1}
    assert max(batch_sizes(together)) >= 16
    for one, other in zip(alone, together, strict=True):
        assert one.arrays[0].tobytes() == other.arrays[0].tobytes()


def test_filters_share_a_batch_and_are_bit_equal(one_lane: ServerProcess) -> None:
    requests = [gaussian(np.repeat(rows(i, 20), 9, axis=0)) for i in range(32)]
    alone = [send_together(one_lane.channel, [request])[0] for request in requests]
    together = gathered(one_lane.channel, requests)
    assert max(batch_sizes(together)) >= 16
    for one, other in zip(alone, together, strict=True):
        assert one.arrays[0].tobytes() == other.arrays[0].tobytes()


def test_one_bad_call_fails_alone(one_lane: ServerProcess) -> None:
    requests = [add(rows(i), rows(i)) for i in range(31)]
    requests.insert(11, add(np.zeros((2, 3), np.float32), np.zeros(4, np.float32)))
    replies = gathered(one_lane.channel, requests)
    bad = replies.pop(11)
    assert bad.error is not None and bad.error[0] is grpc.StatusCode.INVALID_ARGUMENT
    for i, reply in enumerate(replies):
        np.testing.assert_array_equal(reply.arrays[0], rows(i) + rows(i))


def test_a_fault_found_while_running_fails_alone(one_lane: ServerProcess) -> None:
    def power(x: list[int], y: list[int]) -> Request:
        inputs = [tensor(x, "int32"), tensor(y, "int32")]
        op = _wire.ELEMENTWISE_OPS["power"]
        request = _wire.ElementwiseRequest(op=op, inputs=inputs)
        return _wire.ELEMENTWISE, request.SerializeToString()

    requests = [power([i, 2], [2, i]) for i in range(10)]
    requests.insert(4, power([2, 0], [-1, -1]))
    replies = gathered(one_lane.channel, requests)
    bad = replies.pop(4)
    assert bad.error is not None and bad.error[0] is grpc.StatusCode.INVALID_ARGUMENT
    assert "exponent" in bad.error[1]
    for i, reply in enumerate(replies):
        np.testing.assert_array_equal(reply.arrays[0], [i**2, 2**i])


def test_nan_stays_with_its_caller(one_lane: ServerProcess) -> None:
    nan = np.full((5, 5), np.nan, np.float32)
    for make in (add, matmul):
        squares = [np.full((5, 5), i, np.float32) for i in range(31)]
        requests = [make(nan, nan), *(make(x, x) for x in squares)]
        replies = gathered(one_lane.channel, requests)
        assert np.isnan(replies[0].arrays[0]).all()
        for x, reply in zip(squares, replies[1:], strict=True):
            right = x + x if make is add else x @ x
            np.testing.assert_array_equal(reply.arrays[0], right)


def test_batches_of_10_then_2_then_10(one_lane: ServerProcess) -> None:
    seed = 0
    for size in (10, 2, 10):
        xs = [rows(seed + i) for i in range(size)]
        replies = gathered(one_lane.channel, [add(x, x) for x in xs])
        for x, reply in zip(xs, replies, strict=True):
            np.testing.assert_array_equal(reply.arrays[0], x + x)
        seed += size


def test_no_batching_when_told(start_server: Callable[..., ServerProcess]) -> None:
    server = start_server("--lanes=1", "--max_batch_tasks=1")
    replies = gathered(server.channel, [add(rows(i), rows(i)) for i in range(16)])
    assert batch_sizes(replies) == {1}
    assert server.stop() == 0


def test_a_lone_call_does_not_wait(c: gpucall.Client) -> None:
    waits = []
    for _ in range(50):
        with gpucall.receipts() as receipts:
            c.add(np.float32([1]), 2)
        assert receipts[0].batch_size == 1
        waits.append(receipts[0].queue_ns)
    assert np.median(waits) < 1e6
