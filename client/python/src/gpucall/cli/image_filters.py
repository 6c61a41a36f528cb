"""gpucall filter: commands for the operations on images that are no filters."""

from __future__ import annotations

from typing import Annotated

import typer

from gpucall.cli.filters import Cval, Mode, Source, Target, filter_file
from gpucall.cli.options import ServerOption, TimeoutOption


def gray(
    source: Source,
    target: Target,
    server: ServerOption,
    timeout: TimeoutOption = None,
) -> None:
    """Red, green and blue to gray."""
    keywords = {"conversion": "rgb_to_gray"}
    filter_file("convert_colour", source, target, server, timeout, keywords)


def canny(
    source: Source,
    target: Target,
    server: ServerOption,
    low: Annotated[float, typer.Option(help="Edges where they touch one.")] = 50,
    high: Annotated[float, typer.Option(help="Edges that are steeper.")] = 100,
    l2: Annotated[bool, typer.Option("--l2", help="Root of the squares.")] = False,
    timeout: TimeoutOption = None,
) -> None:
    """Edges, one pixel wide."""
    keywords = {"low": low, "high": high, "l2": l2}
    filter_file("canny", source, target, server, timeout, keywords)


def threshold(
    source: Source,
    target: Target,
    server: ServerOption,
    value: Annotated[str, typer.Option(help="A number, or otsu.")] = "otsu",
    kind: Annotated[
        str, typer.Option(help="binary, binary_inv, trunc, tozero or tozero_inv.")
    ] = "binary",
    max_value: Annotated[float, typer.Option(help="What is white.")] = 255,
    timeout: TimeoutOption = None,
) -> None:
    """White above a threshold, black below."""
    level = value if value == "otsu" else float(value)
    keywords = {"value": level, "kind": kind, "max_value": max_value}
    filter_file("threshold", source, target, server, timeout, keywords)


def equalise(
    source: Source,
    target: Target,
    server: ServerOption,
    timeout: TimeoutOption = None,
) -> None:
    """Gray values spread evenly."""
    filter_file("equalise_histogram", source, target, server, timeout, {})


def resize(
    source: Source,
    target: Target,
    server: ServerOption,
    rows: Annotated[int, typer.Option(help="Of the result.")],
    columns: Annotated[int, typer.Option(help="Of the result.")],
    interpolation: Annotated[
        str, typer.Option(help="nearest, bilinear, bicubic or area.")
    ] = "area",
    timeout: TimeoutOption = None,
) -> None:
    """Another size."""
    keywords = {"shape": (rows, columns), "interpolation": interpolation}
    filter_file("resize", source, target, server, timeout, keywords)


def bilateral(
    source: Source,
    target: Target,
    server: ServerOption,
    diameter: Annotated[int, typer.Option(help="Pixels; 0: by sigma_space.")] = 9,
    sigma_colour: Annotated[float, typer.Option(help="In values.")] = 50,
    sigma_space: Annotated[float, typer.Option(help="In pixels.")] = 3,
    mode: Mode = "mirror",
    cval: Cval = 0.0,
    timeout: TimeoutOption = None,
) -> None:
    """Smoothing that keeps edges."""
    keywords = {
        "diameter": diameter,
        "sigma_colour": sigma_colour,
        "sigma_space": sigma_space,
    }
    border = {"mode": mode, "cval": cval}
    filter_file("bilateral", source, target, server, timeout, keywords | border)


def sharpen(
    source: Source,
    target: Target,
    server: ServerOption,
    sigma: Annotated[float, typer.Option(help="Pixels.")] = 1,
    amount: Annotated[float, typer.Option(help="0 leaves it as it is.")] = 1,
    timeout: TimeoutOption = None,
) -> None:
    """An unsharp mask."""
    keywords = {"sigma": sigma, "amount": amount}
    filter_file("unsharp_mask", source, target, server, timeout, keywords)


def add_to(app: typer.Typer) -> None:
    """Adds the commands."""
    for command in (gray, canny, threshold, equalise, resize, bilateral, sharpen):
        app.command()(command)
