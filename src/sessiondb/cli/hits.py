"""Found messages as a person reads them: by session, in the order of the best hit, with what was found marked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..db import SessionDB
from ..errors import NotFound
from ..models import MessageRow
from ..recap import spoken
from ..search.snippet import CLOSE, OPEN
from . import conversation, ink, output, records, terminal
from .text import cut, line

Hit = Mapping[str, Any]

_MARKED = re.compile(f"{OPEN}(.+?){CLOSE}", re.DOTALL)
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
        said: set[int] = set()
        for hit in found:
            if hit["role"] != "title":
                _show_hit(db, hit, context, scores, said)


def _heading(found: Sequence[Hit], now: float) -> None:
    first = found[0]
    titled = next((hit["snippet"] for hit in found if hit["role"] == "title"), None)
    name = list(marked(titled, "1")) if titled else [ink.bold(line(first["title"] or first["session_id"]))]
    facts = [first["session_id"] if first["title"] else None, first["source"], output.ago(first["timestamp"], now)]
    output.say(*name, ink.dim(" · " + " · ".join(line(fact) for fact in facts if fact)))


def _show_hit(db: SessionDB, hit: Hit, context: int, scores: bool, said: set[int]) -> None:
    around = _around(db, hit, context) if context else []
    before = [row for row in around if row["id"] < hit["id"]]
    _neighbours(before, said)
    _say_hit(hit, scores)
    said.add(hit["id"])
    _neighbours([row for row in around if row["id"] > hit["id"]], said)


def _say_hit(hit: Hit, scores: bool) -> None:
    partial = ink.dim("≈ ") if hit["partial"] else ""
    score = ink.dim(f" ({hit['score']:.3f})") if scores else ""
    head = [conversation.mark(hit["role"]), " ", partial, ink.dim(f"{hit['role']} #{hit['id']}"), score, ink.dim(": ")]
    output.say("  ", *head, *marked(hit["snippet"]))


def _neighbours(rows: Sequence[MessageRow], said: set[int]) -> None:
    room = (terminal.columns() or _NEIGHBOUR) - 6
    for row in rows:
        text = line(spoken(row["content"]))
        if row["id"] not in said and text:
            said.add(row["id"])
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


def marked(snippet: str, codes: str = "") -> list[str]:
    """The pieces of a snippet; where there are colours they take the place of the marks."""
    text = line(snippet)
    if not ink.palette.on:
        return [ink.Ink(text, codes) if codes else text]
    pieces: list[str] = []
    for number, part in enumerate(_MARKED.split(text)):
        pieces.append(ink.found(part) if number % 2 else ink.Ink(part, codes) if codes else part)
    return pieces


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
