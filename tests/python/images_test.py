"""Operations on images: OpenCV's answers, of any image."""

from __future__ import annotations

import os
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpucall

EXAMPLES = settings(max_examples=int(os.environ.get("GPUCALL_EXAMPLES", "60")))
COLOURS = {
    "rgb_to_gray": cv2.COLOR_RGB2GRAY,
    "gray_to_rgb": cv2.COLOR_GRAY2RGB,
    "rgb_to_hsv": cv2.COLOR_RGB2HSV,
    "hsv_to_rgb": cv2.COLOR_HSV2RGB,
    "rgb_to_ycrcb": cv2.COLOR_RGB2YCrCb,
    "ycrcb_to_rgb": cv2.COLOR_YCrCb2RGB,
}


def image_of(data: st.DataObject, dtype: str, *channels: int, low: int = 1) -> Any:
    """Of 1 to 40 rows and columns; float32 from 0 to 1."""
    shape = (data.draw(st.integers(low, 40)), data.draw(st.integers(low, 40)))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    if dtype == "float32":
        return rng.random((*shape, *channels), np.float32)
    info = np.iinfo(dtype)
    if data.draw(st.booleans()):  # few values, many of them equal
        return rng.choice([info.min, 7, info.max], (*shape, *channels)).astype(dtype)
    return rng.integers(info.min, info.max, (*shape, *channels), dtype, endpoint=True)


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
    batch = np.stack([x, x[::-1]]) if x.ndim == 3 else np.stack([x, x[::-1]])[..., None]
    flipped = np.stack([got, got[::-1]])
    np.testing.assert_array_equal(
        c.convert_colour(batch, name),
        flipped[..., None] if name == "rgb_to_gray" else flipped,
    )


def test_names_that_are_none_say_what_there_is(c: gpucall.Client) -> None:
    with pytest.raises(gpucall.Error, match="'bgr_to_gray'.*rgb_to_gray, gray_to_rgb"):
        c.convert_colour(np.zeros((2, 2, 3), np.uint8), "bgr_to_gray")


def test_images_in_a_program(c: gpucall.Client) -> None:
    x = np.random.default_rng(0).integers(0, 256, (9, 8, 3), np.uint8)
    p = gpucall.Program()
    gray = p.convert_colour(p.input(), "rgb_to_gray")
    p.output(gray, gray + 1)
    got, more = c.run(p, x)
    np.testing.assert_array_equal(got, cv2.cvtColor(x, cv2.COLOR_RGB2GRAY))
    assert more.dtype == np.uint8
    np.testing.assert_array_equal(more, got + np.uint8(1))
