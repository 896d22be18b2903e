"""Rows that cannot be moved as they are: told from good ones, kept in a file, and counted."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TextIO

from . import ledger
from .drafts import check_id, check_session, check_time
from .errors import Invalid
from .models import MESSAGE_COLUMNS

Row = Mapping[str, Any]
_NUMBERS = ("token_count", "input_tokens", "output_tokens")
_TEXTS = tuple(
    name
    for name in MESSAGE_COLUMNS
    if name not in ("id", "session_id", "role", "timestamp", "seq", "term", "active", "injected", *_NUMBERS)
)
_SHOWN = 1000


def bad_row(row: Row, max_bytes: int) -> str | None:
    """Why a message cannot be moved; None when it can."""
    if not isinstance(row["role"], str) or not row["role"]:
        return f"its role is {row['role']!r}"
    if not _is_number(row["timestamp"]):
        return f"its time is {row['timestamp']!r}"
    for name in _TEXTS:
        if row[name] is not None and not isinstance(row[name], str):
            return f"its {name} is not text but {type(row[name]).__name__}"
    for name in _NUMBERS:
        if row[name] is not None and (not isinstance(row[name], int) or not 0 <= row[name] < 1 << 63):
            return f"its {name} is {row[name]!r}"
    if row["content"] is not None and _is_long(row["content"], max_bytes):
        return f"its text is longer than the {max_bytes:,} bytes that the target takes"
    if row["term"] != ledger.term(ledger.digest(row), row["seq"]):
        return "it was altered: what it says does not fit its proof"
    return None


def bad_session(session: Row) -> str | None:
    """Why a session cannot be moved; None when it can."""
    try:
        check_id(session["id"], "id")
        check_id(session["source"], "source")
        check_time(session["started_at"], "started_at")
        check_session({name: value for name, value in session.items() if name not in _COUNTED})
    except Invalid as exc:
        return str(exc)
    return None


_COUNTED = ("message_count", "tool_call_count", "last_message_id", "ledger", "deleted_at")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_long(text: str, max_bytes: int) -> bool:
    return len(text) * 4 > max_bytes and len(text.encode("utf-8", "surrogatepass")) > max_bytes


@dataclass
class Quarantine:
    """A file of JSON lines, made when the first row comes; `path` None keeps only the list."""

    path: str | None
    reasons: list[str] = field(default_factory=list)
    count: int = 0
    _file: TextIO | None = None

    def put(self, kind: str, place: str, reason: str, row: Row | None) -> None:
        """Keep a row, whole, with where it was and why it is here."""
        self.count += 1
        if len(self.reasons) < _SHOWN:
            self.reasons.append(f"{place}: {reason}")
        if self.path is None:
            return
        if self._file is None:
            os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            self._file = os.fdopen(descriptor, "w", encoding="utf-8")
        line = {"kind": kind, "place": place, "reason": reason, "row": None if row is None else dict(row)}
        self._file.write(json.dumps(line, default=_as_hex) + "\n")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _as_hex(value: object) -> object:
    return {"hex": value.hex()} if isinstance(value, bytes) else repr(value)
