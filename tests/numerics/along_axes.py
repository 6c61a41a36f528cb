"""Exact results of the operations along axes, and of matrix products and filters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.ndimage

from samples import SEED
from ulp import wide


@dataclass(frozen=True)
class Case:
    """A call, its exact result, and what its errors are in ULP of where that is larger."""

    operands: list[Any]
    exact: Any
    scale: Any = 0
    arguments: dict[str, Any] = field(default_factory=dict)


def _size(x: Any, axis: Any) -> Any:
    """What x minus its mean loses is a part of this."""
    return np.maximum(np.abs(x), np.abs(x).mean(axis, keepdims=True))


def _standard(x: Any, axis: Any) -> Any:
    std = x.std(axis, keepdims=True)
    return (x - x.mean(axis, keepdims=True)) / std, _size(x, axis) / std


def _softmax(x: Any, axis: Any) -> Any:
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True), 0


def _log_softmax(x: Any, axis: Any) -> Any:
    shifted = x - x.max(axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True)), np.abs(x)


def _layer_norm(x: Any, axis: Any) -> Any:
    root = np.sqrt(x.var(axis, keepdims=True) + np.longdouble(1e-5))
    return (x - x.mean(axis, keepdims=True)) / root, _size(x, axis) / root


# Of longdouble x and an axis: the exact result, and the scale.
_LINES: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda x, axis: (x.sum(axis), np.abs(x).sum(axis)),
    "prod": lambda x, axis: (x.prod(axis), 0),
    "mean": lambda x, axis: (x.mean(axis), np.abs(x).mean(axis)),
    "var": lambda x, axis: (x.var(axis), 0),
    "std": lambda x, axis: (x.std(axis), 0),
    "min": lambda x, axis: (x.min(axis), 0),
    "max": lambda x, axis: (x.max(axis), 0),
    "norm": lambda x, axis: (np.sqrt((x * x).sum(axis)), 0),
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "layer_norm": _layer_norm,
    "standardise": _standard,
}


def lines(name: str, dtype: Any) -> Iterator[Case]:
    """Normal numbers, and some far from 0; along either axis, and along both."""
    rng = np.random.default_rng(SEED + 20)
    shapes = ((64, 1000), (300, 77), (3, 50_001))
    for shape, offset in zip(shapes, (0, 10, 1), strict=True):
        data = rng.normal(offset, 1, shape)
        if name == "prod":  # neither overflows nor vanishes
            data = np.exp(rng.normal(0, 0.05, shape))
        x = data.astype(dtype)
        for axis in (0, 1, (0, 1)):
            if name == "prod" and axis != 0:  # whose roundings add up, one an element
                continue
            exact, scale = _LINES[name](wide(x), axis)
            yield Case([x], np.asarray(exact), scale, {"axis": axis})


def products(dtype: Any) -> Iterator[Case]:
    rng = np.random.default_rng(SEED + 21)
    for m, k, n in ((64, 64, 64), (33, 1000, 17), (5, 4096, 3)):
        a, b = (rng.normal(0, 1, s) for s in ((m, k), (k, n)))
        if dtype.kind == "c":
            a, b = a + 1j * rng.normal(0, 1, (m, k)), b + 1j * rng.normal(0, 1, (k, n))
        a, b = a.astype(dtype), b.astype(dtype)
        x, y = wide(a), wide(b)
        yield Case([a, b], x @ y, np.abs(x) @ np.abs(y))


def layers(name: str, dtype: Any) -> Iterator[Case]:
    """Windows of 3 x 5, of images whose padding is zeros."""
    rng = np.random.default_rng(SEED + 23)
    x = rng.normal(0, 1, (2, 9, 30, 41)).astype(dtype)
    weights = rng.normal(0, 1, (7, 9, 3, 5)).astype(dtype)
    padded = np.pad(wide(x), [(0, 0), (0, 0), (1, 1), (2, 2)])
    under = np.lib.stride_tricks.sliding_window_view(padded, (3, 5), axis=(2, 3))
    if name == "conv2d":
        axes = ([1, 4, 5], [1, 2, 3])
        exact, scale = (
            np.moveaxis(np.tensordot(a, b, axes), -1, 1)
            for a, b in ((under, wide(weights)), (abs(under), abs(wide(weights))))
        )
        yield Case([x, weights], exact, scale, {"padding": (1, 2)})
        return
    arguments = {"size": (3, 5), "stride": 1, "padding": (1, 2)}
    if name == "avg_pool2d":
        exact, scale = under.mean((4, 5)), abs(under).mean((4, 5))
        yield Case([x], exact, scale, {"count_padding": True, **arguments})
        return
    inside = np.lib.stride_tricks.sliding_window_view(wide(x), (3, 5), axis=(2, 3))
    yield Case([x], inside.max((4, 5)), 0, arguments | {"padding": 0})


_KERNEL = np.array([[1, -2, 3, 0, 5], [0.5, 7, -1, 2, 1], [3, 1, 4, 1, -6]], "f")
_WINDOW = {"size": (3, 5)}
# Of a filter: scipy.ndimage's function and the arguments of both.
_FILTERS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "gaussian": (scipy.ndimage.gaussian_filter, {"sigma": 2.5}),
    "box": (scipy.ndimage.uniform_filter, {"size": (5, 7)}),
    "sobel": (scipy.ndimage.sobel, {"axis": 0}),
    "prewitt": (scipy.ndimage.prewitt, {"axis": 0}),
    "laplacian": (scipy.ndimage.laplace, {}),
    "median": (scipy.ndimage.median_filter, _WINDOW),
    "minimum_filter": (scipy.ndimage.minimum_filter, _WINDOW),
    "maximum_filter": (scipy.ndimage.maximum_filter, _WINDOW),
    "rank_filter": (scipy.ndimage.rank_filter, {"rank": 4, **_WINDOW}),
    "percentile_filter": (
        scipy.ndimage.percentile_filter,
        {"percentile": 30, **_WINDOW},
    ),
    "grey_erosion": (scipy.ndimage.grey_erosion, _WINDOW),
    "grey_dilation": (scipy.ndimage.grey_dilation, _WINDOW),
    "grey_opening": (scipy.ndimage.grey_opening, _WINDOW),
    "grey_closing": (scipy.ndimage.grey_closing, _WINDOW),
    "morphological_gradient": (scipy.ndimage.morphological_gradient, _WINDOW),
    "white_tophat": (scipy.ndimage.white_tophat, _WINDOW),
    "black_tophat": (scipy.ndimage.black_tophat, _WINDOW),
    "gaussian_laplace": (scipy.ndimage.gaussian_laplace, {"sigma": 2}),
    "gaussian_gradient_magnitude": (
        scipy.ndimage.gaussian_gradient_magnitude,
        {"sigma": 2},
    ),
}


def _scharr(image: Any, axis: int) -> Any:
    smooth = scipy.ndimage.correlate1d(image, [3, 10, 3], 1 - axis)
    return scipy.ndimage.correlate1d(smooth, [-1, 0, 1], axis)


_FILTERS["scharr"] = (_scharr, {"axis": 0})


def filters(name: str, dtype: Any) -> Iterator[Case]:
    """Of sums, errors are of the largest element times the sum of absolute weights."""
    rng = np.random.default_rng(SEED + 22)
    image = rng.uniform(-255, 255, (150, 201)).astype(dtype)
    operands, (function, arguments) = [image], _FILTERS.get(name, (None, {}))
    given = dict(arguments)
    if function is None:
        function = {
            "correlate": scipy.ndimage.correlate,
            "convolve": scipy.ndimage.convolve,
            "correlate1d": scipy.ndimage.correlate1d,
            "convolve1d": scipy.ndimage.convolve1d,
        }[name]
        kernel = _KERNEL[0] if name.endswith("1d") else _KERNEL
        operands, given = [image, kernel], {"weights": kernel.astype(float)}
    scale = 0.0  # where elements are chosen, or subtracted once
    if arguments.keys().isdisjoint(_WINDOW) or name == "box":
        impulse = np.zeros((81, 81))
        impulse[40, 40] = 1
        scale = np.abs(image).max() * np.abs(function(impulse, **given)).sum()
    yield Case(operands, wide(function(wide64(image), **given)), scale, arguments)


def wide64(image: Any) -> Any:
    """float64: what scipy.ndimage computes in."""
    return image.astype(np.float64)


def cases(name: str, kind: str, dtype: Any) -> Iterator[Case]:
    """Those of an operation. KeyError: no reference for this name."""
    if kind == "matmul":
        return products(dtype)
    if kind == "network":
        return layers(name, dtype)
    return (filters if kind == "filter" else lines)(name, dtype)
