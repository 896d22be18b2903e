"""The proposal of pluggable providers: a contract, many processes on one store, configuration, no silent fall-back."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

import sessiondb
from sessiondb import SessionDB
from sessiondb.backends.memory import MemoryProvider
from sessiondb.provider import Features, SessionDBProvider

# Appends without end and tells of each message that is stored; killed from outside.
ENDLESS = """
import itertools, sys, sessiondb
db = sessiondb.open(sys.argv[1])
db.ensure_session("s", "cli")
for number in itertools.count():
    db.append_message("s", "user", f"message {number}")
    print(number, flush=True)
"""


# --- the contract ---


def test_contract_has_the_proposed_life_cycle(tmp_path: Path) -> None:
    provider = MemoryProvider()
    assert (provider.name, provider.is_available()) == ("memory", True)
    provider.initialize()
    provider.create_session({"id": "s", "source": "cli", "started_at": 1.0})
    provider.shutdown()
    with pytest.raises(sessiondb.Closed):
        provider.get_session("s")


def test_contract_is_abstract() -> None:
    with pytest.raises(TypeError, match="abstract"):
        SessionDBProvider()  # type: ignore[abstract]


def test_contract_and_api_are_synchronous() -> None:
    members = [*vars(SessionDBProvider).values(), *(getattr(SessionDB, name) for name in dir(SessionDB))]
    assert not [member for member in members if inspect.iscoroutinefunction(member)]


def test_sqlite_is_the_default_provider(db: SessionDB) -> None:
    assert db.provider.name == "sqlite"


def test_same_calls_give_the_same_answers_on_another_provider(db: SessionDB) -> None:
    memory = MemoryProvider()
    memory.initialize()
    answers = []
    for store in (db, SessionDB(provider=memory)):
        store.create_session("s", "cli", started_at=1.0, host="here")
        store.append_message("s", "user", "where is /etc/hosts", timestamp=2.0)
        store.set_session_title("s", "hosts")
        answers.append(
            (store.list_sessions_rich(), store.get_messages("s"), store.search_messages("/etc/hosts")[0]["id"])
        )
    assert answers[0] == answers[1]


def test_provider_without_full_text_still_answers() -> None:
    class Plain(MemoryProvider):
        name = "plain"
        features = Features(persistent=False, multi_process=False, read_only=False, indexed_search=False)
        search = SessionDBProvider.search

    plain = Plain()
    plain.initialize()
    db = SessionDB(provider=plain)
    db.create_session("s", "cli")
    db.append_message("s", "user", "found by reading every row")
    assert [hit["session_id"] for hit in db.search_messages('"every row"')] == ["s"]


# --- configuration ---


def test_provider_is_chosen_by_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.yaml").write_text("sessiondb:\n  provider: memory\n")
    monkeypatch.setenv("SESSIONDB_HOME", str(tmp_path))
    monkeypatch.delenv("SESSIONDB_URL", raising=False)
    with sessiondb.open() as db:
        assert db.provider.name == "memory"


def test_unknown_provider_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.yaml").write_text("sessiondb:\n  provider: oracle\n")
    monkeypatch.setenv("SESSIONDB_HOME", str(tmp_path))
    monkeypatch.delenv("SESSIONDB_URL", raising=False)
    with pytest.raises(sessiondb.Invalid, match=r"'oracle'.*sqlite"):
        sessiondb.open()
    assert not (tmp_path / "state.db").exists()


def test_configuration_takes_values_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.yaml").write_text("sessiondb:\n  sqlite:\n    path: ${STORES}/${NAME}.db\n")
    for name, value in (("SESSIONDB_HOME", str(tmp_path)), ("STORES", str(tmp_path)), ("NAME", "mine")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("SESSIONDB_URL", raising=False)
    with sessiondb.open() as db:
        assert db.db_path == str(tmp_path / "mine.db")


# --- recovery of callers ---


def test_creating_twice_is_harmless(db: SessionDB) -> None:
    db.create_session("s", "cli", model="m1")
    db.create_session("s", "telegram", model="m2")
    session = db.get_session("s")
    assert session is not None
    assert (session["source"], session["model"]) == ("cli", "m1")


def test_ensure_session_recovers_a_failed_creation(db: SessionDB) -> None:
    db.ensure_session("s")
    db.append_message("s", "user", "flushed late")
    session = db.get_session("s")
    assert session is not None
    assert (session["source"], session["message_count"]) == ("unknown", 1)


def test_handle_works_again_after_a_transient_failure(path: Path) -> None:
    with sessiondb.open(path, deadline=0.2) as db:
        db.create_session("s", "cli")
        blocker = apsw.Connection(str(path), vfs="unix")
        blocker.execute("BEGIN IMMEDIATE")
        with pytest.raises(sessiondb.Busy):
            db.append_message("s", "user", "too early")
        blocker.execute("ROLLBACK")
        blocker.close()
        db.append_message("s", "user", "now")
        assert [row["content"] for row in db.get_messages("s")] == ["now"]


def test_empty_parent_means_none(db: SessionDB) -> None:
    db.create_session("s", "cli", parent_session_id="")
    session = db.get_session("s")
    assert session is not None
    assert session["parent_session_id"] is None


# --- many processes, one store ---


def test_call_sites_open_handles_of_their_own(path: Path) -> None:
    handles = [sessiondb.open(path) for _ in range(6)]
    handles[0].create_session("s", "cli")
    for number, handle in enumerate(handles):
        handle.append_message("s", "user", f"call site {number}")
    assert [handle.message_count("s") for handle in handles] == [6] * 6
    for handle in handles:
        handle.close()


@pytest.mark.alone
def test_processes_share_one_store_without_errors(db: SessionDB, writers: Callable[[int, int], int]) -> None:
    assert writers(5, 30) == 150
    assert db.stats()["messages"] == 150
    assert db.verify().ok


@pytest.mark.alone
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_writer_killed_at_any_time_loses_nothing_acknowledged(how: signal.Signals, path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ENDLESS, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if line == "20\n":
                break
        os.kill(writer.pid, how)
        acknowledged = 21 + len(writer.stdout.read().splitlines())
    with sessiondb.open(path) as db:
        stored = [row["content"] for row in db.get_messages("s")]
        assert stored[:acknowledged] == [f"message {number}" for number in range(acknowledged)]
        assert db.verify().ok
        assert db.search_messages("message 20")


def test_store_of_a_newer_version_is_refused_untouched(path: Path) -> None:
    sessiondb.open(path).close()
    newer = apsw.Connection(str(path), vfs="unix")
    newer.pragma("user_version", newer.pragma("user_version") + 1000)
    newer.close()
    before = path.read_bytes()
    with pytest.raises(sessiondb.SchemaTooNew):
        sessiondb.open(path)
    assert path.read_bytes() == before
