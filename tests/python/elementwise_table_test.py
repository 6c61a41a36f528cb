"""Every operation of every dtype, and of every two, against NumPy: numbers that are special, and others."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gpucall
from numpy_answers import ARITY, DTYPES, allowed_ulps, answer, cast_answer, ulps

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
ALL = [*map(np.dtype, DTYPES), BFLOAT16]
NARROW = ("bool", "uint8", "int8", BFLOAT16)  # beside which bfloat16 stays


def values(dtype: np.dtype[Any], count: int) -> Any:
    """`count` elements, of complex dtypes finite and not small: the standards differ about the others."""
    rng: Any = np.random.default_rng(dtype.num)
    limits: Any
    special: list[Any]
    if dtype.kind in "bu":
        special = [False, True]
        if dtype.kind == "u":
            limits = np.iinfo(dtype)
            special = [0, 1, 2, 3, 7, limits.max, limits.max // 2, limits.max // 2 + 1]
        numbers = rng.integers(0, 40, count)
    elif dtype.kind == "i":
        limits = np.iinfo(dtype)
        special = [0, 1, -1, 2, -2, 3, 7, limits.min, limits.max, limits.min + 1]
        numbers = rng.integers(-40, 40, count)
    elif dtype.kind == "c":
        special = [0, 1, -1, 1j, -1j, 2, 0.5 + 0.5j, -2 - 3j]
        numbers = rng.uniform(-8, 8, count) + 1j * rng.uniform(-8, 8, count)
    else:
        limits = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
        special = [0.0, -0.0, 1, -1, 0.5, 1.5, 2.5, -2.5, 3, np.inf, -np.inf, np.nan]
        special += [limits.max, limits.tiny, limits.smallest_subnormal, -limits.tiny]
        numbers = rng.standard_normal(count) * 6
    array = np.asarray(numbers).astype(dtype)
    array[: len(special)] = np.array(special, dtype)[:count]
    return array


def right_answer(name: str, arrays: Sequence[Any]) -> Any:
    """NumPy's; bfloat16 is float32, rounded where all operands are narrow. None: an error."""
    dtypes = [a.dtype for a in arrays[name == "where" :]]
    stays = BFLOAT16 in dtypes and all(dtype in NARROW for dtype in dtypes)
    if name == "nextafter" and stays:  # its own neighbours
        return np.nextafter(*(a.astype(BFLOAT16) for a in arrays))
    try:
        right = answer(name, [widened(a) for a in arrays])
    except (TypeError, ValueError):
        return None
    return right.astype(BFLOAT16) if stays and right.dtype == np.float32 else right


def widened(array: Any) -> Any:
    return array.astype(np.float32) if array.dtype == BFLOAT16 else array


def distance(got: Any, right: Any) -> Any:
    """In units of the last place."""
    return ulps(widened(got), widened(right)) / (2**16 if got.dtype == BFLOAT16 else 1)


def differences(c: gpucall.Client, name: str, arrays: Sequence[Any]) -> list[str]:
    """What is wrong with the result for these operands."""
    case = f"{name}({', '.join(str(a.dtype) for a in arrays)})"
    right = right_answer(name, arrays)
    try:
        got = getattr(c, name)(*arrays)
    except gpucall.Error as error:
        named = error.code.name == "INVALID_ARGUMENT" and name in str(error)
        return [] if right is None and named else [f"{case}: {error}"]
    if right is None:
        return [f"{case}: NumPy refuses"]
    if got.dtype != right.dtype or got.shape != right.shape:
        return [f"{case}: {got.dtype} {got.shape}, not {right.dtype} {right.shape}"]
    if name == "power" and right.dtype.kind == "c":
        return []  # NumPy's own powers are far off; the contract tests have right ones
    operands = [widened(a) for a in np.broadcast_arrays(*arrays)]
    allowed = allowed_ulps(name, operands, widened(right))
    if right.dtype == BFLOAT16:  # rounded from float32: the same, or a neighbour
        allowed = np.minimum(allowed, 1)
    wrong = np.argwhere(~(distance(got, right) <= allowed))
    return [
        f"{case} of {[a[tuple(at)] for a in operands]}: {got[tuple(at)]!r}, not {right[tuple(at)]!r}"
        for at in wrong[:3]
    ]


@pytest.mark.parametrize("name", ARITY)
def test_every_dtype_is_numpys(name: str, c: gpucall.Client) -> None:
    wrong = []
    for dtypes in itertools.product(ALL, repeat=min(ARITY[name], 2)):
        count = 200 if len(dtypes) == 1 else 24
        arrays = [values(dtype, count) for dtype in dtypes]
        if len(arrays) > 1:
            arrays[0] = arrays[0][:, None]
        if ARITY[name] == 3:
            arrays.append(values(dtypes[1], 24)[::-1])
        if name == "power" and dtypes[-1].kind == "i":
            arrays[1] = np.where(arrays[1] < 0, dtypes[1].type(5), arrays[1])
        wrong += differences(c, name, arrays)
    assert not wrong, "\n".join(wrong[:40])


@pytest.mark.parametrize("source", ALL, ids=str)
def test_every_cast_is_numpys(source: np.dtype[Any], c: gpucall.Client) -> None:
    x = values(source, 64)
    for target in ALL:
        got, right = c.astype(x, target), cast_answer(x, target)
        assert got.dtype == right.dtype
        np.testing.assert_array_equal(widened(got), widened(right), str(target))
