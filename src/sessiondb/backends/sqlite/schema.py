"""Whose file is it, and is its schema ours? Create, upgrade, or refuse and leave it byte for byte as it is."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from functools import cache
from typing import cast

import apsw

from ... import errors, titles
from ...sql.adopt import adopt, adrift_sessions, relate
from ...sql.driver import Tx
from ...values import dataclass
from .connection import VFS_NAME, connect, translated
from .crash import kill_point

# "sdb1" as a number: what makes a file ours, whatever version number another program stamps on it.
APPLICATION_ID = 0x73646231
VERSION = 1003
LOOKS, LOOK_AGAIN_SECONDS = 200, 0.005
SEED_VERSIONS = range(1, 7)

# INDEXED BY: left to itself SQLite walks the positions of all messages, at every start of every command.
OLDER_CODE = """
    SELECT EXISTS (SELECT 1
                     FROM messages INDEXED BY messages_adrift
                    WHERE seq IS NULL)
        OR EXISTS (SELECT 1
                     FROM sessions INDEXED BY sessions_unrelated
                    WHERE relation = 'root'
                      AND parent_session_id IS NOT NULL)
"""
# Left as text, and compiled at first use: most openings find nothing to do.
_ADD_COLUMN = r"ALTER TABLE (\w+) ADD COLUMN (\w+)"
_NAME = r"(\d{4})_\w+\.sql"


@dataclass(frozen=True, slots=True)
class Kind:
    """What a look at a file says: `empty`, `ours`, `seed` or `foreign`, and its version."""

    name: str
    version: int = 0


@cache
def migrations() -> tuple[tuple[int, tuple[str, ...]], ...]:
    """(version, statements) in order, from the files of the package."""
    # Without importlib.resources, whose imports take longer than creating a store.
    folder = os.path.join(os.path.dirname(__file__), "migrations")
    found = sorted((int(match[1]), name) for name in os.listdir(folder) if (match := re.fullmatch(_NAME, name)))
    return tuple((version, tuple(_statements(_text(os.path.join(folder, name))))) for version, name in found)


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _statements(text: str) -> Iterator[str]:
    """Statements end with a semicolon at the end of a line; those of a trigger's body belong to it."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("--"):
            lines.append(line)
            in_body = "BEGIN" in (each.strip() for each in lines)
            if line.strip() == "END;" or (line.endswith(";") and not in_body):
                yield "\n".join(lines).removesuffix(";")
                lines = []


def probe(path: str) -> Kind:
    """Look at a file without changing it; raises Corrupt when it is no database."""
    for _ in range(LOOKS):
        state = _state(path)
        try:
            kind = _look(path, state)
        except errors.SessionDBError:
            if _state(path) == state:
                raise
        else:
            if _state(path) == state:
                return kind
        # Somebody created, opened or closed the store meanwhile: what was seen may be half of it.
        time.sleep(LOOK_AGAIN_SECONDS)
    return _look(path, _state(path))


def _state(path: str) -> tuple[int, int] | None:
    """Size and time of a file that nobody has open; None while it has a WAL, where locks see to it."""
    if os.path.exists(path + "-wal"):
        return None
    found = os.stat(path)
    return found.st_size, found.st_mtime_ns


def _look(path: str, state: tuple[int, int] | None) -> Kind:
    if state is not None and state[0] == 0:
        return Kind("empty")
    # Without a WAL nobody is writing; immutable leaves no sidecar behind. Checksums are for whoever reads messages.
    connection = connect(path, read_only=True, immutable=state is not None, vfs=VFS_NAME)
    try:
        # One snapshot: between two questions another process may commit the schema.
        connection.execute("BEGIN")
        return kind_of(connection)
    except apsw.Error as exc:
        raise translated(exc, path) from exc
    finally:
        connection.close()


def kind_of(connection: apsw.Connection) -> Kind:
    if connection.pragma("application_id") == APPLICATION_ID:
        return Kind("ours", int(connection.pragma("user_version")))
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return Kind("empty")
    if not {"sessions", "messages", "schema_version"} <= tables:
        return Kind("foreign")
    found = connection.execute("SELECT MAX(version) FROM schema_version").fetchone()
    version = int(found[0]) if found and isinstance(found[0], int) else 0
    return Kind("seed" if version in SEED_VERSIONS else "foreign", version)


def check(kind: Kind, path: str, *, upgrade: bool) -> None:
    """Raise unless the file may be used, created or upgraded."""
    if kind.name == "foreign":
        raise errors.SchemaTooNew(
            f"{path} belongs to another program (version {kind.version}); it was not touched: "
            f"`sessiondb import {path}` copies its conversations"
        )
    if kind.name == "ours" and kind.version > VERSION:
        raise errors.SchemaTooNew(
            f"{path} has schema {kind.version}, this program knows {VERSION}; upgrade sessiondb. Nothing was changed"
        )
    if kind.name == "seed" and not upgrade:
        raise errors.SchemaOutdated(
            f"{path} has schema {kind.version} of the original; open it with upgrade=True to upgrade it in place, "
            f"or copy its conversations with `sessiondb import {path}`"
        )


def install(connection: apsw.Connection, kind: Kind) -> None:
    """Bring an empty, seed or older file of ours to the current version, in one transaction."""
    # The number of a seed file proves nothing about its columns; a step that was taken changes nothing again.
    reached = 0 if kind.name == "seed" else kind.version
    connection.execute("BEGIN IMMEDIATE")
    try:
        if kind.name == "seed":
            _part_titles(connection)
        for version, statements in migrations():
            if version > reached:
                for statement in statements:
                    _apply(connection, statement)
                    kill_point("migration step")
        connection.execute("DELETE FROM schema_version")
        connection.execute("INSERT INTO schema_version (version) VALUES (?)", (VERSION,))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        kill_point("before migration commit")
        connection.execute("COMMIT")
        kill_point("after migration commit")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _part_titles(connection: apsw.Connection) -> None:
    """Of sessions with the same title all but the first begun get the next numbers: from version 4 on it is unique."""
    if "title" not in _columns(connection, "sessions"):
        return
    rows = connection.execute(
        "SELECT id, title FROM sessions WHERE title IS NOT NULL ORDER BY started_at, id"
    ).fetchall()
    taken = {str(title) for _, title in rows}
    seen: set[object] = set()
    for session_id, title in rows:
        if title in seen:
            following = titles.next_in_lineage(titles.split(str(title))[0], taken)
            connection.execute("UPDATE sessions SET title = ? WHERE id = ?", (following, session_id))
            taken.add(following)
        seen.add(title)


def _apply(connection: apsw.Connection, statement: str) -> None:
    column = re.match(_ADD_COLUMN, statement)
    # A file may be ahead of its number: its writer died between the column and the version.
    if column is None or column[2] not in _columns(connection, column[1]):
        connection.execute(statement)


def _columns(connection: apsw.Connection, table: str) -> set[str]:
    return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}


def needs_adoption(tx: Tx) -> bool:
    """Did older code write here? Two look-ups in indexes that are nearly always empty."""
    found = tx.row(OLDER_CODE)
    return bool(found and found[0])


def adopt_some(tx: Tx) -> int:
    """Give positions to a batch of rows of older code; returns how many there were."""
    changed = relate(tx)
    for session_id in adrift_sessions(tx, 20):
        changed += adopt(tx, session_id)
    return changed


def backup_name(path: str, version: int) -> str:
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    return f"{path}.v{version}-{stamp}.bak"


def backup_before_upgrade(path: str, version: int) -> str:
    """A verified copy beside the file, complete or not there at all; returns its path."""
    target = backup_name(path, version)
    draft = f"{target}.part"
    source = connect(path, read_only=True)
    try:
        # One snapshot for the copy and the count: the original goes on being written to during an update.
        source.execute("BEGIN")
        expected = _counts(source)
        if _copy(source, draft) != expected:
            raise errors.Unavailable(f"the copy of {path} is not complete; nothing was upgraded")
        os.replace(draft, target)
    except apsw.Error as exc:
        raise translated(exc, path) from exc
    finally:
        source.close()
        if os.path.exists(draft):
            os.unlink(draft)
    return target


def _copy(source: apsw.Connection, draft: str) -> tuple[int, int]:
    if os.path.exists(draft):
        os.unlink(draft)
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    copy = connect(draft)
    try:
        with copy.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(4096)
        problems = copy.execute("PRAGMA quick_check(1)").fetchall()
        if problems != [("ok",)]:
            raise errors.Corrupt(f"the copy does not check out ({problems[0][0]}); the original was not upgraded")
        copy.execute("PRAGMA journal_mode = DELETE")
        return _counts(copy)
    finally:
        copy.close()


def _counts(connection: apsw.Connection) -> tuple[int, int]:
    sql = "SELECT (SELECT COUNT(*) FROM sessions), (SELECT COUNT(*) FROM messages)"
    sessions, messages = connection.execute(sql).fetchall()[0]
    return cast(int, sessions), cast(int, messages)
