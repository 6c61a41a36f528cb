"""What NumPy and SciPy give for the elementwise operations, and how near is near enough."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

DTYPES = [
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
UNARY = [
    *("abs", "negative", "positive", "sign", "square", "reciprocal", "conj"),
    *("floor", "ceil", "trunc", "round", "real", "imag"),
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt"),
    *("sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("erf", "sigmoid", "gelu", "gelu_tanh", "silu", "softplus", "relu"),
    *("isnan", "isinf", "isfinite", "signbit", "logical_not", "bitwise_invert"),
]
BINARY = [
    *("add", "subtract", "multiply", "divide", "power", "floor_divide", "remainder"),
    *("fmod", "minimum", "maximum", "fmin", "fmax", "atan2", "hypot", "logaddexp"),
    *(
        "copysign",
        "nextafter",
        "leaky_relu",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
    ),
    *("left_shift", "right_shift", "logical_and", "logical_or", "logical_xor"),
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),
]
TERNARY = ["clip", "where", "multiply_add"]
ARITY = {
    **dict.fromkeys(UNARY, 1),
    **dict.fromkeys(BINARY, 2),
    **dict.fromkeys(TERNARY, 3),
}

# Not rounded once: units in the last place, of complex results of their absolute value.
FUNCTIONS = {
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "hypot"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "power"),
    *("erf", "sigmoid", "gelu", "gelu_tanh", "silu", "softplus", "logaddexp"),
}
COMPLEX_ULPS, FUNCTION_ULPS = 8, 8


def _sigmoid(x: Any) -> Any:
    return special.expit(x)


_erfc = np.vectorize(math.erfc, otypes=[np.float64])  # SciPy's has no subnormals


def _gated(x: Any, gate: Any) -> Any:
    """x * gate; -0 of what is far below zero."""
    return np.where(gate == 0, -gate, x * gate)


def _gelu_tanh(x: Any) -> Any:
    return _gated(x, _sigmoid(np.sqrt(8 / np.pi) * (x + 0.044715 * x * x * x)))


# In float64, of floats.
_OWN: dict[str, Any] = {
    "erf": special.erf,
    "sigmoid": _sigmoid,
    "gelu": lambda x: _gated(x, _erfc(-x / np.sqrt(2)) / 2),
    "gelu_tanh": _gelu_tanh,
    "silu": lambda x: _gated(x, _sigmoid(x)),
    "softplus": lambda x: np.logaddexp(x, 0),
    "leaky_relu": lambda x, slope: np.where(x > 0, x, x * slope),
}


def answer(name: str, arrays: list[Any]) -> Any:
    """The result; TypeError or ValueError where NumPy, or an activation, refuses."""
    with np.errstate(all="ignore"):
        if name in _OWN:
            dtype = np.copysign(*arrays, *arrays[: 2 - len(arrays)]).dtype
            wide = [a.astype(np.float64) for a in arrays]
            return np.asarray(_OWN[name](*wide)).astype(dtype)
        if name == "relu":
            if arrays[0].dtype.kind in "bc":
                raise TypeError("relu")
            return np.maximum(arrays[0], arrays[0].dtype.type(0))
        if name == "round" and arrays[0].dtype == bool:
            raise TypeError("NumPy gives float16, which is left out")
        if name == "clip":
            return np.asarray(np.minimum(np.maximum(*arrays[:2]), arrays[2]))
        if name == "multiply_add":
            return _multiply_add(*arrays)
        if name == "reciprocal" and arrays[0].dtype.kind in "iu":
            zero = arrays[0] == 0
            right = np.reciprocal(np.where(zero, arrays[0].dtype.type(1), arrays[0]))
            return np.where(zero, arrays[0].dtype.type(0), right)
        right = np.asarray(getattr(np, name)(*arrays))
        if name in FUNCTIONS and right.dtype.kind == "c":  # whose own errors are large
            wide = [a.astype(np.clongdouble) for a in arrays]
            return np.asarray(getattr(np, name)(*wide)).astype(right.dtype)
        return right


def _multiply_add(a: Any, b: Any, c: Any) -> Any:
    dtype = np.result_type(a, b, c)
    wide = np.float32 if dtype == np.float16 else dtype  # which is rounded once
    return np.asarray(
        a.astype(dtype).astype(wide) * b.astype(dtype).astype(wide)
        + c.astype(dtype).astype(wide)
    ).astype(dtype)


def cast_answer(x: Any, target: Any) -> Any:
    """NumPy's astype; of what an integer dtype does not hold the nearest, of NaN 0."""
    target = np.dtype(target)
    with np.errstate(all="ignore"):
        if target.kind in "cb":
            return x.astype(target)
        x = x.real
        if target.kind not in "iu" or x.dtype.kind in "biu":
            return x.astype(target)
        limits = np.iinfo(target)
        whole = [0 if np.isnan(v) else v for v in x.astype(np.longdouble)]
        return np.array(
            [int(min(max(v, limits.min), limits.max)) for v in whole], target
        )


def ulps(got: Any, right: Any) -> Any:
    """Distances in units of `right`'s last place; 0 where both are the same, or NaN."""
    if right.dtype.kind not in "fc":
        return np.where(got == right, 0.0, np.inf)
    with np.errstate(all="ignore"):
        part = right.real.dtype
        size = np.abs(right.astype(np.clongdouble))
        tiny = np.longdouble(np.finfo(part).smallest_subnormal)
        unit = np.maximum(2 ** np.floor(np.log2(size)) * np.finfo(part).eps, tiny)
        difference = got.astype(np.clongdouble) - right.astype(np.clongdouble)
        distance = np.abs(difference) / np.where(size == 0, tiny, unit)
        same = (got == right) | (np.isnan(got) & np.isnan(right))
        return np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance))


def allowed_ulps(name: str, arrays: list[Any], right: Any) -> Any:
    """How far a result may be from NumPy's."""
    if right.dtype.kind not in "fc":
        return 0.0
    limit = 0.0
    if name in FUNCTIONS:
        limit = FUNCTION_ULPS
    if right.dtype.kind == "c" or (name == "abs" and arrays[0].dtype.kind == "c"):
        limit = max(limit, COMPLEX_ULPS)
    if name in ("floor_divide", "leaky_relu"):
        limit = 1.0
    with np.errstate(all="ignore"):
        x = arrays[0].astype(np.longdouble) if arrays[0].dtype.kind != "c" else 0
        if name in ("gelu", "gelu_tanh"):  # the argument's rounding, in a steep tail
            return limit + np.where(
                np.isfinite(x), np.minimum(np.abs(x), 40) ** 2 * 4, 0
            )
        if name == "logaddexp":  # a sum that may cancel
            y = arrays[1].astype(np.longdouble)
            lost = np.maximum(np.abs(x), np.abs(y)) / np.abs(right)
            return limit * (1 + np.where(np.isfinite(lost), lost, 0))
    return limit
