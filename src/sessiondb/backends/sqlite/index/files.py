"""Index files: numbered generations beside the data file, never renamed over each other; the highest is current.

A file knows which store and which version of the analyser it belongs to, and how far it has read. Whatever is wrong
with it, the answer is the same: leave it, and begin the next generation.
"""

from __future__ import annotations

import os
import re

import apsw

from .. import checksums

STATE = ("store_id", "analyser", "last_id", "last_change")
_SCHEMA = """
    CREATE TABLE state (
        name TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE VIRTUAL TABLE messages_fts USING fts5(
        body, extra, content='', contentless_delete=1, tokenize='ascii'
    );
"""


class Unusable(Exception):
    """This generation cannot be used: damaged, or of another store, or out of step with the data."""


def pattern(data_path: str) -> tuple[str, re.Pattern[str]]:
    directory, name = os.path.split(data_path)
    return directory, re.compile(re.escape(name.removesuffix(".db")) + r"-search-(\d{6})\.db")


def generations(data_path: str) -> list[tuple[int, str]]:
    """(number, path), the current one last."""
    directory, name = pattern(data_path)
    found = [(int(match[1]), entry) for entry in os.listdir(directory) if (match := name.fullmatch(entry))]
    return [(number, os.path.join(directory, entry)) for number, entry in sorted(found)]


def path_of(data_path: str, number: int) -> str:
    return f"{data_path.removesuffix('.db')}-search-{number:06d}.db"


def opened(path: str, *, read_only: bool = False) -> apsw.Connection:
    """A connection to an index file, through the VFS that checks every page it reads."""
    flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
    connection = apsw.Connection(path, flags=flags | apsw.SQLITE_OPEN_URI, vfs=checksums.load())
    connection.set_busy_timeout(100)
    if not read_only:
        connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def created(path: str, store_id: str, analyser: int) -> None:
    """A new, empty generation; does nothing when another process was faster."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return
    connection = opened(path)
    try:
        # Room for the checksum at the end of each page; must be set before the first write.
        checksums.reserve(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_SCHEMA)
        state = {"store_id": store_id, "analyser": str(analyser), "last_id": "0", "last_change": "0"}
        connection.executemany("INSERT INTO state (name, value) VALUES (?, ?)", state.items())
        connection.execute("COMMIT")
    finally:
        connection.close()


def remove(path: str) -> None:
    for suffix in ("", "-wal", "-shm"):
        try:
            os.unlink(path + suffix)
        except FileNotFoundError:
            continue


def checks_pages(connection: apsw.Connection) -> bool:
    """Whether the checksum VFS guards this file."""
    return str(connection.pragma("checksum_verification")) == "1"
