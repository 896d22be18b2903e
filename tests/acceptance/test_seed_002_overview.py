"""The overview of session storage: one store, what it keeps per session, families instead of shards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sessiondb import SessionDB
from sessiondb.gateway.keys import Source
from sessiondb.gateway.router import Router
from sessiondb.importers import known
from sessiondb.importers.runner import Runner
from sessiondb.tools.seed_shape import seed_shape
from sessiondb.tools.session_search import session_search


@pytest.fixture
def family(db: SessionDB) -> list[str]:
    """A conversation in three parts, each with a word of its own."""
    names = ["root"]
    db.create_session("root", "cli")
    db.append_message("root", "user", "we begin with alpha")
    for word in ("beta", "gamma"):
        names.append(db.rotate_session(names[-1], system_prompt=f"summary before {word}"))
        db.append_message(names[-1], "user", f"we go on with {word}")
    db.create_session("stranger", "cli")
    db.append_message("stranger", "user", "alpha elsewhere")
    return names


def test_store_holds_sessions_messages_metadata_lineage_and_search(db: SessionDB, family: list[str]) -> None:
    db.update_token_counts("root", input_tokens=5)
    db.set_session_title("root", "greek letters")
    session = db.get_session("root")
    assert session is not None
    assert (session["title"], session["input_tokens"], session["message_count"]) == ("greek letters", 5, 1)
    assert [row["id"] for row in db.descendants("root")] == family[1:]
    assert [hit["session_id"] for hit in db.search_messages("beta")] == [family[1]]


def test_session_tells_when_it_began_and_was_last_active(db: SessionDB) -> None:
    db.create_session("s", "cli", started_at=1000.0)
    db.append_message("s", "user", "hello", timestamp=2000.0)
    listed = db.list_sessions_rich()[0]
    assert (listed["started_at"], listed["last_active"]) == (1000.0, 2000.0)


def test_tool_calls_are_counted(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "assistant", None, tool_calls=[{"id": "a"}, {"id": "b"}])
    db.append_message("s", "tool", "done", tool_call_id="a")
    session = db.get_session("s")
    assert session is not None
    assert (session["tool_call_count"], session["message_count"]) == (2, 2)


def test_system_prompt_is_a_snapshot(db: SessionDB) -> None:
    db.create_session("s", "cli", system_prompt="first")
    db.update_system_prompt("s", "second")
    session = db.get_session("s")
    assert session is not None
    assert session["system_prompt"] == "second"


def test_compressed_conversation_keeps_its_ancestry(db: SessionDB, family: list[str]) -> None:
    assert [row["id"] for row in db.ancestors(family[-1])] == ["root", family[1]][::-1]


def test_resuming_follows_the_family(db: SessionDB, family: list[str]) -> None:
    assert {db.get_compression_tip(name) for name in family} == {family[-1]}


def test_resuming_an_empty_session_goes_to_where_the_messages_are(db: SessionDB) -> None:
    db.create_session("empty", "cli")
    child = db.rotate_session("empty")
    db.append_message(child, "user", "here")
    assert db.resolve_resume_session_id("empty") == child


def test_searching_follows_the_family(db: SessionDB, family: list[str]) -> None:
    roots = {db.lineage_root(hit["session_id"]) for word in ("beta", "gamma") for hit in db.search_messages(word)}
    assert roots == {"root"}
    assert [row["id"] for row in db.family(family[1])] == family


def test_list_shows_a_compressed_conversation_once(db: SessionDB, family: list[str]) -> None:
    assert {row["id"] for row in db.list_sessions_rich()} == {family[-1], "stranger"}


def test_legacy_json_and_jsonl_files_are_imported(db: SessionDB, tmp_path: Path) -> None:
    directory = tmp_path / "sessions"
    directory.mkdir()
    turns = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
    whole = {"session_id": "20260101_100000_aaaaaa", "session_start": "2026-01-01T10:00:00+00:00", "messages": turns}
    (directory / "session_20260101_100000_aaaaaa.json").write_text(json.dumps(whole))
    meta = {"role": "session_meta", "platform": "telegram", "timestamp": "2026-01-01T11:00:00+00:00"}
    lines = [meta, *({**turn, "timestamp": "2026-01-01T11:00:01+00:00"} for turn in turns)]
    (directory / "20260101_110000_bbbbbbbb.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    Runner(db).run(known.at_paths([directory], known.chosen(["hermes"])))
    for name in ("20260101_100000_aaaaaa", "20260101_110000_bbbbbbbb"):
        said = [row["content"] for row in db.get_messages(name) if row["role"] != "meta"]
        assert said == ["hello", "hi"]


def test_session_search_retrieves_and_summarizes(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "user", "the proxy has port 8443")
    answer = seed_shape(session_search(db, {"query": "proxy port", "summarize": True}))
    assert (answer["success"], answer["count"], answer["sessions_searched"]) == (True, 1, 1)
    assert "the proxy has port 8443" in answer["results"][0]["summary"]


def test_gateway_keeps_the_active_session_over_restarts(path: Path) -> None:
    source = Source("telegram", chat_id="42", user_id="ann")
    found = set()
    for _ in range(3):
        with SessionDB(path) as db:
            found.add(Router(db).resolve(source).session_id)
    assert len(found) == 1
