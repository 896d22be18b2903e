"""Files as the original's versions 1 to 6 left them: tables, words' index, triggers, and some conversations."""

from __future__ import annotations

from pathlib import Path

import apsw

TABLES = """
CREATE TABLE schema_version (version INTEGER NOT NULL);
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT, system_prompt TEXT,
    parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT,
    message_count INTEGER DEFAULT 0, tool_call_count INTEGER DEFAULT 0,
    input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0,
    FOREIGN KEY (parent_session_id) REFERENCES sessions(id)
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL,
    content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, token_count INTEGER
);
CREATE INDEX idx_sessions_source ON sessions(source);
CREATE INDEX idx_sessions_parent ON sessions(parent_session_id);
CREATE INDEX idx_sessions_started ON sessions(started_at DESC);
CREATE INDEX idx_messages_session ON messages(session_id, timestamp);
CREATE VIRTUAL TABLE messages_fts USING fts5(content, content=messages, content_rowid=id);
CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN
    INSERT INTO messages_fts(rowid, content) VALUES (new.id, new.content);
END;
CREATE TRIGGER messages_fts_delete AFTER DELETE ON messages BEGIN
    INSERT INTO messages_fts(messages_fts, rowid, content) VALUES ('delete', old.id, old.content);
END;
CREATE TRIGGER messages_fts_update AFTER UPDATE ON messages BEGIN
    INSERT INTO messages_fts(messages_fts, rowid, content) VALUES ('delete', old.id, old.content);
    INSERT INTO messages_fts(rowid, content) VALUES (new.id, new.content);
END;
"""
BILLING = {
    "cache_read_tokens": "INTEGER DEFAULT 0", "cache_write_tokens": "INTEGER DEFAULT 0",
    "reasoning_tokens": "INTEGER DEFAULT 0", "billing_provider": "TEXT", "billing_base_url": "TEXT",
    "billing_mode": "TEXT", "estimated_cost_usd": "REAL", "actual_cost_usd": "REAL", "cost_status": "TEXT",
    "cost_source": "TEXT", "pricing_version": "TEXT",
}  # fmt: skip
STEPS = {
    2: ["ALTER TABLE messages ADD COLUMN finish_reason TEXT"],
    3: ["ALTER TABLE sessions ADD COLUMN title TEXT"],
    4: ["CREATE UNIQUE INDEX idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL"],
    5: [f"ALTER TABLE sessions ADD COLUMN {name} {kind}" for name, kind in BILLING.items()],
    6: [
        f"ALTER TABLE messages ADD COLUMN {name} TEXT"
        for name in ("reasoning", "reasoning_details", "codex_reasoning_items")
    ],
}
ROWS = [
    ("INSERT INTO sessions (id, source, started_at, ended_at, end_reason, message_count) VALUES (?, ?, ?, ?, ?, ?)",
     [("old", "cli", 100.0, 200.0, "compression", 3), ("loose", "telegram", 150.0, None, None, 1)]),
    ("INSERT INTO sessions (id, source, started_at, parent_session_id, message_count) VALUES (?, ?, ?, ?, ?)",
     [("helper", "cli", 120.0, "old", 0), ("next", "cli", 201.0, "old", 1)]),
    ("INSERT INTO messages (session_id, role, content, tool_calls, tool_call_id, timestamp) VALUES (?, ?, ?, ?, ?, ?)",
     [("old", "user", "where is nginx.conf", None, None, 101.0),
      ("loose", "user", "こんにちは世界", None, None, 151.0),
      ("old", "assistant", None, '[{"id": "c1", "function": {"name": "find", "arguments": "{}"}}]', None, 102.0),
      ("old", "tool", "/etc/nginx/nginx.conf", None, "c1", 90.0),
      ("next", "user", "go on", None, None, 202.0)]),
]  # fmt: skip


def build(path: Path, version: int, *, stamp: int | None = None, rows: bool = True) -> Path:
    """A file of that version; `stamp` writes another number than its columns deserve."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(TABLES)
    for step in range(2, version + 1):
        for statement in STEPS[step]:
            connection.execute(statement)
    connection.execute("INSERT INTO schema_version VALUES (?)", (version if stamp is None else stamp,))
    if rows:
        for statement, values in ROWS:
            connection.executemany(statement, values)
    connection.close()
    return path
