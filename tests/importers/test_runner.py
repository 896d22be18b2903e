"""Read once, go on where it ended, never twice, never lost."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import apsw
import pytest
from backports import zstd

from sessiondb import SessionDB
from sessiondb.errors import DiskFull
from sessiondb.importers import intake, known, nanobot, runner
from sessiondb.importers.base import Message, Record, Retracted, Session, Usage
from sessiondb.importers.intake import Intake
from sessiondb.importers.report import Report
from sessiondb.importers.runner import Runner

from .conftest import Bring
from .histories import HERMES_GATEWAY, NANOBOT, OPENAI, hermes_database, lines
from .told import contents, stored, told


def said(text: str, second: int = 9) -> bytes:
    return lines({"role": "user", "content": text, "timestamp": f"2026-05-01T10:00:{second:02d}+00:00"})


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    path = tmp_path / "in" / "telegram_42.jsonl"
    path.parent.mkdir()
    path.write_bytes(NANOBOT)
    return path


class TestAgain:
    def test_a_second_run_changes_nothing_and_reads_nothing(
        self, db: SessionDB, bring: Bring, chat: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bring(chat)
        before = db.export_all()
        found = list(known.at_paths([chat], known.chosen(())))
        monkeypatch.setattr(nanobot, "read", lambda source: pytest.fail("read again"))
        report = Runner(db).run(found)
        assert [report.total(name) for name in ("unchanged", "new", "updated", "messages")] == [1, 0, 0, 0]
        assert db.export_all() == before

    def test_the_count_of_sessions_stays_known(self, bring: Bring, chat: Path) -> None:
        assert [bring(chat).total("sessions") for _ in range(3)] == [1, 1, 1]

    def test_a_touched_file_is_read_and_brings_nothing(self, db: SessionDB, bring: Bring, chat: Path) -> None:
        bring(chat)
        before = db.export_all()
        os.utime(chat, (1, 1))
        assert bring(chat).total("messages") == 0
        assert db.export_all() == before


class TestGrowth:
    def test_only_the_tail_of_a_grown_file_is_read(
        self, db: SessionDB, bring: Bring, chat: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bring(chat)
        offsets = []
        read = nanobot.read

        def watched(source: Any) -> Any:
            offsets.append(source.offset)
            return read(source)

        monkeypatch.setattr(nanobot, "read", watched)
        with chat.open("ab") as file:
            file.write(said("more"))
        report = bring(chat)
        assert (offsets, report.total("messages"), report.total("updated")) == ([len(NANOBOT)], 1, 1)
        assert contents(db, "telegram:42")[-1] == "more"

    def test_a_half_written_line_waits_without_a_word(self, db: SessionDB, bring: Bring, chat: Path) -> None:
        line = said("whole at last")
        chat.write_bytes(NANOBOT + line[:30])
        report = bring(chat)
        assert (report.total("messages"), report.skipped) == (5, [])
        chat.write_bytes(NANOBOT + line)
        assert bring(chat).total("messages") == 1
        assert contents(db, "telegram:42")[-1] == "whole at last"

    def test_equal_messages_are_all_there(self, db: SessionDB, bring: Bring, chat: Path) -> None:
        chat.write_bytes(NANOBOT + said("again") + said("again"))
        bring(chat)
        with chat.open("ab") as file:
            file.write(said("again"))
        bring(chat)
        assert contents(db, "telegram:42")[-3:] == ["again"] * 3

    def test_a_rewritten_file_brings_what_is_new_and_keeps_what_it_dropped(
        self, db: SessionDB, bring: Bring, chat: Path
    ) -> None:
        bring(chat)
        head, *_, last = NANOBOT.splitlines(keepends=True)
        chat.write_bytes(head.replace(b"Shopping", b"Groceries") + last + said("new"))
        report = bring(chat)
        assert (report.total("messages"), stored(db, "telegram:42")["title"]) == (1, "Groceries")
        assert contents(db, "telegram:42")[-2:] == ["done", "new"]
        assert len(contents(db, "telegram:42")) == 6

    def test_rows_changed_in_a_database_change_here(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        path = hermes_database(tmp_path / "h" / "state.db")
        bring(path)
        connection = apsw.Connection(str(path), vfs="unix")
        connection.execute("UPDATE messages SET content = 'still running' WHERE content = 'running'")
        connection.execute("UPDATE sessions SET input_tokens = 150 WHERE id = 'root'")
        connection.close()
        report = bring(path)
        assert (report.total("messages"), report.total("updated")) == (0, 1)
        assert contents(db, "root") == ["fix the build", "still running", "ok"]
        assert stored(db, "root")["input_tokens"] == 150
        assert db.verify().ok


class TestMoved:
    @pytest.fixture
    def reads(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        offsets: list[int] = []
        read = nanobot.read

        def watched(source: Any) -> Any:
            offsets.append(source.offset)
            return read(source)

        monkeypatch.setattr(nanobot, "read", watched)
        return offsets

    def test_a_moved_file_is_recognised(self, db: SessionDB, bring: Bring, chat: Path, reads: list[int]) -> None:
        bring(chat)
        moved = chat.with_name("archive") / "renamed.jsonl"
        moved.parent.mkdir()
        chat.rename(moved)
        assert bring(moved).total("messages") == 0
        assert reads == [0, len(NANOBOT)]
        assert [row["path"] for row in db.provider.list_import_files()] == [str(moved)]

    def test_a_compressed_file_is_recognised(self, db: SessionDB, bring: Bring, chat: Path, reads: list[int]) -> None:
        bring(chat)
        packed = chat.with_name("telegram_42.jsonl.zst")
        packed.write_bytes(zstd.compress(NANOBOT + said("late")))
        chat.unlink()
        report = bring(packed)
        assert (report.total("messages"), reads) == (1, [0, len(NANOBOT)])

    def test_a_copy_beside_the_original_is_read_and_brings_nothing(self, bring: Bring, chat: Path) -> None:
        bring(chat)
        chat.with_name("copy.jsonl").write_bytes(NANOBOT)
        report = bring(chat.parent)
        assert [report.total(name) for name in ("new", "updated", "messages")] == [0, 0, 0]


class TestOurOwnWord:
    def test_a_deleted_session_is_not_brought_back(self, db: SessionDB, bring: Bring, chat: Path) -> None:
        bring(chat)
        db.delete_session("telegram:42")
        with chat.open("ab") as file:
            file.write(said("more"))
        report = bring(chat)
        assert db.get_session("telegram:42") is None
        assert "deleted here" in report.skipped[0].why

    def test_a_title_given_here_stays(self, db: SessionDB, bring: Bring, chat: Path) -> None:
        bring(chat)
        db.set_session_title("telegram:42", "Mine")
        chat.write_bytes(NANOBOT.replace(b"Shopping", b"Theirs"))
        bring(chat)
        assert stored(db, "telegram:42")["title"] == "Mine"

    def test_messages_said_here_stay(self, db: SessionDB, bring: Bring, chat: Path) -> None:
        bring(chat)
        db.append_message("telegram:42", "user", "said here")
        with chat.open("ab") as file:
            file.write(said("said there"))
        bring(chat)
        assert contents(db, "telegram:42")[-2:] == ["said here", "said there"]

    def test_a_taken_title_gets_a_number(self, db: SessionDB, bring: Bring, chat: Path) -> None:
        db.create_session("mine", "cli")
        db.set_session_title("mine", "Shopping")
        bring(chat)
        assert stored(db, "telegram:42")["title"] == "Shopping #2"

    def test_an_id_that_is_taken_gets_the_agents_name(self, db: SessionDB, bring: Bring, chat: Path) -> None:
        db.create_session("telegram:42", "cli")
        bring(chat)
        assert len(contents(db, "nanobot-telegram:42")) == 5


class TestTrouble:
    def test_one_bad_file_does_not_stop_the_rest(self, db: SessionDB, bring: Bring, chat: Path) -> None:
        (chat.parent / "session_a.json").write_text('{"session_id": "a", "session_start": "2026", "messages": [')
        report = bring(chat.parent)
        assert (report.total("errors"), report.total("new")) == (1, 1)
        assert report.errors[0].path.name == "session_a.json"

    def test_a_failed_file_is_tried_again(self, bring: Bring, chat: Path) -> None:
        bad = chat.parent / "session_a.json"
        bad.write_text('{"session_id": "a", "session_start": "2026", "messages": [')
        assert [bring(bad).total("errors") for _ in range(2)] == [1, 1]

    def test_every_bad_line_is_named(self, bring: Bring, chat: Path) -> None:
        chat.write_bytes(NANOBOT + b"junk\n" + said("x") + b"[1]\n")
        assert [(each.path, each.line) for each in bring(chat).skipped] == [(chat, 7), (chat, 9)]

    def test_a_file_of_no_known_format_is_an_error(self, bring: Bring, tmp_path: Path) -> None:
        (tmp_path / "x.txt").write_text("hello")
        assert [each.why for each in bring(tmp_path / "x.txt").errors] == ["no known format"]

    def test_a_parser_that_trips_fails_its_file_only(
        self, bring: Bring, chat: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def trips(source: Any) -> Any:
            yield Session("s")
            raise KeyError("new in this version")

        monkeypatch.setattr(nanobot, "read", trips)
        (chat.parent / "other.jsonl").write_bytes(OPENAI)
        report = bring(chat.parent)
        assert (report.total("errors"), report.total("new")) == (1, 2)
        assert "KeyError" in report.errors[0].why

    def test_trouble_of_the_store_stops_the_import(
        self, db: SessionDB, bring: Bring, chat: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def full(*_: Any, **__: Any) -> bool:
            raise DiskFull("no room")

        monkeypatch.setattr(db.provider, "create_session", full)
        with pytest.raises(DiskFull):
            bring(chat)

    def test_what_cannot_be_stored_is_skipped_alone(self, db: SessionDB, bring: Bring, chat: Path) -> None:
        bring(chat)
        huge = "x" * (db.features.max_content_bytes // 4 + 1)
        db.provider.features = type(db.provider.features)(max_content_bytes=1000)
        with chat.open("ab") as file:
            file.write(said("before", 10) + said(huge[:5000], 11) + said("after", 12))
        report = bring(chat)
        assert (contents(db, "telegram:42")[-2:], len(report.skipped)) == (["before", "after"], 1)


class TestBreaks:
    def test_an_import_broken_off_goes_on_where_it_was(
        self, db: SessionDB, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(runner, "CHECKPOINT", 20)
        monkeypatch.setattr(intake, "BATCH_MESSAGES", 7)
        path = tmp_path / "telegram_1.jsonl"
        turns = [said(f"message {number}", number % 60) for number in range(100)]
        path.write_bytes(NANOBOT.splitlines(keepends=True)[0] + b"".join(turns))
        found = list(known.at_paths([path], known.chosen(())))
        take, taken = Intake.take, 0

        def breaks(self: Intake, record: Record) -> None:
            nonlocal taken
            taken += 1
            if taken == 70:
                raise KeyboardInterrupt
            take(self, record)

        monkeypatch.setattr(Intake, "take", breaks)
        with pytest.raises(KeyboardInterrupt):
            Runner(db).run(found)
        monkeypatch.setattr(Intake, "take", take)
        (row,) = db.provider.list_import_files()
        assert 0 < (row["read_offset"] or 0) < path.stat().st_size
        Runner(db).run(found)
        assert contents(db, "telegram:42") == [f"message {number}" for number in range(100)]
        assert db.verify().ok

    def test_memory_is_bounded_by_batches(self, bring: Bring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        longest = 0
        flush = Intake.flush

        def watched(self: Intake) -> None:
            nonlocal longest
            longest = max(longest, self.waiting)
            flush(self)

        monkeypatch.setattr(Intake, "flush", watched)
        path = tmp_path / "telegram_1.jsonl"
        path.write_bytes(NANOBOT + b"".join(said(f"m{number}", number % 60) for number in range(3000)))
        assert bring(path).total("messages") == 3005
        assert longest <= intake.BATCH_MESSAGES


class TestWishes:
    def test_a_dry_run_counts_and_changes_nothing(self, db: SessionDB, bring: Bring, chat: Path) -> None:
        report = bring(chat, dry_run=True)
        assert (report.total("new"), report.total("messages")) == (1, 5)
        assert (db.session_count(), db.provider.list_import_files()) == (0, [])

    def test_since_leaves_older_files_alone(self, bring: Bring, chat: Path) -> None:
        os.utime(chat, (1000, 1000))
        assert bring(chat, since=2000.0).total("messages") == 0
        assert bring(chat, since=500.0).total("messages") == 5


class TestFamilies:
    def test_children_find_parents_that_come_in_a_later_run(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        directory = tmp_path / "sessions"
        directory.mkdir()
        index = {"k": {"session_id": "child", "prev_session_id": "parent"}}
        (directory / "sessions.json").write_text(json.dumps(index))
        (directory / "child.jsonl").write_bytes(HERMES_GATEWAY)
        bring(directory)
        assert stored(db, "child")["parent_session_id"] is None
        (directory / "parent.jsonl").write_bytes(HERMES_GATEWAY)
        bring(directory)
        assert (stored(db, "child")["parent_session_id"], stored(db, "child")["relation"]) == ("parent", "reset")


class TestRecords:
    """What an intake makes of records, whatever the format."""

    def take(self, db: SessionDB, *records: Record) -> Report:
        report = Report()
        taking = Intake(db, "agent", Path("/x"), report, report.tally("agent", Path("/x")), 1777626000.0)
        taking.consume(iter(records))
        return report

    def test_totals_of_tokens_never_shrink(self, db: SessionDB) -> None:
        self.take(db, Session("s"), Usage(input_tokens=10, output_tokens=5))
        self.take(db, Session("s"), Usage(input_tokens=7, output_tokens=6))
        assert (stored(db, "s")["input_tokens"], stored(db, "s")["output_tokens"]) == (10, 6)

    def test_retracted_messages_are_hidden(self, db: SessionDB) -> None:
        self.take(db, Session("s"), Message("user", "a", native_id="1"), Message("user", "b", native_id="2"))
        self.take(db, Session("s"), Retracted(["2"]))
        assert contents(db, "s") == ["a"]

    def test_messages_go_to_the_session_they_name(self, db: SessionDB) -> None:
        self.take(db, Session("a"), Session("b"), Message("user", "x", session="a"), Message("user", "y"))
        assert (contents(db, "a"), contents(db, "b")) == (["x"], ["y"])

    def test_ids_are_only_unique_within_their_session(self, db: SessionDB) -> None:
        first, second = Message("user", "x", native_id="1"), Message("user", "y", native_id="1")
        self.take(db, Session("a"), first, Session("b"), second)
        assert (contents(db, "a"), contents(db, "b")) == (["x"], ["y"])

    def test_an_unknown_role_is_kept_as_meta(self, db: SessionDB) -> None:
        self.take(db, Session("s"), Message("narrator", "once upon a time"))
        (message,) = db.get_messages("s")
        assert (message["role"], message["metadata"]) == ("meta", {"role": "narrator"})

    def test_pictures_are_kept_by_their_hash(self, db: SessionDB) -> None:
        picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0KGgo" * 12 + "AAAA"}}
        self.take(db, Session("s"), Message("user", [{"type": "text", "text": "look"}, picture]))
        (reference,) = db.get_media_refs("s")
        assert reference["mime_type"] == "image/png"
        assert "base64" not in json.dumps(db.get_messages("s")[0]["content"])

    def test_a_title_too_long_is_cut(self, db: SessionDB) -> None:
        self.take(db, Session("s", title="word " * 40))
        assert (len(stored(db, "s")["title"]), stored(db, "s")["title"][-1]) == (100, "…")

    def test_many_sessions_in_one_source_all_arrive(self, db: SessionDB) -> None:
        records: list[Record] = []
        for number in range(200):
            records += [Session(f"s{number}"), Message("user", f"hello {number}")]
        report = self.take(db, *records)
        assert (report.total("new"), db.session_count()) == (200, 200)

    def test_two_continuations_of_one_session_become_one_and_a_fork(self, db: SessionDB, bring: Bring) -> None:
        from sessiondb.importers.links import Links

        self.take(db, Session("p"), Session("a"), Session("b"))
        links = Links(db)
        links.add("agent", [("a", "p", "compression"), ("b", "p", "compression")])
        links.settle()
        assert [stored(db, name)["relation"] for name in "ab"] == ["compression", "fork"]

    def test_a_circle_of_parents_is_not_closed(self, db: SessionDB) -> None:
        from sessiondb.importers.links import Links

        self.take(db, Session("a"), Session("b"))
        links = Links(db)
        links.add("agent", [("a", "b", "fork"), ("b", "a", "fork")])
        links.settle()
        assert [stored(db, name)["parent_session_id"] for name in "ab"] == ["b", None]


def test_found_words_are_searchable_at_once(db: SessionDB, bring: Bring, chat: Path) -> None:
    bring(chat)
    assert db.health()["index_lag"] == 0
    assert [hit["session_id"] for hit in db.search_messages("milk jetzt")] == ["telegram:42"]


def test_everything_is_told(db: SessionDB, bring: Bring, chat: Path) -> None:
    bring(chat)
    assert told(db)["telegram:42"]["title"] == "Shopping"
