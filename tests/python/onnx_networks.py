"""ONNX's operators of networks: products, convolutions and pools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onnx_rows import LeftOut


def _gemm(ops: Any, attributes: Any, a: Any, b: Any, c: Any = None) -> Any:
    return ops.matmul(
        a,
        b,
        transpose_a=bool(attributes.get("transA")),
        transpose_b=bool(attributes.get("transB")),
        alpha=attributes.get("alpha", 1.0),
        c=c,
        beta=attributes.get("beta", 1.0),
    )


def _shifted(ops: Any, x: Any, zero: Any, by_rows: bool) -> Any:
    """Integers less their zero point, one for all or for each row or column."""
    if zero is None:
        return x
    zero = np.int32(zero)
    if by_rows and zero.ndim == 1 and zero.size > 1:
        zero = zero.reshape(-1, 1)
    return ops.subtract(ops.astype(x, np.int32), zero)


def _matmul_integer(
    ops: Any, attributes: Any, a: Any, b: Any, a_zero: Any = None, b_zero: Any = None
) -> Any:
    left, right = _shifted(ops, a, a_zero, True), _shifted(ops, b, b_zero, False)
    return ops.matmul(left, right, dtype=np.int32)


def _qlinear_matmul(
    ops: Any,
    attributes: Any,
    a: Any,
    a_scale: Any,
    a_zero: Any,
    b: Any,
    b_scale: Any,
    b_zero: Any,
    y_scale: Any,
    y_zero: Any,
) -> Any:
    product = _matmul_integer(ops, attributes, a, b, a_zero, b_zero)
    scale = np.float32(a_scale) * np.float32(b_scale) / np.float32(y_scale)
    scaled = ops.multiply(ops.astype(product, np.float32), scale)
    shifted = ops.add(ops.round(scaled), np.float32(y_zero))
    limits = np.iinfo(y_zero.dtype)
    return ops.astype(ops.clip(shifted, limits.min, limits.max), y_zero.dtype)


class _Windows:
    """Strides, dilations and padding of images of rows and columns, or of columns."""

    def __init__(self, attributes: Any, x: Any, size: tuple[int, ...]) -> None:
        rank = len(size)
        if rank > 2:
            raise LeftOut(f"images of {rank} dimensions")
        self.stride = tuple(attributes.get("strides", [1] * rank))
        self.dilation = tuple(attributes.get("dilations", [1] * rank))
        pads = attributes.get("pads", [0] * 2 * rank)
        self.padding = list(zip(pads[:rank], pads[rank:], strict=True))
        auto = attributes.get("auto_pad", b"NOTSET")
        if auto in (b"SAME_UPPER", b"SAME_LOWER"):
            sizes = zip(x.shape[2:], size, self.stride, self.dilation, strict=True)
            self.padding = [_same(auto, *each) for each in sizes]
        self.size = size

    def arguments(self) -> dict[str, Any]:
        lifted = len(self.size) == 1
        return {
            "stride": (1, *self.stride) if lifted else self.stride,
            "dilation": (1, *self.dilation) if lifted else self.dilation,
            "padding": [(0, 0), *self.padding] if lifted else self.padding,
        }

    def lifted(self, ops: Any, x: Any) -> Any:
        """With a dimension of rows."""
        if len(self.size) == 2:
            return x
        return ops.reshape(x, (*x.shape[:2], 1, *x.shape[2:]))

    def lowered(self, ops: Any, y: Any, images: int, channels: int) -> Any:
        return y if len(self.size) == 2 else ops.reshape(y, (images, channels, -1))


def _same(auto: bytes, size: int, window: int, stride: int, dilation: int) -> Any:
    reach = dilation * (window - 1) + 1
    total = max((-(-size // stride) - 1) * stride + reach - size, 0)
    less, more = total // 2, total - total // 2
    return (less, more) if auto == b"SAME_UPPER" else (more, less)


def _conv(ops: Any, attributes: Any, x: Any, weights: Any, bias: Any = None) -> Any:
    w = _Windows(attributes, x, weights.shape[2:])
    y = ops.conv2d(
        w.lifted(ops, x),
        w.lifted(ops, weights),
        bias,
        groups=attributes.get("group", 1),
        **w.arguments(),
    )
    return w.lowered(ops, y, x.shape[0], weights.shape[0])


def _pool(name: str, ops: Any, attributes: Any, x: Any, **options: Any) -> Any:
    w = _Windows(attributes, x, tuple(attributes["kernel_shape"]))
    size = (1, *w.size) if len(w.size) == 1 else w.size
    floats = x if x.dtype.kind == "f" else ops.astype(x, np.float32)
    if len(w.size) == 1 and floats is not x:
        raise LeftOut("integers along one axis")
    y = getattr(ops, name)(
        w.lifted(ops, floats),
        size,
        ceil_mode=bool(attributes.get("ceil_mode")),
        **options,
        **w.arguments(),
    )
    y = w.lowered(ops, y, *x.shape[:2])
    return y if floats is x else ops.astype(y, x.dtype)


def _max_pool(ops: Any, attributes: Any, x: Any) -> Any:
    if attributes["outputs"] > 1:
        raise LeftOut("indices of largest elements")
    return _pool("max_pool2d", ops, attributes, x)


def _average_pool(ops: Any, attributes: Any, x: Any) -> Any:
    count = bool(attributes.get("count_include_pad"))
    return _pool("avg_pool2d", ops, attributes, x, count_padding=count)


def _global(name: str) -> Callable[..., Any]:
    return lambda ops, attributes, x: getattr(ops, name)(
        x, axis=tuple(range(2, x.ndim)), keepdims=True
    )


NETWORKS: dict[str, Callable[..., Any]] = {
    "MatMul": lambda ops, attributes, a, b: ops.matmul(a, b),
    "Gemm": _gemm,
    "MatMulInteger": _matmul_integer,
    "QLinearMatMul": _qlinear_matmul,
    "Conv": _conv,
    "MaxPool": _max_pool,
    "AveragePool": _average_pool,
    "GlobalAveragePool": _global("mean"),
    "GlobalMaxPool": _global("max"),
}
