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


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@given(data=st.data())
def test_scans_are_numpys(data: st.DataObject, c: gpucall.Client) -> None:
    x = data.draw(arrays(["bool", *INTEGERS, "float32", "float64"]))
    axis = data.draw(axes(x.ndim))
    if x.dtype.kind != "f":
        for name in ("cumsum", "cumprod"):
            same_bits(getattr(c, name)(x, axis), getattr(np, name)(x, axis))
        return
    # Products stay near 1, so that long ones neither vanish nor overflow.
    factors = 1 + np.sin(np.nan_to_num(x, posinf=1, neginf=-1)) / 100
    eps, least = np.finfo(x.dtype.name).eps, np.finfo(x.dtype.name).smallest_subnormal
    for name, y in (("cumsum", x), ("cumprod", factors.astype(x.dtype))):
        wide = y.astype(np.longdouble)
        largest = float(np.abs(wide[np.isfinite(wide)]).max(initial=1))
        right = getattr(np, name)(wide, axis).astype(x.dtype)
        got = getattr(c, name)(y, axis)
        assert got.dtype == right.dtype and got.shape == right.shape
        lost = 1e-15 * largest * x.size if name == "cumsum" else float(least)
        np.testing.assert_allclose(got, right, float(eps) + 3e-16 * x.size, lost)


@given(data=st.data())
def test_takes_are_numpys(data: st.DataObject, c: gpucall.Client) -> None:
    dtype = data.draw(st.sampled_from([*REALS, "complex64", "complex128"]))
    shape = data.draw(hnp.array_shapes(max_dims=4, max_side=6))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    x = rng.integers(0, 100, shape).astype(dtype)
    axis = data.draw(axes(x.ndim))
    size = x.size if axis is None else x.shape[axis]
    index_dtype = data.draw(st.sampled_from(["int32", "int64"]))
    places = data.draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5))
    indices = np.asarray(rng.integers(-size, size, places), index_dtype)
    same_bits(c.take(x, indices, axis), np.take(x, indices, axis))
    if axis is None:
        line = indices.reshape(-1)
        same_bits(c.take_along_axis(x, line, None), np.take_along_axis(x, line, None))
        return
    own = [1 if data.draw(st.integers(0, 3)) == 0 else n for n in shape]
    own[axis] = data.draw(st.integers(0, 7))
    indices = rng.integers(-size, size, own).astype(index_dtype)
    along = axis % len(shape)
    wide = np.broadcast_to(indices, [*shape[:along], own[along], *shape[along + 1 :]])
    same_bits(c.take_along_axis(x, indices, axis), np.take_along_axis(x, wide, axis))


@given(data=st.data())
def test_top_k_is_the_start_of_a_sort(data: st.DataObject, c: gpucall.Client) -> None:
    x = data.draw(arrays(REALS))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    k = data.draw(st.integers(0, x.shape[axis]))
    largest = data.draw(st.booleans())
    order = stable_order(x, axis, largest).take(np.arange(k), axis)
    values, indices = c.top_k(x, k, axis, largest=largest)
    same_bits(indices, order)
    same_bits(values, np.take_along_axis(x, order, axis))


def test_one_index_out_of_range_fails_its_call_alone(c: gpucall.Client) -> None:
    x = np.arange(1000, dtype=np.float32)
    indices = np.arange(1000)
    indices[777] = 1000
    with pytest.raises(
        gpucall.Error, match="indices have 1000, allowed are -1000 to 999"
    ):
        c.take(x, indices)
    np.testing.assert_array_equal(c.take(x, [5, -1]), [5, 999])
    assert c.take(x, 7) == 7


def test_takes_in_a_program(c: gpucall.Client) -> None:
    p = gpucall.Program()
    x = p.input()
    order = np.argsort(x, axis=1)
    p.output(np.take_along_axis(x, order, axis=1), np.take(x, [1, 0], axis=0) * 2)
    p.output(*p.top_k(x, 1, 0))
    a = np.array([[3, 1], [2, 5]], np.float32)
    ordered, swapped, top, where = c.run(p, a)
    np.testing.assert_array_equal(ordered, np.sort(a))
    np.testing.assert_array_equal(swapped, a[::-1] * 2)
    np.testing.assert_array_equal(top, [[3, 5]])
    np.testing.assert_array_equal(where, [[0, 1]])


def test_top_k_that_stays(c: gpucall.Client) -> None:
    values, indices = c.keep.top_k(np.float32([1, 3, 2]), 2)
    np.testing.assert_array_equal(values.get(), [3, 2])
    np.testing.assert_array_equal(c.take(np.int32([7, 8, 9]), indices), [8, 9])


def test_scans_in_a_program(c: gpucall.Client) -> None:
    p = gpucall.Program()
    x = p.input()
    p.output(np.cumsum(x * 2, axis=0) + 1, np.cumprod(x))
    a = np.array([[3, 1], [2, 5]], np.float32)
    sums, products = c.run(p, a)
    np.testing.assert_array_equal(sums, np.cumsum(a * 2, axis=0) + 1)
    np.testing.assert_array_equal(products, np.cumprod(a))


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
