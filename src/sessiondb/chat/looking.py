"""Commands that look: sessions, history, usage, recap, export. All through the scope of the desk."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Invalid
from ..exporters import base as exporters
from ..models import TOKEN_COLUMNS, Filter, ListedSession
from ..recap import recap, shortened
from .desk import Desk, Outcome

if TYPE_CHECKING:
    from .loop import Agent

_SESSIONS, _HITS, _HITS_EACH, _EXCHANGES = 10, 12, 3, 3
_FORMATS = ("markdown", "html", "jsonl", "openai")
NOTHING_YET = "Nothing was said yet."


def sessions(desk: Desk, words: str, agent: Agent | None) -> Outcome:
    rows = desk.scope.sessions(limit=_SESSIONS)
    if not rows:
        return Outcome("There are no sessions yet.")
    told = [f"{'*' if row['id'] == desk.session_id else ' '} {_line(row)}" for row in rows]
    return Outcome("\n".join([*told, "/resume NAME goes on in one of them."]))


def _line(row: Mapping[str, Any]) -> str:
    name = row["title"] or shortened(" ".join(str(row.get("preview") or "").split()), 50) or "no title"
    count = row["message_count"]
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(row["last_active"] or row["started_at"]))
    return f"{name} · {count} message{'s' * (count != 1)} · {when} · {row['id']}"


def history(desk: Desk, words: str, agent: Agent | None) -> Outcome:
    if not words:
        return Outcome("What should be looked for? Such as: /history nginx 502")
    by_session: dict[str, list[Mapping[str, Any]]] = {}
    # Results of tools quote what was found before; nobody said that.
    for hit in desk.scope.search(words, limit=_HITS, role_filter=["user", "assistant"]):
        by_session.setdefault(hit["session_id"], []).append(hit)
    if not by_session:
        return Outcome(f"Nothing was said about {words!r}; other words may have been used.")
    return Outcome("\n\n".join(_found(session_id, hits) for session_id, hits in by_session.items()))


def _found(session_id: str, hits: list[Mapping[str, Any]]) -> str:
    when = time.strftime("%Y-%m-%d", time.localtime(hits[0]["timestamp"]))
    title = hits[0].get("title")
    lines = [f"{title} · {when} · {session_id}" if title else f"{when} · {session_id}"]
    for hit in hits[:_HITS_EACH]:
        snippet = " ".join(hit["snippet"].replace(">>>", "").replace("<<<", "").split())
        lines.append(f"  {hit['role']}: {shortened(snippet, 200)}")
    return "\n".join(lines)


def usage(desk: Desk, words: str, agent: Agent | None) -> Outcome:
    found = parts(desk)
    if not found:
        return Outcome(NOTHING_YET)
    counts = {name: sum(int(row.get(name) or 0) for row in found) for name in TOKEN_COLUMNS}  # type: ignore[call-overload]
    lines = [
        f"{sum(row['message_count'] for row in found)} messages"
        + (f" in {len(found)} sessions, one after the other" if len(found) > 1 else ""),
        f"{counts['input_tokens']} tokens in, {counts['output_tokens']} out",
    ]
    lines += [f"{counts['cache_read_tokens']} more from a cache"] * bool(counts["cache_read_tokens"])
    lines += [f"of those out, {counts['reasoning_tokens']} for thoughts"] * bool(counts["reasoning_tokens"])
    return Outcome("\n".join([*lines, _costs(found)]))


def _costs(found: list[ListedSession]) -> str:
    actual = [row["actual_cost_usd"] for row in found if row["actual_cost_usd"] is not None]
    guessed = [row["estimated_cost_usd"] for row in found if row["estimated_cost_usd"] is not None]
    if actual:
        return f"{sum(actual):.4f} US dollars"
    return f"about {sum(guessed):.4f} US dollars" if guessed else "costs unknown"


def parts(desk: Desk) -> list[ListedSession]:
    """The session and what was compressed before it, newest first, as far as the person may see it."""
    found: list[ListedSession] = []
    following = desk.session_id
    while following is not None and following not in {row["id"] for row in found}:
        visible = desk.scope.having(following)
        if visible is None:
            break
        found.append(visible)
        following = visible["parent_session_id"] if visible["relation"] == "compression" else None
    return found


def recapped(desk: Desk, words: str, agent: Agent | None) -> Outcome:
    if desk.session_id is None:
        return Outcome(NOTHING_YET)
    made = recap(desk.scope.messages(desk.session_id), _EXCHANGES)
    told = [f"{'You' if entry.role == 'user' else 'I'}: {entry.text or entry.tools}" for entry in made.entries]
    return Outcome("\n".join(filter(None, [made.notice, *told])) or NOTHING_YET)


def export(desk: Desk, words: str, agent: Agent | None) -> Outcome:
    """A file in a directory of its own; the host hands it over. Nobody in a chat says where files go here."""
    name = words.lower() or "markdown"
    if name not in _FORMATS:
        raise Invalid(f"there is no format {words!r}; use {', '.join(_FORMATS)}")
    ids = tuple(row["id"] for row in parts(desk))
    if not ids:
        return Outcome(NOTHING_YET)
    exporter = exporters.exporter(name)
    path = Path(tempfile.mkdtemp(prefix="sessiondb-")) / f"{_file_name(ids[0])}{exporter.SUFFIXES[0]}"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as out:
        # A copy that leaves the store has no credentials.
        exporter.write(exporters.conversations(desk.db, Filter(ids=ids), redact=True, summed=True), out)
    return Outcome(f"This conversation as {name}:", file=path)


def _file_name(session_id: str) -> str:
    return "".join(each if each.isalnum() or each in "-_" else "_" for each in session_id)[:80]
