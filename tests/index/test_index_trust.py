"""An index is believed only when it is whole, of this store, and as one of us left it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from index_story import asked, ids, ran, say, scanned

import sessiondb
from sessiondb import SessionDB
from sessiondb.backends.sqlite.index import files, seal
from sessiondb.backends.sqlite.provider import SCANNED
from sessiondb.search import analyze

PAGE = files.PAGE_BYTES


@pytest.fixture
def path(fast_path: Path) -> Path:
    return fast_path / "state.db"


@pytest.fixture
def db(path: Path) -> Iterator[SessionDB]:
    with sessiondb.open(path) as db:
        say(db, db.create_session("s", "cli"), *[f"needle n{number} in the hay" for number in range(40)])
        yield db


def current(path: Path) -> Path:
    return Path(files.generations(str(path))[-1][1])


def overwrite(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"noise" * 100)


def flip(path: Path, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 8]))


HARMS: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "truncated": lambda path: os.truncate(path, path.stat().st_size // 2),
    "emptied": lambda path: os.truncate(path, 0),
    "overwritten": overwrite,
    "without its seal": lambda path: os.unlink(seal.path_of(str(path))),
    "touched": lambda path: os.utime(path, (1, 1)),
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_harmed_index_is_noticed_and_made_again(db: SessionDB, path: Path, harm: str) -> None:
    assert len(asked(db, "needle").hits) == 40
    HARMS[harm](current(path))
    answer = asked(db, "needle")
    assert ids(answer) == scanned(db, "needle")
    assert answer.notices == (() if harm == "deleted" else (SCANNED,))
    again = asked(db, "needle")
    assert (ids(again), again.notices) == (ids(answer), ())
    assert len(files.generations(str(path))) == 1


def test_a_flipped_bit_is_never_believed(db: SessionDB, path: Path) -> None:
    """Anywhere in the file: each page in turn."""
    truth = scanned(db, "needle")
    for page in range(60):
        asked(db, "needle")
        place = current(path)
        at = page * PAGE + page * 61 % PAGE
        if at >= place.stat().st_size:
            break
        noted = place.stat()
        flip(place, at)
        # As bits rot: nobody wrote.
        os.utime(place, ns=(noted.st_atime_ns, noted.st_mtime_ns))
        assert ids(asked(db, "needle")) == truth, f"page {page}"


class TestYesterdaysFile:
    """Pages of two days, each sound: only the seal tells."""

    @pytest.fixture
    def old(self, db: SessionDB, path: Path) -> Path:
        asked(db, "needle")
        shutil.copy2(current(path), path.with_name("old"))
        say(db, "s", *[f"needle again {number}" for number in range(200)])
        asked(db, "needle")
        return path.with_name("old")

    def mixtures(self, db: SessionDB, path: Path, old: Path) -> list[bool]:
        """For each page of the old file that is put into the new one: whether the answer is right."""
        db.close()
        new = current(path)
        whole, past = new.read_bytes(), old.read_bytes()
        return [self._is_right(path, whole[:at] + past[at : at + PAGE] + whole[at + PAGE :])
                for at in range(0, len(past), PAGE)]  # fmt: skip

    def _is_right(self, path: Path, mixed: bytes) -> bool:
        new = current(path)
        noted = new.stat()
        new.write_bytes(mixed)
        os.utime(new, ns=(noted.st_atime_ns, noted.st_mtime_ns + 1))
        with sessiondb.open(path) as db:
            answer = asked(db, "needle")
            return bool(answer.notices) or ids(answer) == scanned(db, "needle")

    def test_a_mixture_is_never_believed(self, db: SessionDB, path: Path, old: Path) -> None:
        assert all(self.mixtures(db, path, old))

    def test_without_the_seal_it_would_be(
        self, db: SessionDB, path: Path, old: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(seal, "intact", lambda *_, **__: True)
        assert not all(self.mixtures(db, path, old))


class TestWhoseIndex:
    def test_another_stores_index_is_not_used(self, db: SessionDB, path: Path, tmp_path: Path) -> None:
        asked(db, "needle")
        other = tmp_path / "state.db"
        with sessiondb.open(other) as stranger:
            say(stranger, stranger.create_session("s", "cli"), *["nothing of the kind"] * 40)
        for place in (current(path), Path(seal.path_of(str(current(path))))):
            shutil.copy2(place, tmp_path)
        with sessiondb.open(other) as stranger:
            assert (asked(stranger, "needle").hits, len(asked(stranger, "kind").hits)) == ([], 40)

    def test_an_older_analysers_index_is_made_again(
        self, db: SessionDB, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked(db, "needle")
        db.close()
        monkeypatch.setattr(analyze, "VERSION", analyze.VERSION + 1)
        with sessiondb.open(path) as db:
            assert asked(db, "needle").notices == (SCANNED,)
            assert asked(db, "needle").notices == ()

    def test_a_store_that_was_set_back_and_went_on_is_noticed(self, db: SessionDB, path: Path) -> None:
        """A backup is put back, and other messages get the ids that the index knows."""
        db.close()
        shutil.copy2(path, backup := path.with_name("backup"))
        with sessiondb.open(path) as db:
            say(db, "s", "lost words")
            assert len(asked(db, "lost").hits) == 1
        shutil.copy2(backup, path)
        with sessiondb.open(path) as db:
            say(db, "s", "other words")
            assert ids(asked(db, "lost")) == set()
            assert ids(asked(db, "other")) == scanned(db, "other") != set()

    def test_nor_does_it_matter_that_the_index_knew_of_ids_only_that_nobody_had(
        self, db: SessionDB, path: Path
    ) -> None:
        db.close()
        shutil.copy2(path, backup := path.with_name("backup"))
        with sessiondb.open(path) as db:
            say(db, db.create_session("gone", "cli"), "lost words", "more lost words")
            db.delete_session("gone")
            assert asked(db, "lost").index_lag == 0
        shutil.copy2(backup, path)
        with sessiondb.open(path) as db:
            say(db, "s", "other words", "still other words")
            assert ids(asked(db, "other")) == scanned(db, "other") != set()

    def test_older_generations_are_removed(self, db: SessionDB, path: Path) -> None:
        asked(db, "needle")
        first = current(path)
        os.truncate(first, 100)
        asked(db, "needle")
        asked(db, "needle")
        assert current(path) != first
        assert sorted(each.name for each in path.parent.glob("*-search-*")) == [
            "state-search-000002.db", "state-search-000002.db-journal", "state-search-000002.seal",
        ]  # fmt: skip


DIES = """
import os, sys
from sessiondb.backends.sqlite.index import seal
with seal.broken(sys.argv[1]):
    os.utime(sys.argv[1])
    os._exit(0)
"""


def test_a_writer_who_died_in_the_middle_leaves_a_usable_index(db: SessionDB, path: Path) -> None:
    asked(db, "needle")
    ran(DIES, current(path))
    assert asked(db, "needle").notices == ()


def test_the_files_are_private(db: SessionDB, path: Path) -> None:
    asked(db, "needle")
    assert {each.stat().st_mode & 0o777 for each in path.parent.glob("*-search-*")} == {0o600}


def test_what_full_text_writes_fits_into_pages(db: SessionDB, path: Path) -> None:
    """A row that is one byte too long costs a page of its own."""
    say(db, "s", *[" ".join(f"word{number * 31 % 9973} needle" for number in range(at, at + 200)) for at in range(100)])
    asked(db, "needle")
    connection = files.opened(str(current(path)), read_only=True)
    pages = dict(
        connection.execute("SELECT pagetype, count(*) FROM dbstat WHERE name = 'messages_fts_data' GROUP BY 1")
    )
    connection.close()
    assert pages["leaf"] > 10
    assert "overflow" not in pages
