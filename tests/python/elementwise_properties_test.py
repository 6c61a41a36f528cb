"""Any arrays: the same answers as NumPy."""

from __future__ import annotations

from typing import Any

import grpc
import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpucall

OFFERED = ["bool", "uint8", "int32", "float32", "float64"]


def relu(x: Any) -> Any:
    return np.maximum(x, x.dtype.type(0))


def sigmoid(x: Any) -> Any:  # in the form that does not overflow
    small = np.exp(-np.abs(x.astype(np.exp(x).dtype)))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small)).astype(small.dtype)


def clip(x: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(x, low), high)


def multiply_add(a: Any, b: Any, c: Any) -> Any:
    dtype = np.result_type(a, b, c)
    return a.astype(dtype) * b.astype(dtype) + c.astype(dtype)


OWN = {"relu": relu, "sigmoid": sigmoid, "clip": clip, "multiply_add": multiply_add}
ARITY = {
    **dict.fromkeys(
        ["abs", "negative", "exp", "log", "sqrt", "tanh", "sigmoid", "relu", "square"],
        1,
    ),
    **dict.fromkeys(
        ["add", "subtract", "multiply", "divide", "power", "minimum", "maximum"], 2
    ),
    **dict.fromkeys(["clip", "where", "multiply_add"], 3),
}
# The others are exact: IEEE operations, or integers.
ROUNDED = {"exp", "log", "tanh", "sigmoid", "power"}


@st.composite
def operands(draw: st.DrawFn, count: int) -> list[Any]:
    shapes = draw(
        hnp.mutually_broadcastable_shapes(num_shapes=count, min_side=0, max_dims=4)
    )
    return [
        draw(hnp.arrays(draw(st.sampled_from(OFFERED)), shape))
        for shape in shapes.input_shapes
    ]


def numpy_answer(name: str, arrays: list[Any]) -> Any:
    """The result, or the code of the error that takes its place."""
    function = OWN.get(name) or getattr(np, name)
    try:
        with np.errstate(all="ignore"):
            right = np.asarray(function(*arrays))
    except (TypeError, ValueError):  # bool minus bool; integers to negative powers
        return grpc.StatusCode.INVALID_ARGUMENT
    if name == "relu" and right.dtype == bool:
        return grpc.StatusCode.INVALID_ARGUMENT
    if right.dtype.name not in OFFERED:  # exp of uint8 is float16
        return grpc.StatusCode.UNIMPLEMENTED
    return right


@pytest.mark.parametrize("name", ARITY)
@given(data=st.data())
def test_elementwise_is_numpys(
    name: str, data: st.DataObject, c: gpucall.Client
) -> None:
    arrays = data.draw(operands(ARITY[name]))
    right = numpy_answer(name, arrays)
    if isinstance(right, grpc.StatusCode):
        with pytest.raises(gpucall.Error) as raised:
            getattr(c, name)(*arrays)
        assert raised.value.code is right, raised.value
        return
    got = getattr(c, name)(*arrays)
    assert got.dtype == right.dtype and got.shape == right.shape
    if name in ROUNDED and right.dtype.kind == "f":
        limits = np.finfo(right.dtype)
        rtol, atol = 8 * limits.eps, 4 * limits.smallest_subnormal
        np.testing.assert_allclose(got, right, rtol, atol)
    else:
        np.testing.assert_array_equal(got, right)


@given(data=st.data())
def test_weak_scalars_are_numpys(data: st.DataObject, c: gpucall.Client) -> None:
    dtype = data.draw(st.sampled_from(["uint8", "int32", "float32", "float64"]))
    x = data.draw(hnp.arrays(dtype, (3,), elements={"min_value": 0, "max_value": 100}))
    scalar = data.draw(
        st.one_of(st.booleans(), st.integers(-300, 300), st.floats(-9, 9, width=32))
    )
    try:
        right = np.add(x, scalar)
    except OverflowError:
        with pytest.raises(OverflowError):
            c.add(x, scalar)
        return
    got = c.add(x, scalar)
    assert got.dtype == right.dtype
    np.testing.assert_array_equal(got, right)


@st.composite
def matrices(draw: st.DrawFn) -> tuple[Any, Any, bool, bool]:
    """a, b and whether each is sent transposed; sizes from 0 on, batches that broadcast."""
    m, k, n = (draw(st.integers(0, 20)) for _ in range(3))
    batch = draw(
        hnp.mutually_broadcastable_shapes(
            num_shapes=2, min_side=0, max_side=3, max_dims=3
        )
    )
    dtype = draw(st.sampled_from(["float32", "float64"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    a = rng.standard_normal((*batch.input_shapes[0], m, k)).astype(dtype)
    b = rng.standard_normal((*batch.input_shapes[1], k, n)).astype(dtype)
    return a, b, draw(st.booleans()), draw(st.booleans())


@given(case=matrices())
def test_matmul_is_numpys(case: tuple[Any, Any, bool, bool], c: gpucall.Client) -> None:
    a, b, transpose_a, transpose_b = case
    got = c.matmul(
        a.swapaxes(-1, -2) if transpose_a else a,
        b.swapaxes(-1, -2) if transpose_b else b,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
    )
    right = np.matmul(a.astype(np.float64), b.astype(np.float64))
    # Sums of k products in any order: k * eps of the sum of their absolute values.
    bound = np.matmul(np.abs(a), np.abs(b), dtype=np.float64)
    bound *= (a.shape[-1] + 1) * np.finfo(a.dtype).eps
    assert got.dtype == a.dtype and got.shape == right.shape
    assert (np.abs(got - right) <= bound).all()
