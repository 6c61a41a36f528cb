"""Filters of signals against scipy.signal."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import grpc
import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
import scipy.signal
from hypothesis import given, settings
from hypothesis import strategies as st

import gpucall
from server_process import ServerProcess

EXAMPLES = int(os.environ.get("GPUCALL_TEST_EXAMPLES", "300"))
DTYPES = ["int16", "float16", "float32", "float64", "complex64", "complex128"]
B, A = scipy.signal.butter(3, 0.2)
SOS = scipy.signal.butter(9, [0.1, 0.4], "bandpass", output="sos")


def noise(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-8, 8, shape)
    return (x + 1j * x[::-1] if dtype.startswith("complex") else x).astype(dtype)


def expect(got: Any, right: Any, dtype: str, scale: float) -> None:
    """SciPy's float64 answer, rounded to the signal's dtype."""
    result = np.dtype("float64" if dtype == "int16" else dtype)
    assert got.dtype == result
    assert got.shape == right.shape
    info = np.finfo(result)
    atol = 1e-12 * scale + float(info.smallest_subnormal)
    np.testing.assert_allclose(got, right, 0.6 * info.eps, atol)


def double(x: Any) -> Any:
    return x.astype("complex128" if x.dtype.kind == "c" else "float64")


@st.composite
def signals(draw: st.DrawFn) -> tuple[Any, str, int]:
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=12))
    dtype = draw(st.sampled_from(DTYPES))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    return noise(shape, dtype, draw(st.integers(0, 99))), dtype, axis


def coefficients(draw: Any, most: int) -> Any:
    number = st.floats(-1, 1).map(lambda value: round(value, 3))
    return np.array(draw(st.lists(number, min_size=1, max_size=most)))


@settings(max_examples=EXAMPLES)
@given(data=st.data(), signal=signals())
def test_lfilter(
    data: st.DataObject, signal: tuple[Any, str, int], c: gpucall.Client
) -> None:
    x, dtype, axis = signal
    b = coefficients(data.draw, 12)
    a = coefficients(data.draw, 12)
    # Stable: poles are inside the circle.
    a = np.concatenate([[data.draw(st.sampled_from([1, -2, 0.5]))], a[1:] / a.size])
    scale = 100 * np.abs(b).sum() + 100
    if dtype == "float16" and scale * 8 > 60000:
        return
    wide = double(x)
    expect(c.lfilter(b, a, x, axis), scipy.signal.lfilter(b, a, wide, axis), dtype, 1e4)
    order = max(len(a), len(b)) - 1
    shape = list(x.shape)
    shape[axis] = order
    shape = [size if data.draw(st.booleans()) else 1 for size in shape]
    shape[axis] = order
    zi = noise(tuple(shape), "float64", 7)
    y, zf = c.lfilter(b, a, x, axis, zi=zi)
    right, state = scipy.signal.lfilter(b, a, wide, axis, zi)
    expect(y, right, dtype, 1e4)
    expect(zf, state, dtype, 1e4)


@settings(max_examples=EXAMPLES)
@given(data=st.data(), signal=signals())
def test_sosfilt(
    data: st.DataObject, signal: tuple[Any, str, int], c: gpucall.Client
) -> None:
    x, dtype, axis = signal
    count = data.draw(st.integers(1, 9))
    sos = SOS[:count]
    wide = double(x)
    got = c.sosfilt(sos, x, axis)
    expect(got, scipy.signal.sosfilt(sos, wide, axis), dtype, 1e4)
    shape = list(x.shape)
    shape[axis] = 2
    zi = noise((count, *shape), "float64", 5)
    y, zf = c.sosfilt(sos, x, axis, zi=zi)
    right, state = scipy.signal.sosfilt(sos, wide, axis, zi)
    expect(y, right, dtype, 1e4)
    expect(zf, state, dtype, 1e4)


@pytest.mark.parametrize("shape, axis", [((3, 20000), -1), ((20000, 3), 0)])
def test_long_signals(shape: tuple[int, ...], axis: int, c: gpucall.Client) -> None:
    x = noise(shape, "float32")
    wide = double(x)
    for b, a in ((B, A), ([1], [1, -0.999]), (np.hanning(301), [1])):
        right = scipy.signal.lfilter(b, a, wide, axis)
        expect(c.lfilter(b, a, x, axis), right, "float32", 1e4)
    expect(
        c.sosfilt(SOS, x, axis), scipy.signal.sosfilt(SOS, wide, axis), "float32", 1e4
    )


def test_a_signal_in_parts(c: gpucall.Client) -> None:
    x = noise((4, 1000), "float64")
    whole = scipy.signal.sosfilt(SOS, x)
    zi = np.zeros((len(SOS), 1, 2))
    parts = []
    for part in np.split(x, [300, 301, 777], axis=1):
        y, zi = c.sosfilt(SOS, part, zi=zi)
        parts.append(y)
    np.testing.assert_allclose(np.concatenate(parts, 1), whole, 1e-12, 1e-12)


def test_steady_states_are_scipys(c: gpucall.Client) -> None:
    zi = scipy.signal.lfilter_zi(B, A)
    y, zf = c.lfilter(B, A, np.ones(50), zi=zi)
    np.testing.assert_allclose(y, 1, 1e-12)
    np.testing.assert_allclose(zf, zi, 1e-10)


def test_in_programs_and_on_arrays_that_stay(c: gpucall.Client) -> None:
    x = noise((2, 300), "float32")
    p = gpucall.Program()
    signal = p.input()
    y, zf = p.lfilter(B, A, signal * 2, zi=np.zeros((1, 3)))
    p.output(p.sosfilt(SOS, y) + 1, zf)
    got, state = c.run(p, x)
    middle, right = scipy.signal.lfilter(B, A, double(x) * 2, zi=np.zeros((2, 3)))
    np.testing.assert_allclose(state, right, 1e-5, 1e-5)
    np.testing.assert_allclose(got, scipy.signal.sosfilt(SOS, middle) + 1, 1e-5, 1e-5)
    remote = c.put(x)
    kept, left = c.keep.lfilter(B, A, remote, zi=np.zeros((2, 3)))
    right = scipy.signal.lfilter(B, A, double(x))
    expect(kept.get(), right, "float32", 1e3)
    assert left.shape == (2, 3)
    expect(c.keep.lfilter(B, A, remote).get(), right, "float32", 1e3)


def test_awaited(server: ServerProcess) -> None:
    async def calls() -> None:
        async with gpucall.aio.connect(server.address) as c:
            x = noise((5, 40), "float64")
            y, zf = await c.lfilter(B, A, x, zi=np.zeros((5, 3)))
            np.testing.assert_allclose(y, scipy.signal.lfilter(B, A, x), 1e-12, 1e-12)
            np.testing.assert_array_equal(y, await c.lfilter(B, A, x))
            assert zf.shape == (5, 3)

    asyncio.run(calls())


def test_what_is_not_a_number_goes_on(c: gpucall.Client) -> None:
    x = np.array([0, 1, np.nan, 1, np.inf, 2], np.float32)
    with np.errstate(all="ignore"):
        for b, a in (([1, 1], [1]), ([1], [1, 0.5]), ([1], [1, -0.5])):
            for signal in (x, x[:2], x[3:]):
                right = scipy.signal.lfilter(b, a, signal)
                np.testing.assert_array_equal(c.lfilter(b, a, signal), right)


def test_what_is_refused(c: gpucall.Client) -> None:
    x = np.ones((2, 10), np.float32)
    invalid = grpc.StatusCode.INVALID_ARGUMENT
    for call, code, words in (
        (lambda: c.lfilter([1], [0, 1], x), invalid, "a[0] is 0, allowed is any other"),
        (lambda: c.lfilter([], [1], x), invalid, "b has 0 coefficients, allowed are 1"),
        (
            lambda: c.lfilter([1], np.ones(4097), x),
            invalid,
            "a has 4097 coefficients, allowed are 1 to 4096",
        ),
        (
            lambda: c.lfilter([1, np.nan], [1], x),
            invalid,
            "b has nan at 1, allowed are finite",
        ),
        (lambda: c.lfilter([[1]], [1], x), invalid, "b has 2 dimensions"),
        (
            lambda: c.lfilter([1j], [1], x),
            grpc.StatusCode.UNIMPLEMENTED,
            "b is complex128",
        ),
        (lambda: c.lfilter([1], [1], x, 2), invalid, "axis is 2, for 2 dimensions"),
        (lambda: c.lfilter([1], [1], np.float32(1)), invalid, "axis is -1, a 0-d"),
        (
            lambda: c.lfilter(B, A, x, zi=np.zeros((2, 4))),
            invalid,
            "zi has shape (2, 4), for x of shape (2, 10) allowed is (2, 3)",
        ),
        (
            lambda: c.lfilter(B, A, x, zi=np.zeros((2, 3), complex)),
            invalid,
            "zi is complex128, for x of float32 allowed are real numbers",
        ),
        (lambda: c.sosfilt(np.ones((1, 5)), x), invalid, "sos has shape (1, 5)"),
        (lambda: c.sosfilt(np.ones(6), x), invalid, "sos has 1 dimensions"),
        (
            lambda: c.sosfilt([[1, 0, 0, 2, 0, 0]], x),
            invalid,
            "a0 of section 0 is 2, allowed is 1",
        ),
        (lambda: c.sosfilt(np.ones((65, 6)), x), invalid, "sections have 390 numbers"),
    ):
        with pytest.raises(gpucall.Error) as refused:
            call()
        assert refused.value.code is code, words
        assert words in refused.value.message
