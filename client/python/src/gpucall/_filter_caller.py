"""What the filter methods share."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np
import numpy.typing as npt

from gpucall import _wire
from gpucall._error import invalid
from gpucall._operations import Call, Caller, Operand, Result
from gpucall._tensors import dtype_number

Pair = SupportsFloat | Iterable[SupportsFloat]  # one for all axes, or one for each
IndexPair = SupportsIndex | Iterable[SupportsIndex]
Axes = SupportsIndex | Iterable[SupportsIndex] | None
Modes = str | Iterable[str]

_ALIASES = {"grid-mirror": "reflect", "grid-wrap": "wrap", "grid-constant": "constant"}


class FilterCaller(Caller[Operand, Result]):
    """Something that can call filters."""

    def _filter(
        self,
        kind: dict[str, Any],
        image: Operand,
        mode: Modes,
        cval: float,
        output: npt.DTypeLike | None,
        timeout: float | None,
        *weights: Operand,
        axes: Axes = None,
        footprint: npt.ArrayLike | None = None,
    ) -> Result:
        each = [] if isinstance(mode, str) else [_border_mode(name) for name in mode]
        border = {"cval": cval}
        if isinstance(mode, str):
            border["mode"] = _border_mode(mode)
        elif not each:
            raise invalid("mode is empty, allowed are one, or one for each of the axes")
        message = _wire.Filter(
            **kind,
            border=border,
            output_dtype=0 if output is None else dtype_number(output),
            axes=None if axes is None else {"axis": integers("axes", axes)},
            modes=each,
            footprint=None if footprint is None else _footprint(footprint),
        )
        operation = _wire.Operation(filter=message)
        return self._call(Call(operation, (image, *weights), timeout=timeout))


def _border_mode(mode: str) -> int:
    number = _wire.BORDER_MODES.get(_ALIASES.get(mode, mode))
    if number is None:
        allowed = ", ".join(_wire.BORDER_MODES)
        raise invalid(f"mode {mode!r} is not a border mode; allowed: {allowed}")
    return number


def _footprint(elements: npt.ArrayLike) -> dict[str, Any]:
    array = np.asarray(elements) != 0
    return {"shape": array.shape, "elements": array.tobytes()}


def kernel(weights: Any) -> Any:
    return np.asarray(weights, np.float64) if isinstance(weights, list) else weights


def window(size: IndexPair, origin: IndexPair) -> dict[str, list[int]]:
    return {"size": integers("size", size), "origin": integers("origin", origin)}


def floats(value: Pair) -> list[float]:
    return [float(v) for v in value] if isinstance(value, Iterable) else [float(value)]


def integers(name: str, value: IndexPair) -> list[int]:
    numbers = value if isinstance(value, Iterable) else [value]
    indices = [operator.index(number) for number in numbers]
    for integer in indices:
        if not -(2**63) <= integer < 2**63:
            raise invalid(f"{name} {integer} does not fit in 64 bits")
    return indices
