"""What was found, as files: results.json, results.md and a plot for each scenario; scenarios not run keep theirs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import svg
from .report import VERDICTS, number

RESULTS = "results.json"
Entry = dict[str, Any]


def known(directory: Path) -> list[Entry]:
    path = directory / RESULTS
    return list(json.loads(path.read_text(encoding="utf-8"))["results"]) if path.exists() else []


def merged(old: list[Entry], new: list[Entry], order: list[str]) -> list[Entry]:
    """The new results, and of the old ones those that were not measured again; in the order of the scenarios."""
    found = {entry["name"]: entry for entry in (*old, *new)}
    return [found[name] for name in order if name in found]


def write(directory: Path, results: list[Entry]) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"results": results}, indent=1, ensure_ascii=False)
    (directory / RESULTS).write_text(text + "\n", encoding="utf-8")
    (directory / "results.md").write_text("\n".join(_page(results)) + "\n", encoding="utf-8")
    for entry in results:
        if entry["plot"]:
            values = {label: row[entry["plot"]] for label, row in entry["figures"].items() if entry["plot"] in row}
            (directory / f"{entry['name']}.svg").write_text(_plot(entry, values), encoding="utf-8")


def _plot(entry: Entry, values: dict[str, float]) -> str:
    return svg.bars(f"{entry['name']}: {entry['plot']} ({entry['size']})", values)


def _page(results: list[Entry]) -> Iterator[str]:
    yield "# Results\n\nWritten by `python -m benchmarks --out`; do not edit. How to read it: [README.md](README.md).\n"
    missed = [(entry, each) for entry in results for each in entry["comparisons"] if each["met"] is False]
    met = sum(each["met"] is True for entry in results for each in entry["comparisons"])
    yield f"{met} targets met, {len(missed)} missed.\n"
    yield from (f"- missed: {entry['name']}, {_verdict(each)}" for entry, each in missed)
    for entry in results:
        yield f"\n## {entry['name']}\n\n{entry['what']}\n"
        if entry["plot"]:
            yield f"![{entry['name']}]({entry['name']}.svg)\n"
        yield from _table(entry)
        yield ""
        yield from (f"- {_verdict(each)}" for each in entry["comparisons"])
        yield "\n" + "; ".join([entry["conditions"], *entry["notes"]]) + "."


def _table(entry: Entry) -> Iterator[str]:
    columns = list(dict.fromkeys(column for row in entry["figures"].values() for column in row))
    yield "| | " + " | ".join(["durability", *columns]) + " |"
    yield "|---|---|" + "---:|" * len(columns)
    for label, row in entry["figures"].items():
        cells = [number(row[column]) if column in row else "" for column in columns]
        yield f"| {label} | " + " | ".join([entry["durability"].get(label, ""), *cells]) + " |"


def _verdict(each: dict[str, Any]) -> str:
    value, unit = each["value"], each["unit"]
    said = (
        f"{each['label']}: {number(value['middle'])} {unit} ({number(value['lowest'])} to {number(value['highest'])})"
    )
    if each["target"] is None:
        return said
    sign = ">=" if each["target"]["least"] else "<="
    return f"{said}; target {sign} {each['target']['bound']:g} {unit}: {VERDICTS[each['met']].lower()}"
