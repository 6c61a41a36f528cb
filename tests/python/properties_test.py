"""Any arrays: the same answers as NumPy and scipy.ndimage."""

from __future__ import annotations

from typing import Any

import grpc
import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
import scipy.ndimage
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gpucall

settings.register_profile(
    "gpucall",
    deadline=None,
    derandomize=True,
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("gpucall")

OFFERED = ["bool", "uint8", "int32", "float32", "float64"]
MODES = ["nearest", "reflect", "mirror", "wrap", "constant"]


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


def sizes() -> st.SearchStrategy[Any]:
    return st.one_of(st.integers(1, 9), st.tuples(st.integers(1, 9), st.integers(1, 9)))


@st.composite
def windows(draw: st.DrawFn) -> dict[str, Any]:
    """A size, and an origin that it allows."""
    size = draw(sizes())
    pair = size if isinstance(size, tuple) else (size, size)
    origin = tuple(draw(st.integers(-(n // 2), n - 1 - n // 2)) for n in pair)
    return {"size": size, "origin": draw(st.sampled_from([origin, 0]))}


@st.composite
def images(draw: st.DrawFn) -> Any:
    shape = (draw(st.integers(0, 24)), draw(st.integers(0, 24)))
    channels = draw(st.sampled_from([(), (), (1,), (3,), (4,), (0,)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    if draw(st.booleans()):
        return rng.integers(0, 256, (*shape, *channels), dtype=np.uint8)
    return (rng.standard_normal((*shape, *channels)) * 100).astype(np.float32)


@st.composite
def borders(draw: st.DrawFn) -> dict[str, Any]:
    return {"mode": draw(st.sampled_from(MODES)), "cval": draw(st.integers(0, 255))}


@st.composite
def kernels(draw: st.DrawFn) -> tuple[Any, dict[str, Any]]:
    window = draw(windows())
    size = window["size"]
    shape = size if isinstance(size, tuple) else (size, size)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    weights = rng.integers(-5, 6, shape) / draw(st.sampled_from([1, 7.0]))
    dtype = draw(st.sampled_from(["float32", "float64"]))
    return weights.astype(dtype), {"origin": window["origin"]}


def check_image(
    c: gpucall.Client,
    name: str,
    image: Any,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    reference: Any,
    output: str | None,
) -> None:
    """Compares a filter with its scipy.ndimage `reference`, run in float64 on each channel.

    Sums are in float32. So uint8 results may differ by 1 from the exact one rounded half to
    even, where that is so near a half that float32 cannot say which way it goes.
    """
    got = getattr(c, name)(image, *args, **keywords, output=output)
    derivative = name in ("sobel", "laplacian")
    default = np.float32 if derivative and image.dtype == np.uint8 else image.dtype
    assert got.dtype == np.dtype(output or default) and got.shape == image.shape
    if image.size == 0:
        return
    planes = image[..., np.newaxis] if image.ndim == 2 else image
    exact = np.stack(
        [
            reference(planes[..., i].astype(np.float64), *args, **keywords)
            for i in range(planes.shape[2])
        ],
        axis=-1,
    ).reshape(image.shape)
    scale = max(np.abs(image.astype(float)).max(), abs(keywords["cval"]), 1.0)
    scale *= max([1.0, *(np.abs(w).sum() for w in args if isinstance(w, np.ndarray))])
    if got.dtype == np.uint8:
        rounded = np.clip(np.rint(exact), 0, 255)
        wrong = np.abs(got - rounded)
        tie = np.abs(exact - np.floor(exact) - 0.5) < 1e-6 * scale
        assert (wrong[~tie] == 0).all() and (wrong <= 1).all()
    else:
        np.testing.assert_allclose(got, exact, rtol=1e-6, atol=1e-6 * scale)


OUTPUTS = st.sampled_from([None, None, "uint8", "float32"])


@given(
    image=images(),
    sigma=st.one_of(st.floats(0, 5), st.tuples(st.floats(0, 5), st.floats(0, 5))),
    truncate=st.sampled_from([4.0, 2.5, 0.0]),
    border=borders(),
    output=OUTPUTS,
)
def test_gaussian_is_scipys(
    image: Any,
    sigma: Any,
    truncate: float,
    border: dict[str, Any],
    output: str | None,
    c: gpucall.Client,
) -> None:
    keywords = {"sigma": sigma, "truncate": truncate, **border}
    reference = scipy.ndimage.gaussian_filter
    check_image(c, "gaussian", image, (), keywords, reference, output)


@given(image=images(), window=windows(), border=borders(), output=OUTPUTS)
def test_box_is_scipys(
    image: Any,
    window: dict[str, Any],
    border: dict[str, Any],
    output: str | None,
    c: gpucall.Client,
) -> None:
    reference = scipy.ndimage.uniform_filter
    check_image(c, "box", image, (), window | border, reference, output)


@given(image=images(), window=windows(), border=borders(), output=OUTPUTS)
def test_median_is_scipys(
    image: Any,
    window: dict[str, Any],
    border: dict[str, Any],
    output: str | None,
    c: gpucall.Client,
) -> None:
    reference = scipy.ndimage.median_filter
    check_image(c, "median", image, (), window | border, reference, output)


def sobel(image: Any, axis: int, mode: str, cval: float) -> Any:
    """scipy.ndimage.sobel, but for mode constant: that one puts cval around the derivative
    too, before it smooths."""
    kernel = np.outer([1, 2, 1], [-1, 0, 1])
    weights = kernel.T if axis == 0 else kernel
    return scipy.ndimage.correlate(image, weights, mode=mode, cval=cval)


@given(
    image=images(), axis=st.sampled_from([0, 1, -1]), border=borders(), output=OUTPUTS
)
def test_sobel_is_scipys(
    image: Any,
    axis: int,
    border: dict[str, Any],
    output: str | None,
    c: gpucall.Client,
) -> None:
    keywords = {"axis": axis, **border}
    check_image(c, "sobel", image, (), keywords, sobel, output)


@given(image=images(), border=borders(), output=OUTPUTS)
def test_laplacian_is_scipys(
    image: Any, border: dict[str, Any], output: str | None, c: gpucall.Client
) -> None:
    check_image(c, "laplacian", image, (), border, scipy.ndimage.laplace, output)


@pytest.mark.parametrize("name", ["correlate", "convolve"])
@given(image=images(), kernel=kernels(), border=borders(), output=OUTPUTS)
def test_correlate_and_convolve_are_scipys(
    name: str,
    image: Any,
    kernel: tuple[Any, dict[str, Any]],
    border: dict[str, Any],
    output: str | None,
    c: gpucall.Client,
) -> None:
    weights, origin = kernel
    reference = getattr(scipy.ndimage, name)
    check_image(c, name, image, (weights,), origin | border, reference, output)
