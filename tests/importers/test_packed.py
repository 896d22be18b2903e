"""Histories that somebody compressed: read as the plain files, under the names that those had."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from backports import zstd

from sessiondb import SessionDB
from sessiondb.exporters import base
from sessiondb.importers import databases, known
from sessiondb.importers.packed import plain_name
from sessiondb.importers.report import Report
from sessiondb.importers.runner import Runner
from sessiondb.models import Filter

from .conftest import Bring
from .histories import NANOBOT, hermes_files
from .places import AGENTS, FIXTURES
from .told import told

Pack = tuple[str, Callable[[bytes], bytes]]

PACKS = pytest.mark.parametrize("pack", [(".gz", gzip.compress), (".zst", zstd.compress)], ids=["gz", "zst"])


def packed(path: Path, pack: Pack) -> Path:
    """The file in its compressed form, as old as it was."""
    end, compress = pack
    copy = path.with_name(path.name + end)
    copy.write_bytes(compress(path.read_bytes()))
    os.utime(copy, (path.stat().st_mtime, path.stat().st_mtime))
    path.unlink()
    return copy


def brought(store: Path, agent: str, *paths: Path) -> tuple[dict[str, Any], Report]:
    with SessionDB(store) as db:
        report = Runner(db).run(known.at_paths(paths, [known.parser(agent)]))
        assert db.verify().ok
        return told(db), report


# What OpenCode keeps is a tree of small files, read together.
@pytest.mark.parametrize("agent", [agent for agent in AGENTS if agent != "opencode"])
@PACKS
def test_it_is_found_in_its_place(agent: str, pack: Pack, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / agent, tmp_path / agent)
    place = tmp_path / AGENTS[agent][2].relative_to(FIXTURES)
    before = sorted(AGENTS[agent][0].find(place))
    for path in before:
        if path.suffix == ".jsonl":
            packed(path, pack)
    assert sorted(map(plain_name, AGENTS[agent][0].find(place))) == sorted(map(plain_name, before))


# What OpenCode keeps is a tree of small files, read together.
@pytest.mark.parametrize("agent", [agent for agent in AGENTS if agent != "opencode"])
@PACKS
def test_a_compressed_history_arrives_as_the_plain_one(agent: str, pack: Pack, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / agent, tmp_path / "in" / agent)
    below = AGENTS[agent][2].relative_to(FIXTURES)
    found = [path for path in AGENTS[agent][0].find(tmp_path / "in" / below) if not databases.is_file(path)]
    texts = [path for path in found if path.suffix not in (".zst", ".zip")]
    plain, first = brought(tmp_path / "plain.db", agent, *texts)
    assert plain
    again, report = brought(tmp_path / "packed.db", agent, *[packed(path, pack) for path in texts])
    assert (again, report.total("errors")) == (plain, first.total("errors"))


@PACKS
def test_files_of_hermes_too(tmp_path: Path, pack: Pack) -> None:
    files = hermes_files(tmp_path / "sessions")
    texts = [path for path in files.iterdir() if path.name != "sessions.json"]
    plain, _ = brought(tmp_path / "plain.db", "hermes", *texts)
    again, _ = brought(tmp_path / "packed.db", "hermes", *[packed(path, pack) for path in texts])
    assert plain
    assert again == plain


@PACKS
def test_a_directory_is_looked_through_for_them(tmp_path: Path, pack: Pack) -> None:
    shutil.copytree(FIXTURES / "pi", tmp_path / "in")
    for path in list((tmp_path / "in").rglob("*.jsonl")):
        packed(path, pack)
    sessions, _ = brought(tmp_path / "state.db", "pi", tmp_path / "in")
    assert sessions


def test_our_own_export_may_be_compressed(db: SessionDB, bring: Bring, tmp_path: Path) -> None:
    (tmp_path / "telegram_42.jsonl").write_bytes(NANOBOT)
    bring(tmp_path / "telegram_42.jsonl")
    backup = tmp_path / "backup.jsonl.gz"
    with gzip.open(backup, "wt", encoding="utf-8") as out:
        base.exporter("jsonl").write(base.conversations(db, Filter()), out)
    again, _ = brought(tmp_path / "other.db", "sessiondb", backup)
    assert again == told(db)


def test_what_was_compressed_while_it_grew_loses_no_line(db: SessionDB, bring: Bring, tmp_path: Path) -> None:
    chat = tmp_path / "telegram_42.jsonl"
    chat.write_bytes(NANOBOT)
    bring(chat)
    late = b'{"role": "user", "content": "late", "timestamp": "2026-05-01T10:00:09+00:00"}\n'
    chat.write_bytes(NANOBOT + late)
    assert bring(packed(chat, (".gz", gzip.compress))).total("messages") == 1


@pytest.mark.parametrize("left", [-12, 40])
def test_one_that_was_cut_off_is_named(bring: Bring, tmp_path: Path, left: int) -> None:
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(gzip.compress(NANOBOT * 50)[:left])
    assert bring(path).total("errors") == 1


def test_a_compressed_database_is_no_known_format(bring: Bring, tmp_path: Path) -> None:
    path = tmp_path / "state.db.gz"
    path.write_bytes(gzip.compress(databases.MAGIC + bytes(4000)))
    assert bring(path).total("errors") == 1


def claude_lines(session: str, *uuids: str) -> str:
    said = [
        {
            "type": "user", "uuid": uuid, "sessionId": session, "timestamp": f"2026-05-01T10:00:0{number}.000Z",
            "cwd": "/w", "version": "1.0.95", "message": {"role": "user", "content": f"said in {uuid}"},
        }
        for number, uuid in enumerate(uuids)
    ]  # fmt: skip
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in said)


@PACKS
def test_a_file_is_no_copy_of_its_own_compressed_form(tmp_path: Path, pack: Pack) -> None:
    """A compression that has just begun has written a part of the new file, and the old one is still there."""
    old = tmp_path / "in" / "old.jsonl"
    old.parent.mkdir()
    old.write_text(claude_lines("old", "a", "b", "c"))
    (tmp_path / "in" / f"old.jsonl{pack[0]}").write_bytes(pack[1](claude_lines("old", "a", "b").encode()))
    sessions, _ = brought(tmp_path / "state.db", "claude-code", old)
    assert [facts["relation"] for facts in sessions.values()] == ["root"]


@PACKS
def test_a_resumed_session_stays_a_fork_of_the_compressed_one(tmp_path: Path, pack: Pack) -> None:
    (tmp_path / "in").mkdir()
    for name, uuids in (("old", ("a", "b")), ("new", ("a", "b", "c"))):
        (tmp_path / "in" / f"{name}.jsonl").write_text(claude_lines(name, *uuids))
    packed(tmp_path / "in" / "old.jsonl", pack)
    sessions, _ = brought(tmp_path / "state.db", "claude-code", tmp_path / "in")
    assert {name: facts["relation"] for name, facts in sessions.items()} == {"old": "root", "new": "fork"}
