"""A client that knows nothing of gpucall: its stubs come from server reflection."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from google.protobuf import descriptor_pool, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

from server_process import ServerProcess


class Stub:
    """Calls any method of a service found by reflection, with dicts as requests."""

    def __init__(self, server: ServerProcess, service: str) -> None:
        database = ProtoReflectionDescriptorDatabase(server.channel)
        pool = descriptor_pool.DescriptorPool(database)
        self._service = pool.FindServiceByName(service)
        self._channel = server.channel

    def methods(self) -> set[str]:
        return {method.name for method in self._service.methods}

    def call(self, name: str, **fields: Any) -> Any:
        method = self._service.FindMethodByName(name)
        request = message_factory.GetMessageClass(method.input_type)
        reply: Any = message_factory.GetMessageClass(method.output_type)
        call = self._channel.unary_unary(
            f"/{self._service.full_name}/{name}",
            request.SerializeToString,
            reply.FromString,
        )
        return call(request(**fields), timeout=10)


def tensor(values: Any) -> dict[str, Any]:
    array = np.asarray(values, "<f4")
    return {"dtype": "DTYPE_FLOAT32", "shape": array.shape, "data": array.tobytes()}


def values(reply: Any) -> Any:
    return np.frombuffer(reply.output.data, "<f4").reshape(tuple(reply.output.shape))


@pytest.fixture(scope="module")
def compute(server: ServerProcess) -> Stub:
    return Stub(server, "gpucall.v1.Compute")


def test_services(server: ServerProcess) -> None:
    services = set(ProtoReflectionDescriptorDatabase(server.channel).get_services())
    assert services >= {
        "gpucall.v1.Compute",
        "gpucall.v1.Server",
        "grpc.health.v1.Health",
    }


def test_elementwise(compute: Stub) -> None:
    inputs = [tensor([1, 2]), tensor([3, 4])]
    reply = compute.call(
        "Elementwise",
        op="ELEMENTWISE_OP_ADD",
        inputs=inputs,
        options={"want_receipt": True},
    )
    np.testing.assert_array_equal(values(reply), [4, 6])
    assert reply.receipt.batch_size == 1


def test_matmul(compute: Stub) -> None:
    a = tensor([[1, 2], [3, 4]])
    reply = compute.call("MatMul", a=a, b=a, attributes={"transpose_b": True})
    np.testing.assert_array_equal(values(reply), [[5, 11], [11, 25]])


def test_filter(compute: Stub) -> None:
    reply = compute.call(
        "Filter",
        image=tensor([[0, 1, 0]]),
        kernel=tensor([[1, 2, 3]]),
        filter={"convolve": {}, "border": {"mode": "BORDER_MODE_CONSTANT"}},
    )
    np.testing.assert_array_equal(values(reply), [[1, 2, 3]])


def test_run(compute: Stub) -> None:
    operation = {"elementwise": "ELEMENTWISE_OP_SQUARE", "inputs": [0]}
    reply = compute.call(
        "Run", inputs=[tensor([3])], program={"operations": [operation]}
    )
    assert np.frombuffer(reply.outputs[0].data, "<f4") == 9


def test_info_and_catalogue(server: ServerProcess, compute: Stub) -> None:
    stub = Stub(server, "gpucall.v1.Server")
    assert stub.call("GetInfo").limits.max_dimensions == 8
    names = {entry.name for entry in stub.call("GetCatalogue").operations}
    assert {"add", "matmul", "gaussian"} <= names
    methods = {"Elementwise", "MatMul", "Filter", "Reduce", "Rearrange", "Run", "RunStream"}
    assert compute.methods() >= methods
