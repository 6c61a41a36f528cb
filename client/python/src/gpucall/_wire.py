"""Message classes of proto/gpucall/v1, made from the descriptors beside this file.

They live in a descriptor pool of their own, so a program that also uses generated
code of the same contract has no conflict.
"""

from __future__ import annotations

from importlib import resources
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory


def _load_pool() -> descriptor_pool.DescriptorPool:
    data = resources.files(__package__).joinpath("wire.binpb").read_bytes()
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(data).file:
        pool.AddSerializedFile(file.SerializeToString())
    return pool


_POOL = _load_pool()


def _message(name: str) -> Any:
    descriptor = _POOL.FindMessageTypeByName(f"gpucall.v1.{name}")
    make: Any = getattr(message_factory, "GetMessageClass", None)
    if make is None:  # protobuf before 4.22
        make = message_factory.MessageFactory(_POOL).GetPrototype  # type: ignore[attr-defined]
    return make(descriptor)


def _enum(name: str, prefix: str) -> dict[str, int]:
    """{"float32": 12} for DTYPE_FLOAT32 = 12, without the unspecified value."""
    values = _POOL.FindEnumTypeByName(f"gpucall.v1.{name}").values
    return {v.name[len(prefix) :].lower(): v.number for v in values if v.number}


DTYPES = _enum("DType", "DTYPE_")
ELEMENTWISE_OPS = _enum("ElementwiseOp", "ELEMENTWISE_OP_")
BORDER_MODES = _enum("BorderMode", "BORDER_MODE_")

Tensor = _message("Tensor")
Operation = _message("Operation")
Program = _message("Program")
MatMul = _message("MatMul")
Filter = _message("Filter")
CallOptions = _message("CallOptions")
Receipt = _message("Receipt")
ElementwiseRequest = _message("ElementwiseRequest")
MatMulRequest = _message("MatMulRequest")
FilterRequest = _message("FilterRequest")
RunRequest = _message("RunRequest")
RunReply = _message("RunReply")
RunStreamStart = _message("RunStreamStart")
RunStreamRequest = _message("RunStreamRequest")
Streamed = _message("Streamed")
Chunk = _message("Chunk")
ServerInfo = _message("ServerInfo")
Catalogue = _message("Catalogue")

ELEMENTWISE = "/gpucall.v1.Compute/Elementwise"
MATMUL = "/gpucall.v1.Compute/MatMul"
FILTER = "/gpucall.v1.Compute/Filter"
RUN = "/gpucall.v1.Compute/Run"
RUN_STREAM = "/gpucall.v1.Compute/RunStream"
GET_INFO = "/gpucall.v1.Server/GetInfo"
GET_CATALOGUE = "/gpucall.v1.Server/GetCatalogue"
METHODS = (ELEMENTWISE, MATMUL, FILTER, RUN, GET_INFO, GET_CATALOGUE)
