"""`sessiondb browse`"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..db import SessionDB
from . import options, output
from .ink import palette
from .store import open_to_browse
from .terminal import is_terminal

if TYPE_CHECKING:
    from ..agents import Resumption

_SCOPES = ("directory", "repository", "all")


@options.command("browse")
@options.words("words", many=True, required=False, metavar="[QUERY]...")
@options.option(
    "--scope",
    choices=_SCOPES,
    default="directory",
    show_default=True,
    help="Where to begin; an empty scope goes on to the next.",
)
@options.option("--source", "sources", multiple=True, metavar="NAME", help="Only this source, such as cli; repeatable.")
@options.option("--tag", "tags", multiple=True, metavar="TAG", help="Only sessions with this tag; repeatable.")
@options.flag("--read-only", help="Change nothing, as for a store that is shared.")
@options.flag("--plain", help="A numbered list, without the full screen.")
@options.common
def command(
    words: Sequence[str], scope: str, sources: Sequence[str], tags: Sequence[str], read_only: bool, plain: bool
) -> None:
    """Look through the sessions on a full screen: search while you type, read, keep order, take up.

    Enter takes a session up: one of another agent goes on there, for others the recap is shown; `?` tells all keys.
    Without the package textual (pip install 'sessiondb[tui]'), or without a terminal, a numbered list is shown.

    \b
    Example:
        sessiondb browse
        sessiondb browse nginx 502 --scope all
        sessiondb browse --source telegram --read-only
    """
    db, only_read = open_to_browse(options.state().place, read_only=read_only)
    with db:
        picked = _picked(db, " ".join(words), scope, tuple(sources), tuple(tags), only_read, plain)
        there = _take_up(db, picked) if picked is not None else None
    if there is not None:
        from .resume import execute

        execute(there)


def _picked(
    db: SessionDB, query: str, scope: str, sources: tuple[str, ...], tags: tuple[str, ...], read_only: bool, plain: bool
) -> str | None:
    """The session that was chosen, on the full screen where there can be one."""
    from ..tui.choice import Choice
    from ..tui.scope import named, scopes

    known = scopes(os.getcwd())
    choice = Choice(named(known, scope), query, sources=sources, tags=tags)
    if plain or not _has_screen():
        from .picker import pick

        return pick(db, choice, known)
    if palette.choice == "never":
        os.environ["NO_COLOR"] = "1"
    from ..tui.start import start

    return start(db, choice, known, read_only=read_only)


def _has_screen() -> bool:
    # The screen is drawn on stderr.
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if not all(map(is_terminal, streams)) or os.environ.get("TERM", "dumb") == "dumb":
        return False
    from importlib.util import find_spec

    if find_spec("textual") is not None:
        return True
    output.complain("the full screen needs an optional package: pip install 'sessiondb[tui]'")
    return False


def _take_up(db: SessionDB, session_id: str) -> Resumption | None:
    """Show how it ended; what is to be run after the store is closed, where the agent can be run here."""
    from ..agents import resumption
    from . import resume

    row = resume.chosen(db, session_id)
    there = resumption(row)
    if there is not None and row["host"] in (None, os.uname().nodename):
        output.say(there.line)
        return there
    resume.show(db, row)
    resume.say_how_to_go_on(row, there)
    return None
