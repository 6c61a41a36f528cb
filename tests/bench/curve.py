"""Curves of size against GB/s, as an SVG picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 400, 350  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 48, 22, 30, 100
COLOURS = ("#1f77b4", "#d1495b", "#e8a33d", "#2e8b57", "#6a4c93", "#444444")
UNITS = ("B", "KiB", "MiB", "GiB")


@dataclass(frozen=True)
class Line:
    """One curve: a name and its (bytes, GB/s)."""

    name: str
    points: list[tuple[int, float]]


class Axis:
    """A logarithmic scale from values to pixels."""

    def __init__(self, low: float, high: float, first: float, last: float) -> None:
        self._low, self._span = math.log2(low), math.log2(high) - math.log2(low)
        self._first, self._last = first, last

    def __call__(self, value: float) -> float:
        part = (math.log2(value) - self._low) / (self._span or 1)
        return self._first + part * (self._last - self._first)


def plot(panels: dict[str, list[Line]]) -> str:
    """Panels side by side, each with its title, curves and key."""
    width = WIDTH * len(panels)
    size = f'width="{width}" height="{HEIGHT}"'
    font = 'font-family="sans-serif" font-size="11"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>',
        f'<rect {size} fill="white"/>',
    ]
    rates = [rate for ls in panels.values() for line in ls for _, rate in line.points]
    low = 10 ** math.floor(math.log10(min(rates)))
    high = 10 ** math.ceil(math.log10(max(rates)))
    for i, (title, lines) in enumerate(panels.items()):
        parts.append(f'<g transform="translate({i * WIDTH} 0)">')
        parts += panel(title, lines, low, high)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>\n"])


def panel(title: str, lines: list[Line], low: float, high: float) -> list[str]:
    sizes = [size for line in lines for size, _ in line.points]
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    x = Axis(min(sizes), max(sizes), LEFT, right)
    y = Axis(low, high, bottom, TOP)
    parts = [text(LEFT, TOP - 12, f"GB/s, {title}", weight="bold")]
    tick = low
    while tick <= high * 1.001:
        parts.append(grid(LEFT, y(tick), right, y(tick)))
        parts.append(text(LEFT - 6, y(tick) + 4, f"{tick:g}", anchor="end"))
        tick *= 10
    size = 1 << (min(sizes) - 1).bit_length()
    while size <= max(sizes):
        parts.append(grid(x(size), TOP, x(size), bottom))
        parts.append(text(x(size), bottom + 16, size_name(size), anchor="middle"))
        size *= 32 if max(sizes) >= 1 << 28 else 8
    for i, line in enumerate(lines):
        parts += curve(line, COLOURS[i % len(COLOURS)], i, x, y)
    return parts


def curve(line: Line, colour: str, number: int, x: Axis, y: Axis) -> list[str]:
    points = " ".join(f"{x(size):.1f},{y(rate):.1f}" for size, rate in line.points)
    dashes = ' stroke-dasharray="5 3"' if line.name.startswith("raw") else ""
    style = f'fill="none" stroke="{colour}" stroke-width="2"{dashes}'
    key_x = LEFT + (number % 2) * 180
    key_y = HEIGHT - BOTTOM + 44 + (number // 2) * 20
    best = max((rate for _, rate in line.points), default=0)
    return [
        f'<polyline points="{points}" {style}/>',
        f'<line x1="{key_x}" y1="{key_y}" x2="{key_x + 22}" y2="{key_y}" {style}/>',
        text(key_x + 27, key_y + 4, f"{line.name} ({best:.2g})"),
    ]


def size_name(size: int) -> str:
    power = (size.bit_length() - 1) // 10
    return f"{size >> (10 * power)} {UNITS[power]}"


def grid(x1: float, y1: float, x2: float, y2: float) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="#dddddd"/>'


def text(
    x: float, y: float, words: str, anchor: str = "start", weight: str = "normal"
) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}"'
    return f"<text {place}>{escape(words)}</text>"
