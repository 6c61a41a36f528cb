"""Operations on images: the answers of OpenCV and NumPy, of any image."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import scipy.ndimage
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import gpucall

cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")

EXAMPLES = settings(max_examples=int(os.environ.get("GPUCALL_TEST_EXAMPLES", "100")))
PIXELS = ["uint8", "uint16", "int16", "float32"]
COLOURS = {
    "rgb_to_gray": cv2.COLOR_RGB2GRAY,
    "gray_to_rgb": cv2.COLOR_GRAY2RGB,
    "rgb_to_hsv": cv2.COLOR_RGB2HSV,
    "hsv_to_rgb": cv2.COLOR_HSV2RGB,
    "rgb_to_ycrcb": cv2.COLOR_RGB2YCrCb,
    "ycrcb_to_rgb": cv2.COLOR_YCrCb2RGB,
}
KINDS = {
    "binary": cv2.THRESH_BINARY,
    "binary_inv": cv2.THRESH_BINARY_INV,
    "trunc": cv2.THRESH_TRUNC,
    "tozero": cv2.THRESH_TOZERO,
    "tozero_inv": cv2.THRESH_TOZERO_INV,
}
SIZES = {
    "nearest": cv2.INTER_NEAREST,
    "bilinear": cv2.INTER_LINEAR,
    "bicubic": cv2.INTER_CUBIC,
    "area": cv2.INTER_AREA,
}
BORDERS = {
    "constant": cv2.BORDER_CONSTANT,
    "nearest": cv2.BORDER_REPLICATE,
    "reflect": cv2.BORDER_REFLECT,
    "mirror": cv2.BORDER_REFLECT_101,
    "wrap": cv2.BORDER_WRAP,
}


def image_of(
    data: st.DataObject, dtype: str, *channels: int, smooth: bool = False
) -> Any:
    """Of 1 to 40 rows and columns; float32 from 0 to 1."""
    shape = (data.draw(st.integers(1, 40)), data.draw(st.integers(1, 40)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    floats = dtype == "float32"
    low, high = (0, 1) if floats else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if data.draw(st.booleans()):  # few values, many of them equal
        values = np.array([low, (high + low) // 3, high], dtype)
        return rng.choice(values, (*shape, *channels))
    x = rng.uniform(low, high, (*shape, *channels))
    if smooth:
        x = scipy.ndimage.gaussian_filter(x, (2, 2, 0)[: x.ndim])
    return x.astype(dtype)


def channels_of(data: st.DataObject, *allowed: int) -> list[int]:
    """None at all where there is one."""
    count = data.draw(st.sampled_from(allowed))
    return [] if count == 1 else [count]


def near(got: Any, right: Any, allowed: float, share: float = 1) -> None:
    """`allowed` off at most, and not equal in a `share` of places at most."""
    assert got.dtype == right.dtype and got.shape == right.shape
    off = np.abs(got.astype(float) - right.astype(float))
    assert off.max(initial=0) <= allowed
    assert (off > 0).sum() <= share * off.size


@given(data=st.data())
@EXAMPLES
def test_colours_are_opencvs(data: st.DataObject, c: gpucall.Client) -> None:
    name = data.draw(st.sampled_from(sorted(COLOURS)))
    dtypes = ["uint8", "float32"] + ([] if "hsv" in name else ["uint16"])
    dtype = data.draw(st.sampled_from(dtypes))
    x = image_of(data, dtype, *([] if name == "gray_to_rgb" else [3]))
    if name == "hsv_to_rgb" and dtype == "float32":
        x[..., 0] *= 360
    right = cv2.cvtColor(x, COLOURS[name])
    got = c.convert_colour(x, name)
    assert got.dtype == right.dtype and got.shape == right.shape
    if dtype != "float32":
        # OpenCV's vectors truncate what the rest of its loop rounds.
        np.testing.assert_allclose(got, right, 0, 1 if name == "hsv_to_rgb" else 0)
    else:
        np.testing.assert_allclose(got, right, 2e-6, 1e-6)
    batch = np.stack([x, x[::-1]])
    if name == "gray_to_rgb":
        batch = batch[..., None]
    flipped = np.stack([got, got[::-1]])
    if name == "rgb_to_gray":
        flipped = flipped[..., None]
    np.testing.assert_array_equal(c.convert_colour(batch, name), flipped)


@given(data=st.data())
@EXAMPLES
def test_thresholds_are_opencvs(data: st.DataObject, c: gpucall.Client) -> None:
    dtype = data.draw(st.sampled_from(PIXELS))
    kind = data.draw(st.sampled_from(sorted(KINDS)))
    x = image_of(data, dtype, *channels_of(data, 1, 3))
    if dtype == "float32":
        value, white = data.draw(st.floats(-0.5, 1.5, width=32)), 7.5
    else:
        value = data.draw(st.floats(-300, 70000)) if dtype != "uint8" else 0
        value = data.draw(st.sampled_from([value, 100, 127.6, -3.2, 254.9, 255, 300]))
        white = data.draw(st.sampled_from([255, 100.5, 1]))
    _, right = cv2.threshold(x, value, white, KINDS[kind])
    got = c.threshold(x, value, kind=kind, max_value=white)
    np.testing.assert_array_equal(got, right.reshape(x.shape))
    assert got.dtype == x.dtype
    if dtype == "uint8" and x.ndim == 2:
        level, right = cv2.threshold(x, 0, 255, KINDS[kind] + cv2.THRESH_OTSU)
        assert c.otsu(x) == level
        np.testing.assert_array_equal(c.threshold(x, "otsu", kind=kind), right)
        pair = np.stack([x, 255 - x])[..., None]
        levels = [level, cv2.threshold(255 - x, 0, 255, cv2.THRESH_OTSU)[0]]
        np.testing.assert_array_equal(c.otsu(pair), levels)
        np.testing.assert_array_equal(
            c.threshold(pair, "otsu", kind=kind)[0, ..., 0], right
        )


@given(data=st.data())
@EXAMPLES
def test_adaptive_thresholds_are_opencvs(
    data: st.DataObject, c: gpucall.Client
) -> None:
    x = image_of(data, "uint8")
    size = 2 * data.draw(st.integers(1, 20)) + 1
    offset = data.draw(st.sampled_from([0, 2, -3, 2.5, -0.5]))
    kind = data.draw(st.sampled_from(["binary", "binary_inv"]))
    mean = cv2.adaptiveThreshold(
        x, 200, cv2.ADAPTIVE_THRESH_MEAN_C, KINDS[kind], size, offset
    )
    got = c.adaptive_threshold(x, size, offset, kind=kind, max_value=200)
    np.testing.assert_array_equal(got, mean)
    gaussian = cv2.adaptiveThreshold(
        x, 200, cv2.ADAPTIVE_THRESH_GAUSSIAN_C, KINDS[kind], size, offset
    )
    got = c.adaptive_threshold(
        x, size, offset, method="gaussian", kind=kind, max_value=200
    )
    # Where the mean is a half, to seven digits, it is rounded one way or the other.
    near(got, gaussian, 200, 0.02 + 1 / x.size)


@given(data=st.data())
@EXAMPLES
def test_histograms_are_numpys(data: st.DataObject, c: gpucall.Client) -> None:
    dtype = data.draw(st.sampled_from(PIXELS))
    x = image_of(data, dtype, *channels_of(data, 1, 3))
    low = data.draw(st.floats(-2, 1)) * (1 if dtype == "float32" else 100)
    high = low + data.draw(st.floats(0, 3)) * (1 if dtype == "float32" else 100)
    if dtype == "float32" and data.draw(st.booleans()):
        x[0, 0] = np.nan
    bins = data.draw(st.integers(1, 300))
    try:
        right, _ = np.histogram(x, bins, (low, high))
    except ValueError:  # bins too narrow for NumPy
        reject()
    np.testing.assert_array_equal(c.histogram(x, bins, (low, high)), right)
    if dtype == "uint8":
        np.testing.assert_array_equal(
            c.histogram(x), np.bincount(x.ravel(), minlength=256)
        )


@given(data=st.data())
@EXAMPLES
def test_equalised_and_integral_are_opencvs(
    data: st.DataObject, c: gpucall.Client
) -> None:
    gray = image_of(data, "uint8", smooth=True)
    right = cv2.equalizeHist(gray)
    np.testing.assert_array_equal(c.equalise_histogram(gray), right)
    pair = np.stack([gray, gray // 2])[..., None]
    both = c.equalise_histogram(pair)[..., 0]
    np.testing.assert_array_equal(both, [right, cv2.equalizeHist(gray // 2)])
    dtype = data.draw(st.sampled_from(PIXELS))
    x = image_of(data, dtype, *channels_of(data, 1, 3))
    sums = c.integral(x)
    wide = x.astype(sums.dtype)
    right = np.pad(wide.cumsum(0).cumsum(1), [(1, 0), (1, 0), (0, 0)][: x.ndim])
    np.testing.assert_allclose(sums, right, 1e-12)
    if dtype in ("uint8", "float32"):
        np.testing.assert_allclose(sums, cv2.integral(x), 1e-6)


@given(data=st.data())
@EXAMPLES
def test_sizes_are_opencvs(data: st.DataObject, c: gpucall.Client) -> None:
    dtype = data.draw(st.sampled_from(PIXELS))
    name = data.draw(st.sampled_from(sorted(SIZES)))
    x = image_of(data, dtype, *channels_of(data, 1, 3, 4))
    shape = (data.draw(st.integers(1, 60)), data.draw(st.integers(1, 60)))
    right = cv2.resize(x, shape[::-1], interpolation=SIZES[name])
    got = c.resize(x, shape, interpolation=name)
    if dtype == "float32":
        near(got, right, 2e-6)
    else:
        near(got, right, 0 if name == "nearest" else 1)
    if name != "nearest":
        return
    batch = np.stack([x, x[::-1]])
    batch = batch if x.ndim == 3 else batch[..., None]
    both = c.resize(batch, shape, interpolation=name)
    np.testing.assert_array_equal(both[0].reshape(got.shape), got)


@given(data=st.data())
@EXAMPLES
def test_affine_maps_are_opencvs(data: st.DataObject, c: gpucall.Client) -> None:
    dtype = data.draw(st.sampled_from(PIXELS))
    x = image_of(data, dtype, *channels_of(data, 1, 3))
    shape = (data.draw(st.integers(0, 50)), data.draw(st.integers(0, 50)))
    mode = data.draw(st.sampled_from(sorted(BORDERS)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    matrix = rng.normal(0, 1, (2, 3)) * [1, 1, 15]
    name, order = data.draw(st.sampled_from([("nearest", 0), ("bilinear", 1)]))
    got = c.warp_affine(
        x, matrix, shape, inverse=True, interpolation=name, mode=mode, cval=1
    )
    assert got.dtype == x.dtype and got.shape == (*shape, *x.shape[2:])
    rows, columns = np.mgrid[: shape[0], : shape[1]]
    places = np.tensordot(matrix, np.stack([columns, rows, np.ones(shape)]), 1)[::-1]
    names = {"constant": "grid-constant", "wrap": "grid-wrap"}
    planes = [
        scipy.ndimage.map_coordinates(
            plane.astype(float), places, order=order, mode=names.get(mode, mode), cval=1
        )
        for plane in np.moveaxis(np.atleast_3d(x), 2, 0)
    ]
    right = np.moveaxis(np.stack(planes), 0, 2).reshape(got.shape)
    if dtype == "float32":
        near(got.astype(float), right, 2e-6)
    else:
        near(got.astype(float), np.rint(right), 0 if order == 0 else 1, 0.01)
    if dtype == "uint8" and got.size and name == "bilinear":
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        opencv = cv2.warpAffine(
            x, matrix, shape[::-1], None, flags, BORDERS[mode], (1, 1, 1)
        )
        near(got, opencv, 1, 0.02 + 1 / got.size)


@given(data=st.data())
@EXAMPLES
def test_pyramids_are_opencvs(data: st.DataObject, c: gpucall.Client) -> None:
    dtype = data.draw(st.sampled_from(PIXELS))
    x = image_of(data, dtype, *channels_of(data, 1, 3))
    allowed = 1e-6 if dtype == "float32" else 0
    near(c.pyramid_down(x), cv2.pyrDown(x), allowed)
    near(c.pyramid_up(x), cv2.pyrUp(x), allowed)


@given(data=st.data())
@EXAMPLES
def test_bilateral_is_opencvs(data: st.DataObject, c: gpucall.Client) -> None:
    dtype = data.draw(st.sampled_from(["uint8", "float32"]))
    x = image_of(data, dtype, *channels_of(data, 1, 3), smooth=True)
    diameter = data.draw(st.integers(0, 12))
    colour = data.draw(st.floats(0.05, 1)) * (1 if dtype == "float32" else 255)
    space = data.draw(st.floats(0.5, 6))
    mode = data.draw(st.sampled_from(sorted(BORDERS)))
    # OpenCV's wrap reads past small images.
    if mode == "wrap":
        mode = "mirror"
    right = cv2.bilateralFilter(x, diameter, colour, space, None, BORDERS[mode])
    got = c.bilateral(x, diameter, colour, space, mode=mode)
    near(got, right, 2e-6 if dtype == "float32" else 1)


@given(data=st.data())
@EXAMPLES
def test_unsharp_masks_are_scipys(data: st.DataObject, c: gpucall.Client) -> None:
    dtype = data.draw(st.sampled_from(PIXELS))
    x = image_of(data, dtype, *channels_of(data, 1, 3))
    sigma, amount = data.draw(st.floats(0, 5)), data.draw(st.floats(-1, 4))
    exact = x.astype(float)
    smooth = scipy.ndimage.gaussian_filter(exact, (sigma, sigma, 0)[: x.ndim])
    right = exact + amount * (exact - smooth)
    got = c.unsharp_mask(x, sigma, amount)
    assert got.dtype == x.dtype
    if dtype == "float32":
        near(got.astype(float), right, 5e-6)
    else:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        near(got.astype(float), np.clip(np.rint(right), low, high), 1, 0.2)


@given(data=st.data())
@EXAMPLES
def test_canny_is_opencvs(data: st.DataObject, c: gpucall.Client) -> None:
    x = image_of(data, "uint8", *channels_of(data, 1, 3), smooth=True)
    low = data.draw(st.floats(0, 500))
    high = data.draw(st.floats(0, 900))
    l2 = data.draw(st.booleans())
    right = cv2.Canny(x, low, high, L2gradient=l2)
    np.testing.assert_array_equal(c.canny(x, low, high, l2=l2), right)


@given(data=st.data())
@EXAMPLES
def test_normalised_is_arithmetic(data: st.DataObject, c: gpucall.Client) -> None:
    x = image_of(data, data.draw(st.sampled_from(PIXELS)), 3)
    mean, deviation = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
    got = c.normalise(x, mean, deviation, scale=1 / 255)
    right = (x / 255.0 - mean) / deviation
    np.testing.assert_allclose(got, right, 1e-6, 1e-6)
    assert got.dtype == np.float32
    np.testing.assert_allclose(
        c.normalise(x, 3, 2), (x.astype(float) - 3) / 2, 1e-6, 1e-6
    )


def test_canny_of_a_photograph(c: gpucall.Client) -> None:
    """Edges long enough to be followed far."""
    rows, columns = np.mgrid[:480, :640]
    waves = 90 * np.sin(rows / 17 + np.cos(columns / 23)) * np.cos(columns / 31) + 128
    noise = np.random.default_rng(0).normal(0, 12, waves.shape)
    x = scipy.ndimage.gaussian_filter(np.clip(waves + noise, 0, 255), 1.5)
    x = x.astype(np.uint8)
    for low, high in ((10, 60), (20, 40), (5, 90)):
        right = cv2.Canny(x, low, high)
        assert 1000 < (right > 0).sum() < 100_000
        np.testing.assert_array_equal(c.canny(x, low, high), right)
    batch = np.stack([x, x.T[:480, :480].repeat(2, 1)[:, :640]])[..., None]
    both = c.canny(batch, 10, 60)
    assert both.shape == (2, 480, 640, 1)
    for got, image in zip(both, batch, strict=True):
        np.testing.assert_array_equal(
            got[..., 0], cv2.Canny(image[..., 0].copy(), 10, 60)
        )


def test_large_images_are_divided_among_threads(c: gpucall.Client) -> None:
    x = np.random.default_rng(0).integers(0, 256, (1500, 2000, 3), np.uint8)
    np.testing.assert_array_equal(
        c.convert_colour(x, "rgb_to_gray"), cv2.cvtColor(x, cv2.COLOR_RGB2GRAY)
    )
    right = cv2.resize(x, (400, 300), interpolation=cv2.INTER_AREA)
    near(c.resize(x, (300, 400), interpolation="area"), right, 1)


def test_rotation_is_about_the_middle(c: gpucall.Client) -> None:
    x = np.random.default_rng(0).random((31, 40), np.float32)
    near(c.rotate(x, 180, x.shape), x[::-1, ::-1], 1e-5)
    centre = ((40 - 1) / 2, (31 - 1) / 2)
    matrix = cv2.getRotationMatrix2D(centre, 25, 1.3)
    right = cv2.warpAffine(x, matrix, (40, 31), borderMode=cv2.BORDER_REFLECT)
    near(c.rotate(x, 25, x.shape, scale=1.3, mode="reflect"), right, 1e-4)


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0), (0, 4, 3), (0, 4, 5, 3)])
def test_images_without_pixels(c: gpucall.Client, shape: tuple[int, ...]) -> None:
    x = np.zeros(shape, np.uint8)
    gray = np.zeros((*shape[:-1], 1) if len(shape) > 2 else shape, np.uint8)
    assert c.threshold(x, 3).shape == shape
    assert c.unsharp_mask(x).shape == shape
    assert c.equalise_histogram(gray).shape == gray.shape
    assert c.histogram(x).sum() == 0
    assert c.canny(gray, 1, 2).size == 0
    assert c.pyramid_down(x).size == c.pyramid_up(x).size == 0
    assert c.normalise(x, 0, 1).shape == shape
    sums = c.integral(x)
    assert not sums.any()
    rows = len(shape) - 2 if len(shape) == 2 else len(shape) - 3
    assert sums.shape[rows : rows + 2] == (shape[rows] + 1, shape[rows + 1] + 1)
    if len(shape) > 2:
        assert c.convert_colour(x, "rgb_to_gray").size == 0
        assert c.bilateral(x, 3, 1, 1).shape == shape


def test_names_that_are_none_say_what_there_is(c: gpucall.Client) -> None:
    x = np.zeros((2, 2, 3), np.uint8)
    with pytest.raises(gpucall.Error, match="'bgr_to_gray'.*rgb_to_gray, gray_to_rgb"):
        c.convert_colour(x, "bgr_to_gray")
    with pytest.raises(gpucall.Error, match="'lanczos'.*nearest, bilinear, bicubic"):
        c.resize(x, (2, 2), interpolation="lanczos")
    with pytest.raises(gpucall.Error, match="'white'.*binary, binary_inv, trunc"):
        c.threshold(x, 3, kind="white")
    with pytest.raises(gpucall.Error, match="'triangle'.*otsu"):
        c.threshold(x, "triangle")
    with pytest.raises(gpucall.Error, match="'edge'.*nearest, reflect"):
        c.bilateral(x, 3, 1, 1, mode="edge")


def test_images_in_a_program(c: gpucall.Client) -> None:
    x = np.random.default_rng(0).integers(0, 256, (40, 52, 3), np.uint8)
    p = gpucall.Program()
    gray = p.convert_colour(p.input(), "rgb_to_gray")
    p.output(gray, gray + 1, p.canny(p.gaussian(gray, 1), 50, 100))
    p.output(
        p.threshold(gray, "otsu"), p.integral(gray) + 1, p.normalise(gray, 1, 2) * 3
    )
    got, more, edges, black, sums, normal = c.run(p, x)
    right = cv2.cvtColor(x, cv2.COLOR_RGB2GRAY)
    np.testing.assert_array_equal(got, right)
    np.testing.assert_array_equal(more, right + np.uint8(1))
    np.testing.assert_array_equal(edges, cv2.Canny(c.gaussian(right, 1), 50, 100))
    np.testing.assert_array_equal(black, c.threshold(right, "otsu"))
    assert (more.dtype, sums.dtype, normal.dtype) == (
        np.uint8,
        np.uint64,
        np.float32,
    )
