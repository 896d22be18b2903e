"""What commands share: the options that name a store, sessions, times and forms, and the way to the store."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import click

from ..db import SessionDB
from ..models import Filter
from . import dates
from .ink import palette
from .store import open_store

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])
Command = Callable[Concatenate[SessionDB, P], None]

# Stands before a number such as -1 while click looks for options; no argument of a program can hold it.
_COUNTED = "\0"


class State:
    """What was said before or after the name of the command; the later word counts."""

    place: str | None = None
    debug: bool = False
    color: str = "auto"
    no_pager: bool = False


def state() -> State:
    return click.get_current_context().ensure_object(State)


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if not value:
        return
    setattr(ctx.ensure_object(State), str(param.name), value)
    if param.name == "color":
        palette.choose(value)


_COMMON = (
    click.option(
        "--db",
        "place",
        metavar="URL_OR_PATH",
        expose_value=False,
        callback=_remember,
        help="The store, such as sqlite:///path/state.db or a path.",
    ),
    click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        expose_value=False,
        callback=_remember,
        help="Colours; auto: on a terminal, unless NO_COLOR is set.",
    ),
    click.option("--no-pager", is_flag=True, expose_value=False, callback=_remember, help="Never begin a pager."),
    click.option(
        "--debug", is_flag=True, expose_value=False, callback=_remember, help="Show the traceback of an error."
    ),
)


def common(command: F) -> F:
    """The options of every command."""
    for option in reversed(_COMMON):
        command = option(command)
    return command


# --- a command, and the sessions it names ---


class NamingCommand(click.Command):
    """A command; -1, -2 … among its arguments are sessions counted from the last, not options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(self._counted(args)))

    def _counted(self, args: list[str]) -> Sequence[str]:
        if not any(getattr(param, "names_session", False) for param in self.params):
            return args
        valued = {
            name
            for param in self.params
            if isinstance(param, click.Option) and not param.is_flag
            for name in param.opts
        }
        before = ["", *args]
        return [
            _COUNTED + arg if re.fullmatch(r"-\d+", arg) and last not in valued else arg
            for last, arg in zip(before, args, strict=False)
        ]


class _Session(click.Argument):
    names_session = True


def _word(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    return None if value is None else value.lstrip(_COUNTED)


def _words(ctx: click.Context, param: click.Parameter, value: Sequence[str]) -> tuple[str, ...]:
    return tuple(word.lstrip(_COUNTED) for word in value)


def _joined(ctx: click.Context, param: click.Parameter, value: Sequence[str]) -> str | None:
    return " ".join(_words(ctx, param, value)) if value else None


def command(name: str, **attributes: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """Like `click.command`."""
    return click.command(name, cls=NamingCommand, **attributes)


# One session, a title of several words included; `session: str`.
session = click.argument("session", cls=_Session, nargs=-1, required=True, metavar="SESSION", callback=_joined)
# The same, and it may be left out; `session: str | None`.
maybe_session = click.argument("session", cls=_Session, nargs=-1, metavar="[SESSION]", callback=_joined)
# A session or the name of a file; `target: str | None`.
maybe_session_or_file = click.argument("target", cls=_Session, nargs=-1, metavar="[SESSION|FILE]", callback=_joined)
# One session in one word, because others follow; `session: str`.
session_word = click.argument("session", cls=_Session, metavar="SESSION", callback=_word)
# One or several; give the words to `selection.find_sessions`; `sessions: Sequence[str]`.
sessions = click.argument("sessions", cls=_Session, nargs=-1, required=True, metavar="SESSION...", callback=_words)


# --- what to print ---


def answers(command: F) -> F:
    """--json and --jsonl; `form` goes to `answers.give`."""
    as_lines = click.option("--jsonl", "form", flag_value="jsonl", help="Print JSON, one record per line.")
    as_document = click.option("--json", "form", flag_value="json", help="Print one JSON document.")
    return as_document(as_lines(command))


def limit(default: int, what: str) -> Callable[[F], F]:
    return click.option(
        "--limit",
        "-n",
        type=click.IntRange(min=1),
        default=default,
        show_default=True,
        metavar="N",
        help=f"At most so many {what}.",
    )


# --- which sessions ---

source = click.option("--source", metavar="NAME", help="Only sessions of this source, such as cli or telegram.")
since = click.option("--since", type=dates.SINCE, metavar="WHEN", help="Active since then: 2025-03-05, today, 12h, 7d.")
until = click.option("--until", type=dates.UNTIL, metavar="WHEN", help="Last active until then; a day counts whole.")
_SELECTING = (
    click.option(
        "--source", "sources", multiple=True, metavar="NAME", help="Only this source, such as cli; repeatable."
    ),
    since,
    until,
    click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only sessions with this tag; repeatable."),
    click.option("--cwd", metavar="DIR", help="Only sessions of this directory and those below, such as `.`"),
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
        where = Filter(
            sources=tuple(sources) or None,
            active_since=since,
            active_until=until,
            tags=tuple(tags),
            cwd=None if cwd is None else os.path.abspath(os.path.expanduser(cwd)),
        )
        command(*args, where=where, **kwargs)

    for option in reversed(_SELECTING):
        run = option(run)
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
        with open_store(state().place, read_only=read_only, index=index, create=create) as db:
            command(db, *args, **kwargs)

    return run
