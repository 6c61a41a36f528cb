"""The table of measured errors in docs/numerics.md."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
DEVICES = ("CPU", "GPU")
NONE = "-"
_MACHINE = re.compile(r"^(CPU|GPU): (.*)$", re.MULTILINE)


@dataclass
class Measured:
    """What was measured on a device; `cells[operation][dtype]` as the table shows it."""

    machine: str = ""
    cells: dict[str, dict[str, str]] = field(default_factory=dict)


def cell(error: float) -> str:
    """An error in ULP, rounded up; 0 is exact, 0.5 rounded once."""
    if math.isinf(error):
        return "wrong"
    up = math.ceil((error - 1e-3) * 100) / 100  # the reference's own error taken off
    return f"{up:.2f}".rstrip("0").rstrip(".") if up < 10 else f"{math.ceil(up)}"


def limit(text: str) -> float:
    """The error that a cell stands for, in ULP."""
    return math.inf if text == "wrong" else float(text)


def parse(document: str) -> dict[str, Measured]:
    """The devices' parts of the document's table."""
    part = document[document.index(BEGIN) : document.index(END)]
    found = {device: Measured() for device in DEVICES}
    for device, machine in _MACHINE.findall(part):
        found[device].machine = machine
    rows = [line for line in part.splitlines() if line.startswith("|")][2:]
    for row in rows:
        names, *cells = (text.strip() for text in row.strip("|").split("|"))
        for name in names.split(", "):
            for dtype, both in zip(DTYPES, cells, strict=True):
                for device, text in zip(DEVICES, both.split(" / "), strict=False):
                    if text and text != NONE:
                        found[device].cells.setdefault(name, {})[dtype] = text
    return found


def written(document: str, measured: dict[str, Measured]) -> str:
    """The document with these figures in its table."""
    before, rest = document.split(BEGIN)
    after = rest.split(END)[1]
    lines = "\n".join(_lines(measured))
    return f"{before}{BEGIN}\n{lines}\n{END}{after}"


def _lines(measured: dict[str, Measured]) -> Iterator[str]:
    for device in DEVICES:
        if measured[device].machine:
            yield f"{device}: {measured[device].machine}"
            yield ""
    yield "| operations | " + " | ".join(DTYPES) + " |"
    yield "| --- |" + " ---: |" * len(DTYPES)
    alike: dict[tuple[str, ...], list[str]] = {}
    names = dict.fromkeys(n for device in DEVICES for n in measured[device].cells)
    for name in names:
        alike.setdefault(tuple(_row(measured, name)), []).append(name)
    for cells, together in alike.items():
        yield f"| {', '.join(together)} | " + " | ".join(cells) + " |"


def _row(measured: dict[str, Measured], name: str) -> Iterator[str]:
    """The operation's cells, "CPU / GPU"; one figure where no GPU was measured at all."""
    devices = [d for d in DEVICES if d == "CPU" or measured[d].cells]
    for dtype in DTYPES:
        parts = [measured[d].cells.get(name, {}).get(dtype, NONE) for d in devices]
        yield NONE if set(parts) == {NONE} else " / ".join(parts)
