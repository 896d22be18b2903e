"""What is wrong with a store, in sentences, each with the one command that comes next. Nothing is changed.

Damage to the data is told from settings that endanger it. A file that cannot be opened at all is a finding like any
other.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

import apsw

from ....errors import Busy, DiskFull, NotFound, SessionDBError
from ....upkeep import Diagnosis
from ....verify import Report, Tick
from .. import checksums, locks, mark, mounts, schema
from ..connection import OLDEST_SQLITE, has_checksums, sqlite_version, translated
from ..index.inspection import inspected
from . import bytes_check, ledgers, offline, texts
from .backup import restore_beside

_BESIDE_MESSAGES = ("sessions", "tool_calls", "media_refs", "tags", "meta", "trash_sessions", "trash_messages")
# The first schema with large texts kept apart.
BODIES_SINCE = 1003
_MOST_SHOWN = 5
_MOST_PROBLEMS = 100


def doctor(path: str, tick: Tick | None = None) -> Diagnosis:
    """Examine a store, open or not, healthy or not."""
    path = os.path.abspath(path)
    if not os.path.isfile(path):
        raise NotFound(f"no store at {path}; it begins with the first session written to it")
    in_use = offline.in_use(path)
    diagnosis = _diagnosed(path, in_use, tick)
    if diagnosis.damaged and not in_use and offline.in_use(path):
        # Somebody began to work with it meanwhile: what was seen may have been in motion.
        return _diagnosed(path, True, None)
    return diagnosis


def _without_advice(error: SessionDBError) -> str:
    """What happened, without the advice to run what runs already."""
    return str(error).partition("; `sessiondb doctor`")[0]


def _diagnosed(path: str, in_use: bool, tick: Tick | None) -> Diagnosis:
    diagnosis = Diagnosis(path)
    _settings(diagnosis, in_use)
    if not in_use:
        # By hand only while nobody has it open: closing a descriptor would drop this process's locks, and the bytes
        # of a store at work are in motion.
        bytes_check.examine(diagnosis)
    try:
        with offline.looking(path) as connection:
            _Examination(diagnosis, connection, tick).run()
    except (Busy, DiskFull) as exc:
        diagnosis.add("settings", "warning", f"not all could be examined: {exc}", f"sessiondb doctor --db {path}")
    except SessionDBError as exc:
        diagnosis.add("data", "damage", _without_advice(exc), _repair(path))
    except apsw.Error as exc:
        diagnosis.add("data", "damage", _without_advice(translated(exc, path)), _repair(path))
    except ValueError as exc:
        diagnosis.add("data", "damage", f"a text in the file is damaged: {exc}", _repair(path))
    return diagnosis


def _repair(path: str) -> str:
    return f"sessiondb repair --db {path}"


# --- settings ---


def _settings(diagnosis: Diagnosis, in_use: bool) -> None:
    path = diagnosis.path
    found = os.stat(path)
    diagnosis.facts |= {
        "size_bytes": found.st_size,
        "mode": oct(stat.S_IMODE(found.st_mode)),
        "directory_mode": oct(stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode)),
        "in_use": in_use,
        "processes": offline.holders(path),
        "filesystem": mounts.filesystem(path),
        "sqlite_version": ".".join(map(str, sqlite_version())),
        "sidecars": {suffix: os.path.getsize(path + suffix) for suffix in _sidecars(path)},
        "checksums": has_checksums(path),
        "guard": locks.AVAILABLE,
        "lock_file": os.path.exists(path + ".lock"),
    }
    _check_settings(diagnosis, found)


def _sidecars(path: str) -> list[str]:
    return [suffix for suffix in offline.SIDECARS if os.path.exists(path + suffix)]


def _check_settings(diagnosis: Diagnosis, found: os.stat_result) -> None:
    path = diagnosis.path
    if found.st_mode & 0o077:
        diagnosis.add("settings", "warning", "other users of this machine may read the store", f"chmod 600 {path}")
    if sqlite_version() < OLDEST_SQLITE:
        needed = ".".join(map(str, OLDEST_SQLITE))
        diagnosis.add("settings", "damage", f"SQLite {needed} or newer is needed", "pip install -U apsw")
    if not mounts.wal_is_safe(path):
        kind = diagnosis.facts["filesystem"]
        diagnosis.add("settings", "note", f"on {kind} the rollback journal is used: slower, and one writer at a time")
    if not locks.AVAILABLE:
        diagnosis.add("settings", "warning", "this system has no locks that survive a stray open of the file: no guard")
    if diagnosis.facts["checksums"] and not checksums.available():
        diagnosis.add(
            "settings", "damage", "the store has page checksums, and this apsw cannot check them", "pip install -U apsw"
        )


# --- the data ---


class _Examination:
    """The checks that need SQLite; one that fails does not keep the others from being made."""

    def __init__(self, diagnosis: Diagnosis, connection: apsw.Connection, tick: Tick | None) -> None:
        self._diagnosis = diagnosis
        self._connection = connection
        self._tick = tick
        self._path = diagnosis.path

    def run(self) -> None:
        if not self._is_ours():
            return
        for check in (
            self._facts,
            self._structure,
            self._references,
            self._ledgers,
            self._bodies,
            self._texts,
            self._identity,
            self._index,
        ):
            self._attempt(check)

    def _attempt(self, check: Callable[[], None]) -> None:
        try:
            check()
        except apsw.Error as exc:
            self._damage(_without_advice(translated(exc, self._path)))
        except ValueError as exc:
            self._damage(f"a text in the file is damaged: {exc}")

    def _damage(self, message: str) -> None:
        known = {finding.message for finding in self._diagnosis.findings}
        if message not in known:
            self._diagnosis.add("data", "damage", message, _repair(self._path))

    def _is_ours(self) -> bool:
        kind = schema.kind_of(self._connection)
        self._diagnosis.facts |= {"kind": kind.name, "schema_version": kind.version}
        if kind.name == "empty":
            self._empty()
            return False
        try:
            schema.check(kind, self._path, upgrade=True)
        except SessionDBError as exc:
            self._diagnosis.add("settings", "warning", str(exc), None)
            return False
        if kind.name == "seed" or kind.version < schema.VERSION:
            self._diagnosis.add(
                "settings", "note", f"has schema {kind.version}; the next program that writes here upgrades it"
            )
        return kind.name == "ours"

    def _empty(self) -> None:
        before = mark.read(self._path)
        if before is not None and before.store_id != "-":
            self._diagnosis.add(
                "data", "damage", "the file is empty, and there was a store here", restore_beside(self._path)
            )
        else:
            self._diagnosis.add("data", "note", "the file is empty; the first session written to it begins the store")

    def _facts(self) -> None:
        names = ("journal_mode", "page_size", "page_count", "freelist_count", "auto_vacuum")
        asked = {name: self._connection.pragma(name) for name in names}
        # A file that is read as it lies has no journal mode; its header knew better.
        self._diagnosis.facts = {**asked, **self._diagnosis.facts}

    def _structure(self) -> None:
        lines = [str(row[0]) for row in self._connection.execute(f"PRAGMA integrity_check({_MOST_PROBLEMS})")]
        self._diagnosis.facts["integrity_check"] = lines[0] if lines == ["ok"] else len(lines)
        if lines != ["ok"]:
            more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
            self._damage(f"the structure of the file is damaged: {' '.join(lines[0].split())}{more}")

    def _index(self) -> None:
        found = inspected(self._path, self._number, thorough=True)
        self._diagnosis.facts["index"] = None if found is None else {"generation": found.generation, "lag": found.lag}
        if found is not None and found.problem is not None:
            self._diagnosis.add(
                "index",
                "warning",
                f"the search index is damaged ({found.problem}); messages are safe, the next search begins a new one",
                f"sessiondb search --db {self._path} a",
            )

    def _number(self, sql: str, bindings: tuple[int, ...]) -> int:
        return int(str(self._connection.execute(sql, bindings).fetchall()[0][0]))

    def _references(self) -> None:
        broken = self._connection.execute("PRAGMA foreign_key_check").fetchall()
        if broken:
            tables = ", ".join(sorted({str(row[0]) for row in broken}))
            self._damage(f"{len(broken)} rows of {tables} belong to sessions that are not there")

    def _ledgers(self) -> None:
        # One snapshot: what others write meanwhile is no problem.
        self._connection.execute("BEGIN")
        try:
            report = ledgers.check(self._connection, self._tick)
        finally:
            self._connection.execute("ROLLBACK")
        self._diagnosis.facts |= {
            "sessions": report.sessions,
            "messages": report.messages,
            "not_adopted": report.not_adopted,
        }
        if report.not_adopted:
            self._diagnosis.add(
                "data", "note", f"{report.not_adopted} messages of older code not adopted yet; the next write does it"
            )
        self._tell_problems(report)

    def _tell_problems(self, report: Report) -> None:
        for problem in report.problems[:_MOST_SHOWN]:
            self._damage(f"session {problem.session_id}: {problem.message}")
        if len(report.problems) > _MOST_SHOWN:
            self._damage(f"{len(report.problems) - _MOST_SHOWN} more sessions do not fit their ledger")

    def _bodies(self) -> None:
        if int(self._diagnosis.facts["schema_version"]) >= BODIES_SINCE:
            texts.examine(self._connection, self._diagnosis, _repair(self._path))

    def _texts(self) -> None:
        """Read what no ledger covers; a text that is no text any more raises."""
        for table in _BESIDE_MESSAGES:
            for _ in self._connection.execute(f"SELECT * FROM {table}"):
                pass

    def _identity(self) -> None:
        before = mark.read(self._path)
        found = self._connection.execute("SELECT value FROM meta WHERE name = 'store_id'").fetchall()
        if before is not None and before.store_id != "-" and found and found[0][0] != before.store_id:
            self._diagnosis.add(
                "data",
                "damage",
                "this is another store than the one that was written here; a file or a WAL was exchanged",
                restore_beside(self._path),
            )
