"""What the methods for images share."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, SupportsFloat, SupportsIndex

import numpy as np

from gpucall import _wire
from gpucall._error import invalid
from gpucall._operations import Call, Caller, Operand, Result

Sides = tuple[SupportsIndex, SupportsIndex]  # rows, columns


class ImageCaller(Caller[Operand, Result]):
    """Something that can call operations on images."""

    def _image(self, image: Operand, timeout: float | None, **kind: Any) -> Result:
        operation = _wire.Operation(image=_wire.Image(**kind))
        return self._call(Call(operation, (image,), timeout=timeout))


def image_dtype(operation: Any, image: np.dtype[Any]) -> np.dtype[Any]:
    """Of the result."""
    kind = operation.WhichOneof("kind")
    if kind == "integral":
        return np.dtype({"u": "uint64", "f": "float64"}.get(image.kind, "int64"))
    others = {"otsu": "uint8", "histogram": "int64", "normalise": "float32"}
    return np.dtype(others.get(kind, image))


def named(what: str, name: str, numbers: dict[str, int]) -> int:
    """The number of a name on the wire."""
    number = numbers.get(name)
    if number is None:
        raise invalid(f"{what} {name!r} is not one; allowed: {', '.join(numbers)}")
    return number


def border(mode: str, cval: float) -> dict[str, Any]:
    return {"mode": named("mode", mode, _wire.BORDER_MODES), "cval": cval}


def whole(what: str, value: SupportsIndex) -> int:
    number = operator.index(value)
    if not -(2**63) <= number < 2**63:
        raise invalid(f"{what} {number} does not fit in 64 bits")
    return number


def sides(shape: Sides) -> dict[str, int]:
    rows, columns = shape
    return {"rows": whole("rows", rows), "columns": whole("columns", columns)}


def numbers(value: SupportsFloat | Iterable[SupportsFloat]) -> list[float]:
    return [float(v) for v in value] if isinstance(value, Iterable) else [float(value)]
