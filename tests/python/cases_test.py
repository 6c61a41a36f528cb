"""The cases of tests/data: faults others met, with the right answers.

Each is run alone and inside batches of other callers' work.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

import gpucall
from batches import gathered, send_together
from gpucall import _info, _wire
from gpucall._channel import encode_call, encode_run
from gpucall._operations import Call
from raw import refused
from server_process import ServerProcess

DATA = Path(__file__).resolve().parents[1] / "data"
CASES: list[dict[str, Any]] = json.loads((DATA / "vectors.json").read_text())
ARRAYS = np.load(DATA / "vectors.npz")

# Cases that allow several answers, and the one this server gives.
ANSWERS = {
    "E15a": "value",  # a shift by a negative number gives 0
    "F16b": "value",  # Sobel to uint8 saturates
    "F22a": "value",  # of the two middle values, the larger
    "F26a": "value",
    "F26b": "value",
    "F26c": "value",
    "F28b": "error",  # cval that uint8 does not hold
    "F31c": "value",  # an empty image stays empty
    "C03a": "value",  # big-endian arrays are converted
    "C03b": "value",
    "C03c": "value",
    "C03d": "value",
}
NEIGHBOURS = 8


def ids(cases: list[dict[str, Any]]) -> list[str]:
    return [case["id"] for case in cases]


class Recorder(gpucall.Program):
    """Has a client's methods; keeps the Call of the last one."""

    def _call(self, call: Call) -> gpucall.Value:
        self.last = call
        return gpucall.Value(self, 0)


def arrays_of(case: dict[str, Any]) -> list[Any]:
    arrays = [ARRAYS[name] for name in case["inputs"]]
    if case["layout"]:
        return [eval(case["layout"], {"np": np, "v": arrays[0]})]
    return arrays


def request_of(case: dict[str, Any]) -> tuple[str, bytes]:
    """Path and request, as the client makes them."""
    if case["op"] == "roundtrip":
        identity = gpucall.Program()
        identity.output(identity.input())
        return encode_run(identity, arrays_of(case), want_receipt=True)
    if case["op"] == "raw_tensor":
        attributes = case["attrs"]
        tensor = _wire.Tensor(
            dtype=_wire.DTYPES[attributes["dtype"]],
            shape=attributes["shape"],
            data=bytes(attributes["data_len"]),
        )
        op = _wire.ELEMENTWISE_OPS["negative"]
        request = _wire.ElementwiseRequest(op=op, inputs=[tensor])
        return _wire.ELEMENTWISE, request.SerializeToString()
    attributes = dict(case["attrs"])
    attributes.pop("ksize", None)  # 1: the only Laplacian there is
    if "out_dtype" in attributes:
        attributes["output"] = attributes.pop("out_dtype")
    recorder = Recorder()
    if case["op"] == "cast":
        recorder.astype(arrays_of(case)[0], attributes["to"])
    else:
        getattr(recorder, case["op"])(*arrays_of(case), **attributes)
    return encode_call(recorder.last, want_receipt=True)


def offered(case: dict[str, Any], catalogue: dict[str, _info.OperationInfo]) -> bool:
    """Whether the server has the operation for the dtypes."""
    # Those take what nothing computes with, too.
    moves = ("rearrange", "sort", "scan", "take")
    everything = {
        name for op in catalogue.values() if op.kind not in moves for name in op.dtypes
    }
    if case["op"] == "roundtrip":  # computes nothing: any dtype goes through
        return True
    if case["op"] == "raw_tensor":
        accepted = everything
    elif case["op"] in catalogue:
        accepted = set(catalogue[case["op"]].dtypes)
    else:
        return False
    dtypes = [array.dtype.newbyteorder("=").name for array in arrays_of(case)]
    return all(name in everything for name in dtypes) and (
        case["error"] is not None or not dtypes or dtypes[0] in accepted
    )


@pytest.fixture(scope="module")
def catalogue(c: gpucall.Client) -> dict[str, _info.OperationInfo]:
    return {op.name: op for op in c.ops()}


@pytest.fixture(scope="module")
def neighbours() -> list[tuple[str, bytes]]:
    """Other callers' work: good, bad, full of NaN, of other shapes."""
    nan = np.full((5, 5), np.nan, np.float32)
    recorder, requests = Recorder(), []
    for make in (
        lambda: recorder.add(nan, nan),
        lambda: recorder.multiply(np.int32([[1, 2, 3]]), np.int32([[4], [5]])),
        lambda: recorder.add(np.zeros((2, 3), np.float32), np.zeros(4, np.float32)),
        lambda: recorder.matmul(nan, nan),
        lambda: recorder.gaussian(nan, 1.0),
        lambda: recorder.median(np.full((70, 50), 9, np.uint8), 7),
        lambda: recorder.sqrt(np.float64([4, np.inf])),
        lambda: recorder.box(np.zeros((0, 5), np.float32), 3),
    ):
        make()
        requests.append(encode_call(recorder.last, want_receipt=False))
    assert len(requests) == NEIGHBOURS
    return requests


def check_value(case: dict[str, Any], got: Any) -> None:
    wanted = [ARRAYS[name] for name in [case["expected"], *case["also_ok"]]]
    problems = []
    for right in wanted:
        try:
            assert got.dtype == right.dtype and got.shape == right.shape, (got, right)
            if case["sign"]:
                np.testing.assert_array_equal(np.signbit(got), np.signbit(right))
            if case["id"] == "C15a":
                assert got.tobytes() == right.tobytes()
            # Compared as |got - right| <= atol + rtol * |right|; NaN equals NaN.
            np.testing.assert_allclose(got, right, case["rtol"], case["atol"])
            return
        except AssertionError as problem:
            problems.append(str(problem))
    raise AssertionError("\n".join(problems))


def check_error(case: dict[str, Any], code: grpc.StatusCode, message: str) -> None:
    assert code.name in case["error"]["code"], (code, message)
    assert any(name in message for name in case["error"]["names"]), message
    assert len(message) < 1000 and "0x" not in message


@pytest.mark.parametrize("case", CASES, ids=ids(CASES))
def test_case(
    case: dict[str, Any],
    server: ServerProcess,
    one_lane: ServerProcess,
    catalogue: dict[str, _info.OperationInfo],
    neighbours: list[tuple[str, bytes]],
) -> None:
    if case["op"] not in catalogue and case["op"] not in ("roundtrip", "raw_tensor"):
        check_no_such_operation(case, server)
    elif case["id"] == "F02a":  # refused by the client, which knows the names
        with pytest.raises(gpucall.Error, match="nearest, reflect, mirror") as raised:
            request_of(case)
        check_error(case, raised.value.code, raised.value.message)
    elif not offered(case, catalogue):
        path, request = request_of(case)
        code, message = refused(server.channel, request, path)
        assert code is grpc.StatusCode.UNIMPLEMENTED, message
        names = {array.dtype.newbyteorder("=").name for array in arrays_of(case)}
        assert any(name in message for name in names), message
    else:
        check_alone_and_together(case, server, one_lane, neighbours)
        one_lane.check_alive()
    server.check_alive()


def check_no_such_operation(case: dict[str, Any], server: ServerProcess) -> None:
    """An operation without a number: the next free one stands for it."""
    assert case["op"] not in _wire.ELEMENTWISE_OPS
    free = max(_wire.ELEMENTWISE_OPS.values()) + 1000
    recorder = Recorder()
    recorder.add(*(arrays_of(case) * 2)[:2])
    _, request = encode_call(recorder.last, want_receipt=False)
    message = _wire.ElementwiseRequest.FromString(request)
    message.op = free
    code, text = refused(server.channel, message)
    assert code is grpc.StatusCode.UNIMPLEMENTED and str(free) in text, text


def check_alone_and_together(
    case: dict[str, Any],
    server: ServerProcess,
    one_lane: ServerProcess,
    neighbours: list[tuple[str, bytes]],
) -> None:
    """Alone, and as 32 copies among other callers' work that share batches."""
    answer = ANSWERS.get(case["id"], "value" if case["error"] is None else "error")
    request = request_of(case)
    alone = send_together(server.channel, [request])
    mixed = [r for neighbour in neighbours for r in (*[request] * 4, neighbour)]
    together = gathered(one_lane.channel, mixed)
    for reply in [*alone, *(r for i, r in enumerate(together) if i % 5 != 4)]:
        if answer == "value":
            assert reply.error is None, reply.error
            check_value(case, reply.arrays[0])
        else:
            assert reply.error is not None, reply.arrays
            check_error(case, *reply.error)
    if answer == "value" and case["op"] != "roundtrip":  # which runs nothing
        assert max(reply.receipt.batch_size for reply in together if reply.receipt) > 8


def test_the_answers_are_of_cases_that_allow_several() -> None:
    several = {case["id"] for case in CASES if case["error"] and case["expected"]}
    assert set(ANSWERS) <= several
