"""expand_dims, squeeze, moveaxis, repeat and unstack against NumPy."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import grpc
import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpucall
from server_process import ServerProcess

EXAMPLES = int(os.environ.get("GPUCALL_TEST_EXAMPLES", "300"))
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def numbered(shape: tuple[int, ...], dtype: str) -> Any:
    return np.arange(np.prod(shape)).astype(dtype).reshape(shape)


@st.composite
def arrays(draw: st.DrawFn, min_side: int = 0, max_side: int = 6) -> Any:
    shape = draw(
        hnp.array_shapes(min_dims=1, max_dims=4, min_side=min_side, max_side=max_side)
    )
    return numbered(
        shape, draw(st.sampled_from(["int8", "float16", "int32", "complex128"]))
    )


def axes_of(draw: Any, rank: int, size: int | None = None) -> list[int]:
    """Some axes, each once, some counted from the last."""
    count = draw(st.integers(0, rank)) if size is None else size
    axes = draw(st.permutations(range(rank)))[:count]
    return [axis - rank if draw(st.booleans()) else axis for axis in axes]


@settings(max_examples=EXAMPLES)
@given(data=st.data(), x=arrays())
def test_dimensions_of_size_1(data: st.DataObject, x: Any, c: gpucall.Client) -> None:
    count = data.draw(st.integers(0, 2))
    new = axes_of(data.draw, x.ndim + count, count)
    right = np.expand_dims(x, tuple(new))
    got = c.expand_dims(x, new)
    np.testing.assert_array_equal(got, right, strict=True)
    np.testing.assert_array_equal(c.squeeze(right, new), x, strict=True)
    np.testing.assert_array_equal(c.squeeze(right), np.squeeze(x), strict=True)


@settings(max_examples=EXAMPLES)
@given(data=st.data(), x=arrays())
def test_moveaxis(data: st.DataObject, x: Any, c: gpucall.Client) -> None:
    source = axes_of(data.draw, x.ndim)
    to = axes_of(data.draw, x.ndim, len(source))
    right = np.moveaxis(x, source, to)
    np.testing.assert_array_equal(c.moveaxis(x, source, to), right, strict=True)


@settings(max_examples=EXAMPLES)
@given(data=st.data(), x=arrays())
def test_repeat(data: st.DataObject, x: Any, c: gpucall.Client) -> None:
    axis = data.draw(st.none() | st.integers(-x.ndim, x.ndim - 1))
    size = x.size if axis is None else x.shape[axis]
    counts = st.lists(st.integers(0, 3), min_size=size, max_size=size)
    repeats = data.draw(st.integers(0, 5) | counts)
    if repeats == [] or (isinstance(repeats, list) and len(repeats) == 1):
        repeats = 2
    right = np.repeat(x, repeats, axis)
    np.testing.assert_array_equal(c.repeat(x, repeats, axis), right, strict=True)
    np.testing.assert_array_equal(
        c.repeat(x, np.array(repeats).reshape(-1), axis=axis), right, strict=True
    )


@settings(max_examples=EXAMPLES)
@given(data=st.data(), x=arrays())
def test_unstack(data: st.DataObject, x: Any, c: gpucall.Client) -> None:
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    right = list(np.moveaxis(x, axis, 0))
    got = c.unstack(x, axis=axis)
    assert isinstance(got, tuple) and len(got) == len(right)
    for a, b in zip(got, right, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)
    p = gpucall.Program()
    parts = p.unstack(p.input(), len(right), axis=axis)
    if parts:
        p.output(p.stack(parts, axis=axis))
        np.testing.assert_array_equal(c.run(p, x), x, strict=True)


def test_unstack_into_more_than_a_program_has_outputs(c: gpucall.Client) -> None:
    x = np.random.default_rng(1).random((3, 150))
    got = c.unstack(x, axis=1)
    assert len(got) == 150
    np.testing.assert_array_equal(np.stack(got, 1), x)
    with c.put(x) as remote:
        kept = c.keep.unstack(remote, axis=1)
        np.testing.assert_array_equal(c.stack(kept[:60], 1), x[:, :60])
        np.testing.assert_array_equal(kept[149].get(), x[:, 149])


def test_on_arrays_that_stay(c: gpucall.Client) -> None:
    remote = c.put(X)
    wide = c.keep.expand_dims(remote, (0, -1))
    assert wide.shape == (1, 2, 3, 4, 1)
    np.testing.assert_array_equal(c.keep.squeeze(wide, 0).get(), X[..., None])
    np.testing.assert_array_equal(c.moveaxis(remote, 0, -1), np.moveaxis(X, 0, -1))
    np.testing.assert_array_equal(c.repeat(remote, [2, 0, 1], axis=1), X[:, [0, 0, 2]])
    np.testing.assert_array_equal(remote.get(), X)


def test_numpys_functions_in_a_program(c: gpucall.Client) -> None:
    p = gpucall.Program()
    x: Any = p.input()
    wide = np.expand_dims(x, axis=(1, -1))
    p.output(np.squeeze(wide, axis=-1) + 1, np.moveaxis(x, [0, 1], [-1, 0]))
    p.output(np.repeat(x * 2, [1, 2], axis=0))
    a, b, repeated = c.run(p, X)
    np.testing.assert_array_equal(a, X[:, None] + 1)
    np.testing.assert_array_equal(b, np.moveaxis(X, [0, 1], [-1, 0]))
    np.testing.assert_array_equal(repeated, np.repeat(X * 2, [1, 2], axis=0))


def test_awaited(server: ServerProcess) -> None:
    async def calls() -> None:
        async with gpucall.aio.connect(server.address) as c:
            parts = await c.unstack(X, axis=-1)
            np.testing.assert_array_equal(np.stack(parts, -1), X)
            assert await c.unstack(X[:0]) == ()
            kept = await c.keep.unstack(X)
            np.testing.assert_array_equal(await kept[1].get(), X[1])

    asyncio.run(calls())


def test_what_is_refused(c: gpucall.Client) -> None:
    for call, words in (
        (lambda: c.unstack(X, axis=3), "unstack: axis is 3, for 3 dimensions"),
        (lambda: c.unstack(np.float32(1)), "unstack: axis is 0, a 0-d tensor has none"),
        (lambda: c.squeeze(X, 1), "dimension 1 of x of shape (2, 3, 4) has size 3"),
        (lambda: c.repeat(X, -2), "repeats of element 0 are -2, allowed is 0 to"),
        (
            lambda: c.expand_dims(X, 4),
            "axis is 4, for 4 dimensions allowed are -4 to 3",
        ),
        (lambda: c.moveaxis(X, [0, 0], [1, 2]), "axis 0 (dimension 0) is given twice"),
    ):
        with pytest.raises(gpucall.Error) as refused:
            call()
        assert refused.value.code is grpc.StatusCode.INVALID_ARGUMENT
        assert words in refused.value.message
    with pytest.raises(TypeError):
        c.repeat(X, 1.5)  # type: ignore[arg-type]
