"""`sessiondb repair`"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from ..upkeep import Salvage, Upkeep
from . import answers, options, output
from .progress import Progress
from .text import line
from .upkeep import looking_after

_MOST_NAMES = 20


@options.command("repair")
@options.option("--output", "target", metavar="FILE", help="The new file; beside the store by default.")
@options.answers
@looking_after
def command(keeper: Upkeep, path: str, target: str | None, form: answers.Form) -> None:
    """Salvage a damaged store into a new file.

    The store itself is not changed, and nobody may have it open. What was saved and lost is told table by table.

    \b
    Example:
        sessiondb repair
        sessiondb repair --output salvaged.db
    """
    with Progress(noun="pages read") as progress:
        salvage = keeper.repair(path, target, progress.reached)
    if form:
        answers.give(form, "repair", {"complete": salvage.complete, **asdict(salvage)})
    else:
        print_salvage(salvage)


def print_salvage(salvage: Salvage) -> None:
    for table in salvage.tables:
        output.say(f"{table.table}: {table.saved} saved, {table.lost} lost")
    _name("lost sessions", salvage.lost_sessions)
    _name("sessions known only by their messages (source: recovered)", salvage.placeholders)
    _name("sessions from damaged pages, to be looked at", salvage.doubtful_sessions)
    _name("sessions with lost messages", _placed(salvage.lost_messages))
    _name("sessions with altered messages", _placed(salvage.altered_messages))
    for note in salvage.notes:
        output.say(f"note: {line(note)}")
    output.say(f"Salvaged to {line(salvage.target)}; {line(salvage.source)} is as it was.")
    output.say(f"    next: sessiondb restore {line(salvage.target)} --over")


def _placed(positions: dict[str, list[int]]) -> list[str]:
    return [f"{name} (position {_short(map(str, found), len(found))})" for name, found in positions.items()]


def _name(what: str, names: list[str]) -> None:
    if names:
        output.say(f"{what}: {_short(map(line, names), len(names))}")


def _short(names: Iterable[str], count: int) -> str:
    shown = ", ".join(name for name, _ in zip(names, range(_MOST_NAMES), strict=False))
    return shown + (f" and {count - _MOST_NAMES} more" if count > _MOST_NAMES else "")
