"""The blocking client: arrays in and out, dtypes, errors, receipts."""

from __future__ import annotations

import pickle
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import grpc
import numpy as np
import pytest

import gpucall
from gpucall import _wire
from gpucall._request import MAX_UNARY_BYTES
from gpucall._tensors import MAX_INLINE_BYTES
from server_process import ServerProcess

StartServer = Callable[..., ServerProcess]
NOWHERE = "127.0.0.1:1"  # nothing listens there: a call that is made fails

IDENTITY = gpucall.Program()
IDENTITY.output(IDENTITY.input())


def roundtrip(c: gpucall.Client, array: Any) -> Any:
    return c.run(IDENTITY, array)


BASE = np.arange(24, dtype=np.float32).reshape(4, 6)
LAYOUTS = {
    "C": BASE,
    "Fortran": np.asfortranarray(BASE),
    "transposed": BASE.T,
    "reversed": BASE[::-1, ::-1],
    "strided": BASE[1:, ::2],
    "broadcast": np.broadcast_to(BASE[0], (3, 6)),
    "3-D": BASE.reshape(2, 3, 4).transpose(2, 0, 1),
    "big-endian f4": BASE.astype(">f4"),
    "big-endian f8": BASE.astype(">f8").T,
    "big-endian i4": BASE.astype(">i4"),
    "0-d": np.array(2.5, np.float32),
    "empty": np.zeros((2, 0, 3), np.float32).T,
    "bool": BASE > 7,
    "read-only": np.frombuffer(BASE.tobytes(), np.float32),
    "unaligned": np.frombuffer(b"x" + BASE.tobytes(), np.float32, offset=1),
    "float": np.float64(3),
    "list": [[True, False]],
}


@pytest.mark.parametrize("array", LAYOUTS.values(), ids=LAYOUTS.keys())
def test_any_layout_arrives_as_numpy_sees_it(array: Any, c: gpucall.Client) -> None:
    got, right = roundtrip(c, array), np.asarray(array)
    assert type(got) is np.ndarray
    assert got.dtype == right.dtype.newbyteorder("=") and got.dtype.isnative
    assert got.shape == right.shape
    np.testing.assert_array_equal(got, right)


def test_bit_patterns_survive(c: gpucall.Client) -> None:
    bits = np.uint32([0x80000000, 1, 0x7F800000, 0x7FC00123, 0xFFC00001, 0x3DCCCCCD])
    got = roundtrip(c, bits.view(np.float32))
    np.testing.assert_array_equal(got.view(np.uint32), bits)


def test_results_are_writable_and_the_callers_own(c: gpucall.Client) -> None:
    first, second = (c.add(np.float32([1, 2]), 1) for _ in range(2))
    first[0] = 9
    assert first.flags.owndata and first.flags.aligned
    np.testing.assert_array_equal(second, [2, 3])


def test_the_input_is_not_changed(c: gpucall.Client) -> None:
    x = np.float32([1, -2])
    c.abs(x)
    np.testing.assert_array_equal(x, [1, -2])


UNSUPPORTED = {
    "object": np.array([1, None]),
    "str": np.array(["a"]),
    "bytes": np.array([b"a"]),
    "datetime64": np.array(["2020-01-01"], "datetime64[D]"),
    "timedelta64": np.array([1], "timedelta64[s]"),
    "longdouble": np.array([1], np.longdouble),
    "structured": np.zeros(2, [("x", "f4")]),
    "masked": np.ma.array([1, 2], mask=[0, 1], dtype="float32"),
}
NAMED = {
    "str": "<U1",
    "bytes": "S1",
    "longdouble": "float128",
    "structured": "x",
    "masked": "masked array of dtype float32",
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_dtypes_are_refused_before_any_call(name: str) -> None:
    with gpucall.connect(NOWHERE) as nowhere:
        for call in (
            lambda: nowhere.add(UNSUPPORTED[name], 1),
            lambda: nowhere.gaussian(UNSUPPORTED[name], 1),
            lambda: nowhere.matmul(np.zeros((1, 1)), UNSUPPORTED[name]),
            lambda: nowhere.run(IDENTITY, UNSUPPORTED[name]),
        ):
            with pytest.raises(TypeError) as raised:
                call()
            assert NAMED.get(name, name) in str(raised.value)


def test_unsupported_output_dtype() -> None:
    with gpucall.connect(NOWHERE) as nowhere, pytest.raises(TypeError, match="object"):
        nowhere.gaussian(np.zeros((2, 2)), 1, output=object)


def test_ragged_lists_and_large_integers(c: gpucall.Client) -> None:
    with pytest.raises(ValueError, match="inhomogeneous"):
        c.add([[1, 2], [3]], 1)
    big = c.add([2**63, 6], np.zeros(2, bool))  # not turned into float
    assert big.dtype == np.uint64 and big[0] == 2**63
    with pytest.raises(OverflowError, match="300"):
        c.add(np.uint8([1]), 300)


WEAK = [
    (d, s) for d in ("uint8", "int64", "float16", "float64") for s in (True, 2, 2.5)
]


@pytest.mark.parametrize(("dtype", "scalar"), WEAK, ids=str)
def test_python_scalars_take_the_arrays_dtype(
    dtype: str, scalar: Any, c: gpucall.Client
) -> None:
    x = np.array([1, 2], dtype)
    for got, right in (
        (c.multiply(x, scalar), np.multiply(x, scalar)),
        (c.multiply(scalar, x), np.multiply(scalar, x)),
        (c.divide(x, scalar), np.divide(x, scalar)),
        (c.where(x > 1, x, scalar), np.where(x > 1, x, scalar)),
        (c.clip(x, 0, scalar), np.minimum(np.maximum(x, 0), scalar)),
    ):
        assert got.dtype == right.dtype
        np.testing.assert_array_equal(got, right)


def test_numpy_scalars_keep_their_dtype(c: gpucall.Client) -> None:
    assert c.add(np.float32([1]), np.float64(1)).dtype == np.float64


def test_keywords_are_scipys(c: gpucall.Client) -> None:
    import scipy.ndimage

    image = np.random.default_rng(0).random((9, 11), np.float32)
    for name, theirs, keywords in (
        (
            "gaussian",
            "gaussian_filter",
            {"sigma": (1, 2), "truncate": 3, "mode": "wrap"},
        ),
        (
            "gaussian",
            "gaussian_filter",
            {"sigma": np.float32(1), "mode": "grid-mirror"},
        ),
        ("box", "uniform_filter", {"size": 4, "origin": (1, -1), "mode": "constant"}),
        ("sobel", "sobel", {"axis": 0, "mode": "nearest"}),
        ("laplacian", "laplace", {"mode": "constant", "cval": 2}),
        ("median", "median_filter", {"size": (3, 5), "mode": "grid-wrap"}),
    ):
        right = getattr(scipy.ndimage, theirs)(image.astype(float), **keywords)
        got = getattr(c, name)(image, **keywords)
        np.testing.assert_allclose(got, right, rtol=1e-5, atol=1e-5)
    weights = [[1, 2], [3, 4], [0, 1]]
    for name in ("correlate", "convolve"):
        right = getattr(scipy.ndimage, name)(
            image.astype(float), weights, mode="mirror"
        )
        got = getattr(c, name)(image, weights, mode="mirror")
        np.testing.assert_allclose(got, right, rtol=1e-5)


def test_errors_carry_code_and_message(c: gpucall.Client) -> None:
    with pytest.raises(gpucall.Error) as raised:
        c.add(np.zeros((2, 3)), np.zeros((3, 2)))
    error = raised.value
    assert error.code is grpc.StatusCode.INVALID_ARGUMENT
    assert "(2, 3)" in error.message and "(3, 2)" in error.message
    assert str(error) == f"INVALID_ARGUMENT: {error.message}"
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.code, copy.message) == (error.code, error.message)


def test_bad_attributes(c: gpucall.Client) -> None:
    image = np.zeros((3, 3), np.float32)
    for call in (
        lambda: c.box(image, 3, mode="symmetric-ish"),
        lambda: c.box(image, 2**70),
        lambda: c.gaussian(image, -1),
        lambda: c.median(image, 0),
        lambda: c.sobel(image, axis=5),
    ):
        with pytest.raises(gpucall.Error) as raised:
            call()
        assert raised.value.code is grpc.StatusCode.INVALID_ARGUMENT
    with pytest.raises(gpucall.Error, match="nearest, reflect, mirror, wrap, constant"):
        c.median(image, mode="edge")
    with pytest.raises(TypeError):
        c.box(image, 2.5)


@pytest.mark.parametrize(
    "size", [0, MAX_UNARY_BYTES // 4, MAX_UNARY_BYTES // 4 + 1, 13_000_001]
)
def test_tensors_of_any_size(c: gpucall.Client, size: int) -> None:
    x = np.arange(size, dtype=np.float32)
    with gpucall.receipts() as receipts:
        np.testing.assert_array_equal(c.add(x, x), x + x)
    assert len(receipts) == 1 and receipts[0].batch_size >= 1


def test_a_large_result_of_small_arrays(c: gpucall.Client) -> None:
    rows = np.arange(4000, dtype=np.float32)[:, np.newaxis]
    columns = np.arange(4001, dtype=np.float32)
    np.testing.assert_array_equal(c.add(rows, columns), rows + columns)


def test_large_arrays_in_a_program(c: gpucall.Client) -> None:
    p = gpucall.Program()
    x, y = p.input(), p.input()
    p.output(x + y, x * 2)
    a = np.arange(3_000_000, dtype=np.int32)
    added, twice = c.run(p, a, np.int32(5))
    np.testing.assert_array_equal(added, a + 5)
    np.testing.assert_array_equal(twice, a * 2)


def test_errors_of_large_calls(c: gpucall.Client, server: ServerProcess) -> None:
    x = np.zeros(3_000_000, np.float32)
    with pytest.raises(gpucall.Error) as raised:
        c.add(x, np.zeros(3, np.float32))
    assert raised.value.code is grpc.StatusCode.INVALID_ARGUMENT
    with pytest.raises(gpucall.Error) as raised:
        c.add(x, x, timeout=0.002)
    assert raised.value.code is grpc.StatusCode.DEADLINE_EXCEEDED
    with gpucall.connect(NOWHERE) as nowhere, pytest.raises(gpucall.Error) as raised:
        nowhere.negative(x)
    assert raised.value.code is grpc.StatusCode.UNAVAILABLE
    server.check_alive()


def test_just_over_grpcs_default_limit(c: gpucall.Client) -> None:
    x = np.ones(1_100_000, np.float32)
    np.testing.assert_array_equal(c.add(x, x), 2)


def test_receipts_are_the_callers_own(c: gpucall.Client) -> None:
    x = np.float32([1])
    with gpucall.receipts() as mine:
        c.add(x, 1)
        other = threading.Thread(target=lambda: c.add(x, 2))
        other.start()
        other.join()
        with gpucall.receipts() as inner:
            c.add(x, 3)
        c.add(x, 4)
    c.add(x, 5)
    assert len(mine) == 2 and len(inner) == 1
    receipt = mine[0]
    assert receipt.batch_size == 1
    assert receipt.device == c.info().devices[0].id
    assert receipt.compute_ns > 0


def test_info_and_ops(c: gpucall.Client) -> None:
    info = c.info()
    assert info.version and info.device_choice and info.devices[0].memory_bytes > 2**28
    assert info.limits.max_operations == 4096 and info.limits.max_values == 64
    assert info.limits.max_tensor_bytes == MAX_INLINE_BYTES
    ops = {op.name: op for op in c.ops()}
    for name, op in ops.items():
        assert callable(getattr(c, "astype" if name == "cast" else name))
        assert op.description
    kinds = Counter(op.kind for op in ops.values())
    assert kinds["elementwise"] == len(_wire.ELEMENTWISE_OPS)
    assert kinds["reduce"] == len(_wire.REDUCE_OPS)
    assert kinds["scan"] == len(_wire.SCAN_OPS)
    assert ops["take"].dtypes[0] == "bool" and "bool" not in ops["matmul"].dtypes
    assert ops["convolve"].kind == "filter" and ops["convolve"].inputs == 2
