"""What commands share: the options that name a store, sessions, times and forms, and the way to the store."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from . import dates
from .declare import Option, Words, command, flag, option, parameter, whole, words
from .ink import palette
from .pager import paging
from .store import open_store

if TYPE_CHECKING:
    from ..db import SessionDB


P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])
if TYPE_CHECKING:
    Command = Callable[Concatenate[SessionDB, P], None]


class State:
    """What was said before or after the name of the command; the later word counts."""

    def __init__(self) -> None:
        self.place: str | None = None
        self.debug = False
        self.color = "auto"
        self.no_pager = False


_state = State()


def state() -> State:
    return _state


def begin() -> State:
    """Forget what an earlier command line said."""
    vars(_state).update(vars(State()))
    palette.choose("auto")
    return _state


def _remember(name: str, value: Any) -> None:
    setattr(_state, name, value)
    if name == "color":
        palette.choose(value)


COMMON = (
    Option(
        "--db",
        "place",
        convert=str,
        metavar="URL_OR_PATH",
        remember=_remember,
        help="The store, such as sqlite:///path/state.db or a path.",
    ),
    Option(
        "--color",
        convert=str,
        choices=("auto", "always", "never"),
        remember=_remember,
        help="Colours; auto: on a terminal, unless NO_COLOR is set.",
    ),
    Option("--no-pager", remember=_remember, help="Never begin a pager."),
    Option("--debug", remember=_remember, help="Show the traceback of an error."),
)


def common(command: F) -> F:
    """The options of every command."""
    for each in reversed(COMMON):
        command = parameter(each)(command)
    return command


# --- the sessions that a command names ---


def _joined(words: Sequence[str]) -> str | None:
    return " ".join(words) if words else None


_SESSION: dict[str, Any] = {"names_session": True}
# One session, a title of several words included; `session: str`.
session = words("session", metavar="SESSION", many=True, convert=_joined, **_SESSION)
# The same, and it may be left out; `session: str | None`.
maybe_session = words("session", metavar="[SESSION]", many=True, required=False, convert=_joined, **_SESSION)
# A session or the name of a file; `target: str | None`.
maybe_session_or_file = words(
    "target", metavar="[SESSION|FILE]", many=True, required=False, convert=_joined, **_SESSION
)
# One session in one word, because others follow; `session: str`.
session_word = words("session", metavar="SESSION", **_SESSION)
# One or several; give the words to `selection.find_sessions`; `sessions: Sequence[str]`.
sessions = words("sessions", metavar="SESSION...", many=True, **_SESSION)


# --- what to print ---


def answers(command: F) -> F:
    """--json and --jsonl; `form` goes to `answers.give`."""
    as_document = flag("--json", "form", value="json", help="Print one JSON document.")
    as_lines = flag("--jsonl", "form", value="jsonl", help="Print JSON, one record per line.")
    return as_document(as_lines(command))


def limit(default: int, what: str) -> Callable[[F], F]:
    return option(
        "--limit",
        "-n",
        convert=whole(1),
        default=default,
        show_default=True,
        metavar="N",
        help=f"At most so many {what}.",
    )


# --- which sessions ---

source = option("--source", metavar="NAME", help="Only sessions of this source, such as cli or telegram.")
since = option(
    "--since", convert=dates.since, metavar="WHEN", help="Only what was active since then: 2025-03-05, today, 12h, 7d."
)
until = option(
    "--until", convert=dates.until, metavar="WHEN", help="Only what was last active until then; a day counts whole."
)
_SELECTING = (
    option("--source", "sources", multiple=True, metavar="NAME", help="Only this source, such as cli; repeatable."),
    since,
    until,
    option("--tag", "tags", multiple=True, metavar="TAG", help="Only sessions with this tag; repeatable."),
    option("--cwd", metavar="DIR", help="Only sessions of this directory and those below, such as `.`"),
)


def selecting(command: Callable[..., Any]) -> Callable[..., Any]:
    """--source --since --until --tag --cwd; the command gets them as `where: Filter`."""

    @wraps(command)
    def run(
        *args: Any,
        sources: Sequence[str],
        since: float | None,
        until: float | None,
        tags: Sequence[str],
        cwd: str | None,
        **kwargs: Any,
    ) -> None:
        from ..models import Filter

        where = Filter(
            sources=tuple(sources) or None,
            active_since=since,
            active_until=until,
            tags=tuple(tags),
            cwd=None if cwd is None else os.path.abspath(os.path.expanduser(cwd)),
        )
        command(*args, where=where, **kwargs)

    for each in reversed(_SELECTING):
        run = each(run)
    return run


# --- the store ---


def reading(command: Command[P]) -> Callable[P, None]:
    """Give the command the store, opened for reading: no reader creates or changes one."""
    return _with_store(command, read_only=True)


def searching(command: Command[P]) -> Callable[P, None]:
    """Give the command the store for reading, and let its search index grow where the files allow it."""
    return _with_store(command, read_only=True, index=True)


def writing(command: Command[P]) -> Callable[P, None]:
    """Give the command the store, opened for writing."""
    return _with_store(command, read_only=False)


def creating(command: Command[P]) -> Callable[P, None]:
    """Give the command the store for writing; a new one where there is none."""
    return _with_store(command, read_only=False, create=True)


def _with_store(
    command: Command[P], *, read_only: bool, index: bool = False, create: bool = False
) -> Callable[P, None]:
    @common
    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        place = _state.place
        with paging(not _state.no_pager), open_store(place, read_only=read_only, index=index, create=create) as db:
            command(db, *args, **kwargs)

    return run


__all__ = [
    "COMMON", "State", "Words", "answers", "begin", "command", "common", "creating", "flag", "limit", "maybe_session",
    "maybe_session_or_file", "option", "reading", "searching", "selecting", "session", "session_word", "sessions",
    "since", "source", "state", "until", "whole", "words", "writing",
]  # fmt: skip
