"""Databases and archives of other programs, made as those make them, with conversations of our own."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import apsw

FIXTURES = Path(__file__).parent / "fixtures"

LLM_TABLES = """
    CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
    CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, prompt_json TEXT,
        options_json TEXT, response TEXT, response_json TEXT, conversation_id TEXT, duration_ms INTEGER,
        datetime_utc TEXT, input_tokens INTEGER, output_tokens INTEGER, token_details TEXT, resolved_model TEXT);
    CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, arguments TEXT, tool_call_id TEXT);
    CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, output TEXT, tool_call_id TEXT,
        exception TEXT);
    CREATE TABLE fragments (id INTEGER PRIMARY KEY, hash TEXT, content TEXT, datetime_utc TEXT, source TEXT);
"""
LLM_LATER_TABLES = """
    CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT, provider_metadata TEXT);
    CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT, tool_name TEXT,
        text TEXT, payload TEXT);
    CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT, datetime_utc TEXT);
    CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT,
        model TEXT, resolved_model TEXT, input_tokens INTEGER, output_tokens INTEGER, datetime_utc TEXT);
"""
AGENTS_TABLES = """
    CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,
        updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
    CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL,
        message_data TEXT NOT NULL, created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
"""
AGENTS_ITEMS: tuple[dict[str, Any], ...] = (
    {"role": "user", "content": "Rain in Oslo?"},
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Ask the tool."}]},
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city":"Oslo"}', "id": "fc_1"},
    {"type": "function_call_output", "call_id": "c1", "output": "4C, rain"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes, and 4C."}]},
    {"type": "compaction", "encrypted_content": "…"},
)
COMPOSERS: dict[str, dict[str, Any]] = {
    "composerData:e1": {
        "composerId": "e1", "name": "Cart", "createdAt": 1770000000000, "modelConfig": {"modelName": "model-ten"},
        "fullConversationHeadersOnly": [{"bubbleId": "b1", "type": 1}, {"bubbleId": "b2", "type": 2}],
    },
    "bubbleId:e1:b1": {"bubbleId": "b1", "type": 1, "text": "fix it", "createdAt": "2026-02-02T02:40:01.000Z"},
    "bubbleId:e1:b2": {
        "bubbleId": "b2", "type": 2, "text": "Fixing.", "thinking": {"text": "Look first."},
        "tokenCount": {"inputTokens": 9, "outputTokens": 4},
        "toolFormerData": {"name": "read_file", "toolCallId": "ec1", "params": '{"path":"a"}', "result": "total",
                           "status": "completed"},
    },
    "composerData:e2": {
        "composerId": "e2", "createdAt": 1770000000000,
        "conversation": [{"bubbleId": "o1", "type": 1, "text": "old form"},
                         {"bubbleId": "o2", "type": 2, "text": "yes"}],
    },
    "composerData:e3": {"composerId": "e3", "createdAt": 1770000000000, "fullConversationHeadersOnly": []},
    "inlineDiffs:x": {},
}  # fmt: skip


def database(path: Path, tables: str) -> apsw.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = apsw.Connection(str(path), vfs="unix")
    connection.execute(tables)
    return connection


def llm_responses(path: Path) -> Path:
    """As versions before threads wrote it."""
    connection = database(path, LLM_TABLES)
    connection.execute(
        "INSERT INTO conversations VALUES ('c1', 'Weather', 'model-nine');"
        "INSERT INTO responses (id, model, prompt, system, response, conversation_id, datetime_utc, input_tokens,"
        " output_tokens) VALUES ('r1', 'model-nine', 'rain?', 'Be short.', '', 'c1', '2026-01-01T10:00:00', 5, 2),"
        " ('r2', 'model-nine', '', NULL, 'Yes.', 'c1', '2026-01-01T10:00:05', 9, 3),"
        " ('r3', 'model-nine', 'alone', NULL, 'So am I.', NULL, '2026-01-02T10:00:00', NULL, NULL);"
        "INSERT INTO tool_calls VALUES (1, 'r1', 'weather', '{\"city\": \"Bonn\"}', 't1');"
        "INSERT INTO tool_results VALUES (1, 'r2', 'weather', 'rain', 't1', NULL)"
    )
    connection.close()
    return path


def llm_threads(path: Path) -> Path:
    """Threads, one forked from the other, beside a response of an older version."""
    connection = database(path, LLM_TABLES + LLM_LATER_TABLES)
    messages = [
        ("h1", None, "user", [("text", None, {"text_ref": [{"literal": "Explain: "}, {"fragment": 1}]})]),
        ("h2", "h1", "assistant", [("reasoning", "Look it up.", None), ("text", "Looking.", None),
                                   ("tool_call", None, {"name": "find", "arguments": {}, "tool_call_id": "t"})]),
        ("h3", "h2", "tool", [("tool_result", None, {"name": "find", "output": "a letter", "tool_call_id": "t"})]),
        ("h4", "h3", "assistant", [("text", "A letter.", None)]),
        ("h5", "h4", "user", [("text", "And y?", None)]),
        ("h6", "h5", "assistant", [("text", "Another.", None)]),
    ]  # fmt: skip
    for name, parent, role, parts in messages:
        connection.execute("INSERT INTO messages VALUES (?, ?, ?, NULL)", (name, parent, role))
        for position, (kind, text, payload) in enumerate(parts):
            row = (name, position, kind, text, json.dumps(payload) if payload else None)
            connection.execute(
                "INSERT INTO parts (message_hash, position, type, text, payload) VALUES (?, ?, ?, ?, ?)", row
            )
    connection.execute(
        "INSERT INTO fragments (id, content) VALUES (1, 'the letter x');"
        "INSERT INTO threads VALUES ('t1', 'Letters', 'h4', NULL, '2026-01-01 10:00:00+00:00'),"
        " ('t2', 'Letters again', 'h6', 't1', '2026-01-01 11:00:00+00:00');"
        "INSERT INTO turns VALUES ('u1', 't1', 'h1', 'h2', 'm', NULL, 11, 7, '2026-01-01T10:00:00+00:00'),"
        " ('u2', 't1', 'h3', 'h4', 'm', 'm-1', 20, 3, '2026-01-01T10:00:05+00:00'),"
        " ('u3', 't2', 'h5', 'h6', 'm', NULL, 30, 4, '2026-01-01T11:00:00+00:00');"
        "INSERT INTO responses (id, model, prompt, response, datetime_utc) VALUES"
        " ('u1', 'm', 'moved', 'over', '2026-01-01T10:00:00'), ('r9', 'm', 'old', 'one', '2025-01-01T10:00:00')"
    )
    connection.close()
    return path


def agents_sdk(path: Path) -> Path:
    connection = database(path, AGENTS_TABLES)
    for name in ("user_42", "user_7", "empty"):
        connection.execute("INSERT INTO agent_sessions VALUES (?, '2026-04-01 08:00:00', '')", (name,))
    items = [("user_42", item) for item in AGENTS_ITEMS] + [("user_7", {"role": "user", "content": "hi"})]
    for name, item in items:
        row = (name, json.dumps(item), "2026-04-01 08:00:01")
        connection.execute("INSERT INTO agent_messages (session_id, message_data, created_at) VALUES (?, ?, ?)", row)
    connection.close()
    return path


def open_webui(path: Path) -> Path:
    connection = database(path, "CREATE TABLE chat (id TEXT, user_id TEXT, title TEXT, chat JSON, created_at BIGINT)")
    [exported] = json.loads((FIXTURES / "open-webui" / "export.json").read_text())
    row = ("ow-9", "u", "Kept in a database", json.dumps(exported["chat"]), 1744577500)
    connection.execute("INSERT INTO chat VALUES (?, ?, ?, ?, ?)", row)
    connection.close()
    return path


def cursor_editor(path: Path) -> Path:
    connection = database(path, "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
    for key, value in COMPOSERS.items():
        connection.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, json.dumps(value)))
    connection.close()
    return path


def cursor_store(path: Path, **facts: Any) -> Path:
    """What Cursor's agent keeps beside a transcript."""
    connection = database(path, "CREATE TABLE blobs (id TEXT, data BLOB); CREATE TABLE meta (key TEXT, value TEXT)")
    connection.execute("INSERT INTO meta VALUES ('0', ?)", (json.dumps(facts).encode().hex(),))
    connection.close()
    return path


def chatgpt_archive(path: Path) -> Path:
    """As it is downloaded: conversations in parts, among other files."""
    path.parent.mkdir(parents=True, exist_ok=True)
    first, second = json.loads((FIXTURES / "chatgpt" / "conversations.json").read_text())
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("user.json", "{}")
        archive.writestr("conversations-000.json", json.dumps([first]))
        archive.writestr("conversations-001.json", json.dumps([second]))
    return path


def changed(path: Path, sql: str) -> Path:
    connection = apsw.Connection(str(path), vfs="unix")
    connection.execute(sql)
    connection.close()
    return path
