"""Any image: the same answers as scipy.ndimage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.ndimage
from hypothesis import given
from hypothesis import strategies as st

import gpucall

DERIVATIVES = (
    "sobel",
    "prewitt",
    "scharr",
    "laplacian",
    "gaussian_laplace",
    "gaussian_gradient_magnitude",
)
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
    scale: float = 1.0,
) -> None:
    """Compares a filter with its scipy.ndimage `reference`, run in float64 on each channel.

    Sums are in float32. So uint8 results may differ by 1 from the exact one rounded half to
    even, where that is so near a half that float32 cannot say which way it goes.
    """
    got = getattr(c, name)(image, *args, **keywords, output=output)
    derivative = name in DERIVATIVES or keywords.get("order", 0) not in (0, (0, 0))
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
    scale *= max(np.abs(image.astype(float)).max(), abs(keywords["cval"]), 1.0)
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


ACROSS = {"sobel": [1, 2, 1], "prewitt": [1, 1, 1], "scharr": [3, 10, 3]}


PADS = {"nearest": "edge", "reflect": "symmetric", "mirror": "reflect"}


def correlated(image: Any, rows: Any, columns: Any, mode: str, cval: float) -> Any:
    """Both passes over the image continued once: for mode constant scipy.ndimage's derivatives
    put cval around what the first pass gives, too."""
    pads = [(len(rows) // 2,) * 2, (len(columns) // 2,) * 2]
    fill: dict[str, Any] = {"constant_values": cval} if mode == "constant" else {}
    pad: Any = np.pad
    image = pad(image, pads, PADS.get(mode, mode), **fill)
    view = np.lib.stride_tricks.sliding_window_view(image, (len(rows), len(columns)))
    return np.einsum("yxij,i,j->yx", view, rows, columns, optimize=True)


@pytest.mark.parametrize("name", ["sobel", "prewitt", "scharr"])
@given(
    image=images(), axis=st.sampled_from([0, 1, -1]), border=borders(), output=OUTPUTS
)
def test_first_derivatives_are_scipys(
    name: str,
    image: Any,
    axis: int,
    border: dict[str, Any],
    output: str | None,
    c: gpucall.Client,
) -> None:
    def reference(image: Any, axis: int, **border: Any) -> Any:
        down, across = [-1, 0, 1], ACROSS[name]
        if axis != 0:
            down, across = across, down
        got = correlated(image, down, across, **border)
        if border["mode"] != "constant" and name != "scharr":
            wanted = getattr(scipy.ndimage, name)(image, axis=axis, **border)
            np.testing.assert_allclose(
                got, wanted, atol=1e-9 * max(1, np.abs(got).max())
            )
        return got

    check_image(c, name, image, (), {"axis": axis, **border}, reference, output)


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


def gaussian_weights(sigma: float, order: int, truncate: float) -> Any:
    """What scipy.ndimage correlates with along an axis."""
    if sigma <= 1e-15:
        return np.ones(1)
    x = np.arange(-int(truncate * sigma + 0.5), int(truncate * sigma + 0.5) + 1)
    weights = np.exp(-0.5 * x**2 / sigma**2)
    weights /= weights.sum()
    return weights * [1, x / sigma**2, (x**2 / sigma**2 - 1) / sigma**2][order]


SIGMAS = st.one_of(st.floats(0.3, 4), st.tuples(st.floats(0.3, 4), st.floats(0.3, 4)))
ORDERS = st.one_of(st.integers(0, 2), st.tuples(st.integers(0, 2), st.integers(0, 2)))


@given(image=images(), sigma=SIGMAS, order=ORDERS, border=borders(), output=OUTPUTS)
def test_derivatives_of_gaussians_are_scipys(
    image: Any,
    sigma: Any,
    order: Any,
    border: dict[str, Any],
    output: str | None,
    c: gpucall.Client,
) -> None:
    def reference(image: Any, sigma: Any, order: Any, **border: Any) -> Any:
        sigmas = sigma if isinstance(sigma, tuple) else (sigma, sigma)
        orders = order if isinstance(order, tuple) else (order, order)
        weights = [gaussian_weights(*pair, 4.0) for pair in zip(sigmas, orders)]
        got = correlated(image, *weights, **border)
        if border["mode"] != "constant":
            wanted = scipy.ndimage.gaussian_filter(image, sigma, order, **border)
            np.testing.assert_allclose(
                got, wanted, atol=1e-9 * max(1, np.abs(image).max())
            )
        return got

    # The sum of the weights' magnitudes of a derivative is below 2 / sigma^order per axis.
    keywords = {"sigma": sigma, "order": order, **border}
    check_image(c, "gaussian", image, (), keywords, reference, output, scale=500)


@pytest.mark.parametrize("name", ["gaussian_laplace", "gaussian_gradient_magnitude"])
@given(image=images(), sigma=SIGMAS, border=borders())
def test_combined_derivatives_are_scipys(
    name: str, image: Any, sigma: Any, border: dict[str, Any], c: gpucall.Client
) -> None:
    def reference(image: Any, sigma: Any, **border: Any) -> Any:
        sigmas = sigma if isinstance(sigma, tuple) else (sigma, sigma)
        order = 2 if name == "gaussian_laplace" else 1
        parts = [
            correlated(
                image,
                *(
                    gaussian_weights(sigmas[a], order * (a == axis), 4.0)
                    for a in (0, 1)
                ),
                **border,
            )
            for axis in (0, 1)
        ]
        got = parts[0] + parts[1] if order == 2 else np.hypot(*parts)
        if border["mode"] != "constant":
            wanted = getattr(scipy.ndimage, name)(image, sigma, **border)
            np.testing.assert_allclose(
                got, wanted, atol=1e-9 * max(1, np.abs(image).max())
            )
        return got

    keywords = {"sigma": sigma, **border}
    check_image(c, name, image, (), keywords, reference, None, scale=50)


WINDOWED = ["minimum_filter", "maximum_filter", "grey_erosion", "grey_dilation"]
COMPOSED = [
    "grey_opening",
    "grey_closing",
    "morphological_gradient",
    "white_tophat",
    "black_tophat",
]


@pytest.mark.parametrize("name", WINDOWED + COMPOSED)
@given(image=images(), window=windows(), border=borders(), output=OUTPUTS)
def test_windows_are_scipys(
    name: str,
    image: Any,
    window: dict[str, Any],
    border: dict[str, Any],
    output: str | None,
    c: gpucall.Client,
) -> None:
    if name in COMPOSED[2:] and image.dtype == np.float32:
        output = None
    reference = getattr(scipy.ndimage, name)
    check_image(c, name, image, (), window | border, reference, output)


@given(
    image=images(),
    window=windows(),
    fraction=st.floats(-1, 1),
    border=borders(),
    output=OUTPUTS,
)
def test_ranks_are_scipys(
    image: Any,
    window: dict[str, Any],
    fraction: float,
    border: dict[str, Any],
    output: str | None,
    c: gpucall.Client,
) -> None:
    size = window["size"]
    count = size[0] * size[1] if isinstance(size, tuple) else size**2
    rank = min(int(fraction * count), count - 1)
    keywords = window | border
    check_image(
        c, "rank_filter", image, (rank,), keywords, scipy.ndimage.rank_filter, output
    )
    check_image(
        c,
        "percentile_filter",
        image,
        (100 * fraction,),
        keywords,
        scipy.ndimage.percentile_filter,
        output,
    )
