"""Short commands, from the prompt to the prompt: whole processes, each against an interpreter that does nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter_ns

from ..arena import SESSIONDB, ContenderFailed, Contestant, rotated
from ..figures import Rounds, p50, ratio
from ..peers import HERMES, OTHERS, homes
from ..results import Comparison, Result, Target
from ..searches import QUESTION, queries
from ..setting import MILLISECOND, Setting
from ..stores import FILE, Stores

BARE = "python -c pass"
LIST = Target(5.0)
SEARCH = Target(7.0)
INDEX = "import sys, sessiondb; db = sessiondb.open(sys.argv[1]); db.index(); db.close()"
WARM_UP = 2
# The program of a library, the name of its store, and what is asked.
THEIRS = (
    (HERMES, "hermes", "state.db", ("sessions", "list", "--limit", "20")),
    (OTHERS[-1], "llm", "logs.db", ("logs", "list", "-n", "20")),
)

Command = list[str]
# Wall time and processor time, in nanoseconds.
Times = tuple[dict[str, Rounds], dict[str, Rounds]]


def commands(setting: Setting) -> Result:
    sizes = setting.sizes
    result = Result(
        "commands",
        f"whole processes; list of {sizes.sessions:,} sessions, search in {sizes.searched:,} messages, both warm",
    )
    theirs = _their_commands(setting)
    wall, work = _timed({**_commands(setting), **theirs}, setting)
    for label in wall:
        result.figures[label] = {
            "wall ms": wall[label].typical(p50) / MILLISECOND,
            "cpu ms": work[label].typical(p50) / MILLISECOND,
        }
    result.plot = "wall ms"
    for label in [label for label in wall if label != BARE]:
        target = SEARCH if label.startswith("search") else LIST if label == "list" else None
        result.comparisons += [
            Comparison(f"{label}: wall / bare", ratio(wall[label], wall[BARE], p50), target=target),
            Comparison(f"{label}: cpu / bare", ratio(work[label], work[BARE], p50), target=target),
        ]
    return result


def _commands(setting: Setting) -> dict[str, Command]:
    each = setting.sizes.messages_per_session
    listed = str(setting.stores.filled(SESSIONDB, setting.sizes.sessions, each))
    searched = str(setting.stores.filled(SESSIONDB, max(1, setting.sizes.searched // each), each))
    _run([sys.executable, "-c", INDEX, searched], setting.stores)
    ours = str(Path(sys.executable).parent / "sessiondb")
    asked = queries()
    return {
        BARE: [sys.executable, "-c", "pass"],
        "list": [ours, "--db", listed, "list"],
        "show": [ours, "--db", listed, "show", "latest"],
        "resume": [ours, "--db", listed, "resume", "latest"],
        "stats": [ours, "--db", listed, "stats"],
        "search, nothing found": [ours, "--db", searched, "search", asked["rare"]],
        "search, a path": [ours, "--db", searched, "search", asked["path"]],
        "search, two words": [ours, "--db", searched, "search", "--exact", asked["AND"]],
        "search, a question": [ours, "--db", searched, "search", asked[QUESTION]],
    }


def _their_commands(setting: Setting) -> dict[str, Command]:
    """Lists of the latest by programs from PyPI, on stores of their own; `env` gives them their home."""
    made: dict[str, Command] = {}
    rivals = {who.name: who for who in setting.rivals("append")}
    for peer, program, file, arguments in THEIRS:
        if who := rivals.get(peer.label):
            with setting.excused(who):
                home = _home(setting, who, file)
                variables = [f"{name}={value}" for name, value in homes(home).items()]
                command = ["env", *variables, str(Path(who.python).parent / program), *arguments]
                _run(command, setting.stores)
                made[f"{peer.label}: {program} {' '.join(arguments)}"] = command
    return made


def _home(setting: Setting, who: Contestant, file: str) -> Path:
    """A directory with history, in a file of the name that the program looks for."""
    each = setting.sizes.messages_per_session
    home = setting.stores.copy(setting.stores.filled(who, max(1, setting.sizes.started // each), each)).parent
    (home / FILE).rename(home / file)
    return home


def _timed(programs: dict[str, Command], setting: Setting) -> Times:
    for command in programs.values():
        for _ in range(WARM_UP):
            _run(command, setting.stores)
    wall: dict[str, list[list[float]]] = {label: [] for label in programs}
    work: dict[str, list[list[float]]] = {label: [] for label in programs}
    for number in range(setting.rounds):
        for label in rotated(list(programs), number):
            taken, worked = _run(programs[label], setting.stores)
            wall[label].append([taken])
            work[label].append([worked])
    return (
        {label: Rounds(rounds) for label, rounds in wall.items()},
        {label: Rounds(rounds) for label, rounds in work.items()},
    )


def _name(command: Command) -> str:
    """The program without its place and its variables."""
    program = next(part for part in command if part != "env" and "=" not in part)
    return " ".join([Path(program).name, command[-1]])


def _run(command: Command, stores: Stores) -> tuple[float, float]:
    """The nanoseconds from start to exit, and those that a processor worked for it."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    # Modules are compiled, as those of an installed program are.
    environment = {**kept, "PYTHONPYCACHEPREFIX": str(stores.home / "compiled")}
    begun = perf_counter_ns()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    taken = perf_counter_ns() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode:
        raise ContenderFailed(f"{_name(command)} failed: {said.decode(errors='replace').strip()[-300:]}")
    return taken, (used.ru_utime + used.ru_stime) * 1e9
