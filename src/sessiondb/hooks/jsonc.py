"""JSON with comments, edited in its text: what is not ours keeps every byte.

A member goes behind the last of its object, an element behind the last of its array, and is taken out again with the
comma before it. Containers that were made for it go with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ..errors import Invalid

_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SCALAR = re.compile(r"-?[0-9][0-9.eE+-]*|true|false|null")
_INDENT = "  "


class Part(NamedTuple):
    """A value with its place in the text; of an object the members by name, of an array the elements."""

    start: int
    end: int
    members: dict[str, tuple[int, Part]] | None = None
    elements: list[Part] | None = None
    # Behind the last comma inside, where there is one before the end.
    dangling: int | None = None


def parsed(text: str) -> Part:
    """The outermost value. Raises Invalid, naming the line."""
    at = _skipped(text, 0)
    part = _value(text, at)
    if _skipped(text, part.end) != len(text):
        raise _broken(text, part.end)
    return part


def value(text: str, part: Part | None = None) -> Any:
    """What a part says, without comments."""
    part = parsed(text) if part is None else part
    if part.members is not None:
        return {name: value(text, member) for name, (_, member) in part.members.items()}
    if part.elements is not None:
        return [value(text, element) for element in part.elements]
    return json.loads(text[part.start : part.end])


def with_member(text: str, path: list[str], wanted: Any) -> str:
    """The text with `wanted` under this path; objects on the way are made where they are absent."""
    name, *rest = path
    return _put(text, parsed(text), name, rest, wanted, 1)


def with_element(text: str, path: list[str], wanted: Any) -> str:
    """The text with one more element at the end of the array under this path, which is made where it is absent."""
    part = _found(text, path)
    if part is None:
        return with_member(text, path, [wanted])
    if part.elements is None:
        raise Invalid(f"{'.'.join(path)} is no list; put it right by hand")
    return _inserted(text, part, _written(wanted, len(path) + 1), len(path) + 1)


def without_member(text: str, path: list[str]) -> str:
    """The text without what is under this path; an object that is left empty goes too."""
    parent, part = _found(text, path[:-1]), _found(text, path)
    if parent is None or part is None or parent.members is None:
        return text
    if len(parent.members) == 1 and len(path) > 1:
        return without_member(text, path[:-1])
    names = list(parent.members)
    at = names.index(path[-1])
    before = parent.members[names[at - 1]][1].end if at else None
    return _taken_out(text, parent, before, part.end, last=at == len(names) - 1)


def without_elements(text: str, path: list[str], ours: Callable[[Any], bool]) -> str:
    """The text without those elements of the array under this path; an array that is left empty goes too."""
    while True:
        part = _found(text, path)
        if part is None or part.elements is None:
            return text
        at = next((number for number, each in enumerate(part.elements) if ours(value(text, each))), None)
        if at is None:
            return text
        if len(part.elements) == 1:
            return without_member(text, path)
        before = part.elements[at - 1].end if at else None
        text = _taken_out(text, part, before, part.elements[at].end, last=at == len(part.elements) - 1)


# --- reading ---


def _broken(text: str, at: int) -> Invalid:
    return Invalid(f"broken JSON in line {text.count(chr(10), 0, at) + 1}; put it right first")


def _skipped(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int) -> Part:
    if text[at : at + 1] in ("{", "["):
        return _container(text, at, keyed=text[at] == "{")
    found = _STRING.match(text, at) or _SCALAR.match(text, at)
    if found is None:
        raise _broken(text, at)
    return Part(at, found.end())


def _container(text: str, start: int, *, keyed: bool) -> Part:
    members: dict[str, tuple[int, Part]] = {}
    elements: list[Part] = []
    at, dangling, more = start + 1, None, True
    while True:
        at = _skipped(text, at)
        if text[at : at + 1] == ("}" if keyed else "]"):
            return Part(start, at + 1, members if keyed else None, None if keyed else elements, dangling)
        if not more:
            raise _broken(text, at)
        begin = at
        if keyed:
            name = _STRING.match(text, at)
            at = _skipped(text, name.end()) if name else at
            if name is None or text[at : at + 1] != ":":
                raise _broken(text, at)
            part = _value(text, _skipped(text, at + 1))
            members[json.loads(name[0])] = (begin, part)
        else:
            part = _value(text, at)
            elements.append(part)
        comma = _skipped(text, part.end)
        more = text[comma : comma + 1] == ","
        at, dangling = (comma + 1, comma + 1) if more else (part.end, None)


def _found(text: str, path: list[str]) -> Part | None:
    part = parsed(text)
    for name in path:
        if part.members is None or name not in part.members:
            return None
        part = part.members[name][1]
    return part


# --- writing ---


def _put(text: str, part: Part, name: str, rest: list[str], wanted: Any, depth: int) -> str:
    if part.members is None:
        raise Invalid("the settings are no JSON object where one is expected; put them right by hand")
    if name not in part.members:
        for each in reversed(rest):
            wanted = {each: wanted}
        return _inserted(text, part, f"{json.dumps(name)}: {_written(wanted, depth)}", depth)
    member = part.members[name][1]
    if rest:
        return _put(text, member, rest[0], rest[1:], wanted, depth + 1)
    return text[: member.start] + _written(wanted, depth) + text[member.end :]


def _written(wanted: Any, depth: int) -> str:
    return json.dumps(wanted, indent=len(_INDENT), ensure_ascii=False).replace("\n", "\n" + _INDENT * depth)


def _inserted(text: str, part: Part, what: str, depth: int) -> str:
    """Behind the last member or element; on a line of its own."""
    inside = [each for _, each in part.members.values()] if part.members is not None else part.elements or []
    line = "\n" + _INDENT * depth + what
    if inside and part.dangling is not None:
        # The file ends its lists with a comma; ours does too.
        return text[: part.dangling] + line + "," + text[part.dangling :]
    if inside:
        return text[: inside[-1].end] + "," + line + text[inside[-1].end :]
    rest = text[part.start + 1 :]
    closing = "" if rest.startswith(("\n", "\r")) else "\n" + _INDENT * (depth - 1)
    return text[: part.start + 1] + line + closing + rest


def _taken_out(text: str, parent: Part, before: int | None, end: int, *, last: bool) -> str:
    """Without what lies between the part before and `end`, and one comma."""
    if before is not None and not (last and parent.dangling is not None):
        return text[:before] + text[end:]
    comma = _skipped(text, end)
    behind = comma + 1 if text[comma : comma + 1] == "," else end
    begin = parent.start + 1 if before is None else _skipped(text, before) + 1
    left = text[:begin] + text[behind:]
    return left[:begin] + left[begin:].lstrip() if before is None and last else left
