"""NumPy's basic indexing as the bounds that a server takes."""

from __future__ import annotations

from typing import Any


def slice_bounds(
    shape: tuple[int, ...], key: Any
) -> tuple[list[int], list[int], tuple[int, ...]]:
    """(start, stop) of each axis, and the shape of the result.

    IndexError: out of bounds, too many indices, steps, or no basic indexing.
    """
    keys = _expanded(key if isinstance(key, tuple) else (key,), len(shape))
    start, stop, result = [], [], []
    sizes = iter(shape)
    for k in keys:
        if k is None:
            result.append(1)
            continue
        size = next(sizes)
        if isinstance(k, slice):
            first, last, step = k.indices(size)
            if step != 1:
                raise IndexError(f"steps of {step} are not offered, only 1")
            last = max(first, last)
            result.append(last - first)
        else:
            first = _index(k, size)
            last = first + 1
        start.append(first)
        stop.append(last)
    return start, stop, tuple(result)


def _expanded(keys: tuple[Any, ...], ndim: int) -> list[Any]:
    """With whole axes for an ellipsis, and at the end."""
    used = sum(k is not None and k is not Ellipsis for k in keys)
    if used > ndim:
        raise IndexError(f"{used} indices for {ndim} dimensions")
    whole = [slice(None)] * (ndim - used)
    at = [i for i, k in enumerate(keys) if k is Ellipsis]
    if len(at) > 1:
        raise IndexError("an index can have only one ellipsis")
    if not at:
        return [*keys, *whole]
    return [*keys[: at[0]], *whole, *keys[at[0] + 1 :]]


def _index(key: Any, size: int) -> int:
    if isinstance(key, bool) or not hasattr(key, "__index__"):
        raise IndexError(f"{key!r} is no index: integers, slices, ... and None are")
    index: int = key.__index__()
    if not -size <= index < size:
        raise IndexError(f"index {index} is out of bounds for an axis of {size}")
    return index % size


def full_shape(size: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` with its -1, if it has one, replaced so that it has `size` elements."""
    if shape.count(-1) != 1:
        return shape
    rest = 1
    for n in shape:
        rest *= n if n != -1 else 1
    return tuple(size // rest if n == -1 and rest else n for n in shape)
