"""Index files: numbered generations beside the data file, never renamed over each other; the highest is current.

A file knows which store and which version of the analyser it belongs to, and how far it has read. Whatever is wrong
with it, the answer is the same: leave it, and begin the next generation.
"""

from __future__ import annotations

import os
import re

import apsw

from .. import checksums
from ..connection import VFS_NAME
from . import seal

# The form of the file itself; raised, like the analyser's version, when older files must be made again.
FORM = "2"
# Until the first message of a machine is read.
NO_MACHINES = "none"
# Readers wait for a commit, never for the work before it.
BUSY_MS = 250
# A phrase of common words reads thousands of pages, and each costs a call, a checksum and a place in memory: there are
# fewer of large ones.
PAGE_BYTES = 16384
# What FTS5 writes as one row must fit into one page beside its checksum: one byte too many spills into another.
ROW_BYTES = PAGE_BYTES - 56
_SCHEMA = f"""
    CREATE TABLE state (
        name TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE VIRTUAL TABLE messages_fts USING fts5(
        body, extra, content='', contentless_delete=1, tokenize='ascii'
    );
    INSERT INTO messages_fts (messages_fts, rank) VALUES ('pgsz', {ROW_BYTES});
"""


class Unusable(Exception):
    """This generation cannot be used: damaged, or of another store, or out of step with the data."""


def generations(data_path: str) -> list[tuple[int, str]]:
    """(number, path), the current one last."""
    directory, name = os.path.split(data_path)
    pattern = re.compile(re.escape(name.removesuffix(".db")) + r"-search-(\d{6})\.db")
    found = [(int(match[1]), entry) for entry in os.listdir(directory) if (match := pattern.fullmatch(entry))]
    return [(number, os.path.join(directory, entry)) for number, entry in sorted(found)]


def path_of(data_path: str, number: int) -> str:
    return f"{data_path.removesuffix('.db')}-search-{number:06d}.db"


def opened(path: str, *, read_only: bool = False) -> apsw.Connection:
    """A connection to an index file, through the VFS that checks every page it reads, where there is one."""
    flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
    vfs = checksums.load() if checksums.available() else VFS_NAME
    connection = apsw.Connection(path, flags=flags | apsw.SQLITE_OPEN_URI, vfs=vfs)
    connection.set_busy_timeout(BUSY_MS)
    if not read_only:
        connection.execute("PRAGMA synchronous = NORMAL")
        # Not WAL: its shared memory is mapped, and who truncates a mapped file kills the processes that map it.
        connection.execute("PRAGMA journal_mode = TRUNCATE")
        # No page reaches the file before COMMIT, during which the seal is open.
        connection.execute("PRAGMA cache_spill = OFF")
    return connection


def created(path: str, store_id: str, analyser: int, last_change: int) -> None:
    """A new, empty generation, for which changes up to the last one are past; nothing when another was faster."""
    if os.path.exists(path):
        return
    with seal.broken(path):
        if os.path.exists(path):
            return
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
        connection = opened(path)
        try:
            facts = {"store_id": store_id, "analyser": str(analyser), "form": FORM}
            begun = {"last_id": "0", "last_change": str(last_change), "witness": "", "machines": NO_MACHINES}
            _install(connection, {**facts, **begun})
        finally:
            connection.close()


def _install(connection: apsw.Connection, state: dict[str, str]) -> None:
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    if checksums.available():
        # Room for the checksum at the end of each page; must be set before the first write.
        checksums.reserve(connection)
    # Merging leaves a tenth of the file empty, which is given back; likewise before the first write.
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(_SCHEMA)
    connection.executemany("INSERT INTO state (name, value) VALUES (?, ?)", state.items())
    connection.execute("COMMIT")


def remove(path: str) -> None:
    for name in (path, f"{path}-journal", f"{path}-wal", f"{path}-shm", seal.path_of(path)):
        try:
            os.unlink(name)
        except FileNotFoundError:
            continue


def checks_pages(connection: apsw.Connection) -> bool:
    """Whether the checksum VFS guards this file, or none is to be had."""
    return not checksums.available() or str(connection.pragma("checksum_verification")) == "1"
