"""A scenario's result as a table for people, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from .results import Comparison, Result

VERDICTS = {True: "met", False: "MISSED", None: ""}


def number(value: float) -> str:
    """About three digits, thousands apart."""
    size = abs(value)
    digits = 3 if size < 0.1 else 2 if size < 10 else 1 if size < 100 else 0
    return f"{value:,.{digits}f}"


def lines(result: Result) -> Iterator[str]:
    yield f"{result.name}: {result.what}"
    yield from _figures(result)
    yield from _comparisons(result)
    yield from (f"  - {note}" for note in result.notes)


def _figures(result: Result) -> Iterator[str]:
    columns = list(dict.fromkeys(column for row in result.figures.values() for column in row))
    wide = max(map(len, result.figures), default=0)
    sure = max(map(len, result.durability.values()), default=0)
    room = max(18, *(len(column) + 2 for column in columns)) if columns else 18
    yield "  " + " " * (wide + 2 + sure) + "".join(f"{column:>{room}}" for column in columns)
    for label, row in result.figures.items():
        cells = (number(row[column]) if column in row else "" for column in columns)
        yield f"  {label:<{wide}}  {result.durability.get(label, ''):<{sure}}" + "".join(
            f"{cell:>{room}}" for cell in cells
        )


def _comparisons(result: Result) -> Iterator[str]:
    wide = max((len(comparison.label) for comparison in result.comparisons), default=0)
    for comparison in result.comparisons:
        yield f"  = {comparison.label:<{wide}}  {_measured(comparison)}  {_wanted(comparison)}".rstrip()


def _measured(comparison: Comparison) -> str:
    value, unit = comparison.value, comparison.unit
    spread = f"({number(value.lowest)} to {number(value.highest)})"
    return f"{number(value.middle) + ' ' + unit:>10}  {spread:<20}"


def _wanted(comparison: Comparison) -> str:
    if comparison.target is None:
        return ""
    sign = ">=" if comparison.target.least else "<="
    return f"target {sign} {comparison.target.bound:g} {comparison.unit:<2} {VERDICTS[comparison.met]}"


def plain(result: Result) -> dict[str, Any]:
    """For JSON: as it is, with the verdicts."""
    found = asdict(result)
    for comparison, entry in zip(result.comparisons, found["comparisons"], strict=True):
        entry["met"] = comparison.met
    return found
