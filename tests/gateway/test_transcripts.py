"""Files beside the store: complete after any crash, never doubled, gone and back with their sessions."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Thread

import pytest
from gateway_helpers import ANN, BOB, said, texts

from sessiondb import SessionDB
from sessiondb.gateway.adopting import adopt
from sessiondb.gateway.router import Router
from sessiondb.gateway.transcripts import Transcripts, read_index, read_transcript
from sessiondb.gateway.watcher import Watcher
from sessiondb.testing import FakeClock


@pytest.fixture
def files(fast_path: Path) -> Transcripts:
    return Transcripts(fast_path / "sessions")


@pytest.fixture
def mirrored(db: SessionDB, files: Transcripts, clock: FakeClock) -> Router:
    return Router(db, clock=clock, transcripts=files)


def lines(files: Transcripts, session_id: str) -> list[str]:
    return [message["content"] for message in read_transcript(files.path(session_id))[0]]


def talk(router: Router, *words: str) -> str:
    arrival = router.receive(ANN, words[0])
    with arrival.turn as turn:
        turn.append([said(word) for word in words[1:]])
    return arrival.session_id


class TestMirror:
    def test_what_is_said_stands_in_the_files(self, mirrored: Router, files: Transcripts) -> None:
        session_id = talk(mirrored, "one", "one!")
        assert lines(files, session_id) == ["one", "one!"]
        entry = read_index(files.directory)["agent:main:telegram:dm:1"]
        assert (entry["session_id"], entry["platform"], entry["chat_type"]) == (session_id, "telegram", "dm")

    def test_they_are_nobody_elses_business(self, mirrored: Router, files: Transcripts) -> None:
        path = files.path(talk(mirrored, "one"))
        modes = [each.stat().st_mode & 0o077 for each in (path, files.directory, files.directory / "sessions.json")]
        assert modes == [0, 0, 0]

    def test_a_session_before_a_reset_keeps_its_file(self, mirrored: Router, files: Transcripts) -> None:
        first = talk(mirrored, "one")
        second = mirrored.reset(ANN).session_id
        talk(mirrored, "two")
        assert (lines(files, first), lines(files, second)) == (["one"], ["two"])
        assert read_index(files.directory)["agent:main:telegram:dm:1"]["session_id"] == second

    @pytest.mark.parametrize("torn", [b"", b'{"session_id": "x", "se', b"\xff\xfe"])
    def test_lines_that_a_crash_kept_away_come_later(
        self, db: SessionDB, mirrored: Router, files: Transcripts, torn: bytes
    ) -> None:
        session_id = talk(mirrored, "one")
        db.append_message(session_id, "assistant", "stored, but not written")
        with files.path(session_id).open("ab") as file:
            file.write(torn)
        talk(mirrored, "two")
        assert lines(files, session_id) == ["one", "stored, but not written", "two"]

    def test_long_lines_are_found_from_the_end(self, db: SessionDB, mirrored: Router, files: Transcripts) -> None:
        session_id = talk(mirrored, "one", "x" * 300_000)
        talk(mirrored, "two")
        assert [len(each) for each in lines(files, session_id)] == [3, 300_000, 3]

    def test_writers_at_once_write_every_line_once(self, db: SessionDB, mirrored: Router, files: Transcripts) -> None:
        session_id = talk(mirrored, "one")
        for number in range(50):
            db.append_message(session_id, "assistant", str(number))
        threads = [Thread(target=files.write, args=(db, session_id)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert lines(files, session_id) == texts(db, session_id)

    def test_a_disk_that_takes_no_files_loses_no_message(
        self, db: SessionDB, mirrored: Router, files: Transcripts, caplog: pytest.LogCaptureFixture
    ) -> None:
        files.directory.write_text("not a directory")
        session_id = talk(mirrored, "one", "one!")
        assert texts(db, session_id) == ["one", "one!"]
        assert "was not written" in caplog.text

    def test_hostile_ids_stay_in_the_directory(self, files: Transcripts) -> None:
        for name in ("../../etc/passwd", "/etc/passwd", "..", "a/b", "a\x00b"):
            assert files.path(name).parent == files.directory

    def test_without_them_no_file_is_written(self, router, fast_path: Path) -> None:
        router().receive(ANN, "one")
        assert list(fast_path.iterdir()) == []


class TestTidy:
    def test_files_go_and_come_with_their_sessions(self, db: SessionDB, mirrored: Router, files: Transcripts) -> None:
        session_id = talk(mirrored, "one")
        db.delete_session(session_id)
        assert files.tidy(db) == {"buried": 1, "restored": 0, "removed": 0}
        assert not files.path(session_id).exists()
        db.restore_deleted(session_id)
        assert files.tidy(db) == {"buried": 0, "restored": 1, "removed": 0}
        assert lines(files, session_id) == ["one"]

    def test_what_is_destroyed_is_gone(self, db: SessionDB, mirrored: Router, files: Transcripts, clock) -> None:
        session_id = talk(mirrored, "one")
        db.delete_session(session_id)
        Watcher(mirrored).look()
        clock.move(1)
        db.empty_trash(0)
        Watcher(mirrored).look()
        assert list(files.directory.rglob("*.jsonl")) == []

    def test_an_index_that_a_crash_left_behind_is_made_good(self, mirrored: Router, files: Transcripts, clock) -> None:
        files.directory.mkdir()
        (files.directory / "sessions.json").write_text(json.dumps({"of:others": {"session_id": "x"}}))
        session_id = Router(mirrored.db, clock=clock).resolve(ANN).session_id
        Watcher(mirrored).look()
        assert {key: entry["session_id"] for key, entry in read_index(files.directory).items()} == {
            "agent:main:telegram:dm:1": session_id, "of:others": "x",
        }  # fmt: skip

    def test_files_of_others_are_not_touched(self, db: SessionDB, files: Transcripts) -> None:
        files.directory.mkdir()
        old = files.directory / "20250101_000000_aaaaaaaa.jsonl"
        old.write_text('{"role": "user", "content": "old"}\n')
        files.tidy(db)
        assert old.exists()


class TestOldFiles:
    @pytest.fixture
    def old(self, fast_path: Path) -> Path:
        """What an older gateway left behind."""
        directory = fast_path / "old" / "sessions"
        directory.mkdir(parents=True)
        index = {
            "agent:main:telegram:dm:1": {
                "session_id": "20250101_000000_aaaaaaaa", "platform": "telegram", "chat_type": "dm", "suspended": False,
                "created_at": "2025-01-01T00:00:00", "updated_at": "2025-01-01T00:00:00",
                "origin": {"platform": "telegram", "chat_id": "1", "chat_type": "dm", "user_id": "ann"},
            },
            "agent:main:telegram:dm:2": {"session_id": "missing", "platform": "telegram", "chat_type": "dm"},
            "nonsense": {"session_id": "20250101_000000_aaaaaaaa"},
            "broken": 5,
        }  # fmt: skip
        (directory / "sessions.json").write_text("\ufeff" + json.dumps(index), encoding="utf-8")
        messages = [
            {"role": "user", "content": "old question", "timestamp": 1.0},
            {"role": "assistant", "content": "old"},
        ]
        text = "".join(json.dumps(each) + "\n" for each in messages)
        (directory / "20250101_000000_aaaaaaaa.jsonl").write_text(text + "not json\n")
        return directory

    def test_they_are_read(self, old: Path) -> None:
        messages, bad = read_transcript(old / "20250101_000000_aaaaaaaa.jsonl")
        assert ([each["content"] for each in messages], bad) == (["old question", "old"], [3])
        assert set(read_index(old)) == {"agent:main:telegram:dm:1", "agent:main:telegram:dm:2", "nonsense"}

    def test_an_imported_conversation_goes_on(self, db: SessionDB, router, old: Path) -> None:
        db.import_sessions([{
            "id": "20250101_000000_aaaaaaaa", "source": "telegram", "started_at": 1.0, "user_id": "ann",
            "messages": [{"role": "user", "content": "old question", "timestamp": 1.0}],
        }])  # fmt: skip
        adopted = adopt(router(), old)
        assert adopted.bound == ["agent:main:telegram:dm:1"]
        assert set(adopted.skipped) == {"agent:main:telegram:dm:2", "nonsense"}
        arrival = router().receive(ANN, "new question")
        assert arrival.session_id == "20250101_000000_aaaaaaaa"
        assert [each["content"] for each in arrival.turn.history()] == ["old question", "new question"]
        assert adopt(router(), old).bound == []

    def test_an_old_transcript_is_kept_beside_the_new(
        self, db: SessionDB, mirrored: Router, files: Transcripts
    ) -> None:
        session_id = mirrored.resolve(ANN).session_id
        files.path(session_id).write_text('{"role": "user", "content": "of an older version"}\n')
        talk(mirrored, "one")
        assert lines(files, session_id) == ["one"]
        kept = files.path(session_id).with_suffix(".jsonl.old")
        assert read_transcript(kept)[0][0]["content"] == "of an older version"

    def test_mirrored_lines_are_never_imported(self, db: SessionDB, mirrored: Router, files: Transcripts) -> None:
        from sessiondb.importers import hermes_files
        from sessiondb.importers.source import Source

        path = files.path(talk(mirrored, "one", "one!"))
        mirrored.receive(BOB, "two")
        assert not hermes_files.detect(path, path.read_bytes())
        assert list(hermes_files.read(Source(path))) == []
