"""Programs as the wire has them: values numbered, constants given their dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpucall import _wire
from gpucall._image_caller import image_dtype
from gpucall._operations import Call
from gpucall._program import Program, Value
from gpucall._result_dtype import elementwise_dtype
from gpucall._tensors import Array, as_array, is_weak, numpy_dtype, promote


def bind(program: Program, inputs: Sequence[Any]) -> tuple[Any, list[Array]]:
    """The wire Program for these inputs, and its inputs: these, then the constants."""
    if len(inputs) != program.input_count:
        raise TypeError(
            f"the Program takes {program.input_count} inputs, got {len(inputs)}"
        )
    return _Binding(program, inputs).message()


class _Binding:
    """Gives the constants of a Program their dtypes, which depend on the inputs'."""

    def __init__(self, program: Program, inputs: Sequence[Any]) -> None:
        self._program = program
        self._arrays = [as_array(array) for array in inputs]
        self._results: list[np.dtype[Any]] = []
        self._scalars: dict[tuple[str, bytes], int] = {}

    def message(self) -> tuple[Any, list[Array]]:
        operands = [self._resolve(call) for call in self._program.calls]
        first = len(self._arrays)  # the constants are all known now
        message = _wire.Program()
        for call, refs in zip(self._program.calls, operands, strict=True):
            operation = message.operations.add()
            operation.CopyFrom(call.operation)
            operation.inputs.extend(first - 1 - ref if ref < 0 else ref for ref in refs)
        message.outputs.extend(
            value.input if value.operation < 0 else first + value.operation
            for value in self._program.outputs
        )
        return message, self._arrays

    def _resolve(self, call: Call) -> list[int]:
        """The operands: an index into the arrays, or -1 - k for the result of operation k."""
        if not call.operands:
            self._results.append(numpy_dtype(call.operation.creation.dtype))
            return []
        dtypes = [o if is_weak(o) else self._dtype(o) for o in call.operands]
        promoted = promote(dtypes[call.first_promoted :])
        refs = []
        for position, operand in enumerate(call.operands):
            if isinstance(operand, Value):
                refs.append(
                    operand.input if operand.operation < 0 else -1 - operand.operation
                )
            elif is_weak(operand):
                dtype = promoted if position >= call.first_promoted else None
                refs.append(self._scalar(as_array(np.asarray(operand, dtype))))
            else:
                refs.append(self._constant(operand))
        self._results.append(result_dtype(call.operation, dtypes, promoted))
        return refs

    def _dtype(self, operand: Any) -> np.dtype[Any]:
        if not isinstance(operand, Value):
            dtype: np.dtype[Any] = operand.dtype
            return dtype
        if operand.operation < 0:
            return self._arrays[operand.input].dtype
        return self._results[operand.operation]

    def _scalar(self, array: Array) -> int:
        key = (array.dtype.str, array.tobytes())
        if key not in self._scalars:
            self._scalars[key] = self._constant(array)
        return self._scalars[key]

    def _constant(self, array: Array) -> int:
        self._arrays.append(array)
        return len(self._arrays) - 1


_DERIVATIVES = (
    "sobel",
    "prewitt",
    "scharr",
    "laplacian",
    "gaussian_laplace",
    "gaussian_gradient_magnitude",
)


def result_dtype(
    operation: Any, operands: list[Any], promoted: np.dtype[Any]
) -> np.dtype[Any]:
    """What the server will give, for the constants that meet it."""
    kind = operation.WhichOneof("kind")
    if kind == "filter":
        image: np.dtype[Any] = np.result_type(operands[0])
        if operation.filter.output_dtype:
            return numpy_dtype(operation.filter.output_dtype)
        name = operation.filter.WhichOneof("kind")
        derivative = name in _DERIVATIVES or any(operation.filter.gaussian.order)
        return np.dtype("float32") if derivative and image.kind in "biu" else image
    if kind == "matmul":
        number = operation.matmul.output_dtype
        return numpy_dtype(number) if number else promote(operands[:2])
    if kind == "sort" and operation.sort.indices:
        return np.dtype("int64")
    if kind in ("rearrange", "sort", "take", "network"):
        return np.result_type(operands[0])
    if kind == "image":
        return image_dtype(operation.image, np.result_type(operands[0]))
    if kind == "scan":
        return _reduced_dtype(_wire.REDUCE_OPS["sum"], promoted)
    if kind == "reduce":
        return _reduced_dtype(operation.reduce.op, promoted)
    if kind == "elementwise":
        return elementwise_dtype(operation, operands, promoted)
    return promoted


_REDUCE_NAMES = {number: name for name, number in _wire.REDUCE_OPS.items()}


def _reduced_dtype(op: int, dtype: np.dtype[Any]) -> np.dtype[Any]:
    name = _REDUCE_NAMES[op]
    if name in ("any", "all"):
        return np.dtype(bool)
    if name in ("argmin", "argmax", "count_nonzero"):
        return np.dtype("int64")
    if name in ("min", "max") or dtype.kind not in "biu":
        return dtype
    if name in ("sum", "prod"):
        return np.dtype("uint64" if dtype.kind == "u" else "int64")
    return np.dtype("float64")
