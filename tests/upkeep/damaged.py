"""Stores to damage, ways to damage them, and what a damage can have touched; all by seed."""

from __future__ import annotations

import os
import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sessiondb.backends.sqlite import bodies
from sessiondb.backends.sqlite.upkeep import btree, image
from sessiondb.db import SessionDB
from sessiondb.errors import SessionDBError
from sessiondb.models import Filter, Page

Say = Callable[[str], None]
FILES = ("", "-wal", "-shm", ".lock")
# The newest page of a rowid table is split when it is full: texts of these lengths fill pages, and overflow them.
LENGTHS = (20, 200, 900, 60, 5000, 400)


def build(path: Path, *, checksums: bool, sessions: int = 12) -> None:
    """A store with long and short messages, tool calls, tags, lineage, trash and holes, closed."""
    with SessionDB(path, checksums=checksums, synchronous="NORMAL", clock=lambda: 1_700_000_000.0) as db:
        for number in range(sessions):
            _fill(db, f"session-{number:02d}", number)
        db.tag_session("session-01", "kept", "red")
        db.create_session("child", "cli", parent_session_id="session-02")
        db.append_message("child", "user", "goes on")
        db.delete_session("session-03")
        db.create_session("gone", "cli")
        db.append_messages("gone", [{"role": "user", "content": "x" * 3000} for _ in range(8)])
        db.delete_session("gone", hard=True)


def _fill(db: SessionDB, name: str, number: int) -> None:
    prompt = f"You are number {number}. " * (200 if number % 7 == 0 else 2)
    db.create_session(name, ("cli", "telegram", "cron")[number % 3], system_prompt=prompt)
    db.set_session_title(name, f"Title of {name}")
    db.append_messages(
        name,
        [
            {"role": ("user", "assistant")[at % 2], "content": f"{name} says {at}: " + "word " * (length // 5)}
            for at, length in enumerate(LENGTHS)
        ],
    )
    call = {"id": f"call-{number}", "type": "function", "function": {"name": "run", "arguments": '{"x": 1}'}}
    db.append_message(name, "assistant", None, tool_calls=[call])
    db.append_message(name, "tool", "done", tool_call_id=f"call-{number}", tool_name="run")


CRASH = """
import os, sys
from sessiondb.db import SessionDB
db = SessionDB(sys.argv[1], synchronous="NORMAL", clock=lambda: 1_700_000_100.0)
for number in range(6):
    name = f"late-{number}"
    db.create_session(name, "cli")
    for at in range(3):
        db.append_message(name, "user", f"{sys.argv[2]} {name} {at} " + "tail " * 100)
os._exit(9)
"""


def crash(path: Path, voice: str = "late") -> None:
    """Write some more in a process that dies: the WAL and its index stay behind."""
    done = subprocess.run([sys.executable, "-c", CRASH, str(path), voice], check=False)
    assert done.returncode == 9, done.returncode
    assert os.path.getsize(f"{path}-wal") > 0


def copy(source: Path, target: Path) -> Path:
    for suffix in FILES:
        if os.path.exists(f"{source}{suffix}"):
            shutil.copyfile(f"{source}{suffix}", f"{target}{suffix}")
    return target


# --- answers ---

Answers = dict[str, dict[str, Any]]


def answers(path: Path) -> Answers:
    """Everything the API says about every session; raises a typed error, or answers."""
    with SessionDB(path, read_only=True) as db:
        listed = db.provider.list_sessions(Filter(), Page(None), "started")
        found = {str(row["id"]): _answer(db, row["id"]) for row in listed}
        trash = [(row["id"], row["title"]) for row in db.list_trash(limit=None)]
        return {**found, "trash": {"entries": trash}, "count": {"messages": db.stats()["messages"]}}


def _answer(db: SessionDB, name: str) -> dict[str, Any]:
    document = db.export_session(name)
    assert document is not None
    return {**document, "tool_calls": db.provider.get_tool_calls(name)}


def answers_or_error(path: Path) -> Answers | str:
    try:
        return answers(path)
    except SessionDBError as exc:
        return f"{type(exc).__name__}: {exc}"


# --- damage ---


@dataclass(frozen=True)
class Damage:
    """What was done, and the pages of the data file that are no longer as they were."""

    what: str
    pages: frozenset[int] = frozenset()


def flip(path: Path, chance: random.Random) -> Damage:
    size = path.stat().st_size
    at = chance.randrange(size)
    _change(path, at, bytes([_byte(path, at) ^ (1 << chance.randrange(8))]))
    return Damage(f"bit at {at}", frozenset({at // 4096 + 1}))


def zero(path: Path, chance: random.Random) -> Damage:
    page = chance.randrange(path.stat().st_size // 4096)
    _change(path, page * 4096, bytes(4096))
    return Damage(f"page {page + 1} zeroed", frozenset({page + 1}))


def scramble(path: Path, chance: random.Random) -> Damage:
    page = chance.randrange(path.stat().st_size // 4096)
    start = chance.randrange(3500)
    _change(path, page * 4096 + start, chance.randbytes(chance.randrange(16, 500)))
    return Damage(f"page {page + 1} scrambled", frozenset({page + 1}))


def truncate(path: Path, chance: random.Random) -> Damage:
    pages = path.stat().st_size // 4096
    left = chance.randrange(pages // 2, pages) * 4096 + chance.choice((0, 0, 1000))
    os.truncate(path, left)
    return Damage(f"cut to {left}", frozenset(range(left // 4096 + 1, pages + 1)))


def zero_header(path: Path, chance: random.Random) -> Damage:
    _change(path, 0, bytes(chance.choice((16, 100, 4096))))
    return Damage("header zeroed", frozenset({1}))


def zero_all(path: Path, chance: random.Random) -> Damage:
    pages = path.stat().st_size // 4096
    _change(path, 0, bytes(pages * 4096))
    return Damage("all zeroed", frozenset(range(1, pages + 1)))


def empty(path: Path, chance: random.Random) -> Damage:
    pages = path.stat().st_size // 4096
    os.truncate(path, 0)
    return Damage("emptied", frozenset(range(1, pages + 1)))


def lose_wal(path: Path, chance: random.Random) -> Damage:
    suffixes = chance.choice((("-wal",), ("-wal", "-shm")))
    for suffix in suffixes:
        os.unlink(f"{path}{suffix}")
    return Damage(f"{suffixes} deleted")


def lose_shm(path: Path, chance: random.Random) -> Damage:
    os.unlink(f"{path}-shm")
    return Damage("-shm deleted")


def flip_wal(path: Path, chance: random.Random) -> Damage:
    wal = Path(f"{path}-wal")
    at = chance.randrange(wal.stat().st_size)
    _change(wal, at, bytes([_byte(wal, at) ^ (1 << chance.randrange(8))]))
    return Damage(f"bit {at} of the WAL")


def cut_wal(path: Path, chance: random.Random) -> Damage:
    wal = Path(f"{path}-wal")
    frames = (wal.stat().st_size - 32) // 4120
    left = 32 + chance.randrange(frames) * 4120 + chance.choice((0, 0, 500))
    os.truncate(wal, left)
    return Damage(f"WAL cut to {left}")


def zero_wal(path: Path, chance: random.Random) -> Damage:
    wal = Path(f"{path}-wal")
    frame = chance.randrange((wal.stat().st_size - 32) // 4120)
    _change(wal, 32 + frame * 4120, bytes(4120))
    return Damage(f"frame {frame + 1} of the WAL zeroed")


def swap_wal(path: Path, chance: random.Random) -> Damage:
    """The sidecars of another store, made and crashed in the same way: its WAL, or WAL and index."""
    suffixes = chance.choice((("-wal",), ("-wal", "-shm")))
    for suffix in suffixes:
        shutil.copyfile(path.parent / f"other.db{suffix}", f"{path}{suffix}")
    return Damage(f"{suffixes} of another store")


def _byte(path: Path, at: int) -> int:
    with path.open("rb") as file:
        file.seek(at)
        return file.read(1)[0]


def _change(path: Path, at: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


# --- what lies where ---


class _Recording(image.Image):
    """Remembers which pages were read."""

    read: set[int]

    def page(self, number: int) -> bytes:
        self.read.add(number)
        return super().page(number)


def sessions_on_pages(path: Path, known: set[str]) -> dict[int, set[str]]:
    """Which sessions have a row or a large text on a page, or on the pages that these overflow to."""
    found: dict[int, set[str]] = {}
    referring: dict[str, set[str]] = {}
    texts: list[tuple[str, set[int]]] = []
    descriptor = os.open(path, os.O_RDONLY)
    try:
        pages = _Recording.__new__(_Recording)
        pages.read = set()
        pages.__init__(descriptor, None, None)  # type: ignore[misc]
        for number in range(2, pages.count + 1):
            for row, touched in _cells(pages, number):
                names = {value for value in row.values[:3] if isinstance(value, str)} & known
                for page in touched:
                    found.setdefault(page, set()).update(names)
                for value in filter(bodies.is_reference, row.values[1:]):
                    referring.setdefault(value, set()).update(names)
                if bodies.is_reference(row.values[0]):
                    texts.append((row.values[0], touched))
    finally:
        os.close(descriptor)
    for reference, touched in texts:
        for page in touched:
            found.setdefault(page, set()).update(referring.get(reference, set()))
    return found


def _cells(pages: _Recording, number: int) -> Iterator[tuple[btree.Row, set[int]]]:
    page = image.Image.page(pages, number)
    if page[0] != btree.TABLE_LEAF and page[0] != btree.INDEX_LEAF:
        return
    for at in struct.unpack_from(f">{struct.unpack_from('>H', page, 3)[0]}H", page, 8):
        pages.read = {number}
        cell = btree.Node(page[0], [], [], 0)
        try:
            btree._read_cell(pages, page, at, page[0], cell, True)
        except btree.Damaged:  # a page that is free, or no tree page at all
            continue
        # An index repeats what its table has: only rows count.
        if page[0] == btree.TABLE_LEAF or len(cell.rows[0].values) == 2:
            yield cell.rows[0], set(pages.read)
