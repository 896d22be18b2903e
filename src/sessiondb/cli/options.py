"""What all commands share: the store they work on, and the options that choose it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec

import click

from .. import config, registry
from ..db import SessionDB
from ..errors import Conflict, NotFound, SchemaOutdated
from ..provider import SessionDBProvider
from . import output

P = ParamSpec("P")
Command = Callable[Concatenate[SessionDB, P], None]

_SHOWN_CANDIDATES = 5


@dataclass
class State:
    """What was said before or after the name of the command; the later word counts."""

    place: str | None = None
    debug: bool = False


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value:
        setattr(ctx.ensure_object(State), str(param.name), value)


place = click.option(
    "--db",
    "place",
    metavar="URL_OR_PATH",
    expose_value=False,
    callback=_remember,
    help="The store, such as sqlite:///path/state.db or a path.",
)
debug = click.option(
    "--debug", is_flag=True, expose_value=False, callback=_remember, help="Show the traceback of an error."
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
source = click.option("--source", metavar="NAME", help="Only sessions of this source, such as cli or telegram.")
session = click.argument("session", metavar="SESSION")


def reading(command: Command[P]) -> Callable[P, None]:
    """Give the command the store, opened for reading: no reader creates or changes one."""
    return _with_store(command, read_only=True)


def searching(command: Command[P]) -> Callable[P, None]:
    """Give the command the store for reading, and let its search index grow where the files allow it."""
    return _with_store(command, read_only=True, index=True)


def writing(command: Command[P]) -> Callable[P, None]:
    """Give the command the store, opened for writing."""
    return _with_store(command, read_only=False)


def _with_store(command: Command[P], *, read_only: bool, index: bool = False) -> Callable[P, None]:
    @place
    @debug
    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        state = click.get_current_context().ensure_object(State)
        with open_store(state.place, read_only=read_only, index=index) as db:
            command(db, *args, **kwargs)

    return run


def open_store(named: str | None, *, read_only: bool, index: bool = False) -> SessionDB:
    """The store that exists; a default one that nobody has written to yet reads as empty. Raises NotFound."""
    settings = config.load(named)
    for warning in settings.warnings:
        output.complain(warning)
    if _is_absent(settings):
        if _is_named(settings) or not read_only:
            raise NotFound(f"no store at {settings.options['path']}; it begins with the first session written to it")
        return SessionDB("memory://")
    try:
        return _opened(settings, read_only=read_only and not (index and _is_ours_to_write(settings)))
    except SchemaOutdated:
        if not read_only:
            raise
        db = _opened(settings, read_only=False)
        output.complain(
            f"{db.db_path or 'the store'} was brought to the current schema; a backup of old data is beside it"
        )
        return db


def _opened(settings: config.Settings, *, read_only: bool) -> SessionDB:
    provider: SessionDBProvider = registry.load("providers", settings.provider)()
    provider.initialize(
        **settings.options, **({"read_only": True} if read_only and provider.features.read_only else {})
    )
    return SessionDB(provider=provider)


def _is_ours_to_write(settings: config.Settings) -> bool:
    path = settings.options.get("path")
    return path is None or (os.access(path, os.W_OK) and os.access(os.path.dirname(os.path.abspath(path)), os.W_OK))


def _is_absent(settings: config.Settings) -> bool:
    return settings.provider == "sqlite" and not os.path.lexists(settings.options["path"])


def _is_named(settings: config.Settings) -> bool:
    return settings.origins["sessiondb.provider"] in ("argument", "SESSIONDB_URL")


def find_session(db: SessionDB, wanted: str) -> str:
    """The id for an id, a prefix that only one session has, or a title. Raises NotFound or Conflict."""
    found = db.resolve_session_id(wanted)
    if found is not None:
        return found
    titled = db.get_session_by_title(wanted)
    if titled is not None:
        return titled["id"]
    candidates = db.provider.find_ids(wanted, _SHOWN_CANDIDATES + 1) if wanted else []
    if candidates:
        shown = ", ".join(candidates[:_SHOWN_CANDIDATES]) + (", …" if len(candidates) > _SHOWN_CANDIDATES else "")
        raise Conflict(f"several sessions begin with {wanted!r}: {shown}; give more of the id")
    raise NotFound(f"no session with the id, prefix or title {wanted!r}; `sessiondb list --all` shows what there is")
