"""The searchable text of a message row, whatever shape its content and tool calls have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from ..models import MessageRow
from . import analyze

_MAX_DEPTH = 32
_TEXT_KEYS = ("text", "content", "parts", "value")
_NAME_KEYS = ("name", "tool_name", "toolName")
_ARGUMENT_KEYS = ("arguments", "input", "args", "parameters")
_ENCODED = r"data:[^\s,]{0,200},|[A-Za-z0-9+/_=-]{512}"


def readable(row: MessageRow) -> str:
    """What a person would read of the message: its text, or the text parts of structured content."""
    content = row.get("content")
    return content if isinstance(content, str) else "\n".join(_text_parts(content))


def tool_text(row: MessageRow) -> str:
    """The names and arguments of the tools that the message calls, or of the tool that answers in it."""
    answering = row.get("tool_name")
    parts = [answering] if isinstance(answering, str) else []
    if row.get("tool_calls") is None:
        return "".join(parts)
    for call in calls_of(row):
        parts += _named(call)
        parts += (part for value in _values(call, _ARGUMENT_KEYS) for part in _argument_parts(value))
    return "\n".join(parts)


def tool_names(row: MessageRow) -> list[str]:
    """The names of the tools that the message calls or answers for."""
    answering = row.get("tool_name")
    names = [answering] if isinstance(answering, str) else []
    return names + [name for call in calls_of(row) for name in _named(call)]


def uses_tools(row: MessageRow, names: Iterable[str]) -> bool:
    """Whether the message has to do with each of the tools; case does not count."""
    used = {name.casefold() for name in tool_names(row)}
    return all(name.casefold() in used for name in names)


def words(row: MessageRow) -> tuple[list[str], list[str]]:
    """The two columns of an index: the words of the text; those of tools, and parts of identifiers."""
    return document(readable(row), tool_text(row))


def columns(body: str, tools: str) -> tuple[str, str]:
    """`document` as texts, for an index that cuts ASCII at what is no letter and no digit, and ignores case."""
    if analyze.is_cut_alike(body):
        named = analyze.tokens(tools) + analyze.extra(f"{body}\n{tools}") if tools else analyze.extra(body)
        return body, " ".join(named)
    words, named = document(body, tools)
    return " ".join(words), " ".join(named)


def document(body: str, tools: str) -> tuple[list[str], list[str]]:
    """`words`, of texts that are already at hand."""
    words = analyze.tokens(body)
    if not tools:
        return words, analyze.extra(body, words)
    named = analyze.tokens(tools)
    return words, named + analyze.extra(f"{body}\n{tools}", chain(words, named))


def _text_parts(content: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(content, str):
        if not re.match(_ENCODED, content):
            yield content
    elif depth < _MAX_DEPTH:
        for inner in _values(content, _TEXT_KEYS) if isinstance(content, dict) else _items(content):
            yield from _text_parts(inner, depth + 1)


def _argument_parts(arguments: Any, depth: int = 0) -> Iterator[str]:
    """Names and values of arguments; JSON text is read first, or its escapes would be glued to words."""
    if depth == 0 and isinstance(arguments, str):
        arguments = _decoded(arguments)
    if isinstance(arguments, dict) and depth < _MAX_DEPTH:
        for name, value in arguments.items():
            yield str(name)
            yield from _argument_parts(value, depth + 1)
    elif isinstance(arguments, list | tuple) and depth < _MAX_DEPTH:
        for value in arguments:
            yield from _argument_parts(value, depth + 1)
    elif isinstance(arguments, str | int | float) and not re.match(_ENCODED, shown := str(arguments)):
        yield shown


def _decoded(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[", '"')):
        return text
    from json import loads

    try:
        return loads(text)
    except (ValueError, RecursionError):
        return text


def calls_of(row: MessageRow) -> list[dict[str, Any]]:
    """The tool calls of a message, each a mapping with its name and arguments."""
    calls = row.get("tool_calls")
    if isinstance(calls, str):
        calls = _decoded(calls)
    found = [call for call in ([calls] if isinstance(calls, dict) else _items(calls)) if isinstance(call, dict)]
    return [call["function"] if isinstance(call.get("function"), dict) else call for call in found]


def arguments_of(call: dict[str, Any]) -> Any:
    """The arguments of a tool call, read if they are JSON text."""
    given = next(iter(_values(call, _ARGUMENT_KEYS)), None)
    return _decoded(given) if isinstance(given, str) else given


def _named(call: dict[str, Any]) -> list[str]:
    return [name for name in _values(call, _NAME_KEYS) if isinstance(name, str)][:1]


def _values(mapping: dict[str, Any], keys: Iterable[str]) -> list[Any]:
    return [mapping[key] for key in keys if mapping.get(key) is not None]


def _items(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []
