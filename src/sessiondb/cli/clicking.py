"""The declarations as commands of click, which writes the help, explains mistakes and completes words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import click

from .. import registry
from ..errors import SessionDBError
from .declare import ALIASES, COUNTED, Command, Option, Words
from .shortcuts import spelled_out

# Stands before a number such as -1 while click looks for options; no argument of a program can hold it.
_HIDDEN = "\0"


class Converted(click.ParamType[Any]):
    """A function from text that raises ValueError with a sentence."""

    def __init__(self, convert: Callable[[str], Any]) -> None:
        self.name = "text"
        self._convert = convert

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self._convert(value)
        except ValueError as exc:
            self.fail(str(exc), param, ctx)


@contextmanager
def _told_of(ctx: click.Context) -> Iterator[None]:
    """Mistakes know their command, and so the way to its help; click forgets it for an option without its value."""
    try:
        yield
    except click.UsageError as exc:
        exc.ctx = exc.ctx or ctx
        raise


class NamingCommand(click.Command):
    """A command; -1, -2 … among its arguments are sessions counted from the last, not options."""

    names_session = False

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with _told_of(ctx):
            return super().parse_args(ctx, self._hidden(args) if self.names_session else args)

    def _hidden(self, args: list[str]) -> list[str]:
        options = [param for param in self.params if isinstance(param, click.Option) and not param.is_flag]
        valued = {name for option in options for name in option.opts}
        return [
            _HIDDEN + arg if re.fullmatch(COUNTED, arg) and last not in valued else arg
            for last, arg in zip(["", *args], args, strict=False)
        ]


def built(name: str, callback: Callable[..., Any], declared: Sequence[Any], **attributes: Any) -> click.Command:
    params = [parameter_of(each) if isinstance(each, Option | Words) else each for each in declared]
    made = NamingCommand(name, callback=callback, params=params, help=callback.__doc__, **attributes)
    made.names_session = any(isinstance(each, Words) and each.names_session for each in declared)
    return made


def of(command: Command | click.Command) -> click.Command:
    if isinstance(command, click.Command):
        return command
    return built(command.name, command.callback, command.parameters, **command.attributes)


def parameter_of(declared: Option | Words) -> click.Parameter:
    return _option(declared) if isinstance(declared, Option) else _argument(declared)


def _option(declared: Option) -> click.Option:
    names = [*declared.flags, declared.name]
    common: dict[str, Any] = {"help": declared.help}
    if declared.remember is not None:
        common |= {"expose_value": False, "callback": _remembering(declared)}
    if declared.convert is None:
        if declared.value is True:
            return click.Option(names, is_flag=True, **common)
        return click.Option(names, flag_value=declared.value, **common)
    kind = click.Choice(_choices(declared)) if declared.choices else Converted(declared.convert)
    if not declared.multiple and declared.default is not None:
        common["default"] = declared.default
    return click.Option(
        names,
        type=kind,
        multiple=declared.multiple,
        metavar=declared.metavar,
        show_default=declared.show_default,
        shell_complete=None if declared.choices else _completing(declared),
        **common,
    )


def _choices(declared: Option) -> tuple[str, ...]:
    if declared.registered is None:
        return declared.choices
    return tuple(dict.fromkeys((*declared.choices, *registry.names(declared.registered))))


def _remembering(declared: Option) -> Callable[[click.Context, click.Parameter, Any], None]:
    def callback(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        if value and declared.remember is not None:
            declared.remember(declared.name, value)

    return callback


def _argument(declared: Words) -> click.Argument:
    def callback(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        if value is not None:
            value = tuple(map(_shown, value)) if declared.many else _shown(value)
        return declared.convert(value) if declared.convert else value

    return click.Argument(
        [declared.name],
        nargs=-1 if declared.many else 1,
        required=declared.required,
        metavar=declared.metavar,
        callback=callback,
        shell_complete=_completing(declared),
    )


def _completing(declared: Option | Words) -> Callable[..., Any] | None:
    """Who knows what may stand there; asked while a shell completes a line."""
    from . import completing

    if isinstance(declared, Words) and declared.names_session:
        return completing.sessions
    if declared.name in ("source", "sources"):
        return completing.sources
    if declared.metavar == "TAG":
        return completing.tags
    if isinstance(declared, Words) and declared.metavar.islower() and "|" in declared.metavar:
        return completing.one_of(*declared.metavar.split("|"))
    if declared.metavar and any(word in declared.metavar for word in ("FILE", "PATH")):
        return completing.files
    return completing.directories if declared.metavar == "DIR" else None


def _shown(word: str) -> str:
    return word.lstrip(_HIDDEN)


class Commands(click.Group):
    """Commands by their name in the registry, those of other distributions included."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with _told_of(ctx):
            return super().parse_args(ctx, spelled_out(args))

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in registry.names("commands") if name != self.name]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        cmd_name = ALIASES.get(cmd_name, cmd_name)
        if cmd_name == self.name or not registry.has("commands", cmd_name):
            return None
        try:
            command: Command | click.Command = registry.load("commands", cmd_name)
        except SessionDBError as exc:
            # One broken plug-in must not take the help of all commands away.
            return _broken(cmd_name, exc)
        return of(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise click.UsageError(_no_command(args[0], self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)


def _no_command(wanted: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(wanted, known, n=1)
    return f"no command {wanted!r}; " + (f"did you mean {near[0]!r}" if near else f"known: {', '.join(known)}")


def _broken(name: str, error: SessionDBError) -> click.Command:
    def fail() -> NoReturn:
        raise error

    return click.Command(name, callback=fail, help=f"Broken: {error}", short_help="(cannot be loaded)")
