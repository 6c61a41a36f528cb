"""Programs: NumPy's expressions, one round trip, the same answers."""

from __future__ import annotations

from typing import Any

import grpc
import numpy as np
import pytest
import scipy.ndimage

import gpucall

X = np.float32([[0.5, -1.0, 2.0]])
Y = np.float32([[3.0], [4.0]])


def run(c: gpucall.Client, function: Any, *arrays: Any) -> Any:
    """`function` of a Program's values, run on the arrays."""
    p = gpucall.Program()
    result = function(*(p.input() for _ in arrays))
    p.output(*(result if isinstance(result, tuple) else (result,)))
    return c.run(p, *arrays)


EXPRESSIONS = {
    "arithmetic": lambda x, y: (x + 1) * 2 - y / 4 + 3 / y - (1 - x),
    "signs": lambda x, y: -abs(x) + 1 * y,
    "power": lambda x, y: y**2 + 2.0**x,
    "array first": lambda x, y: np.float32([1, 2, 3]) * x + y,
    "ufuncs": lambda x, y: np.tanh(np.exp(x) - np.sqrt(y)) * np.maximum(x, 0),
    "two-operand ufuncs": lambda x, y: np.add(np.multiply(x, y), np.minimum(y, x)),
    "where and clip": lambda x, y: np.where(x, np.clip(x, -0.5, 1), y),
    "constants": lambda x, y: x * np.float32([[1], [2]]) + np.float32([7, 8, 9]) * y,
    "repeated": lambda x, y: (x + y) * (x + y) - (x + y),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions_are_numpys(name: str, c: gpucall.Client) -> None:
    function = EXPRESSIONS[name]
    got, right = run(c, function, X, Y), function(X, Y)
    assert got.dtype == right.dtype
    np.testing.assert_allclose(got, right, rtol=1e-6, atol=1e-6)


DTYPES = ["uint8", "int16", "int32", "uint64", "float16", "float32", "float64"]
WEAK = {
    "int": lambda x: x * 2 + 1,
    "float": lambda x: x * 0.5 + 1,
    "through a real function": lambda x: np.sqrt(x * 4) + 1,
    "through a division": lambda x: x / 2 * 3,
    "where": lambda x: np.where(x, x, 7) + 1,
    "comparison": lambda x: np.where(x > 3, x, 2) + 1,
    "bits": lambda x: np.astype(x, "int8") << 2 ^ 5,
    "hypot": lambda x: np.hypot(x, 3) * 2,
    "parts": lambda x: np.abs(x * 2j) + 1,
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", WEAK)
def test_python_scalars_take_the_dtype_that_they_meet(
    name: str, dtype: str, c: gpucall.Client
) -> None:
    x = np.array([0, 4, 9], dtype)
    right = WEAK[name](x)
    got = run(c, WEAK[name], x)
    assert got.dtype == right.dtype
    rtol = 1e-3 if right.dtype == np.float16 else 1e-6
    np.testing.assert_allclose(got, right, rtol)


def test_scalars_after_filters(c: gpucall.Client) -> None:
    image = np.random.default_rng(3).integers(0, 256, (9, 8), dtype=np.uint8)
    p = gpucall.Program()
    x = p.input()
    p.output(p.sobel(x) * 2, p.median(x) + 1, p.box(x, 3, output="float32") * 0.5)
    edges, middle, mean = c.run(p, image)
    assert [a.dtype.name for a in (edges, middle, mean)] == [
        "float32",
        "uint8",
        "float32",
    ]
    np.testing.assert_array_equal(edges, scipy.ndimage.sobel(image.astype(float)) * 2)
    np.testing.assert_array_equal(middle, scipy.ndimage.median_filter(image, 3) + 1)


def test_sobel_magnitude_in_one_round_trip(c: gpucall.Client) -> None:
    image = np.random.default_rng(4).random((31, 17), np.float32)
    p = gpucall.Program()
    x = p.input()
    p.output(np.sqrt(np.square(p.sobel(x, axis=0)) + np.square(p.sobel(x, axis=1))))
    with gpucall.receipts() as receipts:
        got = c.run(p, image)
    assert len(receipts) == 1
    exact = image.astype(float)
    right = np.hypot(scipy.ndimage.sobel(exact, 0), scipy.ndimage.sobel(exact, 1))
    np.testing.assert_allclose(got, right, rtol=1e-5, atol=1e-5)


def test_matmul_chain(c: gpucall.Client) -> None:
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal((6, 6), np.float32) for _ in range(2))
    got = run(c, lambda x, y: np.tanh(x @ y + 1) @ x, a, b)
    np.testing.assert_allclose(got, np.tanh(a @ b + 1) @ a, rtol=1e-4, atol=1e-5)
    p = gpucall.Program()
    x = p.input()
    p.output(p.matmul(x, b, transpose_a=True), np.eye(6, dtype=np.float32) @ x)
    product, same = c.run(p, a)
    np.testing.assert_allclose(product, a.T @ b, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(same, a)


def test_an_input_may_be_an_output(c: gpucall.Client) -> None:
    x, twice = run(c, lambda x: (x, x + x), X)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(twice, X + X)


def test_without_outputs_the_last_operation_is_sent(c: gpucall.Client) -> None:
    p = gpucall.Program()
    p.negative(p.input() + 1)
    np.testing.assert_array_equal(c.run(p, X), -(X + 1))


def test_run_again_with_other_shapes_and_dtypes(c: gpucall.Client) -> None:
    p = gpucall.Program()
    p.output(p.input() * 2 + 1)
    for array in (X, Y, np.int32([1]), np.float64(3), np.zeros((0, 2), np.uint8)):
        got = c.run(p, array)
        assert got.dtype == array.dtype and got.shape == np.shape(array)
        np.testing.assert_array_equal(got, array * 2 + 1)


def test_equal_scalars_are_sent_once(c: gpucall.Client) -> None:
    p = gpucall.Program()
    x = p.input()
    for _ in range(200):  # far over the number of values that a Program may have
        x = (x + 1) * 1
    p.output(x)
    np.testing.assert_array_equal(c.run(p, np.int32([5])), [205])


def test_constants_are_copied(c: gpucall.Client) -> None:
    constant = np.float32([1, 2, 3])
    p = gpucall.Program()
    p.output(p.input() + constant)
    constant[:] = 0
    np.testing.assert_array_equal(c.run(p, np.float32([0])), [1, 2, 3])


def test_mistakes(c: gpucall.Client) -> None:
    p, other = gpucall.Program(), gpucall.Program()
    x, theirs = p.input(), other.input()
    with pytest.raises(ValueError, match="another Program"):
        p.add(x, theirs)
    with pytest.raises(ValueError, match="another Program"):
        p.output(theirs)
    with pytest.raises(TypeError, match="takes 1 inputs, got 2"):
        c.run(p, X, Y)
    with pytest.raises(TypeError, match="until it runs"):
        c.add(x, 1)
    with pytest.raises(TypeError, match="np.spacing"):
        np.spacing(x)
    with pytest.raises(TypeError, match="np.median"):
        np.median(x)
    with pytest.raises(TypeError, match="add.reduce|reduce"):
        np.add.reduce(x)
    with pytest.raises(TypeError, match="timeout"):
        p.add(x, 1, timeout=3)
    with pytest.raises(TypeError, match="datetime64"):
        p.add(x, np.array(["2020"], "datetime64[D]"))
    with pytest.raises(gpucall.Error, match="program"):
        c.run(p, X)


def test_errors_name_the_operation(c: gpucall.Client) -> None:
    with pytest.raises(gpucall.Error) as raised:
        run(c, lambda x, y: np.tanh(x) + y, np.zeros(3), np.zeros(4))
    assert raised.value.code is grpc.StatusCode.INVALID_ARGUMENT
    assert "operation 1" in raised.value.message and "(3)" in raised.value.message
