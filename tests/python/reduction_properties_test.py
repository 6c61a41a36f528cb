"""Any arrays along any axes: the same answers as NumPy."""

from __future__ import annotations

from typing import Any

import grpc
import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpucall

OFFERED = [
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64"),
]
REDUCTIONS = [
    *("sum", "prod", "mean", "var", "std", "min", "max", "argmin", "argmax"),
    *("any", "all", "count_nonzero", "norm"),
]
EXACT = {"min", "max", "argmin", "argmax", "any", "all", "count_nonzero"}


@st.composite
def arrays(draw: st.DrawFn) -> Any:
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6))
    if len(shape) < 4 and draw(st.integers(0, 4)) == 0:
        shape = (*shape, draw(st.integers(100, 3000)))
    dtype = draw(st.sampled_from(OFFERED))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    x = rng.standard_normal(shape) * draw(st.sampled_from([1, 1, 100]))
    x = np.abs(x) if np.dtype(dtype).kind == "u" else x
    if np.dtype(dtype).kind == "f" and draw(st.integers(0, 4)) == 0:
        x = np.where(rng.random(shape) < 0.1, rng.choice([np.nan, np.inf, -np.inf]), x)
    return np.asarray(np.asarray(x).astype(dtype))


@st.composite
def axes_of(draw: st.DrawFn, rank: int, one: bool) -> Any:
    if rank == 0 or draw(st.integers(0, 3)) == 0:
        return None
    axis = st.integers(-rank, rank - 1)
    if one or draw(st.booleans()):
        return draw(axis)
    return tuple(draw(st.lists(axis, unique_by=lambda a: a % rank)))


def numpy_answer(name: str, x: Any, axis: Any, keepdims: bool, extra: Any) -> Any:
    """NumPy's dtype, and the value in float64 where floats are accumulated."""
    with np.errstate(all="ignore"):
        if name == "norm":
            wide = x.astype(np.float64)
            right = (
                np.max(np.abs(wide), axis=axis, keepdims=keepdims, initial=0)
                if extra["ord"] == np.inf  # of no elements NumPy before 2.4 has none
                else np.linalg.vector_norm(wide, axis=axis, keepdims=keepdims, **extra)
            )
            return np.asarray(right).astype(x.dtype if x.dtype.kind == "f" else "f8")
        if name == "count_nonzero":
            right = np.count_nonzero(x, axis=axis, keepdims=keepdims)
            return np.asarray(right, np.int64)
        if name in EXACT or x.dtype.kind != "f":
            return np.asarray(
                getattr(np, name)(x, axis=axis, keepdims=keepdims, **extra)
            )
        wide = getattr(np, name)(
            x, axis=axis, keepdims=keepdims, dtype=np.float64, **extra
        )
        return np.asarray(wide).astype(x.dtype)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", REDUCTIONS)
@given(data=st.data())
def test_reduction_is_numpys(name: str, data: st.DataObject, c: gpucall.Client) -> None:
    x = data.draw(arrays())
    axis = data.draw(axes_of(x.ndim, name.startswith("arg")))
    keepdims = data.draw(st.booleans())
    extra: dict[str, Any] = {}
    if name in ("var", "std"):
        extra["correction"] = data.draw(st.sampled_from([0, 1, 0.5]))
    if name == "norm":
        extra["ord"] = data.draw(st.sampled_from([2, 1, 0, 3, np.inf, -np.inf]))
    method = getattr(c, name)
    try:
        right = numpy_answer(name, x, axis, keepdims, extra)
    except ValueError:  # of no elements
        with pytest.raises(gpucall.Error) as raised:
            method(x, axis=axis, keepdims=keepdims, **extra)
        assert raised.value.code is grpc.StatusCode.INVALID_ARGUMENT
        return
    got = np.asarray(method(x, axis=axis, keepdims=keepdims, **extra))
    assert got.dtype == right.dtype and got.shape == right.shape
    if name in EXACT or right.dtype.kind in "iub":
        np.testing.assert_array_equal(got, right)
        return
    eps = np.finfo(right.dtype).eps
    finite = np.abs(x[np.isfinite(x)].astype(np.float64))
    largest = finite.max() if finite.size else 0.0
    # Sums may cancel: what is lost is of the size of the terms, kept in float64.
    lost = 2.3e-16 * 8 * max(x.size, 1) * largest * (largest if name == "var" else 1)
    np.testing.assert_allclose(got, right, 8 * eps, 0 if name == "prod" else lost)


def shares(x: Any, axis: Any) -> Any:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def centred(x: Any, axis: Any, epsilon: float) -> Any:
    difference = x - x.mean(axis=axis, keepdims=True)
    return difference / np.sqrt(x.var(axis=axis, keepdims=True) + epsilon)


@given(data=st.data())
def test_normalisations_are_their_formulas(
    data: st.DataObject, c: gpucall.Client
) -> None:
    shape = data.draw(hnp.array_shapes(max_dims=4, max_side=12))
    dtype = data.draw(st.sampled_from(["int64", "float32", "float64"]))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    x = (rng.standard_normal(shape) * 9).astype(dtype)
    axis = data.draw(axes_of(len(shape), one=False))
    wide = x.astype(np.float64)
    eps = np.finfo(np.float32 if dtype == "float32" else np.float64).eps
    for got, right in [
        (c.softmax(x, axis), shares(wide, axis)),
        (c.log_softmax(x, axis), np.log(shares(wide, axis))),
        (c.layer_norm(x, axis, epsilon=0.5), centred(wide, axis, 0.5)),
    ]:
        assert got.dtype == (x.dtype if x.dtype.kind == "f" else np.float64)
        np.testing.assert_allclose(got, right, 64 * eps, 64 * eps)
    spread = wide.std(axis=axis, keepdims=True) > 1e-3
    right = centred(wide, axis, 0 if spread.all() else 1e-300)
    got = c.standardise(x, axis)
    np.testing.assert_allclose(
        np.where(spread, got, 0), np.where(spread, right, 0), 1e4 * eps, 1e4 * eps
    )


@given(data=st.data())
def test_keys_are_numpys(data: st.DataObject, c: gpucall.Client) -> None:
    x = data.draw(hnp.arrays(np.int16, hnp.array_shapes(min_side=0, max_side=7)))
    key = data.draw(hnp.basic_indices(x.shape, allow_ellipsis=False, max_dims=x.ndim))
    np.testing.assert_array_equal(c.slice(x, key), x[key])


@given(data=st.data())
def test_rearrangements_are_numpys(data: st.DataObject, c: gpucall.Client) -> None:
    shape = data.draw(hnp.array_shapes(max_dims=4, min_side=0, max_side=9))
    dtype = data.draw(st.sampled_from(["int8", "float16", "int32", "complex128"]))
    x = np.arange(np.prod(shape)).astype(dtype).reshape(shape)
    rank = len(shape)
    order = data.draw(st.permutations(range(rank)))
    np.testing.assert_array_equal(c.transpose(x, order), x.transpose(order))
    axis = data.draw(st.integers(-rank, rank - 1))
    np.testing.assert_array_equal(c.flip(x, axis), np.flip(x, axis))
    np.testing.assert_array_equal(
        c.concatenate([x, x[:0] if axis % rank == 0 else x], axis),
        np.concatenate([x, x[:0] if axis % rank == 0 else x], axis),
    )
    np.testing.assert_array_equal(c.stack([x, x], axis), np.stack([x, x], axis))
    shift = data.draw(st.integers(-20, 20))
    np.testing.assert_array_equal(c.roll(x, shift, axis), np.roll(x, shift, axis))
    np.testing.assert_array_equal(c.roll(x, shift), np.roll(x, shift))
    widths = [
        (data.draw(st.integers(0, 3)), data.draw(st.integers(0, 3))) for _ in shape
    ]
    np.testing.assert_array_equal(c.pad(x, widths), np.pad(x, widths))
    times = data.draw(st.lists(st.integers(0, 3), max_size=5))
    np.testing.assert_array_equal(c.tile(x, times), np.tile(x, times))
    np.testing.assert_array_equal(
        c.reshape(x, (-1,) if x.size else shape), x.reshape(-1) if x.size else x
    )
    wide = (2, *shape)
    np.testing.assert_array_equal(c.broadcast_to(x, wide), np.broadcast_to(x, wide))


def test_numpys_functions_add_to_a_program(c: gpucall.Client) -> None:
    p = gpucall.Program()
    x = p.input()
    centred = x - np.mean(x, axis=0, keepdims=True)
    p.output(np.sum(centred * centred, axis=1), np.transpose(x)[1], np.argmax(x))
    a = np.array([[1, 2, 3], [5, 4, 3]], np.float32)
    squares, row, last = c.run(p, a)
    np.testing.assert_array_equal(squares, [5, 5])
    np.testing.assert_array_equal(row, [2, 4])
    assert last == 3 and last.dtype == np.int64
