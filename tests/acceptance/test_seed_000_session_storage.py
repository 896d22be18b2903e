"""The developer's guide to session storage: schema, calls, queries, contention; under the old import name."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

import sessiondb
from sessiondb.compat.hermes_state import SCHEMA_VERSION, SessionDB

Look = Callable[..., list[dict[str, Any]]]

# fmt: off
SESSION_COLUMNS = {
    "id", "source", "user_id", "model", "model_config", "system_prompt", "parent_session_id",
    "started_at", "ended_at", "end_reason", "message_count", "tool_call_count",
    "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens",
    "billing_provider", "billing_base_url", "billing_mode",
    "estimated_cost_usd", "actual_cost_usd", "cost_status", "cost_source", "pricing_version", "title",
}
MESSAGE_COLUMNS = {
    "id", "session_id", "role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp",
    "token_count", "finish_reason", "reasoning", "reasoning_details", "codex_reasoning_items",
}
COUNTERS = (
    "message_count", "tool_call_count", "input_tokens", "output_tokens",
    "cache_read_tokens", "cache_write_tokens", "reasoning_tokens",
)
# fmt: on


@pytest.fixture
def db(path: Path) -> Iterator[SessionDB]:
    with SessionDB(db_path=path) as store:
        yield store


def found(db: SessionDB, query: str, **filters: Any) -> set[str]:
    return {hit["session_id"] for hit in db.search_messages(query, **filters)}


# --- the file ---


def test_store_is_in_wal_mode(db: SessionDB, look: Look) -> None:
    assert look("PRAGMA journal_mode") == [{"journal_mode": "wal"}]


def test_reader_neither_waits_for_a_writer_nor_stops_it(talk: SessionDB, path: Path) -> None:
    reader = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY, vfs="unix")
    reader.execute("BEGIN")
    seen = reader.execute("SELECT count(*) FROM messages").fetchall()
    talk.append_message("s1", "user", "written meanwhile")
    assert reader.execute("SELECT count(*) FROM messages").fetchall() == seen
    reader.close()
    assert talk.message_count() == seen[0][0] + 1


def test_sessions_table_has_the_documented_columns(db: SessionDB, look: Look) -> None:
    assert {row["name"] for row in look("SELECT name FROM pragma_table_info('sessions')")} >= SESSION_COLUMNS


def test_messages_table_has_the_documented_columns(db: SessionDB, look: Look) -> None:
    assert {row["name"] for row in look("SELECT name FROM pragma_table_info('messages')")} >= MESSAGE_COLUMNS


def test_counters_begin_at_zero(db: SessionDB, look: Look) -> None:
    db.create_session("s", "cli")
    assert look(f"SELECT {', '.join(COUNTERS)} FROM sessions") == [dict.fromkeys(COUNTERS, 0)]


def test_parent_must_exist(db: SessionDB) -> None:
    with pytest.raises(sessiondb.NotFound):
        db.create_session("child", "cli", parent_session_id="nobody")
    assert db.session_count() == 0


def test_message_needs_a_session(db: SessionDB) -> None:
    with pytest.raises(sessiondb.NotFound):
        db.append_message("nobody", "user", "hello")
    assert db.message_count() == 0


def test_titles_are_unique_but_many_sessions_may_have_none(db: SessionDB) -> None:
    for name in ("a", "b", "c"):
        db.create_session(name, "cli")
    db.set_session_title("a", "deploy")
    with pytest.raises(ValueError, match="'deploy' belongs to session a"):
        db.set_session_title("b", "deploy")
    assert [db.get_session_title(name) for name in ("a", "b", "c")] == ["deploy", None, None]


def test_structured_fields_are_stored_as_json_text(db: SessionDB, look: Look) -> None:
    db.create_session("s", "cli")
    db.append_message(
        "s",
        "assistant",
        "answer",
        tool_calls=[{"id": "c1"}],
        reasoning="plain thoughts",
        reasoning_details=[{"type": "text"}],
        codex_reasoning_items=[{"id": "r1"}],
    )
    assert look("SELECT tool_calls, reasoning, reasoning_details, codex_reasoning_items FROM messages") == [
        {
            "tool_calls": '[{"id": "c1"}]',
            "reasoning": "plain thoughts",
            "reasoning_details": '[{"type": "text"}]',
            "codex_reasoning_items": '[{"id": "r1"}]',
        }
    ]


def test_times_are_epoch_floats(db: SessionDB, look: Look) -> None:
    before = time.time()
    db.create_session("s", "cli")
    db.append_message("s", "user", "hello")
    times = look("SELECT started_at, timestamp FROM sessions JOIN messages ON session_id = sessions.id")[0]
    assert all(isinstance(value, float) and before <= value <= time.time() for value in times.values())


def test_search_index_is_a_table_of_its_own(talk: SessionDB, path: Path) -> None:
    assert found(talk, "docker") == {"s1"}
    talk.close()
    for file in path.parent.glob("state-search-*"):
        file.unlink()
    with SessionDB(db_path=path) as reopened:
        assert reopened.message_count() == 9, "messages do not depend on it"
        assert found(reopened, "docker") == {"s1"}, "it is made anew from them"


def test_schema_version_is_a_single_number(db: SessionDB, look: Look) -> None:
    rows = look("SELECT version FROM schema_version")
    assert len(rows) == 1
    assert isinstance(rows[0]["version"], int)


def test_wal_and_shared_memory_lie_beside_the_file(db: SessionDB, path: Path) -> None:
    db.create_session("s", "cli")
    assert path.with_name("state.db-wal").exists()
    assert path.with_name("state.db-shm").exists()


# --- search keeps up with the messages ---


def test_new_message_is_found_at_once(talk: SessionDB) -> None:
    talk.append_message("s1", "user", "zeppelin")
    assert found(talk, "zeppelin") == {"s1"}


def test_removed_message_is_no_longer_found(talk: SessionDB) -> None:
    talk.clear_messages("s1")
    assert found(talk, "docker") == set()


def test_changed_message_is_found_by_its_new_words_only(talk: SessionDB) -> None:
    talk.replace_messages("s1", [{"role": "user", "content": "podman instead"}])
    assert (found(talk, "docker"), found(talk, "podman")) == (set(), {"s1"})


# --- versions ---


def test_schema_version_is_six() -> None:
    assert SCHEMA_VERSION == 6


@pytest.mark.parametrize("version", range(1, 7))
def test_every_older_version_is_upgraded(version: int, old_store: Callable[..., Path]) -> None:
    with SessionDB(old_store(version), upgrade=True) as db:
        assert [row["content"] for row in db.get_messages("old")] == ["where is nginx.conf", "in /etc/nginx"]
        assert db.set_session_title("old", "nginx")
        db.update_token_counts("old", input_tokens=3, estimated_cost_usd=0.5)
        db.append_message("old", "assistant", "more", finish_reason="stop", reasoning="because")
        assert db.verify().ok


@pytest.mark.parametrize("claimed", range(1, 6))
def test_columns_that_exist_already_do_not_stop_an_upgrade(claimed: int, old_store: Callable[..., Path]) -> None:
    with SessionDB(old_store(6, number=claimed), upgrade=True) as db:
        assert db.message_count("old") == 2


def test_opening_again_changes_nothing(path: Path, look: Look) -> None:
    with SessionDB(path) as db:
        db.create_session("s", "cli")
        db.append_message("s", "user", "hello")
    schema = look("SELECT type, name, sql FROM sqlite_schema ORDER BY name")
    with SessionDB(path) as db:
        assert [row["content"] for row in db.get_messages("s")] == ["hello"]
    assert look("SELECT type, name, sql FROM sqlite_schema ORDER BY name") == schema


# --- contention ---


def test_retry_constants_are_the_documented_ones() -> None:
    assert SessionDB._WRITE_MAX_RETRIES == 15
    assert SessionDB._WRITE_RETRY_MIN_S == 0.020
    assert SessionDB._WRITE_RETRY_MAX_S == 0.150
    assert SessionDB._CHECKPOINT_EVERY_N_WRITES == 50


def test_write_waits_for_a_locked_store(talk: SessionDB, path: Path) -> None:
    other = apsw.Connection(str(path), vfs="unix")
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.4, other.execute, ("ROLLBACK",))
    release.start()
    message = talk.append_message("s1", "user", "patience")
    release.join()
    other.close()
    assert talk.get_messages("s1")[-1]["id"] == message


def test_threads_write_at_once_without_loss(db: SessionDB) -> None:
    def write(name: str) -> None:
        db.create_session(name, "cli")
        for number in range(25):
            db.append_message(name, "user", f"{name} {number}")

    threads = [threading.Thread(target=write, args=(f"t{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {row["id"]: row["message_count"] for row in db.search_sessions()} == {f"t{n}": 25 for n in range(8)}
    assert db.verify().ok


@pytest.mark.alone
def test_processes_write_at_once_without_loss(db: SessionDB, writers: Callable[[int, int], int]) -> None:
    assert writers(4, 40) == 160
    assert db.message_count() == 160
    assert db.verify().ok


def test_writers_take_turns_instead_of_waiting_in_a_convoy(
    db: SessionDB, look: Look, crowd: Callable[[int, int], None]
) -> None:
    crowd(4, 150)
    order = [row["session_id"] for row in look("SELECT session_id FROM messages ORDER BY id")]
    writers = set(order)
    all_begun = max(order.index(writer) for writer in writers)
    none_done = min(len(order) - order[::-1].index(writer) for writer in writers)
    together = order[all_begun:none_done]
    shares = [together.count(writer) for writer in writers]
    assert len(writers) == 4
    assert min(shares) * 4 >= len(together) / 4, shares


def test_checkpoints_carry_the_wal_into_the_file(db: SessionDB, path: Path) -> None:
    db.create_session("s", "cli")
    empty = path.stat().st_size
    for _ in range(110):
        db.append_message("s", "user", "x" * 4000)
    assert path.stat().st_size > empty + 200_000
