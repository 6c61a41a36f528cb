"""Convolutions and pools against sums in NumPy."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from grpc import StatusCode
from hypothesis import given, settings
from hypothesis import strategies as st

import gpucall

# GPUCALL_TEST_EXAMPLES=100000 makes a long run.
EXAMPLES = int(os.environ.get("GPUCALL_TEST_EXAMPLES", "500"))

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = [*map(np.dtype, ("float16", "float32", "float64")), BFLOAT16]
SUM_EPSILON = {2: 2.0**-24, 4: 2.0**-24, 8: 2.0**-53}
ROUNDING = {BFLOAT16: 2.0**-8, np.dtype("float16"): 2.0**-11}


@dataclass(frozen=True)
class Windows:
    """Of both axes: (rows, columns)."""

    size: tuple[int, int]
    stride: tuple[int, int]
    dilation: tuple[int, int]
    padding: tuple[tuple[int, int], tuple[int, int]]
    ceil_mode: bool = False

    def reach(self, axis: int) -> int:
        return self.dilation[axis] * (self.size[axis] - 1) + 1

    def count(self, axis: int, size: int) -> int:
        """Of windows."""
        before, after = self.padding[axis]
        room, stride = size + before + after - self.reach(axis), self.stride[axis]
        starts = range(0, room + 1, stride)
        extra = starts[-1] + stride
        if self.ceil_mode and starts[-1] != room and extra < size + before:
            return len(starts) + 1
        return len(starts)

    @property
    def arguments(self) -> dict[str, Any]:
        return {
            "stride": self.stride,
            "dilation": self.dilation,
            "padding": self.padding,
        }

    def under(self, x: Any, fill: float, outside: float) -> Any:
        """x under each place of each window, first; `outside` past the padded image."""
        shape = [self.count(axis, x.shape[2 + axis]) for axis in range(2)]
        edges = [
            max(0, (n - 1) * self.stride[a] + self.reach(a) - x.shape[2 + a] - sum(p))
            for a, (n, p) in enumerate(zip(shape, self.padding, strict=True))
        ]
        none = [(0, 0), (0, 0)]
        padded = np.pad(x, [*none, *self.padding], constant_values=fill)
        padded = np.pad(
            padded, [*none, (0, edges[0]), (0, edges[1])], constant_values=outside
        )
        parts = []
        for i in range(self.size[0]):
            for j in range(self.size[1]):
                y, z = i * self.dilation[0], j * self.dilation[1]
                part = padded[:, :, y :: self.stride[0], z :: self.stride[1]]
                parts.append(part[:, :, : shape[0], : shape[1]])
        return np.stack(parts)


def pair(low: int, high: int) -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(st.integers(low, high), st.integers(low, high))


@st.composite
def windows(draw: Any, pool: bool) -> Windows:
    return Windows(
        draw(pair(1, 4)),
        draw(pair(1, 3)),
        draw(pair(1, 3)),
        draw(st.tuples(pair(0, 3), pair(0, 3))),
        pool and draw(st.booleans()),
    )


def image_of(draw: Any, w: Windows, channels: int, dtype: Any) -> Any:
    sizes = [
        max(0, w.reach(axis) - sum(w.padding[axis])) + draw(st.integers(0, 6))
        for axis in range(2)
    ]
    images = draw(st.integers(0, 3))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    return rng.normal(0, 1, (images, channels, *sizes)).astype(dtype)


def last(x: Any) -> Any:
    """Channels last."""
    return np.ascontiguousarray(np.moveaxis(x, 1, -1))


def expect_close(got: Any, exact: Any, magnitude: Any, terms: int) -> None:
    sums = SUM_EPSILON[got.dtype.itemsize] * (terms + 2) * magnitude
    rounding = ROUNDING.get(got.dtype, 0) * np.abs(exact)
    tiny = 2.0**-24 if got.dtype.itemsize == 2 else 0
    assert got.shape == exact.shape
    np.testing.assert_array_equal(np.isnan(exact), np.isnan(got.astype(np.float64)))
    error = np.abs(got.astype(np.longdouble) - exact)
    assert (np.isnan(exact) | (error <= sums + rounding + tiny)).all()


@given(windows(pool=False), st.sampled_from(DTYPES), st.data())
@settings(max_examples=EXAMPLES)
def test_convolutions(c: gpucall.Client, w: Windows, dtype: Any, data: Any) -> None:
    groups = data.draw(st.integers(1, 3))
    each, out_each = data.draw(st.integers(0, 4)), data.draw(st.integers(1, 4))
    x = image_of(data.draw, w, groups * each, dtype)
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    weights = rng.normal(0, 1, (groups * out_each, each, *w.size)).astype(dtype)
    bias = rng.normal(0, 1, groups * out_each).astype(dtype)
    has_bias = data.draw(st.booleans())
    parts = w.under(x.astype(np.longdouble), 0, 0)
    parts = parts.reshape(len(parts), len(x), groups, each, *parts.shape[3:])
    wide = weights.astype(np.longdouble).reshape(groups, out_each, each, len(parts))
    shape = (len(x), groups * out_each, *parts.shape[4:])
    exact = np.einsum("kngchw,gock->ngohw", parts, wide).reshape(shape)
    size = np.einsum("kngchw,gock->ngohw", np.abs(parts), np.abs(wide)).reshape(shape)
    if has_bias:
        added = bias.astype(np.longdouble)[:, None, None]
        exact, size = exact + added, size + np.abs(added)
    given_bias = bias if has_bias else None
    got = c.conv2d(x, weights, given_bias, groups=groups, **w.arguments)
    assert got.dtype == dtype
    terms = each * w.size[0] * w.size[1]
    expect_close(got, exact, size, terms)
    nhwc = c.conv2d(
        last(x), weights, given_bias, groups=groups, layout="NHWC", **w.arguments
    )
    expect_close(np.moveaxis(nhwc, -1, 1), exact, size, terms)


@given(windows(pool=True), st.sampled_from(DTYPES), st.booleans(), st.data())
@settings(max_examples=EXAMPLES)
def test_pools(
    c: gpucall.Client, w: Windows, dtype: Any, count_padding: bool, data: Any
) -> None:
    x = image_of(data.draw, w, data.draw(st.integers(0, 4)), dtype)
    arguments = {"ceil_mode": w.ceil_mode, **w.arguments}
    largest = w.under(x.astype(np.float64), -np.inf, -np.inf).max(0)
    got = c.max_pool2d(x, w.size, **arguments)
    np.testing.assert_array_equal(got, largest.astype(dtype))
    got = c.max_pool2d(last(x), w.size, layout="NHWC", **arguments)
    np.testing.assert_array_equal(np.moveaxis(got, -1, 1), largest.astype(dtype))

    parts = w.under(x.astype(np.longdouble), 0 if count_padding else np.nan, np.nan)
    count = (~np.isnan(parts)).sum(0)
    with np.errstate(all="ignore"):
        exact = np.nansum(parts, 0) / count
        size = np.nansum(np.abs(parts), 0) / count
    arguments["count_padding"] = count_padding
    got = c.avg_pool2d(x, w.size, **arguments)
    assert got.dtype == dtype
    expect_close(got, exact, size, w.size[0] * w.size[1])
    got = c.avg_pool2d(last(x), w.size, layout="NHWC", **arguments)
    expect_close(np.moveaxis(got, -1, 1), exact, size, w.size[0] * w.size[1])


def test_large_convolution(c: gpucall.Client) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(0, 1, (3, 20, 67, 71)).astype(np.float32)
    weights = rng.normal(0, 1, (70, 20, 3, 3)).astype(np.float32)
    w = Windows((3, 3), (1, 1), (1, 1), ((1, 1), (1, 1)))
    parts = w.under(x.astype(np.float64), 0, 0)
    wide = weights.astype(np.float64).reshape(70, 20, 9)
    exact = np.einsum("knchw,ock->nohw", parts, wide, optimize=True)
    size = np.einsum("knchw,ock->nohw", np.abs(parts), np.abs(wide), optimize=True)
    got = c.conv2d(x, weights, padding=1)
    expect_close(got, exact, size, 180)
    one = c.conv2d(x[1:2], weights, padding=1)
    np.testing.assert_array_equal(one, got[1:2])  # the bits do not depend on the others


def test_nan_is_the_largest(c: gpucall.Client) -> None:
    x = np.array([[[[1, np.nan], [3, 2]]]], np.float32)
    assert np.isnan(c.max_pool2d(x, 2)).all()
    np.testing.assert_array_equal(c.max_pool2d(x, (2, 1))[..., 0], [[[3]]])


_X = np.zeros((2, 4, 5, 6), np.float32)
_W = np.zeros((8, 4, 3, 3), np.float32)
_BAD: list[tuple[str, Any, dict[str, Any], str]] = [
    ("conv2d", (_X[0], _W), {}, "x has shape (4, 5, 6), allowed are 4 dimensions"),
    ("conv2d", (_X, _W[:, :3]), {}, "have 3 in channels"),
    ("conv2d", (_X, _W), {"groups": 3}, "groups is 3"),
    ("conv2d", (_X, _W), {"groups": -1}, "groups is -1"),
    ("conv2d", (_X, _W.astype(float)), {}, "weights has dtype float64"),
    ("conv2d", (_X, _W, _W[0, 0, 0]), {}, "bias has shape (3), allowed is (8)"),
    ("conv2d", (_X, _W), {"stride": 0}, "stride: is 0"),
    ("conv2d", (_X, _W), {"dilation": 0}, "dilation of the rows is 0"),
    ("conv2d", (_X, _W), {"padding": -1}, "padding of the rows is -1"),
    ("conv2d", (_X, _W), {"padding": (1, 2, 3)}, "padding: has 3 values"),
    ("conv2d", (_X, _W), {"dilation": 3}, "the window has 7 rows"),
    ("max_pool2d", (_X, 7), {}, "the window has 7 rows, x with padding has 5 + 0 + 0"),
    ("max_pool2d", (_X, (1, 0)), {}, "size of the columns is 0"),
    ("avg_pool2d", (_X, (1, 2, 3)), {}, "size: has 3 values"),
    ("avg_pool2d", (_X, 2), {"padding": 2**40}, "padding of the rows is 1099511627776"),
]


@pytest.mark.parametrize(("name", "operands", "options", "says"), _BAD)
def test_bad_arguments(
    c: gpucall.Client, name: str, operands: Any, options: Any, says: str
) -> None:
    with pytest.raises(gpucall.Error) as error:
        getattr(c, name)(*operands, **options)
    assert error.value.code is StatusCode.INVALID_ARGUMENT
    assert says in error.value.message


def test_integers_are_not_offered(c: gpucall.Client) -> None:
    with pytest.raises(gpucall.Error) as error:
        c.max_pool2d(_X.astype(int), 2)
    assert error.value.code is StatusCode.UNIMPLEMENTED
    with pytest.raises(ValueError, match="layout is 'HWC'"):
        c.max_pool2d(_X, 2, layout="HWC")
