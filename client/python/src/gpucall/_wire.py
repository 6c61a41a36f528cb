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
REDUCE_OPS = _enum("ReduceOp", "REDUCE_OP_")
SCAN_OPS = _enum("ScanOp", "SCAN_OP_")
PRECISIONS = _enum("MatMulPrecision", "MATMUL_PRECISION_")
ACTIVATIONS = _enum("Activation", "ACTIVATION_")
IMAGE_LAYOUTS = _enum("ImageLayout", "IMAGE_LAYOUT_")
BORDER_MODES = _enum("BorderMode", "BORDER_MODE_")
COLOUR_CONVERSIONS = _enum("ColourConversion", "COLOUR_CONVERSION_")
THRESHOLD_KINDS = _enum("ThresholdKind", "THRESHOLD_KIND_")
ADAPTIVE_METHODS = _enum("AdaptiveMethod", "ADAPTIVE_METHOD_")
INTERPOLATIONS = _enum("Interpolation", "INTERPOLATION_")

Tensor = _message("Tensor")
Operation = _message("Operation")
Program = _message("Program")
MatMul = _message("MatMul")
Filter = _message("Filter")
Reduce = _message("Reduce")
Rearrange = _message("Rearrange")
Sort = _message("Sort")
Scan = _message("Scan")
Take = _message("Take")
Creation = _message("Creation")
Image = _message("Image")
Network = _message("Network")
Signal = _message("Signal")
LFilter = _message("LFilter")
SosFilter = _message("SosFilter")
Conv2d = _message("Conv2d")
Pool2d = _message("Pool2d")
Steps2d = _message("Steps2d")
CallOptions = _message("CallOptions")
Receipt = _message("Receipt")
ElementwiseRequest = _message("ElementwiseRequest")
MatMulRequest = _message("MatMulRequest")
FilterRequest = _message("FilterRequest")
ReduceRequest = _message("ReduceRequest")
RearrangeRequest = _message("RearrangeRequest")
SortRequest = _message("SortRequest")
ScanRequest = _message("ScanRequest")
TakeRequest = _message("TakeRequest")
ImageRequest = _message("ImageRequest")
NetworkRequest = _message("NetworkRequest")
RunRequest = _message("RunRequest")
RunReply = _message("RunReply")
RunStreamStart = _message("RunStreamStart")
RunStreamRequest = _message("RunStreamRequest")
RunStreamReply = _message("RunStreamReply")
Streamed = _message("Streamed")
Chunk = _message("Chunk")
Region = _message("Region")
Area = _message("Area")
SharedMemoryRequest = _message("SharedMemoryRequest")
SharedMemoryReply = _message("SharedMemoryReply")
RegisterSegment = _message("RegisterSegment")
ReleaseSegment = _message("ReleaseSegment")
ResidentTensor = _message("ResidentTensor")
PutRequest = _message("PutRequest")
GetRequest = _message("GetRequest")
CreateRequest = _message("CreateRequest")
WriteStart = _message("WriteStart")
WriteRequest = _message("WriteRequest")
ReadRequest = _message("ReadRequest")
FreeRequest = _message("FreeRequest")
ViewRequest = _message("ViewRequest")
StatRequest = _message("StatRequest")
KeepAliveRequest = _message("KeepAliveRequest")
ReadReply = _message("ReadReply")
OpenSessionRequest = _message("OpenSessionRequest")
EndSessionRequest = _message("EndSessionRequest")
Session = _message("Session")
Statistics = _message("Statistics")
ServerInfo = _message("ServerInfo")
Catalogue = _message("Catalogue")

ELEMENTWISE = "/gpucall.v1.Compute/Elementwise"
MATMUL = "/gpucall.v1.Compute/MatMul"
FILTER = "/gpucall.v1.Compute/Filter"
REDUCE = "/gpucall.v1.Compute/Reduce"
REARRANGE = "/gpucall.v1.Compute/Rearrange"
SORT = "/gpucall.v1.Compute/Sort"
SCAN = "/gpucall.v1.Compute/Scan"
TAKE = "/gpucall.v1.Compute/Take"
IMAGE = "/gpucall.v1.Compute/Image"
NETWORK = "/gpucall.v1.Compute/Network"
RUN = "/gpucall.v1.Compute/Run"
RUN_STREAM = "/gpucall.v1.Compute/RunStream"
GET_INFO = "/gpucall.v1.Server/GetInfo"
GET_CATALOGUE = "/gpucall.v1.Server/GetCatalogue"
GET_STATISTICS = "/gpucall.v1.Server/GetStatistics"
PUT = "/gpucall.v1.Tensors/Put"
GET = "/gpucall.v1.Tensors/Get"
CREATE = "/gpucall.v1.Tensors/Create"
WRITE = "/gpucall.v1.Tensors/Write"
READ = "/gpucall.v1.Tensors/Read"
FREE = "/gpucall.v1.Tensors/Free"
VIEW = "/gpucall.v1.Tensors/View"
KEEP_ALIVE = "/gpucall.v1.Tensors/KeepAlive"
OPEN_SESSION = "/gpucall.v1.Tensors/OpenSession"
END_SESSION = "/gpucall.v1.Tensors/EndSession"
METHODS = (
    *(
        ELEMENTWISE,
        MATMUL,
        FILTER,
        REDUCE,
        REARRANGE,
        SORT,
        SCAN,
        TAKE,
        IMAGE,
        NETWORK,
        RUN,
    ),
    *(GET_INFO, GET_CATALOGUE, GET_STATISTICS),
    *(PUT, GET, CREATE, FREE, VIEW),
)
