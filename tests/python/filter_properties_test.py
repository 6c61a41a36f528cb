"""Any image: the same answers as scipy.ndimage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.ndimage
from hypothesis import given
from hypothesis import strategies as st

import gpucall

MODES = ["nearest", "reflect", "mirror", "wrap", "constant"]


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
