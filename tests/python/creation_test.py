"""Arrays made by the server: NumPy's, or random by a generator that is written down."""

from __future__ import annotations

from typing import Any

import grpc
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ml_dtypes import bfloat16
from scipy import stats

import gpucall

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS: list[Any] = ["float16", bfloat16, "float32", "float64"]
SIGNIFICANT_BITS = {
    np.dtype(dtype): bits for dtype, bits in zip(FLOATS, (11, 8, 24, 53), strict=True)
}
MASK = (1 << 32) - 1


def philox_4x32_10(counter: int, key: int) -> list[int]:
    """Of Salmon and others, "Parallel random numbers", 2011."""
    x = [counter & MASK, counter >> 32, 0, 0]
    k = [key & MASK, key >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [b >> 32 ^ x[1] ^ k[0], b & MASK, a >> 32 ^ x[3] ^ k[1], a & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return x


def random_bits(count: int, seed: int) -> list[int]:
    words = [w for i in range((count + 1) // 2) for w in philox_4x32_10(i, seed)]
    return [words[2 * i] | words[2 * i + 1] << 32 for i in range(count)]


def test_the_generator_gives_its_authors_numbers(c: gpucall.Client) -> None:
    words = [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    got = c.random_integers(2, 0, 2**64, dtype=np.uint64, seed=0)
    np.testing.assert_array_equal(got.view("<u4"), words)
    assert philox_4x32_10(0, 0) == words


@pytest.mark.parametrize(
    "dtype", ["bool", *INTEGERS, *FLOATS, "complex64", "complex128"]
)
@pytest.mark.parametrize("shape", [(), 0, 5, (2, 3), (3, 0), (1,) * 8, (300, 1000)])
def test_full(c: gpucall.Client, dtype: Any, shape: Any) -> None:
    for value in (0, 1, 100) if dtype != "bool" else (False, True):
        got = c.full(shape, value, dtype=dtype)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, np.full(shape, value, dtype))


def test_full_takes_the_value_s_dtype(c: gpucall.Client) -> None:
    for value in (True, 3, 2.5, 1j, np.uint8(7), np.int64(-(2**63)), np.float32("nan")):
        got = c.full(2, value)
        assert got.dtype == np.full(2, value).dtype
        np.testing.assert_array_equal(got, np.full(2, value))


@given(
    dtype=st.sampled_from(INTEGERS),
    start=st.integers(-(2**63), 2**63),
    step=st.integers(-(2**62), 2**62).filter(bool),
    count=st.integers(0, 2000),
)
def test_arange_of_integers(
    c: gpucall.Client, dtype: str, start: int, step: int, count: int
) -> None:
    got = c.arange(start, start + count * step, step, dtype=dtype)
    right = [(start + i * step) % 2**64 for i in range(count)]
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, np.array(right, np.uint64).astype(dtype))


@given(
    dtype=st.sampled_from(["float32", "float64"]),
    start=st.floats(-1e6, 1e6),
    step=st.floats(-100, 100).filter(lambda x: abs(x) > 1e-3),
    count=st.integers(0, 3000),
)
def test_arange_of_floats(
    c: gpucall.Client, dtype: str, start: float, step: float, count: int
) -> None:
    stop = start + (count - 0.5) * step
    right = np.arange(start, stop, step, dtype=dtype)
    assume(right.size <= 4000)
    got = c.arange(start, stop, step, dtype=dtype)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, right)


def test_arange_defaults(c: gpucall.Client) -> None:
    for arguments in [(5,), (2, 5), (5, 2), (5, 2, -1), (0.5,), (1, 2, 0.25), (3, 3)]:
        got, right = c.arange(*arguments), np.arange(*arguments)
        assert got.dtype == right.dtype
        np.testing.assert_array_equal(got, right)
    for dtype in ("float16", bfloat16):
        right = np.arange(100, dtype=np.float32).astype(dtype)
        np.testing.assert_array_equal(c.arange(100, dtype=dtype), right)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("seed", [0, 12345, 2**64 - 1])
def test_uniform_numbers_are_the_generators(
    c: gpucall.Client, dtype: Any, seed: int
) -> None:
    bits = SIGNIFICANT_BITS[np.dtype(dtype)]
    right = np.array([(b >> (64 - bits)) / 2**bits for b in random_bits(999, seed)])
    got = c.random_uniform((27, 37), seed=seed, dtype=dtype)
    assert got.dtype == dtype and got.shape == (27, 37)
    np.testing.assert_array_equal(got.reshape(-1).astype(np.float64), right)
    wide = c.random_uniform(999, -3, 7, seed=seed, dtype=dtype)
    np.testing.assert_array_equal(
        wide,
        (-3.0 + right * 10).astype(np.float32).astype(dtype)
        if bits < 53
        else -3.0 + right * 10,
    )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("seed", [0, 12345, 2**64 - 1])
def test_normal_numbers_are_the_generators(
    c: gpucall.Client, dtype: Any, seed: int
) -> None:
    fractions = np.array([b >> 11 for b in random_bits(1000, seed)]) / 2.0**53
    radius = np.sqrt(-2 * np.log(1 - fractions[::2]))
    angle = 2 * np.pi * fractions[1::2]
    right = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)
    got = c.random_normal(1000, seed=seed, dtype=dtype)
    assert got.dtype == dtype
    epsilon = 2.0 ** -SIGNIFICANT_BITS[np.dtype(dtype)]
    wrong = np.abs(got.astype(np.float64) - right)
    assert (wrong <= 2 * epsilon * np.abs(right) + 2e-15).all(), wrong.max()
    moved = c.random_normal(1000, 5, 0.5, seed=seed, dtype="float64")
    np.testing.assert_allclose(moved, 5 + right * 0.5, rtol=1e-14)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_the_generators(c: gpucall.Client, dtype: str) -> None:
    limits = np.iinfo(dtype)
    bits = random_bits(500, 77)
    for low, high in [
        (0, 1),
        (5, 100),
        (limits.min, limits.max + 1),
        (limits.max, limits.max + 1),
    ]:
        if low >= 2**63:
            continue  # low is an int64
        got = c.random_integers((50, 10), low, high, seed=77, dtype=dtype)
        assert got.dtype == dtype and got.shape == (50, 10)
        right = [low + (b * (high - low) >> 64) for b in bits]
        np.testing.assert_array_equal(got.reshape(-1), np.array(right, dtype))


def test_random_numbers_are_distributed_as_they_say(c: gpucall.Client) -> None:
    """Deterministic, so never by chance: the numbers depend on the seed alone."""
    uniform = c.random_uniform(200_000, seed=9)
    normal = c.random_normal(200_000, seed=9)
    assert 0 <= uniform.min() and uniform.max() < 1
    assert stats.kstest(uniform, "uniform").pvalue > 0.01
    assert stats.kstest(normal, "norm").pvalue > 0.01
    assert abs(np.corrcoef(normal[::2], normal[1::2])[0, 1]) < 0.01
    counts = np.bincount(c.random_integers(100_000, 0, 10, seed=9), minlength=10)
    digits = c.random_integers(100_000, 0, 10, seed=9)
    counts = np.bincount(digits, minlength=10)
    assert stats.chisquare(counts).pvalue > 0.01
    other = c.random_normal(200_000, seed=10)
    assert abs(np.corrcoef(normal, other)[0, 1]) < 0.01


def test_in_programs_and_kept(c: gpucall.Client) -> None:
    x = np.array([1, 2, 3], np.float32)
    p = gpucall.Program()
    noise = p.random_normal(3, 0, 0.1, seed=4, dtype=np.float16)
    p.output(p.input() + noise, noise, p.full((), 7), p.arange(3))
    right = c.random_normal(3, 0, 0.1, seed=4, dtype=np.float16)
    total, got, seven, numbers = c.run(p, x)
    np.testing.assert_array_equal(got, right)
    np.testing.assert_array_equal(total, x + right.astype(np.float32))
    assert seven == 7 and numbers.tolist() == [0, 1, 2]
    with c.keep.random_uniform((1000, 1000), seed=1) as kept:
        np.testing.assert_array_equal(
            kept.get(), c.random_uniform((1000, 1000), seed=1)
        )


def test_more_than_one_message(c: gpucall.Client) -> None:
    got = c.arange(20_000_000, dtype=np.int32)
    np.testing.assert_array_equal(got, np.arange(20_000_000, dtype=np.int32))


@pytest.mark.parametrize(
    ("name", "arguments", "options", "code", "words"),
    [
        ("full", (-1, 0), {}, "INVALID_ARGUMENT", ("full", "-1")),
        ("full", ((1,) * 9, 0), {}, "INVALID_ARGUMENT", ("9", "8")),
        ("full", (2, [1, 2]), {}, "INVALID_ARGUMENT", ("fill_value", "(2,)")),
        ("full", (2**50, 0), {}, "RESOURCE_EXHAUSTED", ("allowed",)),
        ("arange", (0, 5, 0), {}, "INVALID_ARGUMENT", ("step", "0")),
        (
            "arange",
            (5,),
            {"dtype": "complex64"},
            "UNIMPLEMENTED",
            ("complex64", "int64"),
        ),
        ("random_uniform", (2, 0, np.inf), {}, "INVALID_ARGUMENT", ("high", "inf")),
        ("random_uniform", (2, 3, 2), {}, "INVALID_ARGUMENT", ("low", "3", "2")),
        (
            "random_uniform",
            (2,),
            {"dtype": "int8"},
            "UNIMPLEMENTED",
            ("int8", "float16"),
        ),
        ("random_normal", (2, 0, -1), {}, "INVALID_ARGUMENT", ("deviation", "-1", "0")),
        ("random_normal", (2, np.nan), {}, "INVALID_ARGUMENT", ("mean", "nan")),
        ("random_integers", (2, 0, 0), {}, "INVALID_ARGUMENT", ("low", "high")),
        ("random_integers", (2, 0, 2**70), {}, "INVALID_ARGUMENT", ("2^64",)),
        (
            "random_integers",
            (2, 0, 257),
            {"dtype": "uint8"},
            "INVALID_ARGUMENT",
            ("257", "uint8"),
        ),
        (
            "random_integers",
            (2, -1, 5),
            {"dtype": "uint8"},
            "INVALID_ARGUMENT",
            ("-1", "uint8"),
        ),
        ("random_uniform", (2,), {"seed": -1}, "INVALID_ARGUMENT", ("seed", "-1")),
    ],
)
def test_refused(
    c: gpucall.Client,
    name: str,
    arguments: tuple[Any, ...],
    options: dict[str, Any],
    code: str,
    words: tuple[str, ...],
) -> None:
    if name.startswith("random"):
        options = {"seed": 1, **options}
    with pytest.raises(gpucall.Error) as raised:
        getattr(c, name)(*arguments, **options)
    assert raised.value.code is grpc.StatusCode[code]
    for word in words:
        assert word in raised.value.message
