"""Files beside the store, for people and older tools: `sessions.json`, and a JSONL transcript for each session.

The store is the truth. A transcript is brought up to the store's last position, so a line that a crash kept from
being written comes with the next one, and none comes twice. Nothing here is ever read back unless somebody asks:
`read_index` and `read_transcript` read the files of older versions, too.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

from ..bindings import Binding, Handover
from ..db import SessionDB
from ..models import MessageRow

logger = logging.getLogger("sessiondb.gateway")
INDEX, BURIED, ARCHIVED = "sessions.json", "trash", "archive"
_SAID = (
    "role", "content", "timestamp", "tool_call_id", "tool_name", "tool_calls", "finish_reason", "reasoning",
    "message_key", "metadata",
)  # fmt: skip
_TAIL = 1 << 16


class Transcripts:
    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)

    # --- writing ---

    def follow(self, db: SessionDB, old: Binding | None, new: Binding, handover: Handover) -> None:
        """Write what a change of a binding changed."""
        if old is None or old.active_session_id != new.active_session_id:
            try:
                self._index(new)
            except OSError as exc:
                logger.warning("the index in %s was not written: %s", self.directory, exc)
        touched = [handover.left[0]] if handover.left is not None else []
        touched += [new.active_session_id] if new.active_session_id and handover.messages else []
        for session_id in dict.fromkeys(touched):
            self.write(db, session_id)

    def write(self, db: SessionDB, session_id: str) -> None:
        """Add the lines that are missing at the end of a transcript.

        What is in the store is safe: a disk that takes no files is a warning here, and the lines come later.
        """
        try:
            self._write(db, session_id)
        except OSError as exc:
            logger.warning("the transcript of session %s was not written: %s", session_id, exc)

    def _write(self, db: SessionDB, session_id: str) -> None:
        path = self.path(session_id)
        if path.exists() and path.stat().st_size and _owner(path) is None:
            # Of an older version: kept as it is, beside.
            os.replace(path, path.with_suffix(".jsonl.old"))
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _opened(path) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            last = _last_position(file)
            rows = db.get_messages(session_id, after=last)
            file.seek(0, os.SEEK_END)
            file.write(b"".join(_line(row) for row in rows))
            file.flush()
            os.fsync(file.fileno())

    def archive(self, db: SessionDB, session_id: str) -> None:
        """Put a transcript away, whole, into `archive/`; a session that goes on later gets a new one."""
        self.write(db, session_id)
        path = self.path(session_id)
        try:
            (self.directory / ARCHIVED).mkdir(mode=0o700, exist_ok=True)
            os.replace(path, self.directory / ARCHIVED / path.name)
        except OSError as exc:
            logger.warning("the transcript of session %s was not archived: %s", session_id, exc)

    def path(self, session_id: str) -> Path:
        """The transcript of a session; an id is no path, whatever is in it."""
        name = "".join(each if each.isalnum() or each in "-_" else f"%{ord(each):02X}" for each in session_id)
        return self.directory / f"{name}.jsonl"

    def _index(self, *bindings: Binding) -> None:
        path = self.directory / INDEX
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        # A lock of its own: the index is another file after every change.
        with open(self.directory / f".{INDEX}.lock", "ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            before = _entries(path)
            entries = dict(before)
            for binding in bindings:
                _put(entries, binding)
            if entries != before:
                _replace(path, json.dumps(entries, indent=2))

    def reindex(self, bindings: Iterable[Binding]) -> None:
        """Bring the index up to the store, where a crash came between; entries of others stay."""
        self._index(*bindings)

    # --- what became of the sessions ---

    def tidy(self, db: SessionDB) -> dict[str, int]:
        """Let files go where their sessions went: into the trash with them, back with them, away with them.

        A file of a session that the store never had stays: it is there to be imported.
        """
        trash = {row["id"] for row in db.list_trash(limit=None)}
        counts = {"buried": 0, "restored": 0, "removed": 0}
        for path in sorted([*self.directory.glob("*.jsonl"), *(self.directory / ARCHIVED).glob("*.jsonl")]):
            session_id = _owner(path)
            if session_id is not None and db.get_session(session_id) is None:
                counts["buried"] += self._bury(path)
        for path in sorted((self.directory / BURIED).glob("*.jsonl")):
            session_id = _owner(path)
            if session_id is None or session_id in trash:
                continue
            if db.get_session(session_id) is not None:
                os.replace(path, self.directory / path.name)
                counts["restored"] += 1
            else:
                path.unlink()
                counts["removed"] += 1
        return counts

    def _bury(self, path: Path) -> int:
        (self.directory / BURIED).mkdir(mode=0o700, exist_ok=True)
        os.replace(path, self.directory / BURIED / path.name)
        return 1


def read_index(directory: str | os.PathLike[str]) -> dict[str, dict[str, Any]]:
    """The entries of an index by key, of this version or an older one; what is no entry is left out."""
    return {
        key: entry
        for key, entry in _entries(Path(directory) / INDEX).items()
        if isinstance(entry, dict) and isinstance(entry.get("session_id"), str)
    }


def read_transcript(path: str | os.PathLike[str]) -> tuple[list[dict[str, Any]], list[int]]:
    """The messages of a transcript, and the numbers of the lines that are none."""
    messages, bad = [], []
    with open(path, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            message = _parsed(line)
            if message is not None and isinstance(message.get("role"), str):
                messages.append(message)
            elif line.strip() and (message is None or "session_id" not in message):
                bad.append(number)
    return messages, bad


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _entries(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text("utf-8-sig", "surrogateescape"))
    except (FileNotFoundError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def _put(entries: dict[str, Any], binding: Binding) -> None:
    known = entries.get(binding.session_key)
    if binding.active_session_id is None:
        entries.pop(binding.session_key, None)
    elif not isinstance(known, dict) or known.get("session_id") != binding.active_session_id:
        entries[binding.session_key] = _entry(binding)


def _entry(binding: Binding) -> dict[str, Any]:
    return {
        "session_key": binding.session_key,
        "session_id": binding.active_session_id,
        "platform": binding.platform,
        "chat_type": binding.chat_type,
        "created_at": _iso(binding.created_at),
        "updated_at": _iso(binding.updated_at),
        "origin": {
            "platform": binding.platform,
            "chat_type": binding.chat_type,
            "chat_id": binding.chat_id,
            "thread_id": binding.thread_id,
            "user_id": binding.user_id,
        },
    }


def _iso(moment: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(moment, UTC).isoformat()


def _line(row: MessageRow) -> bytes:
    said = {name: value for name in _SAID if (value := row[name]) is not None}  # type: ignore[literal-required]
    return json.dumps({"session_id": row["session_id"], "seq": row["seq"], **said}).encode() + b"\n"


def _opened(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b")


def _last_position(file: IO[bytes]) -> int:
    """The position of the last whole line; what a crash left of one is cut off."""
    size = file.seek(0, os.SEEK_END)
    end, tail = size, b""
    while end > 0 and tail.count(b"\n") < 2:
        start = max(0, end - _TAIL)
        file.seek(start)
        tail = file.read(end - start) + tail
        end = start
    whole = tail.rfind(b"\n") + 1
    file.truncate(size - len(tail) + whole)
    lines = tail[:whole].splitlines()
    last = _parsed(lines[-1]) if lines else None
    seq = last.get("seq") if last is not None else 0
    return seq if isinstance(seq, int) else 0


def _owner(path: Path) -> str | None:
    """The session of a transcript that this store wrote; None for files of others."""
    with path.open("rb") as file:
        first = _parsed(file.readline())
    return first["session_id"] if first is not None and "seq" in first and "session_id" in first else None


def _replace(path: Path, text: str) -> None:
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
