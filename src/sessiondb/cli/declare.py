"""Commands declared once, read twice: by a small parser for what is typed right, by click for all the rest.

Importing click takes as long as answering. So options are data here; `Command.parse` understands the plain forms
(`--name value`, `--name=value`, `-n value`, flags, words) and gives up on anything else: help, mistakes, completion and
rarer spellings go to click, built from the same declarations (`clicking`). Where the small parser answers, click would
answer the same; a test holds the two together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
Convert = Callable[[str], Any]

# Shorter names of commands.
ALIASES = {"ls": "list"}
# -1, -2 …: sessions counted from the last active.
COUNTED = r"-([1-9]\d{0,8})"


class Option:
    """`convert` takes text and raises ValueError with a sentence; None: a flag, worth `value` when given.

    `remember` takes the value of an option that is for the program, not for the command. `registered` is a kind of
    parts that other distributions bring too: their names are choices like our own.
    """

    def __init__(
        self,
        *names: str,
        help: str,
        convert: Convert | None = None,
        value: Any = True,
        default: Any = None,
        metavar: str | None = None,
        choices: Sequence[str] = (),
        registered: str | None = None,
        multiple: bool = False,
        show_default: bool = False,
        remember: Callable[[str, Any], None] | None = None,
    ) -> None:
        self.flags = tuple(name for name in names if name.startswith("-"))
        given = [name for name in names if not name.startswith("-")]
        longest = max(self.flags, key=len)
        self.name = given[0] if given else longest.lstrip("-").replace("-", "_")
        self.help, self.convert, self.value, self.default = help, convert, value, default
        self.metavar, self.choices, self.multiple = metavar, tuple(choices), multiple
        self.show_default, self.remember, self.registered = show_default, remember, registered


class Words:
    """What stands without a dash: one word, or with `many` all of them. `names_session`: -1 is one of them."""

    def __init__(
        self,
        name: str,
        *,
        metavar: str,
        many: bool = False,
        required: bool = True,
        names_session: bool = False,
        convert: Callable[[Any], Any] | None = None,
    ) -> None:
        self.name, self.metavar, self.many, self.required = name, metavar, many, required
        self.names_session, self.convert = names_session, convert


Parameter = Option | Words


class NotPlain(Exception):
    """The small parser does not understand; click will, or will say what is wrong."""


class Command:
    """A command and what it takes."""

    def __init__(
        self, name: str, callback: Callable[..., Any], parameters: Sequence[Parameter], **attributes: Any
    ) -> None:
        self.name, self.callback, self.parameters, self.attributes = name, callback, parameters, attributes
        self.help = callback.__doc__ or ""

    @property
    def names_session(self) -> bool:
        return any(isinstance(each, Words) and each.names_session for each in self.parameters)

    def parse(self, arguments: Sequence[str]) -> dict[str, Any]:
        """What the callback gets. Raises NotPlain."""
        options = [each for each in self.parameters if isinstance(each, Option)]
        given, words = read(options, arguments, counted=self.names_session)
        return {**given, **_placed([each for each in self.parameters if isinstance(each, Words)], words)}


def read(
    options: Iterable[Option], arguments: Sequence[str], *, counted: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """Values by name, and the words in between. Raises NotPlain."""
    known = {flag: option for option in options for flag in option.flags}
    values: dict[str, Any] = {}
    setters: dict[str, Option] = {}
    words: list[str] = []
    waiting = list(reversed(arguments))
    while waiting:
        argument = waiting.pop()
        if argument == "--":
            words += reversed(waiting)
            break
        if not argument.startswith("-") or argument == "-" or (counted and re.fullmatch(COUNTED, argument)):
            words.append(argument)
            continue
        flag, joined, text = argument.partition("=")
        option = known.get(flag)
        if option is None or setters.setdefault(option.name, option) is not option:
            raise NotPlain
        _take(option, values, text if joined and flag.startswith("--") else None, waiting, bare=not joined)
    return _complete(known.values(), values), words


def _take(option: Option, values: dict[str, Any], text: str | None, waiting: list[str], *, bare: bool) -> None:
    if option.convert is None:
        if not bare:
            raise NotPlain
        values[option.name] = option.value
        return
    if text is None:
        if not bare or not waiting or waiting[-1].startswith("-"):
            raise NotPlain
        text = waiting.pop()
    value = _converted(option, text)
    if option.multiple:
        values[option.name] = (*values.get(option.name, ()), value)
    else:
        values[option.name] = value


def _converted(option: Option, text: str) -> Any:
    if option.choices and text not in option.choices:
        raise NotPlain
    try:
        return option.convert(text) if option.convert else text
    except ValueError:
        raise NotPlain from None


def _complete(options: Iterable[Option], values: dict[str, Any]) -> dict[str, Any]:
    """Defaults for what was not said; what is for the program is told to it."""
    whole: dict[str, Any] = {}
    for option in options:
        if option.remember is not None:
            if option.name in values:
                option.remember(option.name, values[option.name])
        elif option.name not in whole:
            whole[option.name] = values.get(option.name, default_of(option))
    return whole


def default_of(option: Option) -> Any:
    if option.multiple:
        return ()
    if option.convert is None:
        return False if option.value is True else None
    return option.convert(option.default) if isinstance(option.default, str) else option.default


def _placed(places: Sequence[Words], words: list[str]) -> dict[str, Any]:
    """Single words first, then the rest to the one that takes many."""
    taken: dict[str, Any] = {}
    left = list(words)
    for place in places:
        if place.many:
            value: Any = tuple(left)
            left = []
        else:
            value = left.pop(0) if left else None
        if place.required and not value and value != "":
            raise NotPlain
        taken[place.name] = place.convert(value) if place.convert else value
    if left:
        raise NotPlain
    return taken


# --- decorators ---


def parameter(made: Parameter) -> Callable[[F], F]:
    def declared(command: F) -> F:
        # The list that click's own decorators use too: the two may be mixed, for a command that need not be fast.
        command.__dict__.setdefault("__click_params__", []).append(made)
        return command

    return declared


def option(*names: str, help: str, **attributes: Any) -> Callable[[F], F]:
    """An option with a value; text unless `convert` or `choices` say more."""
    attributes.setdefault("convert", str)
    return parameter(Option(*names, help=help, **attributes))


def flag(*names: str, help: str, **attributes: Any) -> Callable[[F], F]:
    return parameter(Option(*names, help=help, **attributes))


def words(name: str, *, metavar: str, **attributes: Any) -> Callable[[F], F]:
    return parameter(Words(name, metavar=metavar, **attributes))


def command(name: str, **attributes: Any) -> Callable[[Callable[..., Any]], Any]:
    """Make a function a command; with parameters of click among its own it is click's at once."""

    def made(callback: Callable[..., Any]) -> Any:
        declared: list[Any] = list(reversed(callback.__dict__.pop("__click_params__", [])))
        if all(isinstance(each, Option | Words) for each in declared):
            return Command(name, callback, declared, **attributes)
        from .clicking import built

        return built(name, callback, declared, **attributes)

    return made


def whole(least: int) -> Convert:
    """A whole number, at least so much."""

    def convert(text: str) -> int:
        if not text.strip().isdecimal() or int(text) < least:
            raise ValueError(f"{text!r} is not a whole number of at least {least}")
        return int(text)

    return convert
