"""The dtypes that a server's elementwise operations give: kernels/elementwise_ops.def."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpucall import _wire
from gpucall._tensors import numpy_dtype

_BOOLS = {
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
    *("isnan", "isinf", "isfinite", "signbit"),
    *("logical_not", "logical_and", "logical_or", "logical_xor"),
}
_FLOATS = {
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "hypot", "logaddexp"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("erf", "sigmoid", "gelu", "gelu_tanh", "silu", "softplus", "leaky_relu"),
    *("copysign", "nextafter"),
}
# Of bools int8; others keep bools, or refuse them.
_NUMBERS = {
    *("square", "reciprocal", "power", "conj"),
    *("floor_divide", "remainder", "fmod", "left_shift", "right_shift"),
}
_PARTS = {"abs", "real", "imag"}
_NAMES = {number: name for name, number in _wire.ELEMENTWISE_OPS.items()}


def elementwise_dtype(
    operation: Any, operands: Sequence[Any], promoted: np.dtype[Any]
) -> np.dtype[Any]:
    """The result dtype for operands (dtypes and Python scalars) that promote to `promoted`."""
    name = _NAMES[operation.elementwise]
    integer = promoted.kind in "biu"
    if name == "cast":
        return numpy_dtype(operation.output_dtype)
    if name in _BOOLS:
        return np.dtype(bool)
    if name == "divide" and integer:
        return np.dtype(np.float64)
    if name in _FLOATS and integer:
        sizes = [o.itemsize for o in operands if isinstance(o, np.dtype)]
        size = max(sizes, default=promoted.itemsize)
        return np.dtype({1: "float16", 2: "float32"}.get(size, "float64"))
    if name in _NUMBERS and promoted == bool:
        return np.dtype(np.int8)
    if name in _PARTS and promoted.kind == "c":
        return np.dtype(np.float32 if promoted.itemsize == 8 else np.float64)
    return promoted
