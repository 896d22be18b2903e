"""Every numbered section of docs/differences.md has a test here, named by its number, and every test a section."""

from __future__ import annotations

import json
import re
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

import sessiondb
from sessiondb.backends.sqlite import schema
from sessiondb.compat.hermes_state import SCHEMA_SQL, SessionDB

DOCUMENT = Path(__file__).parents[2] / "docs" / "differences.md"
DAY = 86_400.0

Tell = Callable[..., int]


@pytest.fixture
def tell(db: SessionDB) -> Tell:
    """Say something in a session, which begins when it is first named."""

    def say(text: Any, session_id: str = "s", role: str = "user", source: str = "cli", **fields: Any) -> int:
        db.create_session(session_id, source)
        return db.append_message(session_id, role, text, **fields)

    return say


def found(db: SessionDB, query: str) -> list[str]:
    return [hit["session_id"] for hit in db.search_messages(query)]


def pragma(path: Path, name: str) -> Any:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY, vfs="unix")
    try:
        return connection.pragma(name)
    finally:
        connection.close()


def test_sections_and_tests_belong_together() -> None:
    sections = [int(number) for number in re.findall(r"^### (\d+)\. ", DOCUMENT.read_text("utf-8"), re.MULTILINE)]
    tests = {int(match[1]) for name in globals() if (match := re.match(r"test_(\d+)_", name))}
    assert sections == list(range(1, len(sections) + 1))
    assert set(sections) == tests


# --- search ---


@pytest.mark.parametrize(
    "text",
    [
        "src/a/b.txt",
        "~/.hermes/state.db",
        "https://example.org/x?y=1",
        "me@example.org",
        "it's broken",
        "git commit -m 'x'",
        "--no-deps",
        "foo-",
        "100%",
        "$HOME/.bashrc",
        "[1,2]",
        "x=1; y=2",
        "what happened?",
        "#23717",
        '"foo, bar"',
        "`code`",
        "a|b",
        "key=value",
    ],
)
def test_01_text_with_punctuation_is_found(text: str, db: SessionDB, tell: Tell) -> None:
    tell(f"before {text} after")
    assert found(db, text) == ["s"]


def test_02_no_query_is_an_error(db: SessionDB, tell: Tell) -> None:
    tell("a and b")
    assert found(db, "a AND OR b") == ["s"]
    assert found(db, '"unclosed AND (((') == []


def test_03_parentheses_group(db: SessionDB, tell: Tell) -> None:
    tell("docker and python", "both")
    tell("docker alone", "docker")
    assert found(db, "(docker OR java) python") == ["both"]


def test_04_minus_excludes_and_fields_narrow(db: SessionDB, tell: Tell) -> None:
    tell("deploy with docker", "a", source="cli")
    tell("deploy with podman", "b", source="telegram")
    assert found(db, "deploy -docker") == ["b"]
    assert found(db, "deploy source:cli") == ["a"]


@pytest.mark.parametrize("query", ["設", "設定", "設定ファイル"])
def test_05_cjk_of_any_length_is_found(query: str, db: SessionDB, tell: Tell) -> None:
    tell("設定ファイルを直す")
    assert found(db, query) == ["s"]
    assert f">>>{query}" in db.search_messages(query)[0]["snippet"]


def test_06_tool_names_and_arguments_are_searched(db: SessionDB, tell: Tell) -> None:
    call = {"id": "c1", "function": {"name": "terminal", "arguments": '{"command": "systemctl restart"}'}}
    tell(None, role="assistant", tool_calls=[call])
    assert (found(db, "terminal"), found(db, "systemctl")) == (["s"], ["s"])


def test_07_recent_messages_and_people_come_first(db: SessionDB, tell: Tell) -> None:
    now = time.time()
    tell("nightly report", "cron", source="cron", timestamp=now)
    tell("nightly report", "old", timestamp=now - 400 * DAY)
    tell("nightly report", "new", timestamp=now)
    assert found(db, "nightly report") == ["new", "old", "cron"]


def test_08_hits_carry_title_and_score_too(db: SessionDB, tell: Tell) -> None:
    tell("hello")
    db.set_session_title("s", "greetings")
    hit = db.search_messages("hello")[0]
    assert (hit["title"], hit["score"] > 0) == ("greetings", True)


# --- titles ---


def test_09_only_numbers_make_a_lineage(db: SessionDB) -> None:
    for number, title in enumerate(("my project", "my project #2", "my project #notes")):
        db.create_session(f"s{number}", "cli", started_at=1000.0 + number)
        db.set_session_title(f"s{number}", title)
    assert db.resolve_session_by_title("my project") == "s1"


def test_10_next_title_is_never_too_long(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.create_session("t", "cli")
    db.set_session_title("s", "x" * 100)
    following = db.get_next_title_in_lineage("x" * 100)
    assert (len(following), following[-3:]) == (100, " #2")
    assert db.set_session_title("t", following)


def test_11_lineage_lookup_knows_case(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.set_session_title("s", "Deploy #2")
    assert db.resolve_session_by_title("deploy") is None
    assert db.resolve_session_by_title("Deploy") == "s"


# --- sessions ---


def test_12_nothing_is_no_prefix(db: SessionDB) -> None:
    db.create_session("only", "cli")
    assert db.resolve_session_id("") is None
    assert db.resolve_session_id("on") == "only"


def test_13_empty_parent_is_none(db: SessionDB) -> None:
    db.create_session("s", "cli", parent_session_id="")
    assert db.get_session("s")["parent_session_id"] is None


@pytest.mark.parametrize("arguments", [("", "cli"), ("s", ""), (7, "cli"), ("s", None), ("x" * 256, "cli")])
def test_14_ids_and_sources_are_checked(arguments: Any, db: SessionDB) -> None:
    with pytest.raises(ValueError, match=r"session_id|source"):
        db.create_session(*arguments)


def test_15_model_config_given_as_text_stays_as_it_is(db: SessionDB) -> None:
    db.create_session("s", "cli", model_config='{"temperature": 0}')
    assert json.loads(db.get_session("s")["model_config"]) == {"temperature": 0}


def test_16_setting_tokens_keeps_the_cost(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.update_token_counts("s", input_tokens=10, estimated_cost_usd=0.5)
    db.update_token_counts("s", input_tokens=20, absolute=True)
    session = db.get_session("s")
    assert (session["input_tokens"], session["estimated_cost_usd"]) == (20, 0.5)


def test_17_unknown_cost_is_null(db: SessionDB) -> None:
    db.create_session("s", "cli", model="m1")
    db.update_token_counts("s", input_tokens=10)
    assert db.get_session("s")["estimated_cost_usd"] is None
    assert db.usage_by_model()[0]["estimated_cost_usd"] is None


def test_18_negative_numbers_are_refused(db: SessionDB) -> None:
    db.create_session("s", "cli")
    with pytest.raises(ValueError, match="input_tokens"):
        db.update_token_counts("s", input_tokens=-1)
    with pytest.raises(ValueError, match="limit"):
        db.list_sessions_rich(limit=-1)
    with pytest.raises(ValueError, match="older_than_days"):
        db.prune_sessions(older_than_days=-1)


def test_19_list_hides_subagents_and_shows_a_compressed_conversation_once(db: SessionDB) -> None:
    db.create_session("main", "cli")
    db.create_session("helper", "cli", parent_session_id="main")
    db.end_session("main", "compression")
    db.create_session("next", "cli", parent_session_id="main")
    assert [row["id"] for row in db.list_sessions_rich()] == ["next"]
    assert len(db.list_sessions_rich(include_children=True)) == 3


def test_20_continuation_is_recorded_not_guessed_from_clocks(db: SessionDB) -> None:
    db.create_session("main", "cli")
    db.end_session("main", "compression")
    db.create_session("next", "cli", parent_session_id="main", started_at=1.0)
    assert db.get_compression_tip("main") == "next"


def test_21_resume_finds_messages_anywhere_below(db: SessionDB) -> None:
    db.create_session("empty", "cli")
    db.create_session("talk", "cli", parent_session_id="empty")
    db.append_message("talk", "user", "here")
    db.create_session("newer", "cli", parent_session_id="empty")
    assert db.resolve_resume_session_id("empty") == "talk"


# --- messages ---


def test_22_order_is_the_order_of_writing(db: SessionDB, tell: Tell) -> None:
    tell("first", timestamp=2000.0)
    tell("second", timestamp=1000.0)
    assert [row["content"] for row in db.get_messages("s")] == ["first", "second"]


def test_23_roles_are_checked(db: SessionDB) -> None:
    db.create_session("s", "cli")
    with pytest.raises(ValueError, match=r"'boss'.*user"):
        db.append_message("s", "boss", "hello")
    assert db.message_count() == 0


@pytest.mark.parametrize("fields", [{"content": 5}, {"token_count": "7"}, {"reasoning": ["x"]}, {"tool_name": 1}])
def test_24_types_are_checked(fields: dict[str, Any], db: SessionDB) -> None:
    db.create_session("s", "cli")
    with pytest.raises(ValueError, match=next(iter(fields))):
        db.append_message("s", "user", **fields)
    assert db.message_count() == 0
    with pytest.raises(ValueError, match="must be a list of texts"):
        db.search_messages("words", source_filter="cli")


@pytest.mark.parametrize("text", ["lone \ud800 surrogate", "nul \x00 byte", [{"type": "text", "text": "part"}]])
def test_25_any_text_and_structure_is_stored_exactly(text: Any, db: SessionDB, tell: Tell) -> None:
    tell(text)
    assert db.get_messages("s")[0]["content"] == text


def test_26_unknown_session_has_an_error_of_its_own(db: SessionDB) -> None:
    with pytest.raises(sessiondb.NotFound, match="'nobody'"):
        db.append_message("nobody", "user", "hello")


# --- deleting and exporting ---


def test_27_deleted_sessions_can_be_restored(db: SessionDB, tell: Tell) -> None:
    tell("precious")
    db.delete_session("s")
    assert (db.get_session("s"), found(db, "precious")) == (None, [])
    db.restore_deleted("s")
    assert found(db, "precious") == ["s"]


def test_28_pinned_sessions_are_never_pruned(db: SessionDB) -> None:
    for name in ("pinned", "loose"):
        db.create_session(name, "cli", started_at=1000.0)
        db.end_session(name, "user_exit")
    db.pin_session("pinned")
    assert db.prune_sessions() == 1
    assert db.get_session("pinned") is not None


def test_29_export_goes_from_old_to_new_and_is_complete(db: SessionDB, tell: Tell) -> None:
    db.create_session("first", "cli", started_at=1000.0)
    db.create_session("second", "cli", started_at=2000.0)
    kept = tell("kept", "first")
    tell("taken back", "first")
    db.rewind_to_message("first", kept)
    first, second = db.export_all()
    assert (first["id"], second["id"]) == ("first", "second")
    assert [message["content"] for message in first["messages"]] == ["kept", "taken back"]


# --- the store ---


def test_30_closed_store_says_that_it_is_closed(db: SessionDB) -> None:
    db.close()
    with pytest.raises(sessiondb.Closed, match="open it again"):
        db.get_session("s")


def test_31_file_of_the_original_is_not_changed_unasked(path: Path) -> None:
    original = apsw.Connection(str(path), vfs="unix")
    original.execute(SCHEMA_SQL + "INSERT INTO schema_version VALUES (6)")
    original.close()
    with pytest.raises(sessiondb.SchemaOutdated):
        SessionDB(path)
    with sessiondb.open(path) as db:
        assert db.session_count() == 0


def test_32_store_has_its_own_number_and_no_search_table(db: SessionDB, path: Path) -> None:
    assert (pragma(path, "user_version"), pragma(path, "application_id")) == (schema.VERSION, 0x73646231)
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY, vfs="unix")
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    connection.close()
    assert "sessions" in names
    assert not [name for name in names if name.startswith("messages_fts")]


def test_33_writers_wait_until_a_deadline_not_for_a_number_of_tries(path: Path) -> None:
    with sessiondb.open(path, deadline=0.1) as impatient:
        blocker = apsw.Connection(str(path), vfs="unix")
        blocker.execute("BEGIN IMMEDIATE")
        with pytest.raises(sessiondb.Busy, match=r"0\.1 s"):
            impatient.create_session("s", "cli")
        blocker.close()
        impatient.create_session("s", "cli")


def test_34_store_is_private(path: Path) -> None:
    private = path.parent / "home" / "state.db"
    with SessionDB(private):
        modes = [stat.S_IMODE(place.stat().st_mode) for place in (private, private.parent)]
    assert modes == [0o600, 0o700]


def test_35_new_name_has_a_home_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSIONDB_HOME", str(tmp_path / "ours"))
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "theirs"))
    monkeypatch.delenv("SESSIONDB_URL", raising=False)
    with sessiondb.open() as db:
        assert db.db_path == str(tmp_path / "ours" / "state.db")
    assert not (tmp_path / "theirs").exists()


def test_36_columns_of_the_recall_document_keep_one_name_each(db: SessionDB, tell: Tell) -> None:
    db.create_session("s", "telegram", session_key="telegram:42", started_at=1000.0)
    tell("hello", timestamp=2000.0)
    session = db.get_session("s")
    assert (session["source"], session["session_key"]) == ("telegram", "telegram:42")
    assert (session["started_at"], session["last_active"]) == (1000.0, 2000.0)
    assert not {"channel", "key", "created_at", "updated_at"} & session.keys()
