"""The numbers that operations are measured on: special ones, and random ones of a seed."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

SEED = 20240229
COUNT = 60_000  # random operands of each operation and dtype
COMPLEX_COUNT, SLOW_COUNT = 1_000, 4_000  # where the reference is mpmath


def specials(dtype: Any) -> Any:
    """Zeros, infinities, NaN, subnormals, the largest, and numbers with easy mistakes."""
    with np.errstate(all="ignore"):
        plain = np.array(
            [0, np.inf, np.nan, 1, 2, 3, 0.5, 1.5, 2.5, 10, 1 / 3, np.pi, np.pi / 2]
            + [np.e, 88.7, 89, 103.9, 104, 709.7, 745.2, 11, 11.1, 17, 20, 1e5, 1e22]
            + [65504, 65520, 2**24 + 1, 2.0**31, 2.0**53, 2.0**62]
            + [1 - 2**-8, 1 + 2**-7, 1 - 2**-24, 1 + 2**-23, 1 - 2**-53, 1 + 2**-52]
            + [2.0**-n for n in (8, 14, 24, 25, 126, 133, 149, 1022, 1074)]
        ).astype(dtype)
    bits = np.array([1, 2, 3], f"u{plain.itemsize}").view(dtype)  # subnormals
    return np.concatenate([plain, -plain, bits, -bits])


def patterns(dtype: Any, rng: np.random.Generator, count: int) -> Any:
    """Random bits: every exponent alike, some of them NaN."""
    size = np.dtype(dtype).itemsize
    return rng.integers(0, 2 ** (8 * size), count, f"u{size}", False).view(dtype)


def unary(dtype: Any, count: int = COUNT) -> Any:
    """One operand: of 16 bits all there are."""
    dtype = np.dtype(dtype)
    if dtype.itemsize == 2:
        return np.arange(65536, dtype=np.uint16).view(dtype)
    rng = np.random.default_rng(SEED)
    third = count // 3
    ordinary = rng.uniform(-12, 12, third)
    near = np.concatenate([1 + rng.normal(0, 0.01, third // 2)] * 2) * rng.choice(
        [-1, 1], third // 2 * 2
    )
    return np.concatenate(
        [specials(dtype), patterns(dtype, rng, third)]
        + [part.astype(dtype) for part in (ordinary, near)]
    )


def several(inputs: int, dtype: Any, count: int = COUNT) -> list[Any]:
    """Two or three operands: all pairs of specials, bits, like sizes, near ones."""
    rng = np.random.default_rng(SEED + inputs)
    pairs = list(itertools.product(specials(dtype), repeat=2))
    first, second = (np.array(column) for column in zip(*pairs, strict=True))
    columns = [[first], [second], [rng.permutation(first)]][:inputs]
    third = count // 3
    base = rng.uniform(-12, 12, third)
    for i, column in enumerate(columns):
        column.append(patterns(dtype, rng, third))
        column.append(rng.uniform(-12, 12, third).astype(dtype))
        sign = rng.choice([-1, 1], third)
        shift = 1 + (rng.normal(0, 0.01, third) if i else 0)
        column.append((base * shift * (sign if i else 1)).astype(dtype))
    return [np.concatenate(column) for column in columns]


def complex_numbers(inputs: int, dtype: Any) -> list[Any]:
    """Of sizes from 1e-3 to 30, in all four quarters."""
    rng = np.random.default_rng(SEED + 10 + inputs)

    def part() -> Any:
        size = 10 ** rng.uniform(-3, 1.5, COMPLEX_COUNT)
        return size * rng.choice([-1, 1], COMPLEX_COUNT)

    return [(part() + 1j * part()).astype(dtype) for _ in range(inputs)]
