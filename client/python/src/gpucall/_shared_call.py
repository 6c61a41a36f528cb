"""Calls whose arrays go through memory shared with a server on this host."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import grpc
import numpy as np
import numpy.typing as npt

from gpucall._arena import ALIGNMENT, Arena, Block
from gpucall._binding import result_dtype
from gpucall._error import Error
from gpucall._matmul import product_shape
from gpucall._remote import RemoteRef
from gpucall._request import Request, result_is_too_large
from gpucall._tensors import Array, decode_reply, encode_request, numpy_dtype

# Smaller arrays are in the messages.
MIN_SHARED_BYTES = 64 << 10

# A call with one of these has surely not been started, or is over.
_DONE = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
}


def arena_of(target: str) -> Arena | None:
    """For a target that is a Unix socket: the server's other socket is beside it."""
    match = re.match(r"unix:(?://)?(?P<path>.+)", target)
    return Arena(match["path"] + ".shm") if match else None


def empty(arena: Arena | None, shape: Any, dtype: npt.DTypeLike) -> Array:
    """In the arena where there is one with room; else as np.empty."""
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    kind = np.dtype(dtype)
    array = arena.empty(shape, kind) if arena is not None else None
    return np.empty(shape, kind) if array is None else array


class SharedCall:
    """One call on its way through an arena.

    Attributes
    ----------
    message : bytes
        The request.
    """

    def __init__(
        self,
        arena: Arena,
        request: Request,
        area: Block | None,
        kept: Sequence[tuple[Array | None, Any]],
    ) -> None:
        self._arena = arena
        self._area = area
        self._kept = kept  # what _shared gave for the request's tensors
        head = request.head
        if area is not None:
            head = type(head)()
            head.CopyFrom(request.head)
            head.options.output_area.segment = area.segment.id
            head.options.output_area.offset = area.offset
            head.options.output_area.size_bytes = area.size
        self.message = encode_request(
            head, request.tensors, [region for _, region in kept]
        )

    @staticmethod
    def prepare(arena: Arena | None, request: Request) -> SharedCall | None:
        """None: all of its arrays are small, or there is no shared memory."""
        if arena is None:
            return None
        expected = 0 if request.keeps_results else result_bytes(request)
        sizes = [
            0 if isinstance(array, RemoteRef) else array.nbytes
            for _, array in request.tensors
        ]
        if max([expected, *sizes]) < MIN_SHARED_BYTES:
            return None
        kept = [_shared(arena, array) for _, array in request.tensors]
        for size, (_, region) in zip(sizes, kept, strict=True):
            if size >= MIN_SHARED_BYTES and region is None:
                return None  # no room
        area = arena.take(expected) if expected >= MIN_SHARED_BYTES else None
        if area is None and not any(region for _, region in kept):
            return None
        return SharedCall(arena, request, area, kept)

    def finish(self, reply: bytes) -> tuple[list[Array], Any]:
        """Arrays and Receipt message, or None, of the reply."""
        return decode_reply(reply, self._placed)

    def failed(self, error: BaseException) -> bool:
        """Take note of the call's end. True: try again, without shared memory."""
        code = error.code if isinstance(error, Error) else None
        if self._area is not None and code not in _DONE:
            self._arena.retire(self._area)  # work that goes on still writes there
        if not isinstance(error, Error):
            return False
        lost = code is grpc.StatusCode.NOT_FOUND and "segment" in error.message
        if lost:
            self._arena.renew()
        return lost or result_is_too_large(error.code.name, error.message)

    def _placed(self, tensors: Sequence[Any]) -> list[Array]:
        if self._area is None:
            return []
        kinds = [(tuple(t.shape), numpy_dtype(t.dtype)) for t in tensors]
        parts = [
            (tensor.region.offset, math.prod(shape) * dtype.itemsize)
            for tensor, (shape, dtype) in zip(tensors, kinds, strict=True)
        ]
        blocks = self._area.split(parts)
        return [b.array(*kind) for b, kind in zip(blocks, kinds, strict=True)]


def _shared(arena: Arena, array: Array) -> tuple[Array | None, Any]:
    """What holds the elements in the arena, copied there where need be; their Region."""
    if isinstance(array, RemoteRef) or array.nbytes < MIN_SHARED_BYTES:
        return None, None
    region = arena.region(array)
    if region is not None:
        return array, region
    copy = arena.empty(array.shape, array.dtype)
    if copy is None:
        return None, None
    np.copyto(copy, array)
    return copy, arena.region(copy)


def result_bytes(request: Request) -> int:
    """Room for the results, as far as can be told; what needs more is in the reply."""
    arrays = [array for _, array in request.tensors]
    program = request.program
    operations, count = program.operations, max(len(program.outputs), 1)
    largest = max((array.nbytes for array in arrays), default=0)
    if len(operations) == 1 and count == 1:
        one = _one_result_bytes(operations[0], arrays)
        largest = largest if one is None else one
    return count * (largest + ALIGNMENT)


def _one_result_bytes(operation: Any, arrays: Sequence[Array]) -> int | None:
    kind = operation.WhichOneof("kind")
    dtypes = [array.dtype for array in arrays]
    try:
        dtype = result_dtype(operation, dtypes, np.result_type(*dtypes))
        if kind == "elementwise":
            shape = np.broadcast_shapes(*(array.shape for array in arrays))
        elif kind == "filter":
            shape = arrays[0].shape
        elif kind == "matmul":
            a, b = (array.shape for array in arrays[:2])
            sides = product_shape(operation.matmul, a, b)
            shape = (*np.broadcast_shapes(a[:-2], b[:-2]), *sides)
        elif kind == "reduce":
            axes = operation.reduce.axes.axis
            kept = operation.reduce.HasField("axes")
            shape = _without(arrays[0].shape, axes) if kept else ()
        else:
            return None
    except (ValueError, IndexError, TypeError):
        return None  # the server says what is wrong
    return math.prod(shape) * dtype.itemsize


def _without(shape: Sequence[int], axes: Sequence[int]) -> tuple[int, ...]:
    dropped = {axis % max(len(shape), 1) for axis in axes}
    return tuple(size for axis, size in enumerate(shape) if axis not in dropped)
