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
    help="Filter an image.\n\nImages are any that Pillow reads, or .npy arrays. Results "
    "that are not uint8 are saved to images as absolute values, at most 255.",
    no_args_is_help=True,
    epilog="Example: gpucall filter gaussian --sigma 3 in.png out.png",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Source = Annotated[Path, typer.Argument(metavar="IN", help="Image or .npy file.")]
Target = Annotated[Path, typer.Argument(metavar="OUT", help="Image or .npy file.")]
Mode = Annotated[
    str, typer.Option(help="Border: nearest, reflect, mirror, wrap or constant.")
]
Cval = Annotated[float, typer.Option(help="Value outside, for mode constant.")]
Output = Annotated[
    str | None,
    typer.Option("--output-dtype", help="Default: the image's."),
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
    _filter("gaussian", source, target, server, timeout, keywords | border)


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
    _filter("box", source, target, server, timeout, keywords | border)


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
    _filter("median", source, target, server, timeout, keywords | border)


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
    _filter("sobel", source, target, server, timeout, {"axis": axis} | border)


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
    _filter("laplacian", source, target, server, timeout, border)


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
    _filter("correlate", source, target, server, timeout, keywords | border, weights)


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
    _filter("convolve", source, target, server, timeout, keywords | border, weights)


def _filter(
    name: str,
    source: Path,
    target: Path,
    server: str,
    timeout: float | None,
    keywords: dict[str, Any],
    *kernels: Path,
) -> None:
    image = images.load(source)
    kernel = [np.load(path, allow_pickle=False) for path in kernels]
    client = gpucall.connect(server, timeout=timeout)
    with client, gpucall.receipts() as receipts, progress_bar():
        result = getattr(client, name)(image, *kernel, **keywords)
    images.save(target, result)
    milliseconds = receipts[0].compute_ns / 1e6
    print(
        f"{target}: {result.dtype} {result.shape}, {milliseconds:.2f} ms on {receipts[0].device}"
    )


def _pair(name: str, text: str, number: type) -> list[Any]:
    try:
        return [number(part) for part in text.split(",")]
    except ValueError:
        message = f"--{name} {text!r} is neither a number nor ROWS,COLUMNS"
        raise ValueError(message) from None
