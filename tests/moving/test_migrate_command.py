"""`sessiondb migrate`, run for real: files of the original of any version, what it says, what it refuses."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from seed_files import build  # type: ignore[import-not-found]

from servers import postgres
from sessiondb.db import SessionDB

LATER = (
    "ALTER TABLE messages ADD COLUMN reasoning_content TEXT",
    "ALTER TABLE messages ADD COLUMN platform_message_id TEXT",
    "ALTER TABLE messages ADD COLUMN active INTEGER NOT NULL DEFAULT 1",
    "ALTER TABLE sessions ADD COLUMN archived INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE sessions ADD COLUMN api_call_count INTEGER DEFAULT 0",
    "CREATE TABLE state_meta (key TEXT PRIMARY KEY, value TEXT)",
    "UPDATE messages SET reasoning_content = 'thought', platform_message_id = 'p1' WHERE id = 1",
    "UPDATE messages SET active = 0 WHERE id = 3",
    "UPDATE sessions SET archived = 1, api_call_count = 7 WHERE id = 'old'",
    "UPDATE schema_version SET version = 22",
)


def run(*arguments: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sessiondb", "migrate", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "SESSIONDB_HOME": str(home)},
        check=False,
        timeout=120,
    )


def of_version(path: Path, version: int) -> Path:
    file: Path = build(path, min(version, 6))
    if version > 6:
        connection = apsw.Connection(str(file))
        for statement in LATER:
            connection.execute(statement)
        connection.close()
    return file


def state(directory: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in directory.iterdir()}


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6, 22])
def test_a_file_of_the_original_is_moved_and_stays_as_it_is(tmp_path: Path, version: int) -> None:
    (tmp_path / "old").mkdir()
    path = of_version(tmp_path / "old" / "state.db", version)
    before = state(path.parent)
    done = run("--from", path, "--to", tmp_path / "new.db", home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Migrated 4 sessions, 5 messages, 5 index entries in ")
    assert done.stdout.endswith(", verified\n")
    assert state(path.parent) == before
    with SessionDB(tmp_path / "new.db") as db:
        assert [row["id"] for row in db.family("old")] == ["old", "helper", "next"]
        assert db.get_messages("loose")[0]["content"] == "こんにちは世界"
        assert db.verify().ok


def test_later_columns_are_kept(tmp_path: Path) -> None:
    path = of_version(tmp_path / "state.db", 22)
    assert run("--from", path, "--to", tmp_path / "new.db", home=tmp_path).returncode == 0
    with SessionDB(tmp_path / "new.db") as db:
        first = db.get_messages("old")[0]
        session = db.get_session("old")
        assert session is not None
        assert (first["reasoning"], first["metadata"]) == ("thought", {"hermes": {"platform_message_id": "p1"}})
        assert (session["archived_at"], session["metadata"]) == (200.0, {"hermes": {"api_call_count": 7}})
        assert len(db.get_messages("old", include_inactive=True)) - len(db.get_messages("old")) == 1


@pytest.mark.parametrize("mark", ["\0json:", "\1json:"])
def test_parts_of_a_message_arrive_as_parts(tmp_path: Path, mark: str) -> None:
    path = of_version(tmp_path / "state.db", 22)
    parts = [{"type": "text", "text": "what is on the picture"}, {"type": "image_url", "image_url": {"url": "a.png"}}]
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE messages SET content = ? WHERE id = 1", (mark + json.dumps(parts),))
    connection.execute("UPDATE messages SET content = ? WHERE session_id = 'loose'", (mark + "[no",))
    connection.close()
    done = run("--from", path, "--to", tmp_path / "new.db", home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    with SessionDB(tmp_path / "new.db") as db:
        assert db.get_messages("old")[0]["content"] == parts
        assert db.get_messages("loose")[0]["content"] == mark + "[no"
        assert [hit["session_id"] for hit in db.search_messages("picture")] == ["old"]
        assert db.verify().ok


def test_children_are_what_their_marks_say_and_pins_stay(tmp_path: Path) -> None:
    path = of_version(tmp_path / "state.db", 22)
    connection = apsw.Connection(str(path))
    connection.execute("ALTER TABLE sessions ADD COLUMN pinned INTEGER DEFAULT 0")
    connection.execute("UPDATE sessions SET pinned = 1 WHERE id = 'loose'")
    for name, config in (("branch", '{"_branched_from": "old"}'), ("again", '{"_reset_from": "old"}')):
        connection.execute(
            "INSERT INTO sessions (id, source, started_at, parent_session_id, model_config)"
            " VALUES (?, 'cli', 300, 'old', ?)",
            (name, config),
        )
    connection.close()
    assert run("--from", path, "--to", tmp_path / "new.db", home=tmp_path).returncode == 0
    with SessionDB(tmp_path / "new.db") as db:
        relations = {row["id"]: row["relation"] for row in db.search_sessions()}
        assert relations == {
            "old": "root", "loose": "root", "helper": "subagent", "next": "compression", "branch": "fork",
            "again": "reset",
        }  # fmt: skip
        assert (db.get_session("loose") or {})["pinned_at"] == 150.0


def test_rows_of_the_original_with_times_that_are_none_are_listed_with_their_reasons(tmp_path: Path) -> None:
    path = of_version(tmp_path / "state.db", 22)
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE messages SET timestamp = 'yesterday' WHERE id = 1")
    connection.execute("UPDATE messages SET content = x'00ff' WHERE id = 4")
    connection.execute("UPDATE sessions SET started_at = 'long ago' WHERE id = 'loose'")
    connection.close()
    for target in (("--dry-run",), ("--quarantine", str(tmp_path / "bad.jsonl"))):
        done = run("--from", path, "--to", tmp_path / "new.db", "--json", *target, home=tmp_path)
        told = json.loads(done.stdout)
        assert (done.returncode, told["sessions"], told["messages"]) == (6, 3, 2)
        assert told["quarantine_reasons"] == [
            "old position 2: its content is not text but bytes",
            "loose: started_at must be epoch seconds, not 'long ago'",
            "message 1: its time is 'yesterday'",
            "message 2: its session 'loose' is not there",
        ]
    assert len((tmp_path / "bad.jsonl").read_text().splitlines()) == 4
    with SessionDB(tmp_path / "new.db") as db:
        assert db.verify().ok


def test_what_is_kept_beside_conversations_is_told_and_prompts_are_found(tmp_path: Path) -> None:
    path = of_version(tmp_path / "state.db", 22)
    connection = apsw.Connection(str(path))
    for statement in (
        "INSERT INTO state_meta VALUES ('last_vacuum', '1')",
        "CREATE TABLE gateway_routing (scope TEXT, session_key TEXT, entry_json TEXT)",
        "CREATE TABLE system_prompts (hash TEXT PRIMARY KEY, prompt TEXT)",
        "INSERT INTO system_prompts VALUES ('h', 'be kind')",
        "ALTER TABLE sessions ADD COLUMN system_prompt_hash TEXT",
        "UPDATE sessions SET system_prompt = NULL, system_prompt_hash = 'h' WHERE id = 'old'",
    ):
        connection.execute(statement)
    connection.close()
    done = run("--from", path, "--to", tmp_path / "new.db", home=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1:] == ["  state_meta: 1 row of its program alone, left in the source"]
    with SessionDB(tmp_path / "new.db") as db:
        assert (db.get_session("old") or {})["system_prompt"] == "be kind"


def test_a_session_of_the_original_that_cannot_be_read_is_listed_with_its_messages(tmp_path: Path) -> None:
    path = of_version(tmp_path / "state.db", 6)
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE sessions SET system_prompt = CAST(x'61ff' AS TEXT) WHERE id = 'loose'")
    (messages,) = connection.execute("SELECT COUNT(*) FROM messages WHERE session_id = 'loose'").fetchone() or (0,)
    connection.close()
    done = run("--from", path, "--to", tmp_path / "new.db", "--json", home=tmp_path)
    told = json.loads(done.stdout)
    assert done.returncode == 6
    assert told["sessions"] == 3
    assert "loose: it cannot be read" in told["quarantine_reasons"]
    kept = [json.loads(line) for line in Path(told["quarantine_file"]).read_text().splitlines()]
    assert [line["row"]["source"] for line in kept if line["kind"] == "session"] == ["telegram"]
    assert len(kept) == 1 + messages


class TestCommand:
    @pytest.fixture
    def source(self, tmp_path: Path) -> Path:
        with SessionDB(tmp_path / "source.db") as db:
            db.create_session("s", "cli")
            db.append_messages("s", [{"role": "user", "content": "needle"}, {"role": "assistant", "content": "hay"}])
        return tmp_path / "source.db"

    def test_to_a_server_and_back(self, source: Path, tmp_path: Path) -> None:
        server = postgres.server()
        server.execute("CREATE DATABASE moving")
        url = f"postgresql://admin:secret@127.0.0.1:{server.port}/moving"
        first = run("--from", source, "--to", url, home=tmp_path)
        second = run("--from", url, "--to", tmp_path / "back.db", "--json", home=tmp_path)
        assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
        told = json.loads(second.stdout)
        assert (told["sessions"], told["messages"], told["verified"], told["ok"]) == (1, 2, True, True)
        with SessionDB(tmp_path / "back.db") as back, SessionDB(source) as db:
            assert [row["ledger"] for row in back.search_sessions()] == [row["ledger"] for row in db.search_sessions()]
        assert "secret" not in first.stdout + first.stderr + second.stdout + second.stderr

    def test_a_store_of_an_earlier_version_is_moved_and_stays_of_that_version(
        self, source: Path, tmp_path: Path
    ) -> None:
        connection = apsw.Connection(str(source))
        for name in ("v1_messages", "v1_sessions"):
            connection.execute(f"DROP VIEW {name}")
        connection.execute("UPDATE schema_version SET version = 1001")
        connection.execute("PRAGMA user_version = 1001")
        connection.close()
        before = hashlib.sha256(source.read_bytes()).hexdigest()
        done = run("--from", source, "--to", tmp_path / "new.db", home=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("Migrated 1 session, 2 messages, 2 index entries in ")
        assert hashlib.sha256(source.read_bytes()).hexdigest() == before

    def test_a_rehearsal_makes_no_file(self, source: Path, tmp_path: Path) -> None:
        done = run("--from", source, "--to", tmp_path / "new.db", "--dry-run", home=tmp_path)
        assert done.stdout.startswith("Would have migrated 1 session, 2 messages in ")
        assert not (tmp_path / "new.db").exists()

    def test_a_full_target_is_refused_with_the_way_out(self, source: Path, tmp_path: Path) -> None:
        with SessionDB(tmp_path / "new.db") as db:
            db.create_session("mine", "cli")
        done = run("--from", source, "--to", tmp_path / "new.db", home=tmp_path)
        assert (done.returncode, done.stdout) == (4, "")
        assert "--merge adds" in done.stderr
        assert run("--from", source, "--to", tmp_path / "new.db", "--merge", home=tmp_path).returncode == 0

    def test_a_store_is_not_moved_into_itself(self, source: Path, tmp_path: Path) -> None:
        done = run("--from", source, "--to", f"sqlite://{source}", home=tmp_path)
        assert (done.returncode, "the same store" in done.stderr) == (2, True)

    def test_a_source_that_is_not_there_is_not_made(self, tmp_path: Path) -> None:
        done = run("--from", tmp_path / "ghost.db", "--to", tmp_path / "new.db", home=tmp_path)
        assert done.returncode == 3
        assert not (tmp_path / "ghost.db").exists()
        assert not (tmp_path / "new.db").exists()

    def test_bad_rows_are_told_and_kept(self, source: Path, tmp_path: Path) -> None:
        with SessionDB(source) as db:
            db.provider.driver.write(  # type: ignore[attr-defined]
                lambda tx: tx.run("UPDATE messages SET content = 'altered' WHERE seq = 1")
            )
        done = run("--from", source, "--to", tmp_path / "new.db", home=tmp_path)
        assert done.returncode == 6
        assert "s position 1: it was altered" in done.stdout
        (file,) = tmp_path.glob("quarantine-*.jsonl")
        assert str(file) in done.stderr
        assert json.loads(file.read_text())["row"]["content"] == "altered"
