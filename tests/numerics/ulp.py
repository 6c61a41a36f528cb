"""How far results are from exact ones, in units in the last place (ULP).

Exact values are numpy.longdouble, or numpy.clongdouble: of 64 bits on x86-64, so that what
they lack is a thousandth of a float64's ULP.
"""

from __future__ import annotations

from typing import Any

import numpy as np

WRONG = np.inf


def wide(array: Any) -> Any:
    """The same values as longdouble or clongdouble."""
    if array.dtype.name == "bfloat16":
        array = array.astype(np.float32)
    with np.errstate(all="ignore"):  # of NaN, which a conversion may signal
        return array.astype(
            np.clongdouble if array.dtype.kind == "c" else np.longdouble
        )


def unit(size: Any, dtype: Any) -> Any:
    """The distance of `dtype`'s numbers at `size` (longdouble, not negative)."""
    limits = finfo(dtype)
    least = np.longdouble(2) ** (limits.minexp - limits.nmant)
    most = np.longdouble(2) ** (limits.maxexp - 1 - limits.nmant)
    with np.errstate(all="ignore"):
        exponent = np.frexp(np.where(np.isfinite(size), size, 1))[1]
        here = np.ldexp(np.longdouble(1), exponent - 1 - limits.nmant)
    return np.where(size == 0, least, np.clip(here, least, most))


def finfo(dtype: Any) -> Any:
    """numpy.finfo of the real part; of bfloat16 too."""
    if np.dtype(dtype).name == "bfloat16":
        import ml_dtypes

        return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    return np.finfo(dtype)


def errors(got: Any, exact: Any, scale: Any = 0) -> Any:
    """Of each element the distance in ULP of `exact`, or of `scale` where that is larger.

    0 where both are NaN, or the same infinity; WRONG where only one is. Past the largest
    number infinity is as right as what it is the rounding of.
    """
    dtype = got.dtype
    if dtype.kind not in "fcV":  # V: bfloat16
        return np.where(got == exact, 0.0, WRONG)
    got, limits = wide(got), finfo(dtype)
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(exact), np.abs(np.longdouble(scale)))
        distance = np.abs(got - exact) / unit(size, dtype)
        largest = np.longdouble(float(limits.max))
        past = np.isinf(got) & (np.abs(exact) >= largest) & (got * exact > 0)
        same = (got == exact) | (np.isnan(got) & np.isnan(exact)) | past
    return np.where(same, 0.0, np.where(np.isfinite(distance), distance, WRONG))
