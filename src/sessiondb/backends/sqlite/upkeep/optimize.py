"""Space given back: in small steps beside other writers, or all at once while nobody has the store open."""

from __future__ import annotations

import os

import apsw

from ....errors import Busy, Corrupt, Invalid, NotFound
from ....sql.driver import Driver, Tx
from ....upkeep import Optimized, Tick
from ....values import replace
from .. import bodies, engine, files
from ..connection import connect, translated
from ..provider import SQLiteProvider
from . import offline, texts
from .backup import verified
from .restore import make_working, swap

STEP_PAGES = 200
_ANALYSED_ROWS = 400
_INCREMENTAL = 2
_FULL = "optimize it in full"
_COMPRESSED = (
    "Texts over 4 KB are kept compressed: other programs see NULL for them in v1_sessions and v1_messages; "
    "`sessiondb optimize --large plain` shows them again"
)
_AT_ONCE = "this file was made before it could shrink in steps; `sessiondb optimize --full` does it offline"


def optimize(path: str, *, full: bool = False, large: str | None = None, tick: Tick | None = None) -> Optimized:
    """Shrink the file and refresh what the query planner knows; may be interrupted at any time."""
    path = os.path.abspath(path)
    if not os.path.isfile(path):
        raise NotFound(f"no store at {path}")
    if large is not None and large not in bodies.MODES:
        raise Invalid(f"large texts are kept {', '.join(bodies.MODES)}, not {large!r}")
    done = _in_steps(path, large, tick) if large is not None or not full else None
    if not full:
        assert done is not None
        return done
    rewritten = _rewritten(path)
    note = _COMPRESSED if large == bodies.ZLIB else None
    return rewritten if done is None else replace(rewritten, before=done.before, note=note)


def _size(path: str) -> int:
    return sum(os.path.getsize(path + suffix) for suffix in ("", "-wal") if os.path.exists(path + suffix))


# --- in steps ---


def _in_steps(path: str, large: str | None, tick: Tick | None) -> Optimized:
    before = _size(path)
    provider = SQLiteProvider()
    provider.initialize(path=path, upgrade=False, synchronous=_synchronous(path))
    try:
        notes = [_COMPRESSED] if large == bodies.ZLIB else []
        texts.collect(provider.driver, tick)
        if large is not None:
            _keep_large(path, provider.driver, large, tick)
        if provider.driver.read(_auto_vacuum) == _INCREMENTAL:
            _give_back(provider.driver, tick)
        else:
            notes.append(_AT_ONCE)
        provider.driver.write(_refresh_statistics)
        _checkpoint(path)
    finally:
        provider.shutdown()
    return Optimized(before, _size(path), "; ".join(notes) or None)


def _keep_large(path: str, driver: Driver, large: str, tick: Tick | None) -> None:
    if large != bodies.OFF and driver.read(_large) == bodies.OFF:
        # A process of an older version that has the file open would take references for texts.
        others = [each for each in offline.holders(path) if each != os.getpid()]
        if others:
            raise Busy(f"{path} is open in process {others[0]}; stop it, then keep large texts {large}")
    texts.convert(driver, large, tick)


def _large(tx: Tx) -> str:
    found = tx.row(bodies.MODE)
    return str(found[0]) if found else bodies.OFF


def _synchronous(path: str) -> str:
    """As this process has the store open already, if it has."""
    found = [held.options.synchronous for key, held in engine.engines.items() if key[:2] == files.identity(path)]
    return found[0] if found else "FULL"


def _auto_vacuum(tx: Tx) -> int:
    found = tx.row("PRAGMA auto_vacuum")
    return int(found[0]) if found else 0


def _give_back(driver: Driver, tick: Tick | None) -> None:
    """Each step is a short transaction of its own, so that other writers come in between."""
    while freed := driver.write(_step):
        if tick:
            tick(freed)


def _step(tx: Tx) -> int:
    before = _free_pages(tx)
    if before:
        # The pragma frees a page per row that is fetched.
        tx.rows(f"PRAGMA incremental_vacuum({STEP_PAGES})")
    return before - _free_pages(tx)


def _free_pages(tx: Tx) -> int:
    found = tx.row("PRAGMA freelist_count")
    return int(found[0]) if found else 0


def _refresh_statistics(tx: Tx) -> None:
    tx.row(f"PRAGMA analysis_limit = {_ANALYSED_ROWS}")
    tx.rows("PRAGMA optimize")


def _checkpoint(path: str) -> None:
    """The file shrinks when its WAL is copied back; readers are not waited for."""
    connection = connect(path)
    try:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    except apsw.BusyError:
        # Somebody else is at it.
        return
    finally:
        connection.close()


# --- all at once ---


def _rewritten(path: str) -> Optimized:
    before = _size(path)
    offline.require_unused(path, _FULL)
    offline.require_room(os.path.dirname(path), before)
    draft = f"{path}.{os.getpid()}.part"
    offline.discard(draft)
    _fold(path)
    try:
        with offline.exclusive(path, _FULL):
            _vacuum_into(path, draft)
            verified(draft, f"{path} was not optimized")
            make_working(draft, path)
            aside = swap(draft, path)
    except apsw.Error as exc:
        raise translated(exc, path) from exc
    finally:
        offline.discard(draft)
    # Verified, and row for row as many: the old file has nothing that the new one lacks.
    offline.discard(aside)
    return Optimized(before, _size(path))


def _fold(path: str) -> None:
    """Bring what a crash left in the WAL into the file: the last one to close does that."""
    connection = connect(path)
    try:
        connection.set_busy_timeout(1000)
        connection.execute("SELECT 1 FROM sqlite_schema").fetchall()
    except apsw.Error as exc:
        raise translated(exc, path) from exc
    finally:
        connection.close()


def _vacuum_into(path: str, draft: str) -> None:
    if offline.has_log(path):
        raise Busy(f"{path} was written to just now; stop that program, then {_FULL}")
    os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600))
    source = connect(path, read_only=True, immutable=True)
    try:
        source.execute("VACUUM INTO ?", (draft,))
        before = _counts(source)
    finally:
        source.close()
    copy = connect(draft)
    try:
        if copy.pragma("auto_vacuum") != _INCREMENTAL:
            # A file of the original: from now on it can shrink in steps.
            copy.execute("PRAGMA auto_vacuum = INCREMENTAL")
            copy.execute("VACUUM")
        if _counts(copy) != before:
            raise Corrupt(f"{path} was not optimized: the new file has not as many rows; `sessiondb doctor` tells more")
    finally:
        copy.close()


def _counts(connection: apsw.Connection) -> dict[str, int]:
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()]
    counted = {str(name): connection.execute(f'SELECT COUNT(*) FROM "{name}"').fetchall()[0][0] for name in names}
    return {name: int(count or 0) for name, count in counted.items()}
