"""What a short-lived process pays before it can ask anything: whole interpreters, less a bare one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter_ns

from ..arena import SESSIONDB, ContenderFailed, Contestant, rotated
from ..figures import Rounds, p50, summary
from ..results import Comparison, Result, Target
from ..setting import MILLISECOND, Setting

OPEN_MILLISECONDS = Target(60.0)
OPEN_OVER_IMPORT_MILLISECONDS = Target(30.0)

BARE = "pass"
OUR_IMPORT = "import sessiondb"
OUR_MODULES = "import sessiondb.config, sessiondb.db, sessiondb.backends.sqlite"
OUR_OPEN = "import sys, sessiondb; sessiondb.open(sys.argv[1]).close()"
PEER_IMPORT = "import hermes_state"
PEER_OPEN = "import sys, pathlib, hermes_state; hermes_state.SessionDB(pathlib.Path(sys.argv[1])).close()"


@dataclass(frozen=True, slots=True)
class Program:
    """Python code with a store to open; None: a new one each time."""

    label: str
    who: Contestant
    code: str
    store: Path | None = None

    def run(self, setting: Setting) -> int:
        """The nanoseconds from start to exit."""
        command = [self.who.python, "-c", self.code, str(self.store or setting.stores.new())]
        begun = perf_counter_ns()
        done = subprocess.run(
            command, cwd=setting.stores.home, env=self._environment(setting), capture_output=True, text=True
        )
        took = perf_counter_ns() - begun
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
            raise ContenderFailed(f"{self.label} failed: {last[0]}")
        return took

    def _environment(self, setting: Setting) -> dict[str, str]:
        """With compiled modules, as an installed program has them, and kept with the stores."""
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return {**kept, **self.who.environment, "PYTHONPYCACHEPREFIX": str(setting.stores.home / "compiled")}


def open_and_import(setting: Setting) -> Result:
    result = Result("open", "import, open and close in a fresh interpreter, less a bare one")
    times = _timed(_our_programs(setting), setting)
    for peer in setting.peers[:1]:
        try:
            times |= _timed(_peer_programs(setting, peer), setting)
        except ContenderFailed as exc:
            result.notes.append(f"gave up: {exc}")
    result.figures = {label: {"whole process ms": rounds.typical(p50) / MILLISECOND} for label, rounds in times.items()}
    result.comparisons = _our_comparisons(times, setting) + _peer_comparisons(times, setting)
    return result


def _timed(programs: list[Program], setting: Setting) -> dict[str, Rounds]:
    for program in programs:
        program.run(setting)
    took: dict[str, list[list[float]]] = {program.label: [] for program in programs}
    for number in range(setting.rounds):
        for program in rotated(programs, number):
            took[program.label].append([program.run(setting)])
    return {label: Rounds(rounds) for label, rounds in took.items()}


def _big(setting: Setting) -> str:
    return f"open, {setting.sizes.opened:,} messages"


def _stores(setting: Setting, who: Contestant) -> tuple[Path, Path]:
    each = setting.sizes.messages_per_session
    small = setting.stores.filled(who, 1, each)
    return small, setting.stores.filled(who, setting.sizes.opened // each, each)


def _our_programs(setting: Setting) -> list[Program]:
    small, big = _stores(setting, SESSIONDB)
    return [
        Program("bare", SESSIONDB, BARE),
        Program("import", SESSIONDB, OUR_IMPORT),
        Program("import all of it", SESSIONDB, OUR_MODULES),
        Program("open, new store", SESSIONDB, OUR_OPEN),
        Program("open", SESSIONDB, OUR_OPEN, small),
        Program(_big(setting), SESSIONDB, OUR_OPEN, big),
    ]


def _peer_programs(setting: Setting, peer: Contestant) -> list[Program]:
    small, big = _stores(setting, peer)
    return [
        Program(f"{peer.name}: bare", peer, BARE),
        Program(f"{peer.name}: import", peer, PEER_IMPORT),
        Program(f"{peer.name}: open", peer, PEER_OPEN, small),
        Program(f"{peer.name}: {_big(setting)}", peer, PEER_OPEN, big),
    ]


def _less(times: Mapping[str, Rounds], label: str, whole: str, part: str, target: Target | None = None) -> Comparison:
    pairs = zip(times[whole].each(p50), times[part].each(p50), strict=True)
    return Comparison(label, summary([(above - below) / MILLISECOND for above, below in pairs]), "ms", target)


def _our_comparisons(times: Mapping[str, Rounds], setting: Setting) -> list[Comparison]:
    big = _big(setting)
    return [
        _less(times, "import sessiondb", "import", "bare"),
        _less(times, "import, open, close", "open", "bare", OPEN_MILLISECONDS),
        _less(times, "import, create, close", "open, new store", "bare", OPEN_MILLISECONDS),
        _less(times, f"import, {big}, close", big, "bare", OPEN_MILLISECONDS),
        _less(times, f"{big}, over the import", big, "import all of it", OPEN_OVER_IMPORT_MILLISECONDS),
    ]


def _peer_comparisons(times: Mapping[str, Rounds], setting: Setting) -> list[Comparison]:
    made: list[Comparison] = []
    for name in (peer.name for peer in setting.peers[:1] if f"{peer.name}: bare" in times):
        made += [
            _less(times, f"{name}: import", f"{name}: import", f"{name}: bare"),
            _less(times, f"{name}: import, open, close", f"{name}: open", f"{name}: bare"),
            _less(times, f"{name}: import, {_big(setting)}, close", f"{name}: {_big(setting)}", f"{name}: bare"),
        ]
    return made
