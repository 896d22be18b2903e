"""Bars as SVG, on a scale of powers of ten: small enough to need no library."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor, log10
from xml.sax.saxutils import escape

from .report import number

LEFT, WIDTH, BAR, GAP, TOP, BOTTOM = 360, 900, 18, 6, 44, 30
OURS, THEIRS = "#1f6f54", "#8a9499"
STYLE = "font-family='sans-serif' font-size='12'"


def bars(title: str, values: Mapping[str, float]) -> str:
    """A bar for each value above zero; whoever starts with `sessiondb` has a colour of its own."""
    shown = {label: value for label, value in values.items() if value > 0}
    low, high = _decades(list(shown.values()))
    height = TOP + len(shown) * (BAR + GAP) + BOTTOM
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' {STYLE}>",
        f"<rect width='{WIDTH}' height='{height}' fill='#ffffff'/>",
        f"<text x='12' y='22' font-size='14' font-weight='bold'>{escape(title)}</text>",
    ]
    parts += [_tick(low, high, decade, height) for decade in range(low, high + 1)]
    parts += [_bar(place, label, value, low, high) for place, (label, value) in enumerate(shown.items())]
    return "\n".join([*parts, "</svg>", ""])


def _decades(values: list[float]) -> tuple[int, int]:
    if not values:
        return 0, 1
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    # A bar as small as the scale begins would not be seen.
    return low - (log10(min(values)) - low < 0.05), max(high, low + 1)


def _x(value: float, low: int, high: int) -> float:
    return LEFT + (log10(value) - low) / (high - low) * (WIDTH - LEFT - 70)


def _tick(low: int, high: int, decade: int, height: int) -> str:
    x = _x(10.0**decade, low, high)
    line = f"<line x1='{x:.1f}' y1='{TOP - 8}' x2='{x:.1f}' y2='{height - BOTTOM}' stroke='#dddddd'/>"
    text = f"<text x='{x:.1f}' y='{height - 12}' text-anchor='middle' fill='#666666'>{10.0**decade:g}</text>"
    return line + text


def _bar(place: int, label: str, value: float, low: int, high: int) -> str:
    y = TOP + place * (BAR + GAP)
    end = _x(value, low, high)
    colour = OURS if label.startswith("sessiondb") else THEIRS
    return (
        f"<text x='{LEFT - 8}' y='{y + 13}' text-anchor='end'>{escape(label)}</text>"
        f"<rect x='{LEFT}' y='{y}' width='{end - LEFT:.1f}' height='{BAR}' fill='{colour}'/>"
        f"<text x='{end + 6:.1f}' y='{y + 13}'>{number(value)}</text>"
    )
