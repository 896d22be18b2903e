"""What the acceptance tests share: a store on disk, a look at its file from outside, and stores of older versions."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

import sessiondb

Look = Callable[..., list[dict[str, Any]]]

# A process that appends to a session of its own, and says how many messages were acknowledged.
WRITER = """
import sys, sessiondb
path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with sessiondb.open(path) as db:
    db.ensure_session(name, "cli")
    print(len([db.append_message(name, "user", f"{name} says {number}") for number in range(count)]))
"""
# The same, from the moment it is told to.
CROWD = WRITER.replace("    print(", "    print('ready', flush=True), input()\n    print(")

VERSION_1 = """
    CREATE TABLE schema_version (version INTEGER NOT NULL);
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT, system_prompt TEXT,
        parent_session_id TEXT REFERENCES sessions (id), started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
        message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0,
        input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0);
    CREATE TABLE messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions (id), role TEXT NOT NULL,
        content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, token_count INTEGER);
    CREATE VIRTUAL TABLE messages_fts USING fts5 (content, content = messages, content_rowid = id);
    CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN
        INSERT INTO messages_fts (rowid, content) VALUES (new.id, new.content);
    END;
    INSERT INTO sessions (id, source, started_at, message_count) VALUES ('old', 'cli', 1700000000.0, 2);
    INSERT INTO messages (session_id, role, content, timestamp) VALUES
        ('old', 'user', 'where is nginx.conf', 1700000001.0), ('old', 'assistant', 'in /etc/nginx', 1700000002.0);
"""
STEPS = {
    2: "ALTER TABLE messages ADD COLUMN finish_reason TEXT;",
    3: "ALTER TABLE sessions ADD COLUMN title TEXT;",
    4: "CREATE UNIQUE INDEX idx_sessions_title_unique ON sessions (title) WHERE title IS NOT NULL;",
    5: """
        ALTER TABLE sessions ADD COLUMN cache_read_tokens INTEGER DEFAULT 0;
        ALTER TABLE sessions ADD COLUMN cache_write_tokens INTEGER DEFAULT 0;
        ALTER TABLE sessions ADD COLUMN reasoning_tokens INTEGER DEFAULT 0;
        ALTER TABLE sessions ADD COLUMN billing_provider TEXT;
        ALTER TABLE sessions ADD COLUMN billing_base_url TEXT;
        ALTER TABLE sessions ADD COLUMN billing_mode TEXT;
        ALTER TABLE sessions ADD COLUMN estimated_cost_usd REAL;
        ALTER TABLE sessions ADD COLUMN actual_cost_usd REAL;
        ALTER TABLE sessions ADD COLUMN cost_status TEXT;
        ALTER TABLE sessions ADD COLUMN cost_source TEXT;
        ALTER TABLE sessions ADD COLUMN pricing_version TEXT;
    """,
    6: """
        ALTER TABLE messages ADD COLUMN reasoning TEXT;
        ALTER TABLE messages ADD COLUMN reasoning_details TEXT;
        ALTER TABLE messages ADD COLUMN codex_reasoning_items TEXT;
    """,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.fixture
def db(path: Path) -> Iterator[sessiondb.SessionDB]:
    with sessiondb.open(path) as store:
        yield store


@pytest.fixture
def talk(db: sessiondb.SessionDB) -> sessiondb.SessionDB:
    """A store with conversations to search in."""
    for name, source, text in (
        ("s1", "cli", "the docker deployment failed with an error"),
        ("s2", "telegram", "kubernetes deployment is done, no bug left"),
        ("s3", "discord", "python and java both help"),
    ):
        db.create_session(session_id=name, source=source, model="m1")
        db.append_message(name, "user", f"question before: {name}")
        db.append_message(name, "assistant", text)
        db.append_message(name, "user", f"thanks after: {name}")
    return db


@pytest.fixture
def look(path: Path) -> Look:
    """Run a statement on the file through a connection that can only read."""

    def run(sql: str, *bindings: Any) -> list[dict[str, Any]]:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY, vfs="unix")
        connection.row_trace = lambda cursor, row: dict(
            zip((column[0] for column in cursor.get_description()), row, strict=True)
        )
        try:
            return list(connection.execute(sql, bindings))
        finally:
            connection.close()

    return run


@pytest.fixture
def old_store(path: Path) -> Callable[..., Path]:
    """A file as version 1 to 6 left it; `number` is what it claims to be."""

    def build(version: int, number: int | None = None) -> Path:
        connection = apsw.Connection(str(path), vfs="unix")
        connection.execute(VERSION_1 + "".join(STEPS[step] for step in range(2, version + 1)))
        connection.execute("INSERT INTO schema_version VALUES (?)", (version if number is None else number,))
        connection.close()
        return path

    return build


@pytest.fixture
def writers(path: Path) -> Callable[[int, int], int]:
    """Let several processes append at once; the number of messages they were told are stored."""

    def run(processes: int, messages: int) -> int:
        commands = [
            [sys.executable, "-c", WRITER, str(path), f"writer-{number}", str(messages)] for number in range(processes)
        ]
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
        answers = [process.communicate(timeout=120)[0] for process in running]
        assert [process.returncode for process in running] == [0] * processes
        return sum(map(int, answers))

    return run


@pytest.fixture
def crowd(path: Path) -> Callable[[int, int], None]:
    """Let several processes begin to append at the same moment."""

    def run(processes: int, messages: int) -> None:
        commands = [
            [sys.executable, "-c", CROWD, str(path), f"writer-{number}", str(messages)] for number in range(processes)
        ]
        running = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for command in commands
        ]
        for process in running:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in running:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        answers = [process.communicate(timeout=120)[0] for process in running]
        assert answers == [f"{messages}\n"] * processes

    return run
