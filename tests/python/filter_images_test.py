"""Filters of several images in one array."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.ndimage
from hypothesis import given
from hypothesis import strategies as st

import gpucall


@given(
    leading=st.lists(st.integers(1, 3), min_size=1, max_size=3),
    sides=st.tuples(st.integers(1, 12), st.integers(1, 12), st.integers(1, 4)),
    dtype=st.sampled_from([np.float32, np.float64]),
    mode=st.sampled_from(["nearest", "reflect", "mirror", "wrap", "constant"]),
)
def test_images_are_filtered_each_by_itself(
    leading: list[int],
    sides: tuple[int, int, int],
    dtype: Any,
    mode: str,
    c: gpucall.Client,
) -> None:
    rng = np.random.default_rng(sum(sides))
    x = rng.random((*leading, *sides)).astype(dtype)
    axes = (-3, -2)
    gaussian = scipy.ndimage.gaussian_filter(x, 1.5, mode=mode, axes=axes)
    np.testing.assert_allclose(c.gaussian(x, sigma=1.5, mode=mode), gaussian, rtol=2e-6)
    median = scipy.ndimage.median_filter(x, 3, mode=mode, axes=axes)
    np.testing.assert_array_equal(c.median(x, size=3, mode=mode), median)


def test_images_of_bytes_are_rounded_as_one_is(c: gpucall.Client) -> None:
    x = np.random.default_rng(0).integers(0, 256, (5, 40, 30, 3), dtype=np.uint8)
    alone = np.stack([c.gaussian(image, sigma=2) for image in x])
    np.testing.assert_array_equal(c.gaussian(x, sigma=2), alone)


def test_too_many_images(c: gpucall.Client) -> None:
    x = np.zeros(((1 << 20) + 1, 1, 1, 1), np.uint8)
    with pytest.raises(gpucall.Error, match="1048577 images .* allowed .* are 1048576"):
        c.box(x, size=3)


@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
def test_lines_are_no_images(c: gpucall.Client, dtype: Any) -> None:
    expected = r"shape \(7\), allowed without axes is \(rows, columns\)"
    with pytest.raises(gpucall.Error, match=expected):
        c.box(np.zeros(7, dtype), size=3)
