"""`python -m benchmarks`: run scenarios and print what they found."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from pathlib import Path

from . import peers, report, stores
from .arena import ContenderFailed, Contestant, Process
from .results import Result
from .scenarios import SCENARIOS
from .setting import DURABLE, Scenario, Setting
from .sizes import FULL, NORMAL, QUICK, Sizes


def arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure; print ratios and targets.")
    parser.add_argument("scenario", nargs="*", help=f"any of: {', '.join(SCENARIOS)}; default: all of them")
    parser.add_argument("--rounds", type=int, default=9, metavar="N", help="rounds whose median counts (default 9)")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--full", action="store_true", help="up to a million messages; takes long")
    size.add_argument("--quick", action="store_true", help="a few messages: proves that it runs, measures nothing")
    parser.add_argument("--no-peer", action="store_true", help="leave the peer out")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    parser.add_argument("--dir", type=Path, metavar="DIR", help="where stores are made; default: on disk")
    wanted = parser.parse_args(given)
    if unknown := [name for name in wanted.scenario if name not in SCENARIOS]:
        parser.error(f"unknown scenario {unknown[0]!r}; known: {', '.join(SCENARIOS)}")
    if wanted.rounds < 1:
        parser.error(f"--rounds must be at least 1, not {wanted.rounds}")
    return wanted


def sizes(wanted: argparse.Namespace) -> Sizes:
    return FULL if wanted.full else QUICK if wanted.quick else NORMAL


def peer_lineup(home: stores.Stores) -> tuple[Contestant, ...]:
    """The peer made durable; and as it comes, when that is something else. Raises PeerUnavailable."""
    own = home.new().parent
    as_it_comes = peers.contestant(own, "default")
    with Process(as_it_comes) as process:
        process.ask("open", path=str(home.new()))
        default = process.ask("facts")["synchronous"]
        process.ask("close")
    durable = peers.contestant(own)
    return (durable,) if default == DURABLE else (durable, as_it_comes)


def peers_or_reason(wanted: argparse.Namespace, home: stores.Stores) -> tuple[tuple[Contestant, ...], str]:
    if wanted.no_peer:
        return (), "the peer was left out"
    try:
        found = peer_lineup(home)
    except (peers.PeerUnavailable, ContenderFailed) as exc:
        return (), str(exc)
    default = "FULL is its own default" if len(found) == 1 else "its own default is shown apart"
    return found, f"{found[0].name} with synchronous=FULL ({default})"


def conditions(setting: Setting, peer: str) -> str:
    place = f"{stores.filesystem(setting.stores.home)} at {setting.stores.home.parent}"
    return f"Python {platform.python_version()}, {os.cpu_count()} cores, {place}, {setting.rounds} rounds; {peer}"


def observed(scenario: Scenario, setting: Setting) -> Result:
    """A scenario's result with the load it ran under, so that nobody believes the figures of a busy machine."""
    before = os.getloadavg()[0]
    result = scenario(setting)
    result.notes.append(f"load average {before:.1f} before, {os.getloadavg()[0]:.1f} after; the run itself counts 1")
    return result


def run(wanted: argparse.Namespace, home: stores.Stores) -> None:
    found, peer = peers_or_reason(wanted, home)
    setting = Setting(sizes(wanted), wanted.rounds, home, found)
    document: dict[str, object] = {"conditions": conditions(setting, peer)}
    if not wanted.json:
        print(document["conditions"], flush=True)
    results = []
    for name in wanted.scenario or SCENARIOS:
        result = observed(SCENARIOS[name], setting)
        results.append(report.plain(result))
        if not wanted.json:
            print("", *report.lines(result), sep="\n", flush=True)
    if wanted.json:
        print(json.dumps({**document, "results": results}, indent=2, ensure_ascii=False))


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
