"""Operations along one axis: the same answers as NumPy, of every dtype."""

from __future__ import annotations

from typing import Any

import grpc
import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpucall

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
REALS = ["bool", *INTEGERS, "float16", "float32", "float64"]


@st.composite
def arrays(draw: st.DrawFn, dtypes: list[str]) -> Any:
    """Elements of all sorts; of floats also NaN, infinities and zeros of both signs."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=6))
    if len(shape) < 4 and draw(st.integers(0, 4)) == 0:
        shape = (*shape, draw(st.integers(100, 3000)))
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype.name)
        few = rng.integers(-3 if dtype.kind == "i" else 0, 4, shape)
        wide = rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)
        return np.where(rng.random(shape) < 0.5, few.astype(dtype), wide)
    special = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1.5], dtype)
    x = (rng.standard_normal(shape) * 100).astype(dtype)
    return np.where(rng.random(shape) < 0.3, rng.choice(special, shape), x)


@st.composite
def axes(draw: st.DrawFn, rank: int) -> int | None:
    return draw(st.one_of(st.none(), st.integers(-rank, rank - 1)))


def same_bits(got: Any, right: Any) -> None:
    assert got.dtype == right.dtype and got.shape == right.shape
    assert got.tobytes() == np.ascontiguousarray(right).tobytes()


def stable_order(x: Any, axis: int | None, descending: bool) -> Any:
    """NumPy has no descending sort: equal elements, kept in order, are counted backwards."""
    if not descending:
        return np.argsort(x, axis, kind="stable")
    along = 0 if axis is None else axis
    line = x.reshape(-1) if axis is None else x
    backwards = np.argsort(np.flip(line, along), along, kind="stable")
    return line.shape[along] - 1 - np.flip(backwards, along)


@given(data=st.data())
def test_sorts_are_numpys(data: st.DataObject, c: gpucall.Client) -> None:
    x = data.draw(arrays(REALS))
    axis = data.draw(axes(x.ndim))
    descending = data.draw(st.booleans())
    order = stable_order(x, axis, descending)
    same_bits(c.argsort(x, axis, descending=descending), order)
    line = x.reshape(-1) if axis is None else x
    right = np.take_along_axis(line, order, 0 if axis is None else axis)
    same_bits(c.sort(x, axis, descending=descending), right)


def test_sorts_in_a_program(c: gpucall.Client) -> None:
    p = gpucall.Program()
    x = p.input()
    p.output(np.sort(x * 2, axis=0), np.argsort(x), p.sort(x, None, descending=True))
    a = np.array([[3, 1], [2, np.nan]], np.float32)
    columns, order, flat = c.run(p, a)
    np.testing.assert_array_equal(columns, np.sort(a * 2, axis=0))
    np.testing.assert_array_equal(order, np.argsort(a))
    np.testing.assert_array_equal(flat, [np.nan, 3, 2, 1])


@pytest.mark.parametrize("axis", [2, -3])
def test_axes_out_of_range_are_refused(axis: int, c: gpucall.Client) -> None:
    with pytest.raises(gpucall.Error, match="axis is") as raised:
        c.sort(np.zeros((2, 3)), axis)
    assert raised.value.code is grpc.StatusCode.INVALID_ARGUMENT


def test_complex_numbers_have_no_order(c: gpucall.Client) -> None:
    with pytest.raises(gpucall.Error, match="complex64") as raised:
        c.sort(np.zeros(3, np.complex64))
    assert raised.value.code is grpc.StatusCode.UNIMPLEMENTED


def test_results_that_stay(c: gpucall.Client) -> None:
    x = c.put(np.float32([[3, 1, 2], [6, 5, 4]]))
    flat = c.keep.reshape(x, -1)
    ordered = c.keep.sort(flat)
    x.free()
    np.testing.assert_array_equal(flat.get(), [3, 1, 2, 6, 5, 4])
    np.testing.assert_array_equal(ordered.get(), [1, 2, 3, 4, 5, 6])
    np.testing.assert_array_equal(
        c.keep.transpose(c.keep.reshape(ordered, (2, 3))).get(),
        [[1, 4], [2, 5], [3, 6]],
    )
