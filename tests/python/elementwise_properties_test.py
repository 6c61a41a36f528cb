"""Any arrays: the same answers as NumPy."""

from __future__ import annotations

from typing import Any

import grpc
import hypothesis.extra.numpy as hnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpucall
from numpy_answers import ARITY, DTYPES, allowed_ulps, answer, cast_answer, ulps


def elements(dtype: str) -> st.SearchStrategy[Any]:
    """Any; complex numbers finite and small: the standards differ about the others."""
    if not dtype.startswith("complex"):
        return hnp.from_dtype(np.dtype(dtype))
    part = st.floats(-64, 64, width=32).map(lambda x: x if abs(x) > 1e-6 else 0.0)
    return st.builds(complex, part, part)


@st.composite
def operands(draw: st.DrawFn, count: int) -> list[Any]:
    shapes = draw(
        hnp.mutually_broadcastable_shapes(num_shapes=count, min_side=0, max_dims=4)
    )
    arrays = []
    for shape in shapes.input_shapes:
        dtype = draw(st.sampled_from(DTYPES))
        array = draw(hnp.arrays(dtype, shape, elements=elements(dtype)))
        arrays.append(array[..., ::-1] if array.ndim and draw(st.booleans()) else array)
    return arrays


def numpy_answer(name: str, arrays: list[Any]) -> Any:
    """The result, or the code of the error that takes its place."""
    try:
        return answer(name, arrays)
    except (TypeError, ValueError):  # bool minus bool; integers to negative powers
        return grpc.StatusCode.INVALID_ARGUMENT


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
    if name == "power" and right.dtype.kind == "c":
        return  # NumPy's own powers are far off; the contract tests have right ones
    arrays = list(np.broadcast_arrays(*arrays))
    assert (ulps(got, right) <= allowed_ulps(name, arrays, right)).all(), (got, right)


@given(data=st.data())
def test_casts_are_numpys(data: st.DataObject, c: gpucall.Client) -> None:
    source, target = (data.draw(st.sampled_from(DTYPES)) for _ in range(2))
    x = data.draw(hnp.arrays(source, (5,), elements=elements(source)))
    got = c.astype(x, target)
    right = cast_answer(x, target)
    assert got.dtype == right.dtype
    np.testing.assert_array_equal(got, right)


@given(data=st.data())
def test_bfloat16_is_float32_rounded(data: st.DataObject, c: gpucall.Client) -> None:
    bits = data.draw(hnp.arrays(np.uint16, (2, 4)))
    a, b = bits.view(ml_dtypes.bfloat16)
    for name in ("add", "multiply", "divide", "maximum", "sqrt", "floor"):
        operands = [a] if ARITY[name] == 1 else [a, b]
        with np.errstate(all="ignore"):
            exact = getattr(np, name)(*(x.astype(np.float32) for x in operands))
        got = getattr(c, name)(*operands)
        assert got.dtype == ml_dtypes.bfloat16
        np.testing.assert_array_equal(
            got.astype(np.float32), exact.astype(ml_dtypes.bfloat16).astype(np.float32)
        )
    assert c.add(a, np.float16([1])).dtype == np.float32
    assert c.add(a, np.int8([1])).dtype == ml_dtypes.bfloat16
    assert c.multiply(a, 2.5).dtype == ml_dtypes.bfloat16


@given(data=st.data())
def test_weak_scalars_are_numpys(data: st.DataObject, c: gpucall.Client) -> None:
    dtype = data.draw(st.sampled_from([d for d in DTYPES if d[0] in "uif"]))
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
