"""Our own JSON lines: everything, so that importing them restores it; see docs/export.md."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, TextIO

from ..api.transfer import EXPORT_FORMAT
from ..jsontext import dumps
from .base import Conversation

NAME = "jsonl"
SUFFIXES = (".jsonl", ".ndjson")
RESTORES = True
# A line is read whole: a long session takes several.
MESSAGES_PER_LINE = 5000
CHARACTERS_PER_LINE = 16 * 1024 * 1024
# As base64 a larger file would be too long for a line.
MAX_MEDIA = 40 * 1024 * 1024
# C1, marks that turn the direction of writing, line separators, lone surrogates; C0 is escaped as JSON has it.
_UNSAFE = re.compile("[\x80-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def write(conversations: Iterable[Conversation], out: TextIO) -> None:
    written: set[str] = set()
    for conversation in conversations:
        for line in _lines(conversation):
            out.write(safe(line) + "\n")
        for line in _media(conversation, written):
            out.write(line + "\n")


def _lines(conversation: Conversation) -> Iterator[str]:
    session = conversation.session
    chunks = _chunks(_messages(conversation))
    first = next(chunks, [])
    following = next(chunks, None)
    whole: dict[str, Any] = {"format": EXPORT_FORMAT, **session, "tags": list(conversation.tags)}
    if following is not None:
        whole["parts"] = True
    yield _line(whole, first)
    while following is not None:
        yield _line({"format": EXPORT_FORMAT, "part_of": session["id"]}, following)
        following = next(chunks, None)


def more(conversation: Conversation, after: int, out: TextIO) -> None:
    """The messages after a position, as parts of a session whose line was written before."""
    session = conversation.session
    known = {"ledger": session["ledger"], "last_seq": session["last_seq"]}
    rest = replace(conversation, stored=lambda: (row for row in conversation.stored() if (row["seq"] or 0) > after))
    for chunk in _chunks(_messages(rest)):
        out.write(safe(_line({"format": EXPORT_FORMAT, "part_of": session["id"], **known}, chunk)) + "\n")
    new = {row["id"] for row in rest.stored()}
    media = [each for each in conversation.media() if each["message_id"] in new]
    for line in _media(replace(conversation, media=lambda: media), set()):
        out.write(line + "\n")


def _messages(conversation: Conversation) -> Iterator[tuple[str, int]]:
    media: dict[int, list[Any]] = {}
    for reference in conversation.media():
        media.setdefault(reference["message_id"], []).append(reference)
    for row in conversation.stored():
        values: dict[str, Any] = dict(row)
        if references := media.get(row["id"]):
            values["media_refs"] = references
        text = dumps(values)
        yield text, len(text)


def _chunks(messages: Iterator[tuple[str, int]]) -> Iterator[list[str]]:
    chunk: list[str] = []
    size = 0
    for text, length in messages:
        if chunk and (len(chunk) >= MESSAGES_PER_LINE or size + length > CHARACTERS_PER_LINE):
            yield chunk
            chunk, size = [], 0
        chunk.append(text)
        size += length
    if chunk:
        yield chunk


def _line(values: dict[str, Any], messages: list[str]) -> str:
    return dumps(values)[:-1] + ', "messages": [' + ", ".join(messages) + "]}"


def _media(conversation: Conversation, written: set[str]) -> Iterator[str]:
    """The files that messages name by their hash, each once."""
    for reference in conversation.media():
        digest = reference["sha256"]
        data = conversation.media_bytes(digest) if digest and digest not in written else None
        if not digest or data is None:
            continue
        written.add(digest)
        if len(data) > MAX_MEDIA:
            what = f"{reference['kind']} {digest[:12]}… of session {conversation.session['id']}"
            conversation.note(f"left out the {what}: {len(data):,} bytes, at most {MAX_MEDIA:,} fit a line")
        else:
            yield dumps({"format": EXPORT_FORMAT, "media": digest, "data": base64.b64encode(data).decode()})


def safe(line: str) -> str:
    """The line with lone surrogates and what a terminal would obey written as JSON escapes."""
    return line if line.isascii() else _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", line)
