"""ONNX's operators that move elements, as rows for onnx_operators.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from onnx_rows import LeftOut, Row, axes_of


def _reshape(ops: Any, attributes: Any, x: Any, shape: Any) -> Any:
    sizes = [int(size) for size in shape]
    if not attributes.get("allowzero"):
        sizes = [x.shape[i] if size == 0 else size for i, size in enumerate(sizes)]
    return ops.reshape(x, sizes)


def _flatten(ops: Any, attributes: Any, x: Any) -> Any:
    axis = attributes.get("axis", 1)
    rows = int(np.prod(x.shape[: axis if axis >= 0 else x.ndim + axis], dtype=int))
    return ops.reshape(x, (rows, x.size // rows if rows else 0))


def _squeeze(ops: Any, attributes: Any, x: Any, axes: Any = None) -> Any:
    gone = axes_of(attributes, axes)
    if gone is None:
        gone = tuple(i for i, size in enumerate(x.shape) if size == 1)
    return ops.reshape(x, np.squeeze(x, gone).shape)


def _unsqueeze(ops: Any, attributes: Any, x: Any, axes: Any = None) -> Any:
    return ops.reshape(x, np.expand_dims(x, axes_of(attributes, axes) or ()).shape)


def _transpose(ops: Any, attributes: Any, x: Any) -> Any:
    return ops.transpose(x, attributes.get("perm"))


def _expand(ops: Any, attributes: Any, x: Any, shape: Any) -> Any:
    return ops.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(map(int, shape))))


def _constant_of_shape(ops: Any, attributes: Any, shape: Any) -> Any:
    value = attributes.get("value")
    fill = np.zeros((), np.float32)
    if value is not None:
        fill = onnx.numpy_helper.to_array(value).reshape(())
    return ops.broadcast_to(fill, [int(size) for size in shape])


def _trilu(ops: Any, attributes: Any, x: Any, k: Any = None) -> Any:
    rows, columns = x.shape[-2:]
    offset = 0 if k is None else int(k)
    upper = attributes.get("upper", 1)
    kept = np.tri(rows, columns, k=offset - 1 if upper else offset, dtype=bool)
    return ops.where(kept ^ bool(upper), x, 0)


def _concat(ops: Any, attributes: Any, *xs: Any) -> Any:
    return ops.concatenate(list(xs), axis=attributes["axis"])


def _tile(ops: Any, attributes: Any, x: Any, repeats: Any) -> Any:
    return ops.tile(x, [int(n) for n in repeats])


def _slice(
    ops: Any,
    attributes: Any,
    x: Any,
    starts: Any = None,
    ends: Any = None,
    axes: Any = None,
    steps: Any = None,
) -> Any:
    starts = attributes.get("starts") if starts is None else starts
    ends = attributes.get("ends") if ends is None else ends
    chosen = axes_of(attributes, axes) or range(len(starts))
    key = [slice(None)] * x.ndim
    for i, axis in enumerate(chosen):
        step, end = 1 if steps is None else int(steps[i]), int(ends[i])
        # Below the first element, which NumPy writes as None.
        past = step < 0 and end < -x.shape[axis]
        key[axis] = slice(int(starts[i]), None if past else end, step)
    return ops.slice(x, tuple(key))


def _split(ops: Any, attributes: Any, x: Any, split: Any = None) -> Any:
    axis, sizes = attributes.get("axis", 0) % x.ndim, attributes.get("split", split)
    if sizes is None:
        count = attributes.get("num_outputs", attributes["outputs"])
        part = -(-x.shape[axis] // count)
        sizes = [min(part, x.shape[axis] - i * part) for i in range(count)]
    ends = np.cumsum([int(size) for size in sizes])
    before = (slice(None),) * axis
    return tuple(
        ops.slice(x, (*before, slice(int(end - size), int(end))))
        for end, size in zip(ends, sizes, strict=True)
    )


def _pad(
    ops: Any, attributes: Any, x: Any, pads: Any, value: Any = None, axes: Any = None
) -> Any:
    if attributes.get("mode", b"constant") != b"constant":
        raise LeftOut("pad surrounds with a value only")
    chosen = axes_of({}, axes) or range(x.ndim)
    widths = [(0, 0)] * x.ndim
    for i, axis in enumerate(chosen):
        widths[axis] = (int(pads[i]), int(pads[len(chosen) + i]))
    if min(min(pair) for pair in widths) < 0:
        raise LeftOut("pad takes no negative widths")
    return ops.pad(x, widths, constant_values=0 if value is None else value.item())


def _center_crop_pad(ops: Any, attributes: Any, x: Any, shape: Any) -> Any:
    axes = axes_of(attributes, None) or range(x.ndim)
    widths, key = [(0, 0)] * x.ndim, [slice(None)] * x.ndim
    for axis, size in zip(axes, map(int, shape), strict=True):
        more = size - x.shape[axis]
        if more >= 0:
            widths[axis] = (more // 2, more - more // 2)
        else:
            start = -more // 2
            key[axis] = slice(start, start + size)
    return ops.pad(ops.slice(x, tuple(key)), widths)


def _depth_to_space(ops: Any, attributes: Any, x: Any) -> Any:
    n, c, h, w = x.shape
    b = attributes["blocksize"]
    if attributes.get("mode", b"DCR") == b"DCR":
        y, order = ops.reshape(x, (n, b, b, c // b**2, h, w)), (0, 3, 4, 1, 5, 2)
    else:
        y, order = ops.reshape(x, (n, c // b**2, b, b, h, w)), (0, 1, 4, 2, 5, 3)
    return ops.reshape(ops.transpose(y, order), (n, c // b**2, h * b, w * b))


def _space_to_depth(ops: Any, attributes: Any, x: Any) -> Any:
    n, c, h, w = x.shape
    b = attributes["blocksize"]
    if attributes.get("mode", b"DCR") != b"DCR":
        raise LeftOut("only the DCR order is mapped")
    y = ops.transpose(ops.reshape(x, (n, c, h // b, b, w // b, b)), (0, 3, 5, 1, 2, 4))
    return ops.reshape(y, (n, c * b**2, h // b, w // b))


LAYOUTS: dict[str, Row] = {
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Transpose": _transpose,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Expand": _expand,
    "ConstantOfShape": _constant_of_shape,
    "Trilu": _trilu,
    "Concat": _concat,
    "Split": _split,
    "Slice": _slice,
    "Tile": _tile,
    "Pad": _pad,
    "CenterCropPad": _center_crop_pad,
    "DepthToSpace": _depth_to_space,
    "SpaceToDepth": _space_to_depth,
    "Gather": lambda ops, attributes, x, indices: ops.take(
        x, indices, axis=attributes.get("axis", 0)
    ),
    "GatherElements": lambda ops, attributes, x, indices: ops.take_along_axis(
        x, indices, axis=attributes.get("axis", 0)
    ),
}
