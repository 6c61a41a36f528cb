"""gpucall filter: one command for each filter."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import gpucall
from gpucall.cli import images
from gpucall.cli.options import ServerOption, TimeoutOption
from gpucall.cli.progress import progress_bar

app = typer.Typer(
    help="Filter an image.\n\nImages are any that Pillow reads, with 8 or 16 bits, TIFFs "
    "of several pages too, or .npy arrays. Results of other dtypes are saved to images "
    "as absolute values, at most 255.",
    no_args_is_help=True,
    epilog="Example: gpucall filter gaussian --sigma 3 in.png out.png",
    context_settings={"help_option_names": ["-h", "--help"]},
)

DERIVATIVES = ("sobel", "laplacian")

Source = Annotated[Path, typer.Argument(metavar="IN", help="Image or .npy file.")]
Target = Annotated[Path, typer.Argument(metavar="OUT", help="Image or .npy file.")]
Mode = Annotated[
    str, typer.Option(help="Border: nearest, reflect, mirror, wrap or constant.")
]
Cval = Annotated[float, typer.Option(help="Value outside, for mode constant.")]
Output = Annotated[
    str | None,
    typer.Option("--output-dtype", help="uint8 or float32; default: the image's."),
]
Size = Annotated[str, typer.Option(help="Window: N, or ROWS,COLUMNS.")]
Origin = Annotated[str, typer.Option(help="Shift of the window: N, or ROWS,COLUMNS.")]
Weights = Annotated[Path, typer.Option(help="Kernel, a .npy file (rows, columns).")]


@app.command()
def gaussian(
    source: Source,
    target: Target,
    server: ServerOption,
    sigma: Annotated[str, typer.Option(help="Pixels: S, or ROWS,COLUMNS.")] = "1",
    truncate: Annotated[float, typer.Option(help="Radius in sigmas.")] = 4.0,
    mode: Mode = "reflect",
    cval: Cval = 0.0,
    output: Output = None,
    timeout: TimeoutOption = None,
) -> None:
    """Gaussian smoothing."""
    keywords = {"sigma": _pair("sigma", sigma, float), "truncate": truncate}
    border = {"mode": mode, "cval": cval, "output": output}
    filter_file("gaussian", source, target, server, timeout, keywords | border)


@app.command()
def box(
    source: Source,
    target: Target,
    server: ServerOption,
    size: Size = "3",
    origin: Origin = "0",
    mode: Mode = "reflect",
    cval: Cval = 0.0,
    output: Output = None,
    timeout: TimeoutOption = None,
) -> None:
    """Mean over a window."""
    keywords = {
        "size": _pair("size", size, int),
        "origin": _pair("origin", origin, int),
    }
    border = {"mode": mode, "cval": cval, "output": output}
    filter_file("box", source, target, server, timeout, keywords | border)


@app.command()
def median(
    source: Source,
    target: Target,
    server: ServerOption,
    size: Size = "3",
    origin: Origin = "0",
    mode: Mode = "reflect",
    cval: Cval = 0.0,
    output: Output = None,
    timeout: TimeoutOption = None,
) -> None:
    """Median over a window."""
    keywords = {
        "size": _pair("size", size, int),
        "origin": _pair("origin", origin, int),
    }
    border = {"mode": mode, "cval": cval, "output": output}
    filter_file("median", source, target, server, timeout, keywords | border)


@app.command()
def sobel(
    source: Source,
    target: Target,
    server: ServerOption,
    axis: Annotated[
        int, typer.Option(help="0: down the rows; 1: along the columns.")
    ] = 1,
    mode: Mode = "reflect",
    cval: Cval = 0.0,
    output: Output = None,
    timeout: TimeoutOption = None,
) -> None:
    """First derivative."""
    border = {"mode": mode, "cval": cval, "output": output}
    filter_file("sobel", source, target, server, timeout, {"axis": axis} | border)


@app.command()
def laplacian(
    source: Source,
    target: Target,
    server: ServerOption,
    mode: Mode = "reflect",
    cval: Cval = 0.0,
    output: Output = None,
    timeout: TimeoutOption = None,
) -> None:
    """Second derivative."""
    border = {"mode": mode, "cval": cval, "output": output}
    filter_file("laplacian", source, target, server, timeout, border)


@app.command()
def correlate(
    source: Source,
    target: Target,
    server: ServerOption,
    weights: Weights,
    origin: Origin = "0",
    mode: Mode = "reflect",
    cval: Cval = 0.0,
    output: Output = None,
    timeout: TimeoutOption = None,
) -> None:
    """Correlation with a kernel."""
    keywords = {"origin": _pair("origin", origin, int)}
    border = {"mode": mode, "cval": cval, "output": output}
    filter_file(
        "correlate", source, target, server, timeout, keywords | border, weights
    )


@app.command()
def convolve(
    source: Source,
    target: Target,
    server: ServerOption,
    weights: Weights,
    origin: Origin = "0",
    mode: Mode = "reflect",
    cval: Cval = 0.0,
    output: Output = None,
    timeout: TimeoutOption = None,
) -> None:
    """Convolution with a kernel."""
    keywords = {"origin": _pair("origin", origin, int)}
    border = {"mode": mode, "cval": cval, "output": output}
    filter_file("convolve", source, target, server, timeout, keywords | border, weights)


def filter_file(
    name: str,
    source: Path,
    target: Path,
    server: str,
    timeout: float | None,
    keywords: dict[str, Any],
    *kernels: Path,
) -> None:
    """Each page by itself."""
    kernel = [np.load(path, allow_pickle=False) for path in kernels]
    pages = images.load(source)
    client = gpucall.connect(server, timeout=timeout)
    with client, gpucall.receipts() as receipts, progress_bar():
        results = [_called(client, name, page, kernel, keywords) for page in pages]
    images.save(target, results)
    milliseconds = sum(receipt.compute_ns for receipt in receipts) / 1e6
    first, device = results[0], receipts[0].device
    count = "" if len(results) == 1 else f"{len(results)} x "
    print(
        f"{target}: {count}{first.dtype} {first.shape}, {milliseconds:.2f} ms on {device}"
    )


def _called(
    client: gpucall.Client,
    name: str,
    page: images.Array,
    kernel: list[Any],
    keywords: dict[str, Any],
) -> images.Array:
    call = getattr(client, name)
    if page.dtype != np.uint16 or not _goes_as_floats(client, name):
        result: images.Array = call(page, *kernel, **keywords)
        return result
    result = call(page.astype(np.float32), *kernel, **keywords)
    if keywords.get("output") is None and name not in DERIVATIVES:
        result = np.clip(np.rint(result), 0, 65535).astype(np.uint16)
    return result


def _goes_as_floats(client: gpucall.Client, name: str) -> bool:
    """Where 16 bits are not offered, or cut off axis by axis: float32 holds them all."""
    op = next(op for op in client.ops() if op.name == name)
    return op.kind == "filter" or ("uint16" not in op.dtypes and "float32" in op.dtypes)


def _pair(name: str, text: str, number: type) -> list[Any]:
    try:
        return [number(part) for part in text.split(",")]
    except ValueError:
        message = f"--{name} {text!r} is neither a number nor ROWS,COLUMNS"
        raise ValueError(message) from None
