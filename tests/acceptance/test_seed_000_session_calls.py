"""The developer's guide to session storage: its calls and queries as they are written, under the old import name."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sessiondb.compat.hermes_state import SessionDB

Look = Callable[..., list[dict[str, Any]]]
DAY = 86_400.0


@pytest.fixture
def db(path: Path) -> Iterator[SessionDB]:
    with SessionDB(db_path=path) as store:
        yield store


def found(db: SessionDB, query: str, **filters: Any) -> set[str]:
    return {hit["session_id"] for hit in db.search_messages(query, **filters)}


# --- the documented calls, as they are written ---


def test_default_path_is_in_the_home(tmp_path: Path) -> None:
    script = "from sessiondb.compat import hermes_state as h; h.SessionDB().close(); print(h.DEFAULT_DB_PATH)"
    command = [sys.executable, "-c", script]
    answer = subprocess.run(command, env={"HOME": str(tmp_path)}, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == str(tmp_path / ".hermes" / "state.db")
    assert (tmp_path / ".hermes" / "state.db").exists()


def test_default_path_follows_hermes_home(tmp_path: Path) -> None:
    script = "from sessiondb.compat import hermes_state as h; h.SessionDB().close(); print(h.DEFAULT_DB_PATH)"
    env = {"HOME": str(tmp_path), "HERMES_HOME": str(tmp_path / "elsewhere")}
    answer = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == str(tmp_path / "elsewhere" / "state.db")
    assert (tmp_path / "elsewhere" / "state.db").exists()


def test_custom_path_is_made_with_its_directories(tmp_path: Path) -> None:
    db = SessionDB(db_path=tmp_path / "new" / "test.db")
    assert db.db_path == tmp_path / "new" / "test.db"
    assert db.db_path.exists()
    db.close()


def test_create_end_and_reopen(db: SessionDB) -> None:
    db.create_session(
        session_id="sess_abc123",
        source="cli",
        model="anthropic/claude-sonnet-4.6",
        user_id="user_1",
        parent_session_id=None,
    )
    db.end_session("sess_abc123", end_reason="user_exit")
    ended = db.get_session("sess_abc123")
    assert (ended["end_reason"], ended["user_id"], ended["model"]) == (
        "user_exit",
        "user_1",
        "anthropic/claude-sonnet-4.6",
    )
    db.reopen_session("sess_abc123")
    reopened = db.get_session("sess_abc123")
    assert (reopened["ended_at"], reopened["end_reason"]) == (None, None)


def test_store_a_message(db: SessionDB) -> None:
    db.create_session("sess_abc123", "cli")
    msg_id = db.append_message(
        session_id="sess_abc123",
        role="assistant",
        content="Here's the answer...",
        tool_calls=[{"id": "call_1", "function": {"name": "terminal", "arguments": "{}"}}],
        token_count=150,
        finish_reason="stop",
        reasoning="Let me think about this...",
    )
    message = db.get_messages("sess_abc123")[0]
    assert isinstance(msg_id, int)
    assert (message["id"], message["token_count"], message["finish_reason"]) == (msg_id, 150, "stop")
    assert message["tool_calls"] == [{"id": "call_1", "function": {"name": "terminal", "arguments": "{}"}}]
    assert db.get_session("sess_abc123")["tool_call_count"] == 1


def test_messages_come_with_all_metadata(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "user", "hello", token_count=2)
    row = db.get_messages("s")[0]
    assert {"id", "session_id", "role", "content", "timestamp", "token_count", "finish_reason"} <= row.keys()


def test_conversation_has_the_form_of_the_api(db: SessionDB) -> None:
    call = {"id": "c1", "function": {"name": "terminal", "arguments": "{}"}}
    db.create_session("s", "cli")
    db.append_message("s", "user", "run it")
    db.append_message("s", "assistant", None, tool_calls=[call], reasoning="hm", reasoning_details=[{"a": 1}])
    db.append_message("s", "tool", "done", tool_call_id="c1", tool_name="terminal")
    assert db.get_messages_as_conversation("s") == [
        {"role": "user", "content": "run it"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [call],
            "reasoning": "hm",
            "reasoning_details": [{"a": 1}],
        },
        {"role": "tool", "content": "done", "tool_call_id": "c1", "tool_name": "terminal"},
    ]


def test_title_is_set_and_resolved(db: SessionDB) -> None:
    db.create_session("sess_abc123", "cli")
    assert db.set_session_title("sess_abc123", "Fix Docker Build")
    assert db.resolve_session_by_title("Fix Docker Build") == "sess_abc123"


def test_title_resolves_to_the_newest_of_its_lineage(db: SessionDB) -> None:
    for number, title in enumerate(("Fix Docker Build", "Fix Docker Build #2", "Fix Docker Build #3")):
        db.create_session(f"s{number}", "cli", started_at=1000.0 + number)
        db.set_session_title(f"s{number}", title)
    assert db.resolve_session_by_title("Fix Docker Build") == "s2"
    assert db.resolve_session_by_title("Fix Docker Build #2") == "s1"


def test_next_title_in_the_lineage(db: SessionDB) -> None:
    assert db.get_next_title_in_lineage("Fix Docker Build") == "Fix Docker Build"
    db.create_session("sess_abc123", "cli")
    db.set_session_title("sess_abc123", "Fix Docker Build")
    assert db.get_next_title_in_lineage("Fix Docker Build") == "Fix Docker Build #2"


# --- search ---


def test_search_reaches_every_session(talk: SessionDB) -> None:
    assert found(talk, "before") == {"s1", "s2", "s3"}


def test_keywords_must_all_be_there(talk: SessionDB) -> None:
    assert found(talk, "docker deployment") == {"s1"}


def test_quoted_phrase_is_exact(talk: SessionDB) -> None:
    assert (found(talk, '"docker deployment"'), found(talk, '"deployment docker"')) == ({"s1"}, set())


def test_or_takes_either(talk: SessionDB) -> None:
    assert found(talk, "docker OR kubernetes") == {"s1", "s2"}


def test_not_excludes(talk: SessionDB) -> None:
    assert (found(talk, "python NOT java"), found(talk, "python NOT rust")) == (set(), {"s3"})


def test_star_is_a_prefix(talk: SessionDB) -> None:
    assert found(talk, "deploy*") == {"s1", "s2"}


def test_search_in_some_sources(talk: SessionDB) -> None:
    assert found(talk, "error", source_filter=["cli"]) == {"s1"}
    assert found(talk, "error", source_filter=["telegram"]) == set()


def test_search_outside_some_sources(talk: SessionDB) -> None:
    assert found(talk, "deployment", exclude_sources=["telegram", "discord"]) == {"s1"}
    assert found(talk, "bug", exclude_sources=["telegram", "discord"]) == set()


def test_search_in_some_roles(talk: SessionDB) -> None:
    assert found(talk, "help", role_filter=["user"]) == set()
    assert found(talk, "help", role_filter=["assistant"]) == {"s3"}


def test_hit_has_the_documented_keys(talk: SessionDB) -> None:
    hit = talk.search_messages("docker")[0]
    documented = {"id", "session_id", "role", "timestamp", "snippet", "context", "source", "model", "session_started"}
    assert documented <= hit.keys()
    assert (hit["source"], hit["model"], hit["role"]) == ("cli", "m1", "assistant")
    assert hit["session_started"] == talk.get_session("s1")["started_at"]


def test_snippet_marks_the_match(talk: SessionDB) -> None:
    assert ">>>docker<<<" in talk.search_messages("docker")[0]["snippet"]


def test_context_is_one_message_on_both_sides_cut_at_200(talk: SessionDB) -> None:
    talk.create_session("long", "cli")
    for text in ("b" * 300, "needle", "a" * 300):
        talk.append_message("long", "user", text)
    context = talk.search_messages("needle")[0]["context"]
    assert [line["content"] for line in context] == ["b" * 200, "needle", "a" * 200]


def test_query_cleaning_strips_unmatched_quotes_and_signs() -> None:
    assert SessionDB._sanitize_fts5_query('say "hello') == "say hello"
    assert SessionDB._sanitize_fts5_query("C++ {x} (y) ^z") == "C x y z"


def test_query_cleaning_quotes_hyphenated_words() -> None:
    assert SessionDB._sanitize_fts5_query("chat-send") == '"chat-send"'


def test_query_cleaning_removes_dangling_operators() -> None:
    assert SessionDB._sanitize_fts5_query("hello AND") == "hello"


# --- the documented queries, as they are written, on the file ---

ANCESTORS = """
WITH RECURSIVE lineage AS (
    SELECT * FROM sessions WHERE id = ?
    UNION ALL
    SELECT s.* FROM sessions s
    JOIN lineage l ON s.id = l.parent_session_id
)
SELECT id, title, started_at, parent_session_id FROM lineage;
"""
DESCENDANTS = """
WITH RECURSIVE descendants AS (
    SELECT * FROM sessions WHERE id = ?
    UNION ALL
    SELECT s.* FROM sessions s
    JOIN descendants d ON s.parent_session_id = d.id
)
SELECT id, title, started_at FROM descendants;
"""
RECENT = """
SELECT s.*,
    COALESCE(
        (SELECT SUBSTR(m.content, 1, 63)
         FROM messages m
         WHERE m.session_id = s.id AND m.role = 'user' AND m.content IS NOT NULL
         ORDER BY m.timestamp, m.id LIMIT 1),
        ''
    ) AS preview,
    COALESCE(
        (SELECT MAX(m2.timestamp) FROM messages m2 WHERE m2.session_id = s.id),
        s.started_at
    ) AS last_active
FROM sessions s
ORDER BY s.started_at DESC
LIMIT 20;
"""
TOKENS_BY_MODEL = """
SELECT model,
       COUNT(*) as session_count,
       SUM(input_tokens) as total_input,
       SUM(output_tokens) as total_output,
       SUM(estimated_cost_usd) as total_cost
FROM sessions
WHERE model IS NOT NULL
GROUP BY model
ORDER BY total_cost DESC;
"""
HIGHEST_USAGE = """
SELECT id, title, model, input_tokens + output_tokens AS total_tokens,
       estimated_cost_usd
FROM sessions
ORDER BY total_tokens DESC
LIMIT 10;
"""


@pytest.fixture
def chain(db: SessionDB) -> SessionDB:
    for parent, name in ((None, "a"), ("a", "b"), ("b", "c")):
        db.create_session(name, "cli", parent_session_id=parent)
        db.end_session(name, "compression")
    return db


def test_query_of_ancestors(chain: SessionDB, look: Look) -> None:
    assert [row["id"] for row in look(ANCESTORS, "c")] == ["c", "b", "a"]
    assert [row["id"] for row in chain.ancestors("c")] == ["b", "a"]


def test_query_of_descendants(chain: SessionDB, look: Look) -> None:
    assert [row["id"] for row in look(DESCENDANTS, "a")] == ["a", "b", "c"]
    assert [row["id"] for row in chain.descendants("a")] == ["b", "c"]


def test_query_of_recent_sessions_agrees_with_the_list(talk: SessionDB, look: Look) -> None:
    talk.create_session("empty", "cli")
    queried = [(row["id"], row["preview"]) for row in look(RECENT)]
    assert queried == [(row["id"], row["preview"]) for row in talk.list_sessions_rich()]
    assert queried[0] == ("empty", "")


def test_query_of_tokens_by_model_agrees_with_the_api(db: SessionDB, look: Look) -> None:
    for name, model, cost in (("a", "m1", 0.5), ("b", "m1", 0.25), ("c", "m2", 2.0)):
        db.create_session(name, "cli", model=model)
        db.update_token_counts(name, input_tokens=10, output_tokens=5, estimated_cost_usd=cost)
    queried = [
        (row["model"], row["session_count"], row["total_input"], row["total_cost"]) for row in look(TOKENS_BY_MODEL)
    ]
    assert queried == [("m2", 1, 10, 2.0), ("m1", 2, 20, 0.75)]
    assert queried == [
        (row["model"], row["session_count"], row["input_tokens"], row["estimated_cost_usd"])
        for row in db.usage_by_model()
    ]


def test_query_of_highest_usage_agrees_with_the_api(db: SessionDB, look: Look) -> None:
    for name, tokens in (("a", 10), ("b", 30), ("c", 20)):
        db.create_session(name, "cli")
        db.update_token_counts(name, input_tokens=tokens, output_tokens=tokens)
    queried = [(row["id"], row["total_tokens"]) for row in look(HIGHEST_USAGE)]
    assert queried == [("b", 60), ("c", 40), ("a", 20)]
    assert [row["id"] for row in db.top_sessions_by_tokens()] == ["b", "c", "a"]


# --- export and cleanup ---


def test_export_one_session(talk: SessionDB) -> None:
    data = talk.export_session("s1")
    assert (data["id"], data["source"]) == ("s1", "cli")
    assert [message["role"] for message in data["messages"]] == ["user", "assistant", "user"]
    assert talk.export_session("nobody") is None


def test_export_all_of_a_source(talk: SessionDB) -> None:
    all_data = talk.export_all(source="cli")
    assert [(data["id"], len(data["messages"])) for data in all_data] == [("s1", 3)]
    assert len(talk.export_all()) == 3


@pytest.fixture
def aged(db: SessionDB) -> SessionDB:
    """Sessions named by source and age in days; those of 200 days are still open."""
    for source in ("cli", "telegram"):
        for days in (10, 45, 100, 200):
            db.create_session(f"{source}-{days}", source, started_at=time.time() - days * DAY)
            if days != 200:
                db.end_session(f"{source}-{days}", "user_exit")
    return db


def left(db: SessionDB) -> set[str]:
    return {row["id"] for row in db.search_sessions(limit=100)}


def test_prune_takes_old_ended_sessions_only(aged: SessionDB) -> None:
    before = left(aged)
    deleted_count = aged.prune_sessions(older_than_days=90)
    assert deleted_count == 2
    assert before - left(aged) == {"cli-100", "telegram-100"}


def test_prune_of_one_source(aged: SessionDB) -> None:
    before = left(aged)
    deleted_count = aged.prune_sessions(older_than_days=30, source="telegram")
    assert deleted_count == 2
    assert before - left(aged) == {"telegram-45", "telegram-100"}


def test_clear_keeps_the_session(talk: SessionDB) -> None:
    talk.set_session_title("s1", "kept")
    talk.update_token_counts("s1", input_tokens=7)
    talk.clear_messages("s1")
    session = talk.get_session("s1")
    assert (talk.get_messages("s1"), session["message_count"]) == ([], 0)
    assert (session["title"], session["input_tokens"]) == ("kept", 7)


def test_delete_takes_session_and_messages(talk: SessionDB, look: Look) -> None:
    assert talk.delete_session("s1")
    assert (talk.get_session("s1"), talk.get_messages("s1")) == (None, [])
    assert look("SELECT id FROM messages WHERE session_id = 's1'") == []
    assert not talk.delete_session("s1")


def test_deleting_a_parent_keeps_its_children(chain: SessionDB) -> None:
    chain.delete_session("b")
    assert chain.get_session("c")["parent_session_id"] is None
