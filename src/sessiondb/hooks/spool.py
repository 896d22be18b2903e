"""What agents noted since the last command: conversations that went on, to be brought in by their importers.

A drain takes the file away under a new name first, so that two commands never work on the same notes; a note lost to a
crash in between costs nothing, because `sessiondb import` finds every transcript anyway.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..importers import known
from ..importers.runner import Runner, Tick

if TYPE_CHECKING:
    from ..db import SessionDB
    from ..importers.report import Report

EVENTS = ("spool", "events")
# The names that hooks give, and those of the importers.
IMPORTERS = {"claude-code": "claude-code", "codex": "codex", "gemini": "gemini-cli", "opencode": "opencode"}


@dataclass(frozen=True, slots=True)
class Noted:
    """A conversation that went on; without a path, its agent's whole history is looked through."""

    agent: str
    path: Path | None


def place(home: str) -> Path:
    return Path(home, *EVENTS)


def drain(
    db: SessionDB, home: str, env: Mapping[str, str], tick: Callable[[Tick], None] = lambda tick: None
) -> Report | None:
    """Bring in what was noted; None when another command is at it. On an error the notes are kept for the next."""
    spool = place(home)
    taken = spool.with_name(f"{spool.name}.{os.getpid()}")
    try:
        os.rename(spool, taken)
    except FileNotFoundError:
        return None
    try:
        report = Runner(db, tick=tick).run(_sources(taken, env))
    except BaseException:
        _put_back(taken, spool)
        raise
    taken.unlink(missing_ok=True)
    return report


def _put_back(taken: Path, spool: Path) -> None:
    with spool.open("ab") as file:
        file.write(taken.read_bytes())
    taken.unlink(missing_ok=True)


def _sources(taken: Path, env: Mapping[str, str]) -> Iterator[known.Found]:
    home = Path(env.get("HOME") or os.path.expanduser("~"))
    for noted in dict.fromkeys(_read(taken)):
        parser = known.parser(IMPORTERS[noted.agent])
        if noted.path is None:
            yield from known.at_home([parser], env, home)
            continue
        # Conversations of subagents lie in a directory of the same name.
        beside = noted.path.with_suffix("")
        paths = [noted.path, *(sorted(parser.find(beside)) if beside.is_dir() else [])]
        yield from (known.Found(path, parser, noted.path) for path in paths if path.is_file())


def _read(taken: Path) -> Iterator[Noted]:
    """The notes; a line cut off by a crash is no note."""
    for line in taken.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            note = json.loads(line, object_pairs_hook=_first_wins)
        except ValueError:
            continue
        if isinstance(note, dict) and note.get("agent") in IMPORTERS:
            path = note.get("transcript_path")
            yield Noted(note["agent"], Path(path) if isinstance(path, str) and path else None)


def _first_wins(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Of a name that comes again, in what a tool was given, the first is the agent's own."""
    return dict(reversed(pairs))
