"""Exact results of the elementwise operations, and what their errors are units of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

from ulp import wide

# Computed by the same rule in the operands' dtype: the result is that, to the bit.
BY_RULE: dict[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in ("negative", "positive", "sign", "conj")},
    **{name: getattr(np, name) for name in ("floor", "ceil", "trunc", "round")},
    **{name: getattr(np, name) for name in ("real", "imag", "copysign", "nextafter")},
    **{name: getattr(np, name) for name in ("minimum", "maximum", "fmin", "fmax")},
    "relu": lambda x: np.maximum(x, x.dtype.type(0)),
    "where": lambda condition, x, y: np.where(condition != 0, x, y),
    "clip": lambda x, low, high: np.minimum(np.maximum(x, low), high),
}


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _silu(x: Any) -> Any:
    return np.where(x == -np.inf, -0.0, x * _sigmoid(x))


def _gelu_tanh(x: Any) -> Any:
    two = np.longdouble(2)
    u = 2 * np.sqrt(two / np.arccos(np.longdouble(-1)))
    u = u * (x + np.longdouble("0.044715") * x * x * x)
    return np.where(x == -np.inf, -0.0, x * _sigmoid(u))


def _reciprocal(x: Any) -> Any:
    return 1 / x


def _multiply_add(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


# In longdouble; NumPy's function of the name where there is none here.
OWN: dict[str, Callable[..., Any]] = {
    "sigmoid": _sigmoid,
    "silu": _silu,
    "gelu_tanh": _gelu_tanh,
    "softplus": lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
    "leaky_relu": lambda x, slope: np.where(x > 0, x, slope * x),
    "reciprocal": _reciprocal,
    "multiply_add": _multiply_add,
}


def _gelu(x: Any) -> Any:
    if abs(x) > 200:  # where erfc is 2, or less than longdouble has
        return x if x > 0 else mpmath.mpf(0)
    return x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def _real_mp(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def at(x: Any) -> Any:
        return function(mpmath.mpf(float(x)))

    return at


# By mpmath, one number after the other: what longdouble has no function for.
SLOW: dict[str, Callable[[Any], Any]] = {
    "erf": _real_mp(mpmath.erf),
    "gelu": _real_mp(_gelu),
}

_COMPLEX: dict[str, Callable[..., Any]] = {
    **{n: getattr(mpmath, n) for n in ("exp", "expm1", "log", "log10", "sqrt")},
    **{n: getattr(mpmath, n) for n in ("sin", "cos", "tan", "asin", "acos", "atan")},
    **{n: getattr(mpmath, n) for n in ("sinh", "cosh", "tanh", "asinh", "acosh")},
    "atanh": mpmath.atanh,
    "abs": abs,
    "square": lambda z: z * z,
    "exp2": lambda z: mpmath.power(2, z),
    "log1p": lambda z: mpmath.log(1 + z),
    "log2": lambda z: mpmath.log(z) / mpmath.log(2),
    "reciprocal": lambda z: 1 / z,
    "sign": lambda z: z / abs(z),
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "power": mpmath.power,
    "multiply_add": _multiply_add,
}

# Whose results are bools: of complex numbers NumPy's own are exact.
_OF_TRUTHS = {
    *("isnan", "isinf", "isfinite", "equal", "not_equal", "less", "less_equal"),
    *("greater", "greater_equal", "logical_and", "logical_or", "logical_xor"),
    "logical_not",
}


def exact(name: str, operands: list[Any]) -> Any:
    """longdouble or clongdouble. KeyError: no reference for this name."""
    with np.errstate(all="ignore"):
        is_complex = operands[0].dtype.kind == "c"
        if is_complex and name in _COMPLEX:
            return _by_mpmath(_COMPLEX[name], operands)
        if name in BY_RULE:
            return wide(np.asarray(BY_RULE[name](*operands)))
        numbers = [wide(x) for x in operands]
        if name in SLOW:
            return _slow(name, numbers[0])
        function = OWN.get(name) or getattr(np, name, None)
        if function is None or (is_complex and name not in _OF_TRUTHS):
            raise KeyError(name)
        return np.asarray(function(*numbers))


def scale(name: str, operands: list[Any]) -> Any:
    """What errors are in ULP of, where it is larger than the result: sums that cancel."""
    if name == "logaddexp" or (operands[0].dtype.kind == "c" and name == "expm1"):
        return np.maximum.reduce([np.abs(wide(x)) for x in operands])
    if name == "multiply_add":
        with np.errstate(all="ignore"):
            return np.abs(wide(operands[0]) * wide(operands[1]))
    return np.longdouble(0)


def _slow(name: str, x: Any) -> Any:
    limits = {"erf": (-1, 1), "gelu": (-0.0, np.inf)}[name]
    result = np.full(x.shape, np.nan, np.longdouble)
    result[x == -np.inf], result[x == np.inf] = limits
    finite = np.flatnonzero(np.isfinite(x))
    with mpmath.workprec(120):
        for i in finite:
            result[i] = _long(SLOW[name](x[i]))
    return result


def _by_mpmath(function: Callable[..., Any], operands: list[Any]) -> Any:
    result = np.empty(operands[0].shape, np.clongdouble)
    with mpmath.workprec(120):
        for i, numbers in enumerate(zip(*operands, strict=True)):
            value = function(*(mpmath.mpc(complex(z)) for z in numbers))
            result.real[i] = _long(mpmath.re(value))
            result.imag[i] = _long(mpmath.im(value))
    return result


def _long(value: Any) -> Any:
    """An mpf as longdouble: its 64 highest bits."""
    with mpmath.workprec(64):
        value = +value
    if not mpmath.isfinite(value) or value == 0:
        return np.longdouble(float(value))
    sign, mantissa, exponent, _ = value._mpf_
    if exponent < -20_000:  # less than longdouble has
        return np.longdouble(-0.0 if sign else 0.0)
    high, low = divmod(int(mantissa), 2**32)
    number = np.longdouble(high) * np.longdouble(2) ** 32 + np.longdouble(low)
    return np.ldexp(-number if sign else number, int(exponent))
