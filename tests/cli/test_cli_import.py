"""`sessiondb import` and `sessiondb export`, as people run them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessiondb.db import SessionDB

Run = Callable[..., Any]

TURNS = [
    {"_type": "metadata", "key": "telegram:42", "metadata": {"title": "Shopping"}},
    {"role": "user", "content": "buy milk", "timestamp": "2026-05-01T09:00:01+00:00"},
    {"role": "assistant", "content": "done", "timestamp": "2026-05-01T09:00:02+00:00"},
]


def row(done: Any, agent: str) -> list[str]:
    """The cells of an agent's line, without agent and path."""
    (found,) = [line for line in done.lines if line.startswith(agent)]
    return found.split()[2:]


@pytest.fixture
def chat(home: Path) -> Path:
    path = home / ".nanobot" / "sessions" / "telegram_42.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(turn) + "\n" for turn in TURNS))
    return path


class TestImport:
    def test_without_a_path_histories_are_found(self, run: Run, chat: Path) -> None:
        done = run("import")
        assert (done.code, row(done, "nanobot")) == (0, ["1", "1", "0", "0", "0"])
        assert "~/.nanobot" in done.out
        assert done.lines[-1].startswith("Brought in 2 messages from 1 file in ")
        assert "Shopping" in run("list").out

    def test_a_second_run_says_that_nothing_is_new(self, run: Run, chat: Path) -> None:
        run("import")
        done = run("import")
        assert row(done, "nanobot") == ["1", "0", "0", "0", "0"]
        assert done.lines[-1].endswith("1 file unchanged.")

    def test_with_nothing_to_find_it_says_where_it_looked(self, run: Run) -> None:
        done = run("import", "--agent", "nanobot")
        assert (done.code, done.out) == (3, "")
        assert "~/.nanobot" in done.err

    def test_files_and_directories_are_told_apart_by_their_content(self, run: Run, tmp_path: Path) -> None:
        (tmp_path / "in").mkdir()
        (tmp_path / "in" / "x.jsonl").write_text('{"messages": [{"role": "user", "content": "hi"}]}\n')
        done = run("import", tmp_path / "in")
        assert row(done, "openai-chat") == ["1", "1", "0", "0", "0"]

    def test_a_dry_run_makes_no_store(self, run: Run, chat: Path, home: Path) -> None:
        done = run("import", "--dry-run")
        assert done.lines[-1] == "Would read 2 messages from 1 file; nothing was changed."
        assert not (home / "state.db").exists()

    def test_status_counts_what_is_there_and_what_is_in(self, run: Run, chat: Path, home: Path) -> None:
        assert row(run("import", "--status"), "nanobot") == ["1", "0", "1", "0"]
        assert not (home / "state.db").exists()
        run("import")
        assert row(run("import", "--status"), "nanobot") == ["1", "1", "0", "0"]
        with chat.open("a") as file:
            file.write(json.dumps(TURNS[1] | {"content": "more"}) + "\n")
        assert row(run("import", "--status"), "nanobot") == ["1", "0", "1", "0"]

    def test_json_tells_the_same(self, run: Run, chat: Path) -> None:
        told = json.loads(run("import", "--json").out)
        assert (told["schema"], told["dry_run"]) == ("sessiondb.import.v1", False)
        assert told.keys() == {"schema", "dry_run", "sources", "skipped", "errors", "unlisted", "notes", "seconds"}
        (source,) = told["sources"]
        assert (source["agent"], source["new"], source["messages"]) == ("nanobot", 1, 2)
        status = json.loads(run("import", "--status", "--json").out)
        assert status["sources"][0]["imported"] == 1

    def test_skipped_lines_are_named_and_do_no_harm(self, run: Run, chat: Path) -> None:
        with chat.open("a") as file:
            file.write("junk\nmore junk\n")
        done = run("import")
        assert (done.code, row(done, "nanobot")) == (0, ["1", "1", "0", "2", "0"])
        assert "~/.nanobot/sessions/telegram_42.jsonl:4,5: not JSON" in done.err

    def test_a_file_that_cannot_be_read_is_an_error_after_the_rest(self, run: Run, chat: Path, tmp_path: Path) -> None:
        (tmp_path / "x.txt").write_text("hello")
        done = run("import", chat, tmp_path / "x.txt")
        assert (done.code, row(done, "nanobot")[1]) == (1, "1")
        assert "x.txt: no known format" in done.err

    def test_a_path_that_is_not_there_is_named(self, run: Run, tmp_path: Path) -> None:
        done = run("import", tmp_path / "ghost")
        assert (done.code, "ghost" in done.err) == (3, True)

    def test_an_unknown_agent_is_named_with_the_known_ones(self, run: Run) -> None:
        done = run("import", "--agent", "ghost")
        assert done.code == 2
        assert "known: " in done.err
        assert "nanobot" in done.err

    def test_since_leaves_old_files_alone(self, run: Run, chat: Path) -> None:
        import os

        os.utime(chat, (1_000_000_000, 1_000_000_000))
        assert run("import", "--since", "7d").lines[-1].startswith("Brought in 0 messages from 0 files")

    @pytest.mark.alone
    def test_an_interrupted_import_goes_on(self, run: Run, environment: dict[str, str], home: Path) -> None:
        path = home / ".nanobot" / "sessions" / "telegram_42.jsonl"
        path.parent.mkdir(parents=True)
        turn = {"role": "user", "content": "word " * 50}
        with path.open("w") as file:
            file.write(json.dumps(TURNS[0]) + "\n")
            for number in range(30_000):
                file.write(json.dumps(turn | {"timestamp": 1777626000 + number}) + "\n")
        process = subprocess.Popen(
            [sys.executable, "-m", "sessiondb", "import"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        until = time.monotonic() + 60
        while not _has_checkpoint(home) and time.monotonic() < until:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
        assert b"the same command goes on from there" in err
        done = run("import")
        assert done.code == 0
        told = json.loads(run("stats", "--json").out)
        assert told["messages"] == 30_000
        assert run("verify").code == 0


def _has_checkpoint(home: Path) -> bool:
    wal = home / "state.db-wal"
    return wal.exists() and wal.stat().st_size > 2_000_000


class TestExport:
    @pytest.fixture
    def talk(self, session: Callable[..., str], db: SessionDB) -> str:
        session("a", "hello", "hi", title="Greeting")
        session("b", "other", source="telegram")
        db.tag_session("a", "work")
        return "a"

    @pytest.mark.parametrize(
        ("name", "begins"),
        [
            ("x.jsonl", '{"format": "sessiondb/1"'), ("x.md", "# Greeting"), ("x.html", "<!doctype html>"),
            ("x.csv", "id,title,source"), ("x.openai.jsonl", '{"messages": ['), ("x.sharegpt.jsonl", '{"id": "a"'),
        ],
    )  # fmt: skip
    def test_the_name_of_the_file_says_the_format(
        self, run: Run, talk: str, tmp_path: Path, name: str, begins: str
    ) -> None:
        done = run("export", tmp_path / name, "--session-id", "a")
        assert (done.code, done.out) == (0, "")
        assert done.err == f"Exported 1 session to {tmp_path / name}.\n"
        assert (tmp_path / name).read_text().startswith(begins)

    def test_format_decides_on_stdout(self, run: Run, talk: str) -> None:
        assert run("export", "--format", "markdown", "--session-id", "Greeting").out.startswith("# Greeting")
        assert run("export", "-", "--format", "csv").out.startswith("id,title")

    def test_sessions_are_chosen_by_source_tag_and_time(self, run: Run, talk: str) -> None:
        for wish in (["--source", "cli"], ["--tag", "work"]):
            assert [json.loads(line)["id"] for line in run("export", "-", *wish).lines] == ["a"]
        assert run("export", "-", "--until", "2001-01-01").out == ""

    def test_what_was_exported_comes_back(self, run: Run, talk: str, tmp_path: Path) -> None:
        run("export", tmp_path / "x.jsonl")
        other = tmp_path / "other.db"
        done = run("--db", other, "import", tmp_path / "x.jsonl")
        assert row(done, "sessiondb") == ["2", "2", "0", "0", "0"]
        assert run("--db", other, "export", "-").out.count("hello") == 1
        again = run("--db", other, "import", tmp_path / "x.jsonl")
        assert row(again, "sessiondb") == ["2", "0", "0", "0", "0"]
