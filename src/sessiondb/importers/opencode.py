"""OpenCode: `opencode.db`, the older tree of files in `storage/`, `opencode export`, and the events of `opencode run`.

Whatever the form, a session is its description, messages, and the parts of each. A call and its result are one part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import ImportProblem
from .base import Record, Skipped
from .opencode_messages import Conversation
from .opencode_tree import Tree
from .parts import list_of
from .source import Source, first_objects
from .texts import words_of

NAME = "opencode"
_SQLITE = b"SQLite format 3\x00"


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    data = Path(env["XDG_DATA_HOME"]).expanduser() if env.get("XDG_DATA_HOME") else home / ".local" / "share"
    named = env.get("OPENCODE_DB")
    return [data / "opencode", *([Path(named).expanduser()] if named else [])]


def find(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
        return
    # The tree stays behind when its sessions move into the database, which then knows better: it comes last.
    yield from (path for path in sorted(root.glob("**/session/*/*.json")) if Tree.is_session(path))
    yield from sorted(root.rglob("opencode*.db"))


def detect(path: Path, head: bytes) -> bool:
    if head.startswith(_SQLITE):
        return _is_database(path)
    if path.suffix == ".jsonl":
        return any("sessionID" in record and isinstance(record.get("part"), dict) for record in first_objects(head, 5))
    if path.suffix != ".json":
        return False
    if Tree.is_session(path):
        return b'"projectID"' in head and b'"id"' in head
    return b'"info"' in head and b'"sessionID"' in head and b'"parts"' in head


def _is_database(path: Path) -> bool:
    try:
        with Source(path).tables() as tables:
            return tables.tables() >= {"session", "message", "part"}
    except ImportProblem:
        return False


def stamp(path: Path) -> tuple[int, float]:
    """Size and time of all that belongs to a session of the tree, or to the database."""
    if path.suffix == ".json" and Tree.is_session(path):
        return Tree(path).stamp()
    files = [path, path.with_name(path.name + "-wal")]
    stats = [file.stat() for file in files if file.exists()]
    return sum(each.st_size for each in stats), max(each.st_mtime for each in stats)


def read(source: Source) -> Iterator[Record]:
    if source.path.suffix == ".jsonl":
        yield from _read_events(source)
    elif source.path.suffix == ".json":
        yield from _read_document(source)
    else:
        yield from _read_database(source)


def _read_document(source: Source) -> Iterator[Record]:
    whole = source.document()
    if not isinstance(whole, dict):
        yield Skipped(source.path, None, "a JSON file that is no session")
    elif isinstance(whole.get("messages"), list) and isinstance(whole.get("info"), dict):
        conversation = Conversation(whole["info"])
        for message in whole["messages"]:
            if isinstance(message, dict) and isinstance(message.get("info"), dict):
                yield from conversation.message(message["info"], list_of(message.get("parts")))
        yield from conversation.rest()
    elif words_of(whole.get("id")):
        tree = Tree(source.path)
        conversation = Conversation(whole)
        for found in tree.messages(whole["id"]):
            if isinstance(found, Skipped):
                yield found
            else:
                yield from conversation.message(*found)
        yield from conversation.rest()
    else:
        yield Skipped(source.path, None, "a JSON file that is no session")


def _read_database(source: Source) -> Iterator[Record]:
    with source.tables() as tables:
        for row in tables.rows("session", order=("time_created", "id")):
            conversation = Conversation.of_row(row)
            found = False
            for message in tables.rows("message", equal={"session_id": row["id"]}, order=("time_created", "id")):
                found = True
                parts = tables.rows("part", equal={"message_id": message["id"]}, order=("id",))
                yield from conversation.message_row(source.path, message, parts)
            if not found and "session_message" in tables.tables():
                for each in tables.rows("session_message", equal={"session_id": row["id"]}, order=("seq",)):
                    yield from conversation.unknown_row(each)
            yield from conversation.rest()


def _read_events(source: Source) -> Iterator[Record]:
    """The lines that `opencode run --format json` prints: parts without their messages, and no prompt."""
    carry = source.carry
    conversation: Conversation | None = None
    for found in source.objects():
        if isinstance(found, Skipped):
            yield found
            continue
        event = found[1]
        part = event.get("part")
        if not isinstance(part, dict) or not words_of(event.get("sessionID")):
            continue
        conversation = conversation or Conversation(carry.setdefault("info", _described(event)), carry)
        name = words_of(part.get("messageID")) or "message"
        if carry.get("message") not in (None, name):
            yield from conversation.message(_answer(carry), carry["parts"])
            carry["parts"] = []
        if carry.get("message") != name:
            carry["message"], carry["created"] = name, event.get("timestamp")
        carry["parts"] = [*carry.get("parts", []), part]
    if conversation is not None:
        yield from conversation.message(_answer(carry), carry["parts"], last=True)
        yield from conversation.rest()


def _described(event: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": event["sessionID"], "time": {"created": event.get("timestamp")}}


def _answer(carry: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": carry["message"], "role": "assistant", "time": {"created": carry["created"]}}
