"""Session store and recall: what was said in old sessions is found again, and nothing is corrupted on the way."""

from __future__ import annotations

import base64
import json
import os
import threading
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw
import pytest

import sessiondb
from sessiondb import SessionDB
from sessiondb.tools.session_search import SCHEMA, handle, session_search

Look = Callable[..., list[dict[str, Any]]]


def found(db: SessionDB, query: str, **filters: Any) -> list[str]:
    return [hit["session_id"] for hit in db.search_messages(query, **filters)]


# --- acceptance criteria ---


@pytest.mark.parametrize(
    "text",
    [
        "git rebase -i HEAD~3",
        "~/.config/agent/config.yaml",
        "/etc/nginx/sites-enabled/default",
        "https://example.org/a/b?page=2#top",
        "we decided: PostgreSQL, not MySQL",
        "TODO: rotate the API keys",
    ],
)
def test_commands_paths_urls_decisions_and_open_work_are_found(text: str, db: SessionDB) -> None:
    db.create_session("noise", "cli")
    db.append_message("noise", "user", "nothing of that kind")
    db.create_session("s", "cli")
    db.append_message("s", "user", f"remember {text} for later")
    hits = db.search_messages(text.removeprefix("we decided: "))
    assert [hit["session_id"] for hit in hits] == ["s"]
    assert hits[0]["context"][0]["content"] == f"remember {text} for later"


def test_hits_come_with_a_short_context(db: SessionDB) -> None:
    db.create_session("s", "cli")
    for text in ("what about the cache?", "use redis", "agreed", "and the queue?"):
        db.append_message("s", "user", text)
    context = db.search_messages("redis")[0]["context"]
    assert [line["content"] for line in context] == ["what about the cache?", "use redis", "agreed"]


def test_media_is_a_reference_never_a_blob(db: SessionDB, look: Look) -> None:
    picture = os.urandom(3000)
    encoded = base64.b64encode(picture).decode()
    content = [
        {"type": "text", "text": "look at this"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{encoded}"}},
    ]
    db.create_session("s", "telegram")
    db.append_message("s", "user", content)
    stored = look("SELECT content FROM messages")[0]["content"]
    reference = look("SELECT kind, mime_type, sha256 FROM media_refs")[0]
    assert encoded[:100] not in stored
    assert reference == {"kind": "image", "mime_type": "image/png", "sha256": sha256(picture).hexdigest()}
    assert db.get_messages_as_conversation("s") == [{"role": "user", "content": content}]


def test_concurrent_writes_do_not_corrupt_the_store(db: SessionDB, look: Look) -> None:
    db.create_session("shared", "telegram")

    def write(channel: int) -> None:
        for number in range(30):
            db.append_message("shared", "user", f"channel {channel} number {number}")

    threads = [threading.Thread(target=write, args=(channel,)) for channel in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert look("PRAGMA integrity_check") == [{"integrity_check": "ok"}]
    assert [row["seq"] for row in db.get_messages("shared")] == list(range(1, 181))
    assert db.verify().ok


# --- named tests ---


def test_schema_creation_is_idempotent(path: Path, look: Look) -> None:
    schemas = []
    for _ in range(3):
        sessiondb.open(path).close()
        schemas.append(look("SELECT type, name, sql FROM sqlite_schema ORDER BY name"))
    assert schemas[0] == schemas[1] == schemas[2]


def test_migration_is_idempotent(old_store: Callable[..., Path], look: Look) -> None:
    path = old_store(6)
    sessiondb.open(path).close()
    migrated = look("SELECT type, name, sql FROM sqlite_schema ORDER BY name")
    sessiondb.open(path).close()
    assert look("SELECT type, name, sql FROM sqlite_schema ORDER BY name") == migrated
    assert look("SELECT count(*) AS messages FROM messages") == [{"messages": 2}]


def test_migrated_and_new_stores_have_the_same_columns(
    old_store: Callable[..., Path], look: Look, tmp_path: Path
) -> None:
    sessiondb.open(old_store(1)).close()
    columns = "SELECT name FROM pragma_table_info('{}') ORDER BY name"
    sessiondb.open(tmp_path / "new.db").close()
    new = apsw.Connection(str(tmp_path / "new.db"), flags=apsw.SQLITE_OPEN_READONLY, vfs="unix")
    for table in ("sessions", "messages", "tool_calls", "media_refs"):
        names = [name for (name,) in new.execute(columns.format(table))]
        assert [row["name"] for row in look(columns.format(table))] == names
    new.close()


def test_wal_is_enabled(db: SessionDB, look: Look) -> None:
    assert look("PRAGMA journal_mode") == [{"journal_mode": "wal"}]


def test_history_is_stable_over_reopening(path: Path) -> None:
    texts = [
        "plain",
        "",
        "ünïcödé 設定 🚀",
        "line\nbreak\ttab",
        "nul \x00 byte",
        "lone \ud800 surrogate",
        "x" * 100_000,
    ]
    with sessiondb.open(path) as db:
        db.create_session("s", "cli")
        ids = [db.append_message("s", "user", text) for text in texts]
    with sessiondb.open(path) as db:
        assert [(row["id"], row["content"]) for row in db.get_messages("s")] == list(zip(ids, texts, strict=True))


def test_sessions_are_listed_by_last_update(db: SessionDB) -> None:
    for name in ("first", "second", "third"):
        db.create_session(name, "cli")
    for name in ("third", "first", "second"):
        db.append_message(name, "user", "update")
    assert [row["id"] for row in db.list_sessions_rich(order_by="activity")] == ["second", "first", "third"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("an exact term: idempotency", "idempotency"),
        ("see backend/agent/session/manager.py", "backend/agent/session/manager.py"),
        ("see backend/agent/session/manager.py", "session/manager.py"),
        ("open https://docs.example.org/v0.2/store", "https://docs.example.org/v0.2/store"),
        ("open https://docs.example.org/v0.2/store", "docs.example.org"),
        ("run docker compose up -d --build", "docker compose up -d --build"),
        ("run docker compose up -d --build", "--build"),
        ("it's broken, isn't it?", "it's broken"),
        ("jalankan ulang layanan besok pagi", "layanan besok"),
        ("設定ファイルはどこですか", "設定"),
    ],
)
def test_search_finds_terms_paths_urls_commands_and_other_languages(text: str, query: str, db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "user", text)
    db.append_message("s", "user", "another message altogether")
    assert [hit["context"][0]["content"] for hit in db.search_messages(query)] == [text]


def test_search_filters_by_channel(db: SessionDB) -> None:
    for source in ("cli", "telegram"):
        db.create_session(source, source)
        db.append_message(source, "user", "the same words")
    assert found(db, "words", source_filter=["telegram"]) == ["telegram"]


def test_search_filters_by_session(db: SessionDB) -> None:
    for name in ("a", "b"):
        db.create_session(name, "cli")
        db.append_message(name, "user", "the same words")
    assert found(db, "words", session_id="b") == ["b"]


def test_locked_store_is_tried_again(path: Path, db: SessionDB) -> None:
    db.create_session("s", "cli")
    blocker = apsw.Connection(str(path), vfs="unix")
    blocker.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.3, blocker.execute, ("ROLLBACK",))
    release.start()
    db.append_message("s", "user", "after the lock")
    release.join()
    blocker.close()
    assert db.message_count("s") == 1


@pytest.mark.alone
def test_lock_retry_works_under_concurrent_writes(db: SessionDB, writers: Callable[[int, int], int]) -> None:
    assert writers(4, 25) == db.message_count() == 100


def test_reused_id_finds_nothing_of_its_former_session(db: SessionDB) -> None:
    db.create_session("telegram:42", "telegram")
    db.append_message("telegram:42", "user", "before the reset")
    db.delete_session("telegram:42")
    db.create_session("telegram:42", "telegram")
    db.append_message("telegram:42", "user", "after the reset")
    assert (found(db, "before"), found(db, "after")) == ([], ["telegram:42"])
    assert db.verify().ok


# --- data model ---


def test_session_keeps_channel_chat_user_character_and_metadata(db: SessionDB) -> None:
    db.create_session(
        "s", "telegram", user_id="u1", chat_id="c1", character_id="k1", session_key="telegram:c1", metadata={"a": 1}
    )
    session = db.get_session("s")
    assert session is not None
    assert (session["source"], session["chat_id"], session["user_id"]) == ("telegram", "c1", "u1")
    assert (session["character_id"], session["session_key"], session["metadata"]) == ("k1", "telegram:c1", {"a": 1})


def test_message_keeps_type_provider_model_tokens_and_metadata(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.append_message(
        "s",
        "assistant",
        "# Title",
        content_type="text/markdown",
        provider="anthropic",
        model="m1",
        input_tokens=11,
        output_tokens=3,
        metadata={"a": 1},
    )
    row = db.get_messages("s")[0]
    assert (row["content_type"], row["provider"], row["model"]) == ("text/markdown", "anthropic", "m1")
    assert (row["input_tokens"], row["output_tokens"], row["metadata"]) == (11, 3, {"a": 1})


def test_tool_calls_have_rows_with_status_and_result(db: SessionDB) -> None:
    db.create_session("s", "cli")
    call = {"id": "c1", "function": {"name": "terminal", "arguments": '{"command": "ls"}'}}
    asked = db.append_message("s", "assistant", None, tool_calls=[call, {"id": "c2", "name": "web"}])
    db.append_message("s", "tool", "a.txt b.txt", tool_call_id="c1")
    first, second = db.get_tool_calls("s")
    assert (first["message_id"], first["tool_name"], first["arguments"]) == (asked, "terminal", '{"command": "ls"}')
    assert (first["status"], first["result_summary"]) == ("completed", "a.txt b.txt")
    assert (second["tool_name"], second["status"], second["completed_at"]) == ("web", "pending", None)


def test_media_references_keep_kind_path_type_and_hash(db: SessionDB) -> None:
    db.create_session("s", "telegram")
    reference = {"kind": "audio", "path": "/media/voice.ogg", "mime_type": "audio/ogg", "sha256": "0" * 64}
    db.append_message("s", "user", "[voice]", media_refs=[reference])
    stored = db.get_media_refs("s")[0]
    assert {name: stored[name] for name in reference} == reference  # type: ignore[literal-required]


# --- the tool ---


@pytest.fixture
def talk(db: SessionDB) -> SessionDB:
    for name, texts in {
        "old": ("how do we deploy?", "with make deploy, jalankan dulu make test", "deploy again"),
        "now": ("about the deploy",),
    }.items():
        db.create_session(name, "telegram", chat_id="42")
        for text in texts:
            db.append_message(name, "user", text)
    return db


def test_session_search_is_a_tool_with_a_schema(talk: SessionDB) -> None:
    assert (SCHEMA["name"], SCHEMA["parameters"]["type"]) == ("session_search", "object")
    answer = json.loads(handle(talk, {"query": "jalankan"}))
    (result,) = answer["results"]
    assert (result["session_id"], result["source"]) == ("old", "telegram")
    assert ">>>jalankan<<<" in result["hit"]["snippet"]


def test_results_are_grouped_by_session(talk: SessionDB) -> None:
    answer = session_search(talk, {"query": "deploy"})
    assert sorted(each["session_id"] for each in answer["results"]) == ["now", "old"]


def test_current_session_is_excluded(talk: SessionDB) -> None:
    answer = session_search(talk, {"query": "deploy"}, current_session_id="now")
    assert [each["session_id"] for each in answer["results"]] == ["old"]


def test_empty_query_gives_recent_sessions(talk: SessionDB) -> None:
    answer = session_search(talk, {"query": " "}, current_session_id="now")
    assert (answer["mode"], [each["session_id"] for each in answer["results"]]) == ("recent", ["old"])
