"""A watched history: what is written is found within moments, whatever happens to the files; it ends when told to."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sessiondb import SessionDB
from sessiondb.importers import known, watching
from sessiondb.importers.report import Report

from .counts.codex import zstd
from .histories import NANOBOT, lines
from .told import contents

WITHOUT_WATCHFILES = "import sys; sys.modules['watchfiles'] = None; from sessiondb.cli.main import main; main()"
WITH_WATCHFILES = "from sessiondb.cli.main import main; main()"
# Generous for a loaded machine; what it takes is printed.
PATIENCE = 20.0


def said(text: str, second: int) -> bytes:
    return lines({"role": "user", "content": text, "timestamp": f"2026-05-01T10:00:{second:02d}+00:00"})


class Watched:
    """A `sessiondb import --watch` that runs, and the store that it fills."""

    def __init__(self, place: Path, store: Path, program: str) -> None:
        self.place = place
        self.store = store
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, "--db", str(store), "import", "--watch", str(place)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        assert "watching" in self.process.stdout.readline()

    def finds(self, word: str) -> bool:
        begun = time.monotonic()
        with SessionDB(self.store, read_only=True) as db:
            while time.monotonic() - begun < PATIENCE:
                if db.search_messages(word):
                    print(f"{word!r} was found after {time.monotonic() - begun:.2f} s")
                    return True
                time.sleep(0.05)
        return False

    def stop(self, number: int) -> tuple[int, str, str]:
        self.process.send_signal(number)
        out, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, errors

    def seconds_of_cpu(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.fixture(params=[WITH_WATCHFILES, WITHOUT_WATCHFILES], ids=["told", "polled"])
def watched(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Watched]:
    place = tmp_path / "sessions"
    place.mkdir()
    (place / "telegram_42.jsonl").write_bytes(NANOBOT)
    running = Watched(place, tmp_path / "store" / "state.db", request.param)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.communicate()


@pytest.mark.alone
def test_lines_new_files_and_moved_ones_are_found_and_once(watched: Watched) -> None:
    chat = watched.place / "telegram_42.jsonl"
    with chat.open("ab") as file:
        file.write(said("marmalade", 1))
    assert watched.finds("marmalade")
    header = {"_type": "metadata", "key": "cli:1", "metadata": {}}
    (watched.place / "cli_1.jsonl").write_bytes(lines(header) + said("quince", 2))
    assert watched.finds("quince")
    chat.rename(watched.place / "telegram_42.old.jsonl")
    chat.write_bytes(NANOBOT.splitlines(keepends=True)[0] + said("after the rotation", 3))
    assert watched.finds("rotation")
    code, out, errors = watched.stop(signal.SIGTERM)
    assert (code, out.splitlines()[-1][:9]) == (0, "Stopped; ")
    assert all("looking every second" in each for each in errors.splitlines())
    with SessionDB(watched.store, read_only=True) as db:
        assert contents(db, "telegram:42").count("marmalade") == 1
        assert db.verify().ok


@pytest.mark.alone
@pytest.mark.parametrize(("end", "compress"), [("gz", gzip.compress), ("zst", zstd.compress)], ids=["gz", "zst"])
def test_deleted_and_compressed_files_change_nothing(
    watched: Watched, end: str, compress: Callable[[bytes], bytes]
) -> None:
    chat = watched.place / "telegram_42.jsonl"
    (watched.place / f"telegram_42.jsonl.{end}").write_bytes(compress(chat.read_bytes()))
    chat.unlink()
    (watched.place / "cli_1.jsonl").write_bytes(
        lines({"_type": "metadata", "key": "cli:1", "metadata": {}}) + said("quince", 2)
    )
    assert watched.finds("quince")
    assert watched.stop(signal.SIGINT)[0] == 0
    with SessionDB(watched.store, read_only=True) as db:
        assert len(contents(db, "telegram:42")) == 5
        assert db.verify().ok


@pytest.mark.alone
def test_idle_it_waits(watched: Watched) -> None:
    time.sleep(1.5)
    before = watched.seconds_of_cpu()
    time.sleep(3)
    used = watched.seconds_of_cpu() - before
    print(f"{used / 3:.1%} of a core while idle")
    # A loop that never sleeps uses all of it; how little is used is printed.
    assert used < 1.5


@pytest.mark.alone
@pytest.mark.parametrize("program", [WITH_WATCHFILES, WITHOUT_WATCHFILES], ids=["told", "polled"])
def test_what_hooks_note_is_brought_in(program: str, tmp_path: Path) -> None:
    """A transcript outside of all places that are watched comes in by its note, within moments, and once."""
    home, watched = tmp_path / "home", tmp_path / "watched"
    watched.mkdir()
    spool = home / "spool" / "events"
    transcript = tmp_path / "elsewhere" / "11111111-1111-4111-8111-111111111111.jsonl"
    transcript.parent.mkdir()
    told = {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": transcript.stem, "cwd": "/w", "version": "2",
            "timestamp": "2026-05-01T10:00:00.000Z", "message": {"role": "user", "content": "persimmon"}}  # fmt: skip
    transcript.write_bytes(lines(told))
    process = subprocess.Popen(
        [sys.executable, "-c", program, "import", "--watch", str(watched)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "SESSIONDB_HOME": str(home)},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert "watching" in process.stdout.readline()
        spool.parent.mkdir(parents=True, exist_ok=True)
        spool.write_text(json.dumps({"transcript_path": str(transcript), "agent": "claude-code"}) + "\n")
        begun = time.monotonic()
        with SessionDB(home / "state.db", read_only=True) as db:
            while not db.search_messages("persimmon") and time.monotonic() - begun < PATIENCE:
                time.sleep(0.05)
            print(f"found after {time.monotonic() - begun:.2f} s")
            assert len(db.search_messages("persimmon")) == 1
        assert not spool.exists()
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)


def test_without_a_history_it_waits_for_one(tmp_path: Path) -> None:
    reports: list[Report] = []
    place = tmp_path / "later"

    def changes() -> watching.Changes:
        place.mkdir()
        (place / "telegram_42.jsonl").write_bytes(NANOBOT)
        yield None
        (place / "telegram_42.jsonl").unlink()
        yield {place / "telegram_42.jsonl"}

    with SessionDB("memory://") as db:
        look = looking(lambda: [place] if place.exists() else [])
        watching.Watch(db, look, lambda: [place], reports.append).follow(changes())
        assert [report.total("messages") for report in reports] == [0, 5, 0]
        assert [report.total("errors") for report in reports] == [0, 0, 0]


def looking(places: Callable[[], list[Path]]) -> Callable[[], Iterator[known.Found]]:
    return lambda: known.at_paths(places(), known.chosen(()))


def test_only_the_sources_that_changed_are_read(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"cli_{number}.jsonl").write_bytes(
            lines({"_type": "metadata", "key": f"cli:{number}", "metadata": {}}) + said("one", 1)
        )
    reports: list[Report] = []

    def changes() -> watching.Changes:
        with (tmp_path / "cli_1.jsonl").open("ab") as file:
            file.write(said("two", 2))
        yield {tmp_path / "cli_1.jsonl", tmp_path / "notes.txt"}

    with SessionDB("memory://") as db:
        watching.Watch(db, looking(lambda: [tmp_path]), lambda: [tmp_path], reports.append).follow(changes())
    assert [(report.total("files"), report.total("messages")) for report in reports] == [(3, 3), (1, 1)]


def test_the_log_of_a_database_stands_for_the_database(tmp_path: Path) -> None:
    found = known.Found(tmp_path / "state.db", None, tmp_path)
    with SessionDB("memory://") as db:
        watch = watching.Watch(db, lambda: [found], lambda: [tmp_path], lambda report: None)
        watch.sources = {found.path: found}
        assert watch._named({tmp_path / "state.db-wal", tmp_path / "state.db-shm"}) == [found]


def test_polling_tells_what_changed(tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_bytes(NANOBOT)
    look = looking(lambda: [tmp_path])
    pauses: list[float] = []

    def wait(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            with (tmp_path / "chat.jsonl").open("ab") as file:
                file.write(said("more", 1))
        elif len(pauses) == 3:
            (tmp_path / "other.jsonl").write_bytes(NANOBOT)

    changes = watching.polled(look, wait)
    assert next(changes) is None
    assert next(changes) == {tmp_path / "chat.jsonl"}
    assert next(changes) is None
    assert min(pauses) >= watching.POLL_SECONDS


def test_polling_misses_nothing_that_was_written_while_it_began(tmp_path: Path) -> None:
    """After the first import, before the first look: that look must not take for read what nobody has read."""
    chat = tmp_path / "telegram_42.jsonl"
    chat.write_bytes(NANOBOT)
    reports: list[Report] = []
    pauses = iter(range(3))

    def told(report: Report) -> None:
        if not reports:
            with chat.open("ab") as file:
                file.write(said("in between", 1))
        reports.append(report)

    look = looking(lambda: [tmp_path])
    changes = watching.polled(look, lambda seconds: next(pauses))
    with SessionDB("memory://") as db:
        with pytest.raises(RuntimeError, match="StopIteration"):
            watching.Watch(db, look, lambda: [tmp_path], told).follow(changes)
        assert contents(db, "telegram:42").count("in between") == 1


def test_watching_does_not_go_with_a_dry_run(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sessiondb", "--db", str(tmp_path / "s.db"), "import", "--watch", "--dry-run"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert answer.returncode != 0
    assert "--dry-run" in answer.stderr
    assert not (tmp_path / "s.db").exists()


def test_news_are_json_lines_when_asked(tmp_path: Path) -> None:
    (tmp_path / "telegram_42.jsonl").write_bytes(NANOBOT)
    command = [sys.executable, "-m", "sessiondb", "--db", str(tmp_path / "store" / "s.db"), "import", "--watch"]
    process = subprocess.Popen([*command, "--json", str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["sources"][0]["messages"] == 5
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
