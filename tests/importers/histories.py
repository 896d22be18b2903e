"""Small histories of each format, written by hand, with what must arrive of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from sessiondb.importers import known

from . import stores

CALL = {"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": '{"cmd": "ls"}'}}


def lines(*objects: Any) -> bytes:
    return b"".join(json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in objects)


NANOBOT = lines(
    {
        "_type": "metadata", "key": "telegram:42", "created_at": "2026-05-01T09:00:00+00:00",
        "metadata": {"title": "Shopping", "title_user_edited": True}, "last_consolidated": 0,
    },
    {"role": "user", "content": "buy milk – jetzt", "timestamp": "2026-05-01T09:00:01+00:00"},
    {
        "role": "assistant", "content": "looking", "timestamp": "2026-05-01T09:00:02+00:00", "tool_calls": [CALL],
        "reasoning_content": "a list, perhaps",
    },
    {"role": "tool", "content": "milk.txt", "timestamp": "2026-05-01T09:00:03+00:00", "tool_call_id": "c1",
     "name": "terminal"},
    {"_type": "provider_state", "cursor": 7},
    {"role": "assistant", "content": "done", "timestamp": "2026-05-01T09:00:04+00:00"},
)  # fmt: skip

OPENAI = lines(
    {
        "id": "conv-1", "title": "Greeting", "model": "gpt-x", "created_at": 1777626000,
        "usage": {"prompt_tokens": 11, "completion_tokens": 5},
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "hello"},
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "content": "a\nb", "tool_call_id": "c1"},
            {"role": "assistant", "content": "hi"},
        ],
    },
    {"id": "conv-2", "messages": [{"role": "user", "content": "<system-reminder>tick</system-reminder>"}]},
)  # fmt: skip

SHAREGPT = lines(
    {
        "id": "share-1", "model": "hermes-x", "title": "Weather",
        "conversations": [
            {"from": "system", "value": "You call tools."},
            {"from": "human", "value": "rain today?"},
            {"from": "gpt", "value": '<think>\nask the tool\n</think>\nOne moment.\n<tool_call>\n'
                                     '{"name": "rain", "arguments": {"city": "Bonn"}}\n</tool_call>'},
            {"from": "tool", "value": '<tool_response>\n{"name": "rain", "content": "yes"}\n</tool_response>'},
            {"from": "gpt", "value": "Yes."},
        ],
    },
    {"id": "share-2", "conversations": [{"from": "human", "value": "hi"}, {"from": "gpt", "value": "hello"}]},
)  # fmt: skip

HERMES_GATEWAY = lines(
    {"role": "session_meta", "platform": "telegram", "model": "m-1", "timestamp": "2026-05-02T08:00:00+00:00"},
    {"role": "user", "content": "remind me", "timestamp": "2026-05-02T08:00:01+00:00"},
    {"role": "assistant", "content": "noted", "timestamp": "2026-05-02T08:00:02+00:00"},
)
HERMES_INDEX = {
    "agent:main:telegram:dm:777": {
        "session_id": "20260502_080000_aaaaaaaa", "platform": "telegram", "chat_type": "dm", "display_name": "Ann",
        "created_at": "2026-05-02T08:00:00+00:00", "input_tokens": 30, "output_tokens": 4,
        "prev_session_id": "20260501_070000_bbbbbbbb", "origin": {"chat_id": "777", "user_id": "777"},
    }
}  # fmt: skip
HERMES_SESSION = {
    "session_id": "20260501_070000_bbbbbbbb", "model": "m-1", "platform": "telegram", "cwd": "/srv",
    "session_start": "2026-05-01T07:00:00+00:00",
    "messages": [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "second", "finish_reason": "stop", "tool_calls": [CALL]},
        {"role": "tool", "content": "third", "tool_call_id": "c1"},
    ],
}  # fmt: skip

SEED_TABLES = """
    CREATE TABLE schema_version (version INTEGER NOT NULL);
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT, system_prompt TEXT,
        parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, message_count INTEGER,
        tool_call_count INTEGER, input_tokens INTEGER, output_tokens INTEGER
    );
    CREATE TABLE messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT,
        tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, token_count INTEGER
    );
"""
LATER_COLUMNS = """
    ALTER TABLE sessions ADD COLUMN title TEXT;
    ALTER TABLE sessions ADD COLUMN title_source TEXT;
    ALTER TABLE sessions ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE sessions ADD COLUMN cwd TEXT;
    ALTER TABLE sessions ADD COLUMN estimated_cost_usd REAL;
    ALTER TABLE sessions ADD COLUMN system_prompt_hash TEXT;
    ALTER TABLE messages ADD COLUMN active INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE messages ADD COLUMN compacted INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE messages ADD COLUMN reasoning TEXT;
    ALTER TABLE messages ADD COLUMN display_kind TEXT;
    CREATE TABLE system_prompts (hash TEXT PRIMARY KEY, prompt TEXT);
    INSERT INTO system_prompts VALUES ('h1', 'You are Hermes.');
"""
SESSION_ROWS = (
    ("root", "cli", None, 1777626000.0, 1777626100.0, "compression", 100, 20),
    ("next", "cli", "root", 1777626100.0, None, None, 10, 2),
    ("help", "subagent", "next", 1777626110.0, None, None, 0, 0),
)
MESSAGE_ROWS = (
    ("root", "user", "fix the build", None, None, 1777626001.0),
    ("root", "assistant", "running", json.dumps([CALL]), None, 1777626002.0),
    ("root", "tool", "ok", None, "c1", 1777626003.0),
    ("next", "user", "go on", None, None, 1777626101.0),
    ("help", "user", "scan", None, None, 1777626111.0),
    ("help", "assistant", "nothing", None, None, 1777626112.0),
)


def hermes_database(path: Path, *, later: bool = False) -> Path:
    """A `state.db` of the first schema, or with columns that came later."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = apsw.Connection(str(path), vfs="unix")
    connection.execute(SEED_TABLES + (LATER_COLUMNS if later else ""))
    for row in SESSION_ROWS:
        connection.execute(
            "INSERT INTO sessions (id, source, parent_session_id, started_at, ended_at, end_reason, input_tokens,"
            " output_tokens) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
    for message in MESSAGE_ROWS:
        connection.execute(
            "INSERT INTO messages (session_id, role, content, tool_calls, tool_call_id, timestamp)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            message,
        )
    if later:
        connection.execute(
            "UPDATE sessions SET title = 'Build', title_source = 'user', archived = 1, cwd = '/srv',"
            " estimated_cost_usd = 0.5, system_prompt_hash = 'h1' WHERE id = 'root';"
            "INSERT INTO messages (session_id, role, content, timestamp, active, compacted) VALUES"
            " ('root', 'user', 'old words', 1777626000.5, 0, 1);"
            "INSERT INTO messages (session_id, role, content, timestamp, display_kind, reasoning) VALUES"
            " ('next', 'user', 'scaffold', 1777626102.0, 'hidden', NULL),"
            " ('next', 'assistant', 'yes', 1777626103.0, NULL, 'thinking')"
        )
    connection.close()
    return path


def hermes_files(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "20260502_080000_aaaaaaaa.jsonl").write_bytes(HERMES_GATEWAY)
    (directory / "sessions.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(HERMES_INDEX).encode())
    (directory / "session_20260501_070000_bbbbbbbb.json").write_text(json.dumps(HERMES_SESSION))
    (directory / "request_dump_1.json").write_text("{}")
    return directory


def own_export(directory: Path) -> Path:
    """Our own lines; read from the exporter, so that the two cannot drift apart."""
    from sessiondb import SessionDB
    from sessiondb.exporters import base, jsonl

    directory.mkdir(parents=True, exist_ok=True)
    with SessionDB("memory://", clock=lambda: 1777626000.0) as db, (directory / "own.jsonl").open("w") as out:
        for name in ("one", "two"):
            db.create_session(name, "cli", started_at=1777626000.0)
            db.append_messages(
                name, [{"role": "user", "content": f"{name} said"}, {"role": "assistant", "content": "x"}]
            )
        jsonl.write(base.conversations(db, base.Filter()), out)
    return directory / "own.jsonl"


def files(name: str, data: bytes) -> Callable[[Path], Path]:
    def write(directory: Path) -> Path:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(data)
        return directory / name

    return write


FIXTURES = Path(__file__).parent / "fixtures"


def fixture(path: Path) -> Callable[[Path], Path]:
    """One file of a tree that lies beside this module, copied with all of its tree."""

    def write(directory: Path) -> Path:
        agent = FIXTURES / path.relative_to(FIXTURES).parts[0]
        shutil.copytree(agent, directory, dirs_exist_ok=True)
        return directory / path.relative_to(agent)

    return write


# Importer, name -> a writer of one of its sources; a registered importer without one fails a test.
SOURCES: dict[tuple[str, str], Callable[[Path], Path]] = {
    ("sessiondb", "export"): own_export,
    ("hermes", "seed"): lambda directory: hermes_database(directory / "state.db"),
    ("hermes", "later"): lambda directory: hermes_database(directory / "state.db", later=True),
    ("hermes", "file"): files("session_20260501_070000_bbbbbbbb.json", json.dumps(HERMES_SESSION).encode()),
    ("hermes", "gateway"): files("20260502_080000_aaaaaaaa.jsonl", HERMES_GATEWAY),
    ("nanobot", "chat"): files("telegram_42.jsonl", NANOBOT),
    ("sharegpt", "lines"): files("share.jsonl", SHAREGPT),
    ("openai-chat", "lines"): files("chat.jsonl", OPENAI),
    ("llm", "threads"): lambda directory: stores.llm_threads(directory / "logs.db"),
    ("llm", "responses"): lambda directory: stores.llm_responses(directory / "logs.db"),
    ("openai-agents", "sessions"): lambda directory: stores.agents_sdk(directory / "sessions.db"),
    ("open-webui", "database"): lambda directory: stores.open_webui(directory / "webui.db"),
    ("cursor", "editor"): lambda directory: stores.cursor_editor(directory / "state.vscdb"),
    ("chatgpt", "archive"): lambda directory: stores.chatgpt_archive(directory / "export.zip"),
}


def all_sources() -> dict[tuple[str, str], Callable[[Path], Path]]:
    """Those above, and every source among the trees in `fixtures`."""
    parsers = known.chosen(())
    trees = [path for path in sorted(FIXTURES.glob("*")) if path.is_dir()]
    found = [each for tree in trees for each in known.at_paths([tree], parsers) if each.parser]
    return SOURCES | {
        (each.parser.NAME, each.path.name): fixture(each.path) for each in found if each.parser is not None
    }
