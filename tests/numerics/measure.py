"""Measures each operation's largest error, in ULP, and writes it into docs/numerics.md.

Starts the server that GPUCALL_SERVER_BINARY names, on --device; its results come over the
wire. The operands are those of samples.py: the same in every run. --save FILE writes the
figures to FILE in place of the table, and --from FILE takes them from there, for a machine
with a GPU that has no checkout.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

import along_axes
import elementwise
import gpucall
import samples
import ulp
from server_process import ServerProcess
from table import DTYPES, Measured, cell, parse, written

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "numerics.md"
# Operations of floats whose results are none, or are the operands' elements.
NOT_MEASURED = {"argmin", "argmax", "any", "all", "count_nonzero"} | {
    f"binary_{name}" for name in ("erosion", "dilation", "opening", "closing")
}
KINDS = {"elementwise", "reduce", "matmul", "filter", "network"}
REMARKABLE = 8  # ULP: what is said while it measures


def dtype_of(name: str) -> Any:
    """The NumPy dtype, None where this client sends none of the name."""
    try:
        import ml_dtypes  # noqa: F401  # registers bfloat16

        return np.dtype(name)
    except (ImportError, TypeError):
        return None


def operands(operation: gpucall.OperationInfo, dtype: Any) -> list[Any]:
    """What an elementwise operation is measured on."""
    if dtype.kind == "c":
        return samples.complex_numbers(operation.inputs, dtype)
    slow = operation.name in elementwise.SLOW
    count = samples.SLOW_COUNT if slow else samples.COUNT
    if operation.inputs == 1:
        return [samples.unary(dtype, count)]
    return samples.several(operation.inputs, dtype, count)


def elementwise_error(
    c: gpucall.Client, operation: gpucall.OperationInfo, dtype: Any, step: int
) -> tuple[float, str]:
    """The largest error, and of which operands."""
    numbers = [x[::step] for x in operands(operation, dtype)]
    exact = elementwise.exact(operation.name, numbers)
    got = getattr(c, operation.name)(*numbers)
    distance = ulp.errors(got, exact, elementwise.scale(operation.name, numbers))
    if dtype.kind == "c":  # the standards differ about those that are not finite
        with np.errstate(all="ignore"):
            rounded = np.abs(exact).astype(got.real.dtype)
            distance = np.where(np.isfinite(rounded), distance, 0)
    worst = int(np.argmax(distance))
    values = ", ".join(str(x[worst]) for x in numbers)
    return float(distance[worst]), f"({values}) gave {got[worst]}, not {exact[worst]}"


def cast_error(c: Any, dtype: Any) -> tuple[float, str]:
    """Of float64 to the dtype; to float64, of float32."""
    x = samples.unary(np.float32 if dtype == np.float64 else np.float64)
    got = c.astype(x, dtype)
    distance = ulp.errors(got, ulp.wide(x))
    worst = int(np.argmax(distance))
    return float(distance[worst]), f"{x[worst]} gave {got[worst]}"


def other_error(
    c: gpucall.Client, operation: gpucall.OperationInfo, dtype: Any
) -> tuple[float, str]:
    worst, where = 0.0, ""
    for case in along_axes.cases(operation.name, operation.kind, dtype):
        got = np.asarray(getattr(c, operation.name)(*case.operands, **case.arguments))
        error = float(np.max(ulp.errors(got, case.exact, case.scale)))
        if error > worst:
            worst, where = error, f"shape {case.operands[0].shape}, {case.arguments}"
    return worst, where


def float_dtypes(operation: gpucall.OperationInfo) -> Iterator[Any]:
    """Those it takes that the table has; of bits and truths there is nothing to measure."""
    if operation.kind in KINDS and operation.name not in NOT_MEASURED:
        for name in DTYPES:
            dtype = dtype_of(name)
            is_cast = operation.name == "cast" and name.startswith("complex")
            if name in operation.dtypes and dtype is not None and not is_cast:
                yield dtype


def measure(
    c: gpucall.Client, operation: gpucall.OperationInfo, dtype: Any, step: int = 1
) -> tuple[float, str]:
    """The largest error in ULP, and where it was met; of each `step`th operand."""
    if operation.name == "cast":
        return cast_error(c, dtype)
    if operation.kind == "elementwise":
        return elementwise_error(c, operation, dtype, step)
    return other_error(c, operation, dtype)


def measure_server(device: str) -> tuple[str, Measured]:
    """ "CPU" or "GPU", and the figures of a server that starts and ends here."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        server = ServerProcess(Path(folder), f"--device={device}")
        with gpucall.connect(server.address) as c:
            info = c.info()
            chosen = info.devices[0]
            found = Measured(f"{chosen.name}, gpucall {info.version}")
            for operation in c.ops():
                for dtype in float_dtypes(operation):
                    error, where = measure(c, operation, dtype)
                    cells = found.cells.setdefault(operation.name, {})
                    cells[dtype.name] = cell(error)
                    if error > REMARKABLE:
                        print(f"{operation.name} of {dtype}: {error:.3g} ULP, {where}")
        server.stop()
    seconds = time.monotonic() - started
    figures = sum(len(cells) for cells in found.cells.values())
    print(
        f"{chosen.id}: {len(found.cells)} operations, {figures} figures, {seconds:.0f} s"
    )
    return ("GPU" if chosen.id.startswith("cuda") else "CPU"), found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="auto", help="of the server")
    parser.add_argument("--save", type=Path, help="write the figures to this file")
    parser.add_argument(
        "--from", dest="source", type=Path, help="take the figures of it"
    )
    arguments = parser.parse_args()
    if arguments.source:
        saved = json.loads(arguments.source.read_text())
        place, found = saved["place"], Measured(saved["machine"], saved["cells"])
    else:
        place, found = measure_server(arguments.device)
    if arguments.save:
        arguments.save.write_text(json.dumps({"place": place, **asdict(found)}))
    else:
        document = DOCUMENT.read_text()
        measured = parse(document) | {place: found}
        DOCUMENT.write_text(written(document, measured))
        print(f"written: {DOCUMENT}")
    wrong = [n for n, cells in found.cells.items() if "wrong" in cells.values()]
    if wrong:
        sys.exit(f"wrong results: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
