"""NumPy arrays to wire tensors and back.

Requests are framed and replies are taken apart here rather than by protobuf's Python
classes, which copy every `bytes` field once or twice more: a request is one copy of
its arrays, a reply one copy into the result. Small parts still go through protobuf.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import grpc
import numpy as np
import numpy.typing as npt

from gpucall import _wire
from gpucall._error import Error
from gpucall._remote import RemoteRef

Array = npt.NDArray[Any]

# Of one tensor in a message (proto/gpucall/v1/tensor.proto).
MAX_INLINE_BYTES = 48_000_000


def _numpy_dtypes() -> dict[int, np.dtype[Any]]:
    """By wire number; bfloat16, which NumPy lacks, where ml_dtypes is installed."""
    dtypes = {}
    for name, number in _wire.DTYPES.items():
        if name != "bfloat16":
            dtypes[number] = np.dtype(name)
        elif (found := find_spec("ml_dtypes")) is not None:
            dtypes[number] = np.dtype(import_module(found.name).bfloat16)
    return dtypes


_DTYPES = _numpy_dtypes()
_BFLOAT16 = _wire.DTYPES["bfloat16"]
_NUMBERS = {dtype: number for number, dtype in _DTYPES.items()}

_DATA_FIELD = 3  # Tensor.data, Chunk.data
_RESULT_FIELD, _CHUNK_FIELD = 1, 2  # of RunStreamReply; the latter of its request too
_TENSOR_FIELD, _RECEIPT_FIELD = 1, 2  # of ComputeReply and RunReply
_LENGTH_DELIMITED = 2


def dtype_number(dtype: npt.DTypeLike) -> int:
    """The wire's DType of a NumPy dtype. TypeError naming it where there is none."""
    number = _NUMBERS.get(np.dtype(dtype).newbyteorder("="))
    if number is None:
        raise TypeError(
            f"dtype {np.dtype(dtype)} cannot be sent; allowed: "
            + ", ".join(str(d) for d in _NUMBERS)
        )
    return number


def numpy_dtype(number: int) -> np.dtype[Any]:
    """The NumPy dtype of a wire DType. TypeError: bfloat16 without ml_dtypes."""
    if number not in _DTYPES:
        (name,) = dtype_names([number])
        raise TypeError(f"{name} has no NumPy dtype; for bfloat16 install ml_dtypes")
    return _DTYPES[number]


def dtype_names(numbers: Sequence[int]) -> tuple[str, ...]:
    """NumPy's names of wire DTypes."""
    names = {number: name for name, number in _wire.DTYPES.items()}
    return tuple(names.get(number, f"dtype {number}") for number in numbers)


def is_weak(value: object) -> bool:
    """Whether `value` is a Python scalar: it takes the dtype of the arrays beside it."""
    return type(value) in (bool, int, float, complex)


def as_array(value: npt.ArrayLike) -> Array:
    """`value` as the wire has it: C order, little-endian. TypeError: dtype, or a mask."""
    if isinstance(value, RemoteRef):
        return value  # type: ignore[return-value]  # it has what is asked of arrays here
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            f"masked array of dtype {value.dtype}: fill or drop the mask first"
        )
    array = np.asarray(value)
    if array.dtype == np.float64 and isinstance(value, (list, tuple)):
        array = _exact(array, value)
    dtype_number(array.dtype)
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


def _exact(array: Array, value: npt.ArrayLike) -> Array:
    """NumPy makes floats of a list of integers past 2**63; uint64, or OverflowError."""
    elements = np.asarray(value, object)
    integers = all(isinstance(element, int) for element in elements.flat)
    return np.asarray(value, np.uint64) if integers and array.size else array


def as_arrays(
    operands: Sequence[npt.ArrayLike], first_promoted: int = 0
) -> list[Array]:
    """Operands as arrays; from `first_promoted` on, Python scalars are weak as in NumPy 2.

    OverflowError: a Python integer does not fit the dtype it takes.
    """
    arrays: list[Any] = [
        value if is_weak(value) else as_array(value) for value in operands
    ]
    if not any(map(is_weak, arrays)):
        return arrays
    dtype = promote(arrays[first_promoted:])
    return [
        as_array(np.asarray(value, dtype if i >= first_promoted else None))
        if is_weak(value)
        else value
        for i, value in enumerate(arrays)
    ]


def promote(operands: Sequence[Any]) -> np.dtype[Any]:
    """NumPy 2's result dtype of arrays, dtypes and Python scalars.

    bfloat16 takes part as float16 does; with float16 itself it gives float32.
    """
    dtypes = [o if is_weak(o) else _dtype_of(o) for o in operands]
    if not any(is_bfloat16(dtype) for dtype in dtypes):
        return np.result_type(*dtypes)
    half = np.dtype(np.float16)
    together = np.result_type(*(half if is_bfloat16(d) else d for d in dtypes))
    if together != half:
        return together
    return np.dtype(np.float32) if half in dtypes else numpy_dtype(_BFLOAT16)


def _dtype_of(operand: Any) -> np.dtype[Any]:
    return operand.dtype if isinstance(operand, RemoteRef) else np.result_type(operand)


def is_bfloat16(dtype: object) -> bool:
    return isinstance(dtype, np.dtype) and _NUMBERS.get(dtype) == _BFLOAT16


def encode_request(
    head: Any, tensors: Sequence[tuple[int, Array]], regions: Sequence[Any] = ()
) -> bytes:
    """A request: the message `head` and (field number, array) of each of its tensors.

    `regions`: Region messages of those that are in shared memory, None for others.
    """
    parts: list[Any] = [head.SerializeToString()]
    for i, (field, array) in enumerate(tensors):
        if isinstance(array, RemoteRef):
            tensor = _wire.Tensor(handle=array.handle)
            parts += [_opening(field, tensor.ByteSize()), tensor.SerializeToString()]
            continue
        if i < len(regions) and regions[i] is not None:
            number = dtype_number(array.dtype)
            tensor = _wire.Tensor(dtype=number, shape=array.shape, region=regions[i])
            parts += [_opening(field, tensor.ByteSize()), tensor.SerializeToString()]
            continue
        if array.nbytes > MAX_INLINE_BYTES:
            raise Error(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                f"tensor of shape {array.shape} and dtype {array.dtype} is {array.nbytes} "
                f"bytes; at most {MAX_INLINE_BYTES} can be sent",
            )
        tensor = _wire.Tensor(dtype=dtype_number(array.dtype), shape=array.shape)
        opening = tensor.SerializeToString() + _opening(_DATA_FIELD, array.nbytes)
        parts += [
            _opening(field, len(opening) + array.nbytes),
            opening,
            _bytes_of(array),
        ]
    return b"".join(parts)


def encode_chunk(tensor: int, offset: int, data: memoryview) -> bytes:
    """A RunStreamRequest that holds a Chunk."""
    chunk = _wire.Chunk(tensor=tensor, offset=offset).SerializeToString()
    opening = chunk + _opening(_DATA_FIELD, len(data))
    return b"".join((_opening(_CHUNK_FIELD, len(opening) + len(data)), opening, data))


def read_stream_reply(
    message: bytes,
) -> tuple[Any, tuple[int, int, memoryview] | None]:
    """The result, or (tensor, offset, data) of the chunk, of a RunStreamReply."""
    result, chunk = None, None
    for field, _, first, last in _fields(message, 0, len(message)):
        if field == _RESULT_FIELD:
            result = _wire.RunReply.FromString(message[first:last])
        elif field == _CHUNK_FIELD:
            rest, data = b"", memoryview(b"")
            for inner, start, value, end in _fields(message, first, last):
                if inner == _DATA_FIELD:
                    data = memoryview(message)[value:end]
                else:
                    rest += message[start:end]
            head = _wire.Chunk.FromString(rest)
            chunk = head.tensor, head.offset, data
    return result, chunk


def byte_view(array: Array) -> memoryview:
    """The elements of a C-contiguous array."""
    return memoryview(array.reshape(-1).view(np.uint8).data)


def new_array(tensor: Any) -> Array:
    """An array, its elements not set, for a Tensor message."""
    return np.empty(tuple(tensor.shape), numpy_dtype(tensor.dtype))


def _bytes_of(array: Array) -> memoryview:
    """The elements; NumPy exports no buffer of bfloat16."""
    return (array.view(np.uint16) if is_bfloat16(array.dtype) else array).data


def decode_reply(
    reply: bytes, placed: Callable[[Sequence[Any]], Sequence[Array]] | None = None
) -> tuple[list[Any], Any]:
    """Arrays and Receipt message, or None, of a ComputeReply or RunReply.

    The arrays are writable; of one kept on the server there is the Tensor message.
    `placed` gives the arrays of Tensor messages that have a region.
    """
    arrays, receipt = [], None
    for field, _, first, last in _fields(reply, 0, len(reply)):
        if field == _TENSOR_FIELD:
            arrays.append(_decode_tensor(reply, first, last))
        elif field == _RECEIPT_FIELD:
            receipt = _wire.Receipt.FromString(reply[first:last])
    if placed is not None:
        elsewhere = [i for i, a in enumerate(arrays) if _has_region(a)]
        found = placed([arrays[i] for i in elsewhere])
        for i, array in zip(elsewhere, found, strict=True):
            arrays[i] = array
    return arrays, receipt


def _has_region(result: Any) -> bool:
    return not isinstance(result, np.ndarray) and result.HasField("region")


def _decode_tensor(reply: bytes, first: int, last: int) -> Any:
    """The array; the Tensor message where the elements are elsewhere."""
    rest, data = b"", last
    for field, start, value, end in _fields(reply, first, last):
        if field == _DATA_FIELD:
            data = value
        else:
            rest += reply[start:end]
    tensor = _wire.Tensor.FromString(rest)
    if tensor.handle or tensor.HasField("region"):
        return tensor
    dtype = numpy_dtype(tensor.dtype)
    view: Array = np.ndarray(
        tuple(tensor.shape), dtype.newbyteorder("<"), buffer=reply, offset=data
    )
    return np.array(view, dtype)


def _opening(field: int, size: int) -> bytes:
    """Tag and length that open a length-delimited field."""
    return _varint(field << 3 | _LENGTH_DELIMITED) + _varint(size)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7


def _fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """(number, start, start of the value, end) of each field of a message."""
    while at < end:
        start = at
        tag, at = _read_varint(data, at)
        value, kind = at, tag & 7
        if kind == _LENGTH_DELIMITED:
            size, value = _read_varint(data, at)
            at = value + size
        elif kind == 0:
            _, at = _read_varint(data, at)
        else:
            at += {1: 8, 5: 4}[kind]
        yield tag >> 3, start, value, at
