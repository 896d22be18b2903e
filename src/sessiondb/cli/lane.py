"""Which parser reads a command line: the small one if it understands all of it, else click."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .. import registry
from . import options
from .declare import ALIASES, Command, NotPlain, read
from .shortcuts import spelled_out

_ALIAS = "sessions"
_COMPLETING = "_SESSIONDB_COMPLETE"


def run(arguments: list[str]) -> int:
    if _COMPLETING in os.environ:
        from . import completing

        return completing.run(arguments)
    arguments = spelled_out(arguments)
    try:
        call = _plain(arguments)
    except NotPlain:
        from . import program

        options.begin()
        return program.run(arguments)
    call()
    return 0


def _plain(arguments: list[str]) -> Callable[[], Any]:
    """The call that the arguments mean. Raises NotPlain."""
    before, name, after = _split(arguments)
    command = _command(name)
    read(options.COMMON, before)
    values = command.parse(after)
    return lambda: command.callback(**values)


def _split(arguments: list[str]) -> tuple[list[str], str, list[str]]:
    """What stands before the name of the command, the name, and what stands after."""
    at = 0
    valued = {flag for option in options.COMMON if option.convert for flag in option.flags}
    while at < len(arguments) and arguments[at].startswith("-"):
        at += 2 if arguments[at] in valued else 1
    if at < len(arguments) and arguments[at] == _ALIAS:
        return arguments[:at], *_named(arguments[at + 1 :])
    return arguments[:at], *_named(arguments[at:])


def _named(rest: list[str]) -> tuple[str, list[str]]:
    if not rest:
        raise NotPlain
    return rest[0], rest[1:]


def _command(name: str) -> Command:
    """One of our own; what others ship is found by click's way."""
    name = ALIASES.get(name, name)
    if name not in registry.TABLES["commands"]:
        raise NotPlain
    found = registry.load("commands", name)
    if not isinstance(found, Command):
        raise NotPlain
    return found
