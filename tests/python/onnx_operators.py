"""ONNX's operators in terms of gpucall's operations: one row each.

A row takes what makes operations (a client, or a Program), the node's attributes and its
inputs, None for those left out; it gives the output or outputs. `LeftOut` is raised for
what no operation does, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onnx_layouts import LAYOUTS
from onnx_networks import NETWORKS
from onnx_reductions import REDUCTIONS
from onnx_rows import Row, direct

# The same operation under another name, or the same name.
_DIRECT = {
    "Abs": "abs",
    "Neg": "negative",
    "Sign": "sign",
    "Reciprocal": "reciprocal",
    "Floor": "floor",
    "Ceil": "ceil",
    "Round": "round",
    "Exp": "exp",
    "Log": "log",
    "Sqrt": "sqrt",
    "Erf": "erf",
    "Sin": "sin",
    "Cos": "cos",
    "Tan": "tan",
    "Asin": "asin",
    "Acos": "acos",
    "Atan": "atan",
    "Sinh": "sinh",
    "Cosh": "cosh",
    "Tanh": "tanh",
    "Asinh": "asinh",
    "Acosh": "acosh",
    "Atanh": "atanh",
    "Relu": "relu",
    "Sigmoid": "sigmoid",
    "Softplus": "softplus",
    "PRelu": "leaky_relu",
    "IsNaN": "isnan",
    "Add": "add",
    "Sub": "subtract",
    "Mul": "multiply",
    "Equal": "equal",
    "Less": "less",
    "LessOrEqual": "less_equal",
    "Greater": "greater",
    "GreaterOrEqual": "greater_equal",
    "And": "logical_and",
    "Or": "logical_or",
    "Xor": "logical_xor",
    "Not": "logical_not",
    "BitwiseNot": "bitwise_invert",
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "Where": "where",
}


def _nary(name: str) -> Row:
    def row(ops: Any, attributes: Any, first: Any, *others: Any) -> Any:
        for other in others:
            first = getattr(ops, name)(first, other)
        return ops.add(first, 0) if not others else first

    return row


def _mean(ops: Any, attributes: Any, *xs: Any) -> Any:
    return ops.divide(_nary("add")(ops, attributes, *xs), len(xs))


def _div(ops: Any, attributes: Any, a: Any, b: Any) -> Any:
    if a.dtype.kind == "u":
        return ops.floor_divide(a, b)
    if a.dtype.kind == "i":  # cut off towards zero
        return ops.floor_divide(ops.subtract(a, ops.fmod(a, b)), b)
    return ops.divide(a, b)


def _mod(ops: Any, attributes: Any, a: Any, b: Any) -> Any:
    return (ops.fmod if attributes.get("fmod") else ops.remainder)(a, b)


def _pow(ops: Any, attributes: Any, a: Any, b: Any) -> Any:
    result = ops.power(a, b)  # of NumPy's dtype; ONNX's is the base's
    return result if np.result_type(a, b) == a.dtype else ops.astype(result, a.dtype)


def _bit_shift(ops: Any, attributes: Any, a: Any, b: Any) -> Any:
    left = attributes["direction"] == b"LEFT"
    return (ops.left_shift if left else ops.right_shift)(a, b)


def _clip(ops: Any, attributes: Any, x: Any, low: Any = None, high: Any = None) -> Any:
    low, high = attributes.get("min", low), attributes.get("max", high)
    if low is not None and high is not None:
        return ops.clip(x, low, high)
    if low is not None:
        return ops.maximum(x, low)
    return ops.add(x, 0) if high is None else ops.minimum(x, high)


def _is_inf(ops: Any, attributes: Any, x: Any) -> Any:
    negative = attributes.get("detect_negative", 1)
    positive = attributes.get("detect_positive", 1)
    if negative and positive:
        return ops.isinf(x)
    return ops.equal(x, x.dtype.type(np.inf if positive else -np.inf))


def _cast(ops: Any, attributes: Any, x: Any) -> Any:
    from onnx.helper import tensor_dtype_to_np_dtype

    return ops.astype(x, tensor_dtype_to_np_dtype(attributes["to"]))


def _gelu(ops: Any, attributes: Any, x: Any) -> Any:
    approximate = attributes.get("approximate") == b"tanh"
    return (ops.gelu_tanh if approximate else ops.gelu)(x)


def _leaky_relu(ops: Any, attributes: Any, x: Any) -> Any:
    return ops.leaky_relu(x, attributes.get("alpha", 0.01))


def _elu(ops: Any, attributes: Any, x: Any) -> Any:
    below = ops.multiply(ops.expm1(x), attributes.get("alpha", 1.0))
    return ops.where(ops.greater(x, 0), x, below)


def _celu(ops: Any, attributes: Any, x: Any) -> Any:
    alpha = attributes.get("alpha", 1.0)
    below = ops.multiply(ops.expm1(ops.divide(x, alpha)), alpha)
    return ops.add(ops.maximum(x, 0), ops.minimum(below, 0))


def _selu(ops: Any, attributes: Any, x: Any) -> Any:
    alpha = attributes.get("alpha", 1.6732632423543772)
    below = ops.multiply(ops.expm1(x), alpha)
    result = ops.where(ops.greater(x, 0), x, below)
    return ops.multiply(result, attributes.get("gamma", 1.0507009873554805))


def _hard_sigmoid(ops: Any, attributes: Any, x: Any) -> Any:
    scaled = ops.multiply(x, attributes.get("alpha", 0.2))
    return ops.clip(ops.add(scaled, attributes.get("beta", 0.5)), 0, 1)


def _hard_swish(ops: Any, attributes: Any, x: Any) -> Any:
    return ops.multiply(x, _hard_sigmoid(ops, {"alpha": 1 / 6}, x))


def _mish(ops: Any, attributes: Any, x: Any) -> Any:
    return ops.multiply(x, ops.tanh(ops.softplus(x)))


def _swish(ops: Any, attributes: Any, x: Any) -> Any:
    alpha = attributes.get("alpha", 1.0)
    return ops.multiply(x, ops.sigmoid(ops.multiply(x, alpha)))


def _softsign(ops: Any, attributes: Any, x: Any) -> Any:
    return ops.divide(x, ops.add(ops.abs(x), 1))


def _thresholded_relu(ops: Any, attributes: Any, x: Any) -> Any:
    return ops.where(ops.greater(x, attributes.get("alpha", 1.0)), x, 0)


def _shrink(ops: Any, attributes: Any, x: Any) -> Any:
    bias, limit = attributes.get("bias", 0.0), attributes.get("lambd", 0.5)
    below = ops.where(ops.less(x, -limit), ops.add(x, bias), 0)
    return ops.where(ops.greater(x, limit), ops.subtract(x, bias), below)


def _top_k(ops: Any, attributes: Any, x: Any, k: Any) -> Any:
    axis = attributes.get("axis", -1) % x.ndim
    largest = bool(attributes.get("largest", 1))
    first = (slice(None),) * axis + (slice(int(k[0])),)
    return tuple(
        ops.slice(order(x, axis=axis, descending=largest), first)
        for order in (ops.sort, ops.argsort)
    )


def _cumulative(name: str) -> Row:
    """In steps backwards, or of what is before each element, by moving elements."""

    def row(ops: Any, attributes: Any, x: Any, axis: Any) -> Any:
        along = int(axis) % x.ndim
        y = ops.flip(x, axis=along) if attributes.get("reverse") else x
        if attributes.get("exclusive"):
            widths = [(int(i == along), 0) for i in range(x.ndim)]
            y = ops.pad(y, widths, constant_values=int(name.endswith("prod")))
            y = ops.slice(y, (slice(None),) * along + (slice(-1),))
        y = getattr(ops, name)(y, axis=along)
        return ops.flip(y, axis=along) if attributes.get("reverse") else y

    return row


OPERATORS: dict[str, Callable[..., Any]] = {
    **{operator: direct(name) for operator, name in _DIRECT.items()},
    "Max": _nary("maximum"),
    "Min": _nary("minimum"),
    "Sum": _nary("add"),
    "Mean": _mean,
    "Div": _div,
    "Mod": _mod,
    "Pow": _pow,
    "BitShift": _bit_shift,
    "Clip": _clip,
    "IsInf": _is_inf,
    "Cast": _cast,
    "CastLike": lambda ops, attributes, x, like: ops.astype(x, like.dtype),
    "Gelu": _gelu,
    "LeakyRelu": _leaky_relu,
    "Elu": _elu,
    "Celu": _celu,
    "Selu": _selu,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _hard_swish,
    "Mish": _mish,
    "Swish": _swish,
    "Softsign": _softsign,
    "ThresholdedRelu": _thresholded_relu,
    "Shrink": _shrink,
    "TopK": _top_k,
    **REDUCTIONS,
    **LAYOUTS,
    **NETWORKS,
}
