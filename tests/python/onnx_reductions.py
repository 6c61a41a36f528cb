"""ONNX's operators along axes, and those made of them, as rows for onnx_operators.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from onnx_rows import LeftOut, Row, axes_of


def _reduce(name: str, before: str = "", after: str = "", **fixed: Any) -> Row:
    """A reduction between two elementwise operations, in the input's dtype."""

    def row(ops: Any, attributes: Any, x: Any, axes: Any = None) -> Any:
        axis = axes_of(attributes, axes)
        y = getattr(ops, before)(x) if before else x
        if attributes.get("noop_with_empty_axes") and not axis:
            axis = ()
        elif axis == ():
            axis = None
        keepdims = bool(attributes.get("keepdims", 1))
        if name in ("min", "max") and x.size == 0:
            raise LeftOut(f"{name} of no elements has no result, as in NumPy")
        y = getattr(ops, name)(y, axis=axis, keepdims=keepdims, **fixed)
        y = getattr(ops, after)(y) if after else y
        same = x.dtype.kind == "f" or name in ("min", "max")
        return y if same else ops.astype(y, x.dtype)

    return row


def _argument(name: str) -> Row:
    def row(ops: Any, attributes: Any, x: Any) -> Any:
        axis = attributes.get("axis", 0)
        keepdims = bool(attributes.get("keepdims", 1))
        if not attributes.get("select_last_index"):
            return getattr(ops, name)(x, axis=axis, keepdims=keepdims)
        turned = getattr(ops, name)(
            ops.flip(x, axis=axis), axis=axis, keepdims=keepdims
        )
        return ops.subtract(x.shape[axis] - 1, turned)

    return row


def _hardmax(ops: Any, attributes: Any, x: Any) -> Any:
    axis = attributes.get("axis", -1) % x.ndim
    places = np.arange(x.shape[axis]).reshape(-1, *(1,) * (x.ndim - 1 - axis))
    largest = ops.argmax(x, axis=axis, keepdims=True)
    return ops.astype(ops.equal(largest, places), x.dtype)


def _along(name: str) -> Row:
    """softmax, log_softmax: along one axis."""
    return lambda ops, attributes, x: getattr(ops, name)(
        x, axis=attributes.get("axis", -1)
    )


def _scaled(ops: Any, y: Any, scale: Any, bias: Any) -> Any:
    y = ops.multiply(y, scale)
    return y if bias is None else ops.add(y, bias)


def _layer_normalization(
    ops: Any, attributes: Any, x: Any, scale: Any, bias: Any = None
) -> Any:
    first = attributes.get("axis", -1) % x.ndim
    axes, epsilon = tuple(range(first, x.ndim)), attributes.get("epsilon", 1e-5)
    y = _scaled(ops, ops.layer_norm(x, axis=axes, epsilon=epsilon), scale, bias)
    mean = ops.mean(x, axis=axes, keepdims=True)
    variance = ops.var(x, axis=axes, keepdims=True)
    return y, mean, ops.reciprocal(ops.sqrt(ops.add(variance, epsilon)))


def _rms_normalization(ops: Any, attributes: Any, x: Any, scale: Any) -> Any:
    axes = tuple(range(attributes.get("axis", -1) % x.ndim, x.ndim))
    square = ops.mean(ops.square(x), axis=axes, keepdims=True)
    root = ops.sqrt(ops.add(square, attributes.get("epsilon", 1e-5)))
    return ops.multiply(ops.divide(x, root), scale)


def _channelwise(x: Any, values: Any) -> Any:
    """One value a channel, so that it broadcasts with (batch, channels, ...)."""
    return values.reshape(-1, *(1,) * (x.ndim - 2))


def _instance_normalization(
    ops: Any, attributes: Any, x: Any, scale: Any, bias: Any
) -> Any:
    axes, epsilon = tuple(range(2, x.ndim)), attributes.get("epsilon", 1e-5)
    y = ops.layer_norm(x, axis=axes, epsilon=epsilon)
    return _scaled(ops, y, _channelwise(x, scale), _channelwise(x, bias))


def _group_normalization(
    ops: Any, attributes: Any, x: Any, scale: Any, bias: Any
) -> Any:
    groups, epsilon = attributes["num_groups"], attributes.get("epsilon", 1e-5)
    y = ops.layer_norm(
        ops.reshape(x, (x.shape[0], groups, -1)), axis=-1, epsilon=epsilon
    )
    y = ops.reshape(y, x.shape)
    return _scaled(ops, y, _channelwise(x, scale), _channelwise(x, bias))


def _batch_normalization(
    ops: Any, attributes: Any, x: Any, scale: Any, bias: Any, mean: Any, var: Any
) -> Any:
    epsilon, training = attributes.get("epsilon", 1e-5), attributes.get("training_mode")
    running: list[Any] = []
    if training:
        axes, momentum = (0, *range(2, x.ndim)), attributes.get("momentum", 0.9)
        new = [f(x, axis=axes, keepdims=True) for f in (ops.mean, ops.var)]
        for old, now in zip((mean, var), new, strict=True):
            kept = ops.multiply(_channelwise(x, old), momentum)
            mixed = ops.add(kept, ops.multiply(now, 1 - momentum))
            running.append(ops.sum(mixed, axis=axes))  # of one element each
        mean, var = new
    else:
        mean, var = _channelwise(x, mean), _channelwise(x, var)
    y = ops.divide(ops.subtract(x, mean), ops.sqrt(ops.add(var, epsilon)))
    y = _scaled(ops, y, _channelwise(x, scale), _channelwise(x, bias))
    return (y, *running)


def _mean_variance_normalization(ops: Any, attributes: Any, x: Any) -> Any:
    axes = axes_of(attributes, None) or (0, 2, 3)
    return ops.layer_norm(x, axis=axes, epsilon=1e-18)


def _lp_normalization(ops: Any, attributes: Any, x: Any) -> Any:
    order, axis = attributes.get("p", 2), attributes.get("axis", -1)
    length = ops.norm(x, ord=order, axis=axis, keepdims=True)
    return ops.where(ops.equal(length, 0), 0, ops.divide(x, length))


def _global(name: str) -> Row:
    """A reduction of (batch, channels, ...) over all but the first two."""
    return lambda ops, attributes, x: getattr(ops, name)(
        x, axis=tuple(range(2, x.ndim)), keepdims=True
    )


REDUCTIONS: dict[str, Row] = {
    "ReduceSum": _reduce("sum"),
    "ReduceProd": _reduce("prod"),
    "ReduceMean": _reduce("mean"),
    "ReduceMin": _reduce("min"),
    "ReduceMax": _reduce("max"),
    "ReduceL1": _reduce("norm", ord=1),
    "ReduceL2": _reduce("norm", ord=2),
    "ReduceSumSquare": _reduce("sum", before="square"),
    "ReduceLogSum": _reduce("sum", after="log"),
    "ReduceLogSumExp": _reduce("sum", before="exp", after="log"),
    "ArgMin": _argument("argmin"),
    "ArgMax": _argument("argmax"),
    "Softmax": _along("softmax"),
    "LogSoftmax": _along("log_softmax"),
    "Hardmax": _hardmax,
    "LayerNormalization": _layer_normalization,
    "RMSNormalization": _rms_normalization,
    "InstanceNormalization": _instance_normalization,
    "GroupNormalization": _group_normalization,
    "BatchNormalization": _batch_normalization,
    "MeanVarianceNormalization": _mean_variance_normalization,
    "LpNormalization": _lp_normalization,
    "GlobalAveragePool": _global("mean"),
    "GlobalMaxPool": _global("max"),
}
