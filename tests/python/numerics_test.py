"""tests/numerics, which measures errors, and the table that it writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gpucall
from server_process import DEVICE

pytest.importorskip("mpmath", reason="the exact results need it")

import measure
import table
import ulp

COLUMN = "GPU" if DEVICE.startswith("cuda") else "CPU"


def one(got: Any, exact: Any, scale: float = 0) -> float:
    return float(
        ulp.errors(np.array([got]), np.array([np.longdouble(exact)]), scale)[0]
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_ulp_are_distances_of_neighbours(dtype: Any) -> None:
    for x in np.array([1, 1.5, 3, 1e-3, 6e4, 0], dtype):
        up = np.nextafter(x, dtype(np.inf))
        assert one(up, x) == 1 and one(x, x) == 0
        assert one(x, (np.longdouble(x) + np.longdouble(up)) / 2) == 0.5
    least, most = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    assert one(dtype(0), np.longdouble(least) * 3) == 3
    assert one(dtype(np.inf), np.longdouble(most) * 2) == 0
    assert one(dtype(1.5), 1, scale=4) == 0.125 / np.finfo(dtype).eps
    for wrong in (np.nan, np.inf, -np.inf):
        assert one(dtype(wrong), 1) == ulp.WRONG and one(dtype(wrong), wrong) == 0
        assert one(dtype(1), wrong) == ulp.WRONG
    assert one(dtype(-np.inf), np.longdouble(most) * 2) == ulp.WRONG


def test_cells_never_say_less() -> None:
    cells = {0.0: "0", 0.5: "0.5", 0.5004: "0.5", 0.512: "0.52", 9.001: "9", 10.2: "11"}
    assert {error: table.cell(error) for error in cells} == cells
    assert table.limit(table.cell(np.inf)) == np.inf


def test_the_table_keeps_the_other_device() -> None:
    text = f"before\n{table.BEGIN}\n{table.END}\nafter\n"
    cpu = table.Measured(
        "a CPU", {"add": {"float32": "0.5"}, "sum": {"float32": "0.5"}}
    )
    gpu = table.Measured("a GPU", {"add": {"float32": "0.5", "float64": "0.5"}})
    text = table.written(text, table.parse(text) | {"CPU": cpu})
    assert "| add, sum | - | - | 0.5 |" in text
    text = table.written(text, table.parse(text) | {"GPU": gpu})
    assert "| add | - | - | 0.5 / 0.5 | - / 0.5 |" in text
    assert table.parse(text) == {"CPU": cpu, "GPU": gpu}
    assert text.startswith("before\n") and text.endswith("\nafter\n")


def test_no_error_is_larger_than_the_table_says(c: gpucall.Client) -> None:
    """Of a twentieth of the table's operands; along axes and in filters, of all."""
    if not measure.DOCUMENT.exists():
        pytest.skip("no docs/numerics.md beside these tests")
    said = table.parse(measure.DOCUMENT.read_text())[COLUMN].cells
    if COLUMN == "GPU" and not said:
        pytest.skip("docs/numerics.md has no figures of a GPU")
    worse, count = [], 0
    for operation in c.ops():
        for dtype in measure.float_dtypes(operation):
            limit = said.get(operation.name, {}).get(dtype.name)
            if limit is None:
                continue
            error, where = measure.measure(c, operation, dtype, step=20)
            count += 1
            if error > 1.25 * table.limit(limit):  # libraries differ by processor
                worse.append(f"{operation.name} of {dtype}: {error} ULP, {where}")
    assert count >= 75 and not worse, "\n".join(worse)
