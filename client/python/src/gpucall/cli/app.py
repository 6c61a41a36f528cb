"""Commands: info, ops, run, bench, and filter with one command for each filter."""

from __future__ import annotations

import dataclasses
import inspect
import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

import gpucall
from gpucall import _wire
from gpucall.cli import bench as measure
from gpucall.cli import filters, image_filters
from gpucall.cli.options import JsonOption, ServerOption, TimeoutOption
from gpucall.cli.progress import progress_bar

app = typer.Typer(
    help="Array operations on a gpucall server.\n\n"
    "Start with [bold]gpucall info[/bold]. The server is --server, else the environment "
    "variable GPUCALL_SERVER, else 127.0.0.1:7625.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
image_filters.add_to(filters.app)
app.add_typer(filters.app, name="filter")

# What a command may raise: one line for the user, no traceback.
EXPECTED = (gpucall.Error, OSError, ValueError, TypeError, OverflowError)


@app.command()
def info(
    server: ServerOption, as_json: JsonOption = False, timeout: TimeoutOption = 10
) -> None:
    """Show the server's version, devices and limits."""
    with gpucall.connect(server, timeout=timeout) as client:
        found = client.info()
    if as_json:
        print(json.dumps(dataclasses.asdict(found), indent=2))
        return
    console = Console()
    console.print(f"gpucall [bold]{found.version}[/bold] at {server}", highlight=False)
    console.print(found.device_choice, highlight=False, markup=False)
    devices = Table("device", "name", "memory", "lanes", "compute capability")
    for d in found.devices:
        memory = f"{d.memory_bytes / 2**30:.1f} GiB"
        devices.add_row(d.id, d.name, memory, str(d.lanes), d.compute_capability or "-")
    console.print(devices)
    limits = Table("limit", "value")
    limits.columns[1].justify = "right"
    for name, value in dataclasses.asdict(found.limits).items():
        limits.add_row(name.replace("_", " "), f"{value:,}")
    console.print(limits)


@app.command()
def ops(
    server: ServerOption, as_json: JsonOption = False, timeout: TimeoutOption = 10
) -> None:
    """List the operations, with the dtypes each accepts."""
    with gpucall.connect(server, timeout=timeout) as client:
        found = client.ops()
    if as_json:
        print(json.dumps([dataclasses.asdict(op) for op in found], indent=2))
        return
    table = Table("operation", "kind", "inputs", "dtypes", "what it gives")
    for op in found:
        dtypes = ", ".join(op.dtypes)
        table.add_row(op.name, op.kind, str(op.inputs), dtypes, op.description)
    Console().print(table)


@app.command(
    context_settings={"ignore_unknown_options": True},
    epilog="Example: gpucall run add a.npy b.npy -o c.npy",
)
def run(
    operation: Annotated[
        str, typer.Argument(help="An elementwise operation, or matmul.")
    ],
    operands: Annotated[list[str], typer.Argument(help=".npy files and numbers.")],
    server: ServerOption,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Result, a .npy file.")
    ] = None,
    transpose_a: Annotated[
        bool, typer.Option(help="matmul: transpose the first.")
    ] = False,
    transpose_b: Annotated[
        bool, typer.Option(help="matmul: transpose the second.")
    ] = False,
    timeout: TimeoutOption = None,
) -> None:
    """Run an operation on arrays from .npy files; print or save the result."""
    flags = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    keywords = {name: True for name, given in flags.items() if given}
    arrays = [_operand(text) for text in operands]
    with gpucall.connect(server, timeout=timeout) as client, progress_bar():
        result = _method(client, operation, arrays, keywords)(*arrays, **keywords)
    if output is None:
        print(result)
        return
    with output.open("wb") as file:
        np.save(file, result)
    print(f"{output}: {result.dtype} {result.shape}")


@app.command()
def bench(
    server: ServerOption,
    seconds: Annotated[float, typer.Option(help="Time for each row.", min=0.05)] = 2.0,
    callers: Annotated[
        int, typer.Option(help="Threads of the concurrent row.", min=1)
    ] = 16,
    megabytes: Annotated[
        int, typer.Option(help="Size of each array of the large row.", min=1, max=48)
    ] = 16,
    as_json: JsonOption = False,
) -> None:
    """Measure latency, calls per second and throughput from this process."""
    with gpucall.connect(server) as client:
        rows = measure.measure(client, seconds, callers, megabytes)
    if as_json:
        print(json.dumps([dataclasses.asdict(row) for row in rows], indent=2))
        return
    table = Table(
        "call", "callers", "p50 ms", "p99 ms", "calls/s", "GB/s", "batch", "device"
    )
    for column in table.columns[1:7]:
        column.justify = "right"
    for row in rows:
        table.add_row(*measure.cells(row))
    Console().print(table)
    print("GB/s counts the bytes of all inputs and outputs.")


def _operand(text: str) -> Any:
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    if not text.endswith(".npy"):
        raise ValueError(f"operand {text!r} is neither a number nor a .npy file")
    return np.load(text, allow_pickle=False)


def _method(
    client: gpucall.Client, name: str, operands: list[Any], keywords: dict[str, bool]
) -> Any:
    allowed = [*_wire.ELEMENTWISE_OPS, "matmul"]
    if name not in allowed:
        raise ValueError(
            f"operation {name!r} is unknown; allowed: {', '.join(allowed)}"
        )
    method = getattr(client, name)
    parameters = inspect.signature(method).parameters.values()
    count = sum(p.kind is not p.KEYWORD_ONLY for p in parameters)
    if len(operands) != count:
        raise ValueError(f"{name} takes {count} operands, got {len(operands)}")
    if keywords and name != "matmul":
        raise ValueError(f"{name} has no --{'/--'.join(keywords).replace('_', '-')}")
    return method
