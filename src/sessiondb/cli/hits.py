"""Found messages as a person reads them: by session, in the order of the best hit, with what was found marked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..db import SessionDB
from ..errors import NotFound
from ..models import MessageRow
from ..recap import called, collapsed, spoken
from ..search.snippet import CLOSE, OPEN
from . import conversation, ink, output, records, terminal
from .facts import fitted
from .text import cut, line, width, wrapped

Hit = Mapping[str, Any]

# Signs without width stand for the marks while lines are broken; stored text loses them.
_ON, _OFF = "\u2063", "\u2064"
_SIGNS = re.compile(f"([{_ON}{_OFF}])")
_NO_SIGNS = dict.fromkeys(map(ord, (_ON, _OFF)))
_INDENT = 4
_FIELDS = ("id", "session_id", "role", "timestamp", "snippet", "matched", "partial", "score", "source", "title")
_NEIGHBOUR = 160


def record(db: SessionDB, hit: Hit, context: int) -> dict[str, Any]:
    shown = {name: hit.get(name) for name in _FIELDS}
    if context:
        shown["context"] = [records.message(row) for row in _around(db, hit, context)]
    return shown


def show(db: SessionDB, hits: Sequence[Hit], now: float, *, context: int, scores: bool) -> None:
    sessions: dict[str, list[Hit]] = {}
    for hit in hits:
        sessions.setdefault(hit["session_id"], []).append(hit)
    for number, found in enumerate(sessions.values()):
        if number:
            output.say()
        _heading(found, now)
        said = [hit for hit in found if hit["role"] != "title"]
        if context:
            _show_in_place(db, said, context, scores)
        else:
            for hit in said:
                _say_hit(hit, scores)


def _heading(found: Sequence[Hit], now: float) -> None:
    first = found[0]
    titled = next((hit["snippet"] for hit in found if hit["role"] == "title"), None)
    facts = [first["session_id"] if first["title"] else None, first["source"], output.ago(first["timestamp"], now)]
    name, about = fitted(first["title"] or first["session_id"], facts)
    pieces = _lines(titled, "1")[0] if titled else [ink.bold(name)]
    output.say(*pieces, ink.dim(about))


def _say_hit(hit: Hit, scores: bool) -> None:
    partial = ink.dim("≈ ") if hit["partial"] else ""
    score = f" ({hit['score']:.3f})" if scores else ""
    head = ["  ", conversation.mark(hit["role"]), " ", partial, ink.dim(f"{hit['role']} #{hit['id']}{score}: ")]
    room = terminal.columns()
    first, *more = _lines(hit["snippet"], "", room and room - _INDENT, sum(map(width, head)) - _INDENT)
    output.say(*head, *first)
    for pieces in more:
        output.say(" " * _INDENT, *pieces)


def _show_in_place(db: SessionDB, hits: Sequence[Hit], context: int, scores: bool) -> None:
    """The hits of a session among their neighbours, in the order in which they were said."""
    found = {hit["id"]: hit for hit in hits}
    rows = {row["id"]: row for hit in hits for row in _around(db, hit, context)}
    last: int | None = None
    for row in sorted(rows.values(), key=lambda row: row["seq"] or 0):
        if last is not None and (row["seq"] or 0) > last + 1:
            output.say(ink.dim("    …"))
        last = row["seq"]
        if row["id"] in found:
            _say_hit(found[row["id"]], scores)
        else:
            _say_neighbour(row)


def _say_neighbour(row: MessageRow) -> None:
    text = line(spoken(row["content"])) or collapsed(called(row["tool_calls"]))
    room = (terminal.columns() or _NEIGHBOUR) - _INDENT - 2
    shown = cut(f"{row['role']} #{row['id']}: {text}", min(room, _NEIGHBOUR))
    output.say("  ", conversation.mark(row["role"]), " ", ink.dim(shown))


def _around(db: SessionDB, hit: Hit, context: int) -> list[MessageRow]:
    if not hit["id"]:
        return []
    try:
        return db.get_messages_around(hit["session_id"], hit["id"], window=context)
    except NotFound:
        # Deleted since it was found.
        return []


def _lines(snippet: str, codes: str, columns: int | None = None, taken: int = 0) -> list[list[str]]:
    """A snippet in pieces, line by line; where there are colours they take the place of the marks.

    `taken` columns of the first line are taken already.
    """
    text = line(snippet).translate(_NO_SIGNS)
    if ink.palette.on:
        text = text.replace(OPEN, _ON).replace(CLOSE, _OFF)
    blank = "_" * max(taken, 0)
    lines = [text] if columns is None else list(wrapped(blank + text, max(columns, 20)))
    lines[0] = lines[0].removeprefix(blank)
    made, on = [], False
    for each in lines:
        pieces, on = _pieces(each, codes, on)
        made.append(pieces)
    return made


def _pieces(text: str, codes: str, on: bool) -> tuple[list[str], bool]:
    """The parts of a line by style, and whether the line ends inside a match."""
    made: list[str] = []
    for part in _SIGNS.split(text):
        if part in (_ON, _OFF):
            on = part == _ON
        elif part:
            made.append(ink.found(part) if on else ink.Ink(part, codes) if codes else part)
    return made, on


def show_nothing(query: str, did_you_mean: str | None) -> None:
    output.say(f"No message matches {query!r}.")
    if did_you_mean:
        output.say(f"Did you mean: {did_you_mean}")


def show_explanation(explanation: Mapping[str, Any]) -> None:
    for name, value in explanation.items():
        if isinstance(value, dict):
            value = ", ".join(f"{word} ({' '.join(roots)})" if roots else word for word, roots in value.items())
        elif isinstance(value, list):
            value = ", ".join(value)
        if value:
            output.say(ink.dim(f"{name.replace('_', ' ')}: {value}"))
    output.say()
