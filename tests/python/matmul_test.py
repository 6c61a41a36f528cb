"""Matrix products against NumPy's."""

from __future__ import annotations

import asyncio
import math
import os
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from grpc import StatusCode
from hypothesis import given, settings
from hypothesis import strategies as st

import gpucall
from server_process import ServerProcess

# GPUCALL_TEST_EXAMPLES=100000 makes a long run.
EXAMPLES = int(os.environ.get("GPUCALL_TEST_EXAMPLES", "500"))

INTEGERS = [
    np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)
]
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(f"float{bits}") for bits in (16, 32, 64)] + [BFLOAT16]
COMPLEX = [np.dtype("complex64"), np.dtype("complex128")]
EPSILON = {2: 2.0**-11, 4: 2.0**-24, 8: 2.0**-53}
HALF_EPSILON = {BFLOAT16: 2.0**-8, np.dtype("float16"): 2.0**-11}


@st.composite
def shapes(draw: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Of two operands that go together, vectors and batches that broadcast among them."""
    m, n, k = (draw(st.integers(0, 20)) for _ in range(3))
    batch = draw(st.lists(st.integers(0, 3), max_size=3))
    kinds = draw(st.sampled_from(["matrices", "row", "column", "vectors"]))
    if kinds == "vectors":
        return (k,), (k,)
    outer = []
    for _ in range(2):
        own = tuple(1 if draw(st.booleans()) else size for size in batch)
        outer.append(own[draw(st.integers(0, len(own))) :])
    a = (k,) if kinds == "row" else (*outer[0], m, k)
    b = (k,) if kinds == "column" else (*outer[1], k, n)
    return a, b


def array(rng: np.random.Generator, dtype: Any, shape: tuple[int, ...]) -> Any:
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    x = rng.normal(0, 1, shape)
    return (x + 1j * rng.normal(0, 1, shape) if dtype.kind == "c" else x).astype(dtype)


def wide(x: Any) -> Any:
    return x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble)


def expect_close(got: Any, exact: Any, magnitude: Any, terms: int) -> None:
    """Every one of `terms` sums, of its parts' magnitude, may be rounded."""
    dtype = got.dtype
    size = dtype.itemsize // (2 if dtype.kind == "c" else 1)
    sums = (
        EPSILON[max(size, 4)]
        * (terms + 3)
        * magnitude
        * (2 if dtype.kind == "c" else 1)
    )
    rounding = HALF_EPSILON.get(dtype, 0) * np.abs(exact) + (
        2.0**-24 if size == 2 else 0
    )
    assert got.shape == np.shape(exact)
    assert (np.abs(wide(got) - exact) <= sums + rounding).all()


def swapped(x: Any, swap: bool) -> Any:
    return np.swapaxes(x, -1, -2) if swap and x.ndim > 1 else x


@given(shapes(), st.sampled_from(INTEGERS), st.sampled_from(INTEGERS), st.data())
@settings(max_examples=EXAMPLES)
def test_integers_wrap(
    c: gpucall.Client, operands: Any, first: Any, second: Any, data: Any
) -> None:
    if np.result_type(first, second).kind == "f":
        second = first
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    a, b = array(rng, first, operands[0]), array(rng, second, operands[1])
    transpose_a, transpose_b = data.draw(st.booleans()), data.draw(st.booleans())
    out = data.draw(st.sampled_from([None, *INTEGERS]))
    dtype = np.result_type(first, second) if out is None else out
    got = c.matmul(
        np.ascontiguousarray(swapped(a, transpose_a)),
        np.ascontiguousarray(swapped(b, transpose_b)),
        dtype=out,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
    )
    assert got.dtype == dtype
    wanted = np.matmul(a.astype(np.uint64), b.astype(np.uint64)).astype(dtype)
    np.testing.assert_array_equal(got, wanted)


@given(shapes(), st.sampled_from([*FLOATS, *COMPLEX]), st.data())
@settings(max_examples=EXAMPLES)
def test_floats(c: gpucall.Client, operands: Any, dtype: Any, data: Any) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    a, b = array(rng, dtype, operands[0]), array(rng, dtype, operands[1])
    transpose_a, transpose_b = data.draw(st.booleans()), data.draw(st.booleans())
    widens = dtype.itemsize == 2 and data.draw(st.booleans())
    got = c.matmul(
        np.ascontiguousarray(swapped(a, transpose_a)),
        np.ascontiguousarray(swapped(b, transpose_b)),
        dtype=np.float32 if widens else None,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        precision=data.draw(st.sampled_from(["highest", "tf32", "bf16"]))
        if c.info().devices[0].id == "cpu"
        else "highest",
    )
    assert got.dtype == (np.float32 if widens else dtype)
    x, y = wide(a), wide(b)
    expect_close(got, x @ y, np.abs(x) @ np.abs(y), a.shape[-1])


_ACTIVATIONS = {
    None: lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: x * (1 + np.vectorize(math.erf, "d")(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: (
        x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
    ),
}


@given(shapes(), st.sampled_from([*FLOATS, *COMPLEX]), st.data())
@settings(max_examples=EXAMPLES)
def test_what_is_added(c: gpucall.Client, operands: Any, dtype: Any, data: Any) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    a, b = array(rng, dtype, operands[0]), array(rng, dtype, operands[1])
    shape = np.matmul(np.zeros(a.shape), np.zeros(b.shape)).shape
    options: dict[str, Any] = {"alpha": data.draw(st.sampled_from([1, -2, 0.5, 0]))}
    x, y = wide(a), wide(b)
    exact, size = (
        options["alpha"] * (x @ y),
        abs(options["alpha"]) * (np.abs(x) @ np.abs(y)),
    )
    if data.draw(st.booleans()):
        own = tuple(1 if data.draw(st.booleans()) else s for s in shape)
        options["c"] = array(rng, dtype, own[data.draw(st.integers(0, len(own))) :])
        options["beta"] = data.draw(st.sampled_from([1, 0, 3, -0.25]))
        addend = options["beta"] * wide(options["c"])
        exact, size = exact + addend, size + np.abs(addend)
    if b.ndim > 1 and data.draw(st.booleans()):
        options["bias"] = array(rng, dtype, (b.shape[-1],))
        exact, size = (
            exact + wide(options["bias"]),
            size + np.abs(wide(options["bias"])),
        )
    if dtype.kind != "c":
        options["activation"] = data.draw(st.sampled_from(list(_ACTIVATIONS)))
        exact = _ACTIVATIONS[options["activation"]](exact.astype(np.float64))
    got = c.matmul(a, b, **options)
    assert got.dtype == dtype
    if "gelu" in str(options.get("activation")):
        size = 2 * size + 4
    expect_close(got, exact, size, a.shape[-1] + 8)


@given(shapes(), st.sampled_from(INTEGERS), st.data())
@settings(max_examples=EXAMPLES)
def test_integers_with_what_is_added(
    c: gpucall.Client, operands: Any, dtype: Any, data: Any
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    a, b = array(rng, dtype, operands[0]), array(rng, dtype, operands[1])
    product = np.matmul(a, b)
    own = tuple(1 if data.draw(st.booleans()) else s for s in product.shape)
    added = array(rng, dtype, own)
    alpha, beta = (data.draw(st.integers(-(2**53), 2**53)) for _ in range(2))
    with np.errstate(over="ignore"):
        scaled = product.astype(np.uint64) * np.int64(alpha).astype(np.uint64)
        shifted = added.astype(np.uint64) * np.int64(beta).astype(np.uint64)
        wanted = (scaled + shifted).astype(dtype)
    got = c.matmul(a, b, alpha=alpha, c=added, beta=beta, activation="relu")
    np.testing.assert_array_equal(got, np.maximum(wanted, 0))


def test_int8_gives_int32(c: gpucall.Client) -> None:
    rng = np.random.default_rng(1)
    a, b = (
        array(rng, np.dtype("int8"), (64, 300)),
        array(rng, np.dtype("int8"), (300, 80)),
    )
    got = c.matmul(a, b, dtype=np.int32)
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_large_integer_products(c: gpucall.Client, dtype: Any) -> None:
    rng = np.random.default_rng(2)
    a, b = array(rng, dtype, (301, 417)), array(rng, dtype, (417, 333))
    np.testing.assert_array_equal(c.matmul(a, b), a @ b)
    np.testing.assert_array_equal(c.matmul(a.T.copy(), b, transpose_a=True), a @ b)
    np.testing.assert_array_equal(c.matmul(a, b.T.copy(), transpose_b=True), a @ b)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_large_products_with_what_is_added(c: gpucall.Client, dtype: Any) -> None:
    rng = np.random.default_rng(3)
    a, b = array(rng, dtype, (2100, 65)), array(rng, dtype, (65, 301))
    added, bias = array(rng, dtype, (2100, 1)), array(rng, dtype, (301,))
    got = c.matmul(a, b, alpha=0.5, c=added, beta=2, bias=bias, activation="relu")
    x, y = wide(a), wide(b)
    exact = np.maximum(0.5 * (x @ y) + 2 * wide(added) + wide(bias), 0)
    size = np.abs(x) @ np.abs(y) + 2 * np.abs(wide(added)) + np.abs(wide(bias))
    expect_close(got, exact, size, 73)


def test_unlike_dtypes_are_promoted(c: gpucall.Client) -> None:
    a = np.int32([[1, -2], [3, 4]])
    assert c.matmul(a, np.float32([[1], [0.5]])).dtype == np.float64
    got = c.matmul(np.float16([[0.5, 2]]), np.float32([[3], [5]]))
    np.testing.assert_array_equal(got, np.float32([[11.5]]))
    assert c.matmul(a.astype(np.uint64), a.astype(np.int64)).dtype == np.float64
    assert c.matmul(a, np.complex64([[1j], [1]])).dtype == np.complex128


def test_nan_and_beta_zero(c: gpucall.Client) -> None:
    one = np.float32([[1]])
    assert np.isnan(c.matmul(one * np.nan, one))
    np.testing.assert_array_equal(c.matmul(one, one, c=one * np.nan, beta=0), one)


_A = np.zeros((3, 4), np.float32)
_BAD = [
    ((_A, _A), {}, "inner dimensions differ, 4 of a (3, 4) against 3 of b (3, 4)"),
    ((_A, _A.T[:3]), {"transpose_b": True}, "against 3 of b (3, 3) transposed"),
    ((np.float32(1), _A), {}, "a has rank 0"),
    ((np.zeros((2, 3, 4)), np.zeros((3, 4, 4))), {}, "a (2, 3, 4), b (3, 4, 4)"),
    ((_A, _A.T), {"c": np.zeros((4, 3), "f")}, "c of shape (4, 3)"),
    ((_A, _A.T), {"c": np.zeros((3, 3))}, "c has dtype float64, allowed is float32"),
    ((_A, _A.T), {"bias": np.zeros(4, "f")}, "bias has shape (4), allowed is (3)"),
    ((_A, _A.T), {"dtype": np.float16}, "output_dtype is float16"),
    ((_A.astype(int), _A.T.astype(int)), {"alpha": 0.5}, "alpha is 0.5"),
    ((_A.astype(int), _A.T.astype(int)), {"activation": "gelu"}, "activation is gelu"),
    ((_A + 0j, _A.T + 0j), {"activation": "relu"}, "activation is relu"),
]


@pytest.mark.parametrize(
    ("operands", "options", "says"), _BAD, ids=[b[2] for b in _BAD]
)
def test_bad_arguments(
    c: gpucall.Client, operands: Any, options: Any, says: str
) -> None:
    with pytest.raises(gpucall.Error) as error:
        c.matmul(*operands, **options)
    assert error.value.code is StatusCode.INVALID_ARGUMENT
    assert says in error.value.message


def test_bools_are_not_offered(c: gpucall.Client) -> None:
    with pytest.raises(gpucall.Error) as error:
        c.matmul(np.ones((2, 2), bool), np.ones((2, 2), bool))
    assert error.value.code is StatusCode.UNIMPLEMENTED


def test_unknown_names(c: gpucall.Client) -> None:
    with pytest.raises(ValueError, match="precision is 'fast'"):
        c.matmul(_A, _A.T, precision="fast")
    with pytest.raises(ValueError, match="activation is 'softmax'"):
        c.matmul(_A, _A.T, activation="softmax")


def _pairs() -> list[Any]:
    rng = np.random.default_rng(4)
    shared = rng.normal(0, 1, (5, 6))
    pairs = [(rng.normal(0, 1, (3, 5)), shared) for _ in range(20)]
    pairs += [(rng.normal(0, 1, (i, 7)), rng.normal(0, 1, (7, 2))) for i in range(40)]
    pairs += [(rng.normal(0, 1, 5), rng.normal(0, 1, (5, 2))) for _ in range(3)]
    pairs += [(rng.normal(0, 1, (2, 4, 5)), rng.normal(0, 1, 5)) for _ in range(3)]
    pairs += [(rng.normal(0, 1, 5), rng.normal(0, 1, 5)) for _ in range(3)]
    rng.shuffle(pairs)
    return pairs


def _expect_products(got: Any, pairs: Any) -> None:
    assert len(got) == len(pairs)
    for product, (a, b) in zip(got, pairs, strict=True):
        assert product.shape == (a @ b).shape
        np.testing.assert_allclose(product, a @ b, rtol=1e-12, atol=1e-12)


def test_many_products(c: gpucall.Client) -> None:
    pairs = _pairs()
    _expect_products(c.matmul_many(pairs), pairs)
    assert c.matmul_many([]) == []


def test_many_products_transposed(c: gpucall.Client) -> None:
    pairs = _pairs()
    flipped = [(a, np.ascontiguousarray(swapped(b, True))) for a, b in pairs]
    _expect_products(c.matmul_many(flipped, transpose_b=True), pairs)


def test_many_products_of_residents(c: gpucall.Client) -> None:
    rng = np.random.default_rng(5)
    b = rng.normal(0, 1, (4, 4))
    with c.put(b) as kept:
        pairs = [(rng.normal(0, 1, (2, 4)), b) for _ in range(3)]
        got = c.matmul_many([(a, kept) for a, _ in pairs])
    _expect_products(got, pairs)


def test_many_products_awaited(server: ServerProcess) -> None:
    async def run() -> None:
        async with gpucall.aio.connect(server.address) as client:
            pairs = _pairs()
            _expect_products(await client.matmul_many(pairs), pairs)

    asyncio.run(run())


def test_in_programs(c: gpucall.Client) -> None:
    p = gpucall.Program()
    x, y = p.input(), p.input()
    product = p.matmul(x, y, dtype=np.int32, activation="relu")
    p.output(product, product * 2)
    a, b = np.int8([[100, -100]]), np.int8([[100, 1], [1, 100]])
    first, second = c.run(p, a, b)
    np.testing.assert_array_equal(first, np.int32([[9900, 0]]))
    np.testing.assert_array_equal(second, np.int32([[19800, 0]]))
    assert second.dtype == np.int32
