"""rename, delete, export: what they change and write."""

from __future__ import annotations

import gzip
import json
import os
import stat
from pathlib import Path

import pytest

import sessiondb


class TestRename:
    def test_words_need_no_quotes(self, run, session, db) -> None:
        session("a", "hello")
        done = run("rename", "a", "debugging", "auth", "flow")
        assert (done.code, done.out) == (0, "a is now 'debugging auth flow'.\n")
        assert db.get_session_title("a") == "debugging auth flow"

    def test_an_empty_title_takes_it_away(self, run, session, db) -> None:
        session("a", "hello", title="work")
        assert run("rename", "work", "").out == "a has no title now.\n"
        assert db.get_session_title("a") is None

    def test_a_taken_title_is_a_conflict(self, run, session, db) -> None:
        session("a", "hello", title="work")
        session("b", "hello", title="play")
        done = run("rename", "b", "work")
        assert (done.code, done.err.count("\n")) == (4, 1)
        assert db.get_session_title("b") == "play"

    def test_a_title_too_long_is_refused(self, run, session) -> None:
        session("a", "hello")
        done = run("rename", "a", "x" * 101)
        assert done.code == 2
        assert "101 characters" in done.err

    def test_as_json(self, run, session) -> None:
        session("a", "hello")
        assert json.loads(run("rename", "a", "née", "--json").out) == {
            "schema": "sessiondb.rename.v1",
            "id": "a",
            "title": "née",
        }


class TestDelete:
    def test_with_yes_it_goes_to_the_trash(self, run, session, db) -> None:
        session("a", "hello", title="work")
        done = run("delete", "work", "--yes")
        assert (done.code, done.out) == (0, "Moved a to the trash; it can be restored for 30 days.\n")
        assert db.get_session("a") is None
        assert db.restore_deleted("a") == "a"

    def test_without_a_terminal_it_refuses(self, run, session, db) -> None:
        session("a", "hello")
        done = run("delete", "a")
        assert done.code == 2
        assert "--yes" in done.err
        assert db.get_session("a")

    def test_an_unknown_session_is_not_found(self, run, db) -> None:
        assert run("delete", "nothing", "--yes").code == 3

    @pytest.mark.parametrize(("answer", "code"), [(b"y\n", 0), (b"n\n", 1), (b"\n", 1), (b"\x04", 130)])
    def test_it_asks_a_person(self, session, db, on_terminal, answer: bytes, code: int) -> None:
        session("a", "hello", "world", title="work")
        done, shown = on_terminal(["delete", "a"], lambda process, terminal: os.write(terminal, answer))
        assert done == code
        assert "Delete work (2 messages)? [y/N]" in shown
        assert shown.endswith("\n"), "the next prompt begins a line"
        assert (db.get_session("a") is None) == (code == 0)


class TestExport:
    def test_a_compressed_one_is_verified_too(self, run, session, tmp_path: Path) -> None:
        session("a", "hello", "world")
        packed = tmp_path / "out.jsonl.gz"
        packed.write_bytes(gzip.compress(run("export", "-").out.encode()))
        assert run("verify", packed).out == "1 session, 2 messages: all there.\n"
        packed.write_bytes(packed.read_bytes()[:-12])
        done = run("verify", packed)
        assert done.code == 6
        assert "cannot be decompressed" in done.out

    def test_a_file_named_as_a_session_is_told(self, run, session, environment, tmp_path: Path, monkeypatch) -> None:
        """`export latest` looks like a choice."""
        monkeypatch.chdir(tmp_path)
        session("a", "hello", title="work.md")
        session("b", "hello")
        for name, told in (("latest", True), ("a", True), ("work.md", False), ("c", False)):
            done = run("export", name)
            assert (done.code, (tmp_path / name).exists()) == (0, True)
            assert (f"--session-id {name!r} chooses" in done.err) is told, name

    def test_a_file_holds_a_session_per_line_and_comes_back_complete(self, run, session, db, tmp_path: Path) -> None:
        session("a", "héllo 東京 \ud800\x00\x1b", "two", title="work")
        session("b", "three", source="telegram")
        target = tmp_path / "out.jsonl"
        done = run("export", target)
        assert (done.code, done.out) == (0, "")
        assert done.err == f"Exported 2 sessions to {target}.\n"
        assert stat.S_IMODE(target.stat().st_mode) == 0o600
        documents = [json.loads(line) for line in target.read_text("utf-8").splitlines()]
        with sessiondb.open("memory://") as copy:
            assert copy.import_sessions(documents).imported == ["a", "b"]
            assert copy.verify().ok
            assert list(copy.iter_export()) == list(db.iter_export())

    def test_to_stdout(self, run, session) -> None:
        session("a", "東京")
        done = run("export", "-")
        assert done.err == ""
        assert "東京" in done.out
        assert [json.loads(line)["id"] for line in done.lines] == ["a"]

    @pytest.mark.parametrize("choice", [["--source", "telegram"], ["--session-id", "b"], ["--session-id", "work"]])
    def test_a_choice_of_sessions(self, run, session, choice: list[str]) -> None:
        session("a", "one")
        session("b2", "two", source="telegram", title="work")
        assert [json.loads(line)["id"] for line in run("export", "-", *choice).lines] == ["b2"]

    def test_an_unknown_session_leaves_no_file(self, run, session, tmp_path: Path) -> None:
        session("a", "one")
        assert run("export", tmp_path / "x.jsonl", "--session-id", "nothing").code == 3
        assert list(tmp_path.glob("x.jsonl*")) == []

    def test_an_older_file_is_replaced_in_one_step(self, run, session, tmp_path: Path) -> None:
        session("a", "one")
        target = tmp_path / "x.jsonl"
        target.write_text("old\n")
        assert run("export", target).code == 0
        assert json.loads(target.read_text())["id"] == "a"
        assert list(tmp_path.glob("*.part")) == []

    def test_a_place_that_cannot_be_written_is_one_sentence(self, run, session, tmp_path: Path) -> None:
        session("a", "one")
        done = run("export", tmp_path / "missing" / "x.jsonl")
        assert (done.code, done.err.count("\n")) == (3, 1)
        assert "no directory" in done.err

    def test_a_pipe_is_written_through(self, run, session, tmp_path: Path) -> None:
        session("a", "one")
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), encoding="utf-8") as reader:
            assert run("export", pipe).code == 0
            assert json.loads(reader.read())["id"] == "a"
