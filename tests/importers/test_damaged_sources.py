"""Whatever a file looks like, an import goes through, and what is read twice is there once."""

from __future__ import annotations

import os
import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessiondb import SessionDB, registry
from sessiondb.importers import known, source
from sessiondb.importers.report import Report
from sessiondb.importers.runner import Runner

from .histories import all_sources
from .told import told

SOURCES = all_sources()
every_source = pytest.mark.parametrize("name", SOURCES, ids="-".join)
few = settings(max_examples=5, deadline=None, derandomize=True, database=None)

JUNK = [
    b"", b"not json", b"{", b"[]", b"[1, 2]", b"null", b"42", b'"text"', b"{}", b'{"type": "from-the-future", "x": {}}',
    b'{"role": "user"}', b'{"role": 7, "content": {"a": 1}}', b'{"message": []}', b"\x00\x01\x02", b"\xff\xfe\xfa",
    b'{"content": "\xe4\xf6"}', b'{"a": NaN}', b'{"a": "\\ud800"}', b"[" * 5000, b'{"a":' * 3000,
]  # fmt: skip


def write(path: Path, data: bytes) -> None:
    """With a time that stays: where a format has none, the file's counts."""
    path.write_bytes(data)
    os.utime(path, (1777626000, 1777626000))


def leave_alone(path: Path, place: Path) -> None:
    """Take other sources away: what was copied from a file is never older than the file."""
    for found in list(known.at_paths([place], known.chosen(()))):
        if found.path != path:
            found.path.unlink()


def cuts(data: bytes) -> list[int]:
    """Every border between two lines, and the middle of every line."""
    borders = [0, *(at + 1 for at, byte in enumerate(data) if byte == 10)]
    if len(borders) > 200 or len(borders) < 3 or data.startswith((b"{\n", b"SQLite")):
        borders = [*range(0, len(data), max(1, len(data) // 6))]
    return sorted({*borders, *((here + there) // 2 for here, there in pairwise(borders)), len(data) - 1})


def run(db: SessionDB, *paths: Path) -> Report:
    return Runner(db).run(known.at_paths(paths, known.chosen(())))


def test_every_importer_has_a_source_here() -> None:
    assert {name for name, _ in SOURCES} == {*registry.TABLES["importers"]}


@every_source
class TestDamage:
    @few
    @given(data=st.data())
    def test_a_file_cut_anywhere_is_read_as_far_as_it_goes(self, name: tuple[str, str], data: st.DataObject) -> None:
        with tempfile.TemporaryDirectory() as place, SessionDB("memory://") as db:
            path = SOURCES[name](Path(place))
            whole = path.read_bytes()
            path.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
            run(db, Path(place))
            assert db.verify().ok

    def test_a_file_that_grows_ends_as_one_read_at_once(self, name: tuple[str, str], tmp_path: Path) -> None:
        path = SOURCES[name](tmp_path)
        leave_alone(path, tmp_path)
        whole = path.read_bytes()
        write(path, whole)
        with SessionDB("memory://") as other:
            run(other, tmp_path)
            at_once = told(other)
        for cut in cuts(whole):
            with SessionDB("memory://") as db:
                write(path, whole[:cut])
                run(db, tmp_path)
                write(path, whole)
                run(db, tmp_path)
                assert told(db) == at_once, f"cut at byte {cut}"

    @few
    @given(data=st.data())
    def test_junk_between_lines_neither_raises_nor_doubles(self, name: tuple[str, str], data: st.DataObject) -> None:
        with tempfile.TemporaryDirectory() as place, SessionDB("memory://") as db:
            path = SOURCES[name](Path(place))
            lines = path.read_bytes().split(b"\n")
            for junk in data.draw(st.lists(st.sampled_from(JUNK), min_size=1, max_size=4)):
                lines.insert(data.draw(st.integers(0, len(lines))), junk)
            path.write_bytes(b"\n".join(lines))
            run(db, Path(place))
            first = told(db)
            path.touch()
            run(db, Path(place))
            assert told(db) == first
            assert db.verify().ok

    @few
    @given(data=st.data())
    def test_wrong_bytes_neither_raise_nor_double(self, name: tuple[str, str], data: st.DataObject) -> None:
        with tempfile.TemporaryDirectory() as place, SessionDB("memory://") as db:
            path = SOURCES[name](Path(place))
            damaged = bytearray(path.read_bytes())
            for at in data.draw(st.lists(st.integers(0, len(damaged) - 1), min_size=1, max_size=5)):
                damaged[at] = data.draw(st.integers(0, 255))
            path.write_bytes(bytes(damaged))
            run(db, Path(place))
            first = told(db)
            path.touch()
            run(db, Path(place))
            assert told(db) == first

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "latin-1", "utf-8-sig"])
    def test_another_encoding_does_not_raise(self, name: tuple[str, str], encoding: str, tmp_path: Path) -> None:
        path = SOURCES[name](tmp_path)
        path.write_bytes(path.read_bytes().decode("utf-8", "replace").encode(encoding, "replace"))
        with SessionDB("memory://") as db:
            run(db, tmp_path)
            assert db.verify().ok

    def test_a_huge_line_is_skipped_and_named(
        self, name: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(source, "MAX_LINE", 100_000)
        path = SOURCES[name](tmp_path)
        whole = path.read_bytes()
        with SessionDB("memory://") as db, SessionDB("memory://") as other:
            write(path, whole)
            run(other, tmp_path)
            write(path, whole.rstrip(b"\n") + b'\n{"type": "' + b"x" * 300_000 + b'"}\n')
            report = run(db, tmp_path)
            if path.suffix == ".jsonl":
                assert [(each.line, each.why[:14]) for each in report.skipped if "bytes" in each.why] == [
                    (whole.rstrip(b"\n").count(b"\n") + 2, "a line of 300,")
                ]
                assert told(db) == told(other)

    def test_a_copy_of_a_file_brings_nothing_new(self, name: tuple[str, str], tmp_path: Path) -> None:
        SOURCES[name](tmp_path / "a")
        with SessionDB("memory://") as db:
            run(db, tmp_path / "a")
            first = told(db)
            SOURCES[name](tmp_path / "b")
            run(db, tmp_path / "b")
            assert told(db) == first
            assert first, "nothing was imported"
