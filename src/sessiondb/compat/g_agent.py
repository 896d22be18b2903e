"""The session classes of G-Agent on a store of ours: `SessionManager`, `Session`, `SessionSQLiteStore`.

The JSONL files stay what they were and are read as before; whatever is said from now on is stored as well, once.
Nothing has to be migrated: what only the old files hold is found by search after `import_history`.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

from ..db import SessionDB
from ..errors import Invalid
from ..models import Filter, Page

Message = dict[str, Any]

_STORED = (
    "role", "content", "timestamp", "message_key", "content_type", "provider", "model", "input_tokens",
    "output_tokens", "tool_calls", "tool_call_id", "tool_name", "metadata", "media_refs",
)  # fmt: skip
_LONGEST_ID = 255


class SessionSQLiteStore:
    """Messages by session key, in one SQLite file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._db: SessionDB | None = None

    @property
    def db(self) -> SessionDB:
        """The store itself, opened when it is first needed."""
        if self._db is None:
            self.init_schema()
            assert self._db is not None
        return self._db

    def init_schema(self) -> None:
        """Open the file and create what is missing; a second call changes nothing."""
        if self._db is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = SessionDB(self.path)

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def append_message(
        self,
        session_key: str,
        role: str,
        content: Any,
        *,
        channel: str | None = None,
        chat_id: str | None = None,
        user_id: str | None = None,
        **fields: Any,
    ) -> int:
        """Store a message of a session, which begins with it, and return its id.

        Further fields: content_type, provider, model, input_tokens, output_tokens, tool_calls, media_refs, metadata,
        timestamp, message_key.
        """
        message = {"role": role, "content": content, **fields}
        return self.append_messages(session_key, [message], channel=channel, chat_id=chat_id, user_id=user_id)[0]

    def append_messages(self, session_key: str, messages: Iterable[Mapping[str, Any]], **origin: Any) -> list[int]:
        """Store messages in one transaction; one whose message_key is known is not stored again."""
        session_id = self._begin(session_key, origin)
        return self.db.append_messages(session_id, [_storable(message) for message in messages])

    def replace_messages(self, session_key: str, messages: Iterable[Mapping[str, Any]], **origin: Any) -> list[int]:
        return self.db.replace_messages(self._begin(session_key, origin), [_storable(each) for each in messages])

    def _begin(self, session_key: str, origin: Mapping[str, Any]) -> str:
        session_id = _session_id(session_key)
        channel, found, chat_id = session_key.partition(":")
        self.db.create_session(
            session_id,
            origin.get("channel") or (channel if found else "unknown"),
            user_id=origin.get("user_id"),
            session_key=session_key,
            chat_id=origin.get("chat_id") or chat_id or None,
            metadata=origin.get("metadata") or None,
        )
        return session_id

    def get_history(self, session_key: str, max_messages: int = 50) -> list[Message]:
        """The last messages of a session, in order."""
        rows = self.db.get_messages(_session_id(session_key), limit=max_messages, newest=True)
        return [{"role": row["role"], "content": row["content"], "timestamp": _iso(row["timestamp"])} for row in rows]

    def list_sessions(self, limit: int = 50, channel: str | None = None) -> list[dict[str, Any]]:
        """Sessions, the last updated first."""
        where = Filter(sources=None if channel is None else (channel,), archived=False)
        return [_listed(row) for row in self.db.provider.list_sessions(where, Page(limit), "activity")]

    def search_messages(
        self, query: str, limit: int = 20, channel: str | None = None, *, exclude_session: str | None = None
    ) -> list[dict[str, Any]]:
        """Messages that match, best first, with an excerpt; only what is stored is searched."""
        if not query or not query.strip():
            return []
        excluded = None if exclude_session is None else _session_id(exclude_session)
        hits = self.db.search_messages(
            query, None if channel is None else [channel], limit=limit + (excluded is not None) * 50
        )
        kept = [hit for hit in hits if hit["session_id"] != excluded][:limit]
        return [self._found(dict(hit)) for hit in kept]

    def _found(self, hit: Mapping[str, Any]) -> dict[str, Any]:
        row = self.db.get_session(hit["session_id"])
        return {
            "message_id": hit["id"],
            "session_id": hit["session_id"],
            "session_key": row["session_key"] if row is not None else None,
            "channel": hit["source"],
            "chat_id": row["chat_id"] if row is not None else None,
            "role": hit["role"],
            "excerpt": hit["snippet"],
            "created_at": _iso(hit["timestamp"]),
        }

    def delete_session(self, session_key: str) -> bool:
        """Move a session to the trash: a key used again has nothing of before, and nothing of before is found."""
        return self.db.delete_session(_session_id(session_key))


@dataclass
class Session:
    """A conversation in memory."""

    key: str
    messages: list[Message] = field(default_factory=list)
    created_at: datetime = field(default_factory=datetime.now)
    updated_at: datetime = field(default_factory=datetime.now)
    metadata: dict[str, Any] = field(default_factory=dict)
    session_id: str | None = None
    # Messages that only the old file has, by identity, and whether the messages were thrown away since the last save.
    _old: set[int] = field(default_factory=set, repr=False)
    _cleared: bool = field(default=False, repr=False)

    def add_message(self, role: str, content: Any, **fields: Any) -> None:
        now = datetime.now()
        self.messages.append({"role": role, "content": content, "timestamp": now.isoformat(), **fields})
        self.updated_at = now

    def get_history(self, max_messages: int = 50) -> list[Message]:
        """The last messages in the form that models take."""
        recent = self.messages[-max_messages:] if max_messages > 0 else []
        return [{"role": message["role"], "content": message["content"]} for message in recent]

    def clear(self) -> None:
        self.messages = []
        self._old = set()
        self._cleared = True
        self.updated_at = datetime.now()


class SessionManager:
    """Sessions by key: JSONL files in `<workspace>/sessions`, and a store beside them."""

    def __init__(
        self, workspace: str | os.PathLike[str], store: SessionSQLiteStore | None = None, *, jsonl: bool = True
    ) -> None:
        self.workspace = Path(workspace)
        self.sessions_dir = self.workspace / "sessions"
        self.store = store or SessionSQLiteStore(self.workspace / "sessions.db")
        self.jsonl = jsonl
        self._sessions: dict[str, Session] = {}

    def get_or_create(self, key: str) -> Session:
        """The session of a key: as it is in memory, in its file, or in the store; else a new one."""
        if key not in self._sessions:
            self._sessions[key] = self._read_file(key) or self._read_store(key) or Session(key)
            self._sessions[key].session_id = _session_id(key)
        return self._sessions[key]

    def save(self, session: Session) -> None:
        """Store what is new, then write the file anew."""
        if session._cleared:
            self.store.delete_session(session.key)
            session._cleared = False
        new = [message for message in session.messages if id(message) not in session._old]
        for message in new:
            message.setdefault("message_key", uuid4().hex)
        known = self.store.db.provider.find_keys(
            [_session_id(session.key)], [message["message_key"] for message in new]
        )
        unknown = [message for message in new if message["message_key"] not in known]
        if unknown:
            self.store.append_messages(session.key, unknown, metadata=session.metadata)
        if self.jsonl:
            self._write_file(session)
        self._sessions[session.key] = session

    def archive(self, key: str) -> Path | None:
        """Put a session away, as `/new` does: its file into `archive`, its messages into the trash."""
        path = self.path(key)
        target = None
        if path.exists():
            target = self.sessions_dir / "archive" / f"{path.stem}_{uuid4().hex[:8]}.jsonl"
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, target)
        self._forget(key)
        return target

    def delete(self, key: str) -> bool:
        """Remove a session; its messages stay in the trash of the store for a while."""
        path = self.path(key)
        was_there = path.exists()
        path.unlink(missing_ok=True)
        return self._forget(key) or was_there

    def _forget(self, key: str) -> bool:
        self._sessions.pop(key, None)
        return self.store.delete_session(key)

    def list_sessions(self) -> list[dict[str, Any]]:
        """What there is, stored or only in a file, the last updated first."""
        found = {row["key"]: row for row in self.store.list_sessions(limit=1_000_000)}
        for path in self.sessions_dir.glob("*.jsonl"):
            session = self._parsed(path, None)
            if session is not None and session.key not in found:
                found[session.key] = {
                    "key": session.key,
                    "updated_at": session.updated_at.isoformat(),
                    "path": str(path),
                }
        return sorted(found.values(), key=lambda row: str(row["updated_at"]), reverse=True)

    def import_history(self, key: str | None = None) -> int:
        """Store what only files have, so that search finds it; returns how many messages. Again: 0."""
        paths = [self.path(key)] if key is not None else sorted(self.sessions_dir.glob("*.jsonl"))
        return sum(self._import(path) for path in paths if path.exists())

    def _import(self, path: Path) -> int:
        read = self._parsed(path, None)
        if read is None:
            return 0
        session = self.get_or_create(read.key)
        missing = [message for message in session.messages if id(message) in session._old]
        if not missing:
            return 0
        for message in session.messages:
            message.setdefault("message_key", uuid4().hex)
        session._old = set()
        # In their order: what was said before comes before what is stored already.
        self.store.replace_messages(session.key, session.messages, metadata=session.metadata)
        self._write_file(session)
        return len(missing)

    # --- files ---

    def path(self, key: str) -> Path:
        name = "".join(each if each.isalnum() or each in "-_.@+" else "_" for each in key).lstrip(".")
        return self.sessions_dir / f"{name or '_'}.jsonl"

    def _read_file(self, key: str) -> Session | None:
        path = self.path(key)
        session = self._parsed(path, key) if path.exists() else None
        # Two keys may have one file name; a file of another key is not ours.
        return session if session is not None and session.key == key else None

    def _parsed(self, path: Path, key: str | None) -> Session | None:
        lines = [parsed for line in path.read_bytes().splitlines() if (parsed := _parsed(line)) is not None]
        head: Message = next((line for line in lines if line.get("_type") == "metadata"), {})
        messages = [line for line in lines if "_type" not in line and isinstance(line.get("role"), str)]
        named = head.get("key") or key
        if not isinstance(named, str):
            return None
        details = head.get("metadata")
        session = Session(named, messages, metadata=details if isinstance(details, dict) else {})
        session.created_at = _moment(head.get("created_at")) or session.created_at
        session.updated_at = _moment(head.get("updated_at")) or session.created_at
        session._old = {id(message) for message in messages if "message_key" not in message}
        return session

    def _read_store(self, key: str) -> Session | None:
        row = self.store.db.get_session(_session_id(key))
        if row is None:
            return None
        rows = self.store.db.get_messages(row["id"])
        messages = [
            {"role": each["role"], "content": each["content"], "timestamp": _iso(each["timestamp"])}
            | {"message_key": each["message_key"] or f"row:{each['id']}"}
            for each in rows
        ]
        session = Session(key, messages)
        session._old = {id(each) for each, stored in zip(messages, rows, strict=True) if stored["message_key"] is None}
        return session

    def _write_file(self, session: Session) -> None:
        head = {
            "_type": "metadata",
            "key": session.key,
            "created_at": session.created_at.isoformat(),
            "updated_at": session.updated_at.isoformat(),
            "metadata": session.metadata,
        }
        self.sessions_dir.mkdir(parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(prefix=".saving-", dir=self.sessions_dir)
        try:
            with os.fdopen(number, "w", encoding="utf-8") as file:
                file.writelines(json.dumps(line, default=str) + "\n" for line in (head, *session.messages))
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self.path(session.key))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def _session_id(session_key: str) -> str:
    """A key names one session at a time, so it is the id, unless it is too long for one."""
    if not isinstance(session_key, str) or not session_key:
        raise Invalid(f"a session key is a text such as 'telegram:42', not {session_key!r}")
    return session_key if len(session_key) <= _LONGEST_ID else f"key-{sha256(session_key.encode()).hexdigest()}"


def _storable(message: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: message[name] for name in _STORED if message.get(name) is not None}
    if "tool_name" not in kept and isinstance(message.get("name"), str):
        kept["tool_name"] = message["name"]
    if "timestamp" in kept and not isinstance(kept["timestamp"], int | float):
        moment = _moment(kept.pop("timestamp"))
        if moment is not None:
            kept["timestamp"] = moment.timestamp()
    further = {name: value for name, value in message.items() if name not in _STORED and name != "name"}
    if further:
        kept["metadata"] = {**(kept.get("metadata") or {}), **further}
    return kept


def _listed(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "key": row["session_key"] or row["id"],
        "channel": row["source"],
        "chat_id": row["chat_id"],
        "user_id": row["user_id"],
        "title": row["title"],
        "parent_session_id": row["parent_session_id"],
        "created_at": _iso(row["started_at"]),
        "updated_at": _iso(row["last_active"] or row["started_at"]),
        "message_count": row["message_count"],
        "metadata": row["metadata"],
    }


def _parsed(line: bytes) -> Message | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _moment(text: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat()
