"""`python -m benchmarks`: run scenarios and print what they found."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from . import lineup, machine, profiles, projection, publish, report, stores
from .arena import ContenderFailed
from .results import Result
from .scenarios import SCENARIOS
from .setting import Scenario, Setting
from .sizes import FULL, NORMAL, QUICK, TINY, Sizes


def arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure; print ratios and targets.")
    parser.add_argument("scenario", nargs="*", help=f"any of: {', '.join(SCENARIOS)}; default: all of them")
    parser.add_argument(
        "--rounds", type=int, metavar="N", help="rounds whose median counts (default 9; full 5, quick 3)"
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--full", action="store_true", help="up to a million messages; takes long")
    size.add_argument("--quick", action="store_true", help="all scenarios on small stores, in three minutes")
    size.add_argument("--tiny", action="store_true", help="a few messages: proves that it runs, measures nothing")
    parser.add_argument("--no-peer", action="store_true", help="leave the libraries from PyPI out")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write results, plots, profiles and scale.md there")
    parser.add_argument("--dir", type=Path, metavar="DIR", help="where stores are made; default: on disk")
    wanted = parser.parse_args(given)
    if unknown := [name for name in wanted.scenario if name not in SCENARIOS]:
        parser.error(f"unknown scenario {unknown[0]!r}; known: {', '.join(SCENARIOS)}")
    if wanted.rounds is not None and wanted.rounds < 1:
        parser.error(f"--rounds must be at least 1, not {wanted.rounds}")
    return wanted


def sizes(wanted: argparse.Namespace) -> Sizes:
    return next((size for size in (FULL, QUICK, TINY) if getattr(wanted, size.name)), NORMAL)


def observed(scenario: Scenario, setting: Setting) -> Result:
    """A scenario's result with the load it ran under, so that nobody believes the figures of a busy machine."""
    before = os.getloadavg()[0]
    setting.excuses.clear()
    result = scenario(setting)
    result.notes += setting.excuses
    result.notes.append(f"load average {before:.1f} before, {os.getloadavg()[0]:.1f} after; the run itself counts 1")
    return result


def run(wanted: argparse.Namespace, home: stores.Stores) -> None:
    found = lineup.gathered(home, wanted=not wanted.no_peer)
    size = sizes(wanted)
    setting = Setting(size, wanted.rounds or size.rounds, home, found.peers, found.others)
    conditions = "; ".join([machine.described(home.home), f"size {size.name}, {setting.rounds} rounds", *found.notes])
    if not wanted.json:
        print(conditions, flush=True)
    results = []
    for name in wanted.scenario or SCENARIOS:
        result = observed(SCENARIOS[name], setting)
        results.append({**report.plain(result), "size": size.name, "conditions": conditions})
        if not wanted.json:
            print("", *report.lines(result), sep="\n", flush=True)
        if wanted.out:
            write_measured(wanted.out, results)
    if wanted.json:
        print(json.dumps({"conditions": conditions, "results": results}, indent=2, ensure_ascii=False))
    if wanted.out and not wanted.scenario:
        profiles.write(wanted.out, home)


def write_measured(out: Path, results: list[publish.Entry]) -> None:
    """What was measured so far: hours of measuring are not lost when a later scenario fails."""
    everything = publish.merged(publish.known(out), results, list(SCENARIOS))
    publish.write(out, everything)
    projection.write(out, everything)


def main(given: list[str]) -> int:
    wanted = arguments(given)
    try:
        with stores.temporary(wanted.dir) as home:
            run(wanted, home)
    except ContenderFailed as exc:
        print(f"benchmarks: {exc}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
