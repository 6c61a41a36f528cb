"""Arrays that the server makes from numbers alone, with NumPy's names."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from gpucall import _wire
from gpucall._error import invalid
from gpucall._operations import Call, Caller, Operand, Result
from gpucall._tensors import byte_view, dtype_number

Shape = SupportsIndex | Sequence[SupportsIndex]


class Creation(Caller[Operand, Result]):
    """Arrays made on the server. `timeout` is in seconds.

    What is random depends on `seed` alone, an int of 64 bits: on every device, for each
    index of the flattened array. Every operation raises Error: INVALID_ARGUMENT for
    numbers that the dtype does not have; UNIMPLEMENTED for a dtype not offered;
    RESOURCE_EXHAUSTED for too large an array.
    """

    def full(
        self,
        shape: Shape,
        fill_value: Any,
        *,
        dtype: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """One value everywhere; without `dtype` of the dtype that NumPy gives it.

        Examples
        --------
        >>> c.full((2, 3), 7)
        array([[7, 7, 7],
               [7, 7, 7]])
        """
        value = np.asarray(fill_value, dtype)
        if value.shape != ():
            raise invalid(f"full: fill_value has shape {value.shape}, allowed is ()")
        full = {"value": bytes(byte_view(np.ascontiguousarray(value)))}
        return self._create("full", shape, value.dtype, timeout, full)

    def arange(
        self,
        start: float,
        stop: float | None = None,
        step: float = 1,
        *,
        dtype: npt.DTypeLike | None = None,
        timeout: float | None = None,
    ) -> Result:
        """Numbers from `start`, or 0, up to below `stop`, `step` apart; as NumPy's.

        Without `dtype` int64 for ints, else float64. float16 and bfloat16 are computed in
        float32.

        Examples
        --------
        >>> c.arange(3)
        array([0, 1, 2])
        >>> c.arange(1, 2, 0.25, dtype=np.float32)
        array([1.  , 1.25, 1.5 , 1.75], dtype=float32)
        """
        if stop is None:
            start, stop = 0, start
        if step == 0:
            raise invalid("arange: step is 0, allowed are other numbers")
        numbers = (start, stop, step)
        kind = np.result_type(*(type(n) for n in numbers)) if dtype is None else dtype
        wanted = np.dtype(kind)
        if all(isinstance(n, (int, np.integer)) for n in numbers):
            count = -((int(start) - int(stop)) // int(step))
        else:
            count = math.ceil((stop - start) / step)
        fields: dict[str, Any]
        if wanted.kind in "iu":
            fields = {
                "integer_start": _wrapped(int(start)),
                "integer_step": _wrapped(int(step)),
            }
        else:
            fields = {"start": float(start), "step": float(step)}
        return self._create("arange", max(count, 0), wanted, timeout, fields)

    def random_uniform(
        self,
        shape: Shape = (),
        low: float = 0.0,
        high: float = 1.0,
        *,
        seed: int,
        dtype: npt.DTypeLike = np.float32,
        timeout: float | None = None,
    ) -> Result:
        """Random floats of [low, high), evenly distributed.

        They are multiples of 2^-p of the interval, p the dtype's significant bits, in
        float64, then rounded: to `high` where the dtype has too few bits.

        Examples
        --------
        >>> c.random_uniform(3, seed=1).round(3)
        array([0.895, 0.711, 0.874], dtype=float32)
        """
        fields = {"low": float(low), "high": float(high), "seed": _seed(seed)}
        return self._create("random_uniform", shape, dtype, timeout, fields)

    def random_normal(
        self,
        shape: Shape = (),
        mean: float = 0.0,
        standard_deviation: float = 1.0,
        *,
        seed: int,
        dtype: npt.DTypeLike = np.float32,
        timeout: float | None = None,
    ) -> Result:
        """Random floats, normally distributed.

        Examples
        --------
        >>> c.random_normal(3, seed=1).round(3)
        array([-0.511, -2.059, -1.133], dtype=float32)
        """
        fields = {
            "mean": float(mean),
            "standard_deviation": float(standard_deviation),
            "seed": _seed(seed),
        }
        return self._create("random_normal", shape, dtype, timeout, fields)

    def random_integers(
        self,
        shape: Shape,
        low: int,
        high: int,
        *,
        seed: int,
        dtype: npt.DTypeLike = np.int64,
        timeout: float | None = None,
    ) -> Result:
        """Random integers of low ... high - 1, each as likely.

        Examples
        --------
        >>> c.random_integers(8, 0, 10, seed=1)
        array([8, 7, 8, 6, 5, 9, 0, 0])
        """
        low, high = operator.index(low), operator.index(high)
        count = high - low
        if not (0 < count <= 2**64 and -(2**63) <= low < 2**63):
            raise invalid(
                f"random_integers: low is {low} and high is {high}, allowed are a low of 64"
                " bits, and a high above it by at most 2^64"
            )
        fields = {"low": low, "range": count % 2**64, "seed": _seed(seed)}
        return self._create("random_integers", shape, dtype, timeout, fields)

    def _create(
        self,
        name: str,
        shape: Shape,
        dtype: npt.DTypeLike,
        timeout: float | None,
        fields: dict[str, Any],
    ) -> Result:
        sizes = shape if isinstance(shape, Sequence) else (shape,)
        message = _wire.Creation(
            dtype=dtype_number(np.dtype(dtype)),
            shape=[operator.index(size) for size in sizes],
            **{name: fields},
        )
        return self._call(Call(_wire.Operation(creation=message), (), timeout=timeout))


def _seed(seed: SupportsIndex) -> int:
    number = operator.index(seed)
    if not 0 <= number < 2**64:
        raise invalid(f"seed is {number}, allowed are 0 to 2^64 - 1")
    return number


def _wrapped(number: int) -> int:
    """The int64 that is the same modulo 2^64."""
    return (number + 2**63) % 2**64 - 2**63
