"""A call on its way out: as one message, or as a stream of chunks where it is large."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpucall import _wire
from gpucall._binding import bind
from gpucall._operations import Call
from gpucall._program import Program
from gpucall._progress import NOT_WANTED, Progress
from gpucall._remote import RemoteRef
from gpucall._tensors import (
    Array,
    as_arrays,
    byte_view,
    dtype_number,
    encode_chunk,
    encode_request,
    new_array,
    read_stream_reply,
)

# Arrays of a call that together have more bytes go as a stream: from about here on that is
# faster (tests/bench/transport_bench.cc, python_transport.py).
MAX_UNARY_BYTES = 4 << 20
CHUNK_BYTES = 1 << 20

# What a server says of a result too large for one message.
_TOO_LARGE = "RunStream takes larger ones"


@dataclass(frozen=True)
class Request:
    """A verb with its arrays, or a Program's.

    Attributes
    ----------
    path : str
        The unary method.
    head : message
        The unary method's request without its tensors.
    tensors : sequence of (int, array)
        Field number in the request, and what goes there.
    program : message
        The same work as a Program.
    """

    path: str
    head: Any
    tensors: Sequence[tuple[int, Array]]
    program: Any

    @property
    def is_large(self) -> bool:
        """Whether its arrays should go as a stream."""
        sent = (a.nbytes for _, a in self.tensors if not isinstance(a, RemoteRef))
        return sum(sent) > MAX_UNARY_BYTES

    @property
    def uses_residents(self) -> bool:
        """Whether an input or a result stays on the server: then no stream will do."""
        used = any(isinstance(a, RemoteRef) for _, a in self.tensors)
        return used or self.keeps_results

    @property
    def keeps_results(self) -> bool:
        """Whether none of its results comes back."""
        return self.path == _wire.PUT or len(self.head.options.keep_outputs) > 0

    def keep(self, session: bytes) -> None:
        """Leave all results on the server, as the session's."""
        count = max(len(self.program.outputs), 1)
        self.head.options.keep_outputs.extend(range(count))
        self.head.options.session = session

    def with_tensors(self, arrays: Sequence[Any]) -> Request:
        """The same on other arrays."""
        fields = [field for field, _ in self.tensors]
        return replace(self, tensors=list(zip(fields, arrays, strict=True)))

    def encode(self) -> bytes:
        """The one message. Error RESOURCE_EXHAUSTED: an array is too large for it."""
        return encode_request(self.head, self.tensors)

    def chunks(self, progress: Progress) -> Iterator[bytes]:
        """The messages of a RunStream call, each made when it is asked for."""
        arrays = [array for _, array in self.tensors]
        inputs = [
            _wire.Tensor(
                dtype=dtype_number(array.dtype),
                shape=array.shape,
                streamed=_wire.Streamed(),
            )
            for array in arrays
        ]
        start = _wire.RunStreamStart(
            program=self.program, inputs=inputs, options=self.head.options
        )
        yield _wire.RunStreamRequest(start=start).SerializeToString()
        views = [byte_view(array) for array in arrays]
        progress.expect(sum(map(len, views)))
        for offset in range(0, max(map(len, views), default=0), CHUNK_BYTES):
            for i, data in enumerate(
                views
            ):  # in turns: the server begins with what it has
                part = data[offset : offset + CHUNK_BYTES]
                if part:
                    yield encode_chunk(i, offset, part)
                    if not progress.moved(len(part)):
                        return  # which the server refuses


class StreamReply:
    """Puts the messages of a RunStream reply together."""

    def __init__(self, progress: Progress = NOT_WANTED) -> None:
        self.arrays: list[Array] = []
        self.receipt: Any = None
        self._progress = progress
        self._bytes: list[memoryview] = []

    def add(self, message: bytes) -> None:
        """Take the next message: the result, then chunks, then the receipt.

        Raises what a progress callback has.
        """
        result, chunk = read_stream_reply(message)
        if result is not None and result.HasField("receipt"):
            self.receipt = result.receipt
        elif result is not None:
            self.arrays = [new_array(tensor) for tensor in result.outputs]
            self._bytes = [byte_view(array) for array in self.arrays]
            self._progress.expect(sum(map(len, self._bytes)))
        if chunk is not None:
            tensor, offset, data = chunk
            self._bytes[tensor][offset : offset + len(data)] = data
            if not self._progress.moved(len(data)):
                self._progress.check()


def result_is_too_large(code: str, message: str) -> bool:
    """Whether a unary call failed as its result needs a stream."""
    return code == "RESOURCE_EXHAUSTED" and _TOO_LARGE in message


def request_of_call(call: Call, want_receipt: bool) -> Request:
    """One operation's request."""
    arrays = as_arrays(call.operands, call.first_promoted)
    options = _wire.CallOptions(want_receipt=True) if want_receipt else None
    operation = call.operation
    program = _wire.Program(operations=[operation])
    program.operations[0].inputs.extend(range(len(arrays)))
    path: str
    fields: tuple[int, ...]
    if operation.WhichOneof("kind") == "elementwise":
        path, fields = _wire.ELEMENTWISE, (2,) * len(arrays)
        head = _wire.ElementwiseRequest(
            op=operation.elementwise,
            output_dtype=operation.output_dtype,
            options=options,
        )
    elif operation.WhichOneof("kind") == "matmul":
        path, fields = _wire.MATMUL, _matmul_fields(operation.matmul)
        head = _wire.MatMulRequest(attributes=operation.matmul, options=options)
    elif operation.WhichOneof("kind") == "reduce":
        path, fields = _wire.REDUCE, (1,)
        head = _wire.ReduceRequest(reduce=operation.reduce, options=options)
    elif operation.WhichOneof("kind") == "rearrange":
        path, fields = _wire.REARRANGE, (1,) * len(arrays)
        head = _wire.RearrangeRequest(rearrange=operation.rearrange, options=options)
    elif operation.WhichOneof("kind") == "sort":
        path, fields = _wire.SORT, (1,)
        head = _wire.SortRequest(sort=operation.sort, options=options)
    elif operation.WhichOneof("kind") == "scan":
        path, fields = _wire.SCAN, (1,)
        head = _wire.ScanRequest(scan=operation.scan, options=options)
    elif operation.WhichOneof("kind") == "take":
        path, fields = _wire.TAKE, (1, 2)
        head = _wire.TakeRequest(take=operation.take, options=options)
    elif operation.WhichOneof("kind") == "network":
        path, fields = _wire.NETWORK, (1, 3, 4)
        head = _wire.NetworkRequest(network=operation.network, options=options)
    elif operation.WhichOneof("kind") == "image":
        path, fields = _wire.IMAGE, (1,)
        head = _wire.ImageRequest(operation=operation.image, options=options)
    elif operation.WhichOneof("kind") == "filter":
        path, fields = _wire.FILTER, (1, 3)
        head = _wire.FilterRequest(filter=operation.filter, options=options)
    else:  # a Program of one
        path, fields = _wire.RUN, (2,) * len(arrays)
        head = _wire.RunRequest(program=program, options=options)
    return Request(path, head, list(zip(fields, arrays, strict=False)), program)


def _matmul_fields(attributes: Any) -> tuple[int, ...]:
    return (
        1,
        2,
        *([4] if attributes.addend else []),
        *([5] if attributes.bias else []),
    )


def request_of_run(
    program: Program, inputs: Sequence[Any], want_receipt: bool
) -> Request:
    """A Program's request."""
    message, arrays = bind(program, inputs)
    options = _wire.CallOptions(want_receipt=True) if want_receipt else None
    head = _wire.RunRequest(program=message, options=options)
    return Request(_wire.RUN, head, [(2, array) for array in arrays], message)
