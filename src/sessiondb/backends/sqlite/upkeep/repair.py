"""A new store from what is left of a damaged one, which stays byte for byte as it is.

Every message proves itself by its term, every session by its ledger. What does not fit any more is kept and named;
messages whose session is lost get one of the source "recovered".
"""

from __future__ import annotations

import json
import os
import time

import apsw

from ....errors import Corrupt, NotFound, SessionDBError
from ....upkeep import Pages, Salvage
from .. import checksums, schema
from ..connection import connect, translated
from ..provider import SQLiteProvider
from . import catalogue, image, ledgers, offline
from .rebuild import Rebuild
from .salvage import Salvager


def repair(path: str, output: str | None = None, read: Pages | None = None) -> Salvage:
    """Salvage a store that no one has open into a new file, and say what was saved and what was lost."""
    if not os.path.isfile(path):
        raise NotFound(f"no store at {path}")
    target = os.path.abspath(output or f"{path}.repaired-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}")
    if os.path.lexists(target):
        raise SessionDBError(f"{target} exists; give another name with --output")
    offline.require_room(os.path.dirname(target), sum(os.path.getsize(f) for f in _files(path)))
    with offline.closed_to_all(path, "repair it"):
        best = _best(path, target, read)
    try:
        os.link(best.target, target)
    finally:
        offline.discard(best.target)
    best.target = target
    offline.sync(target)
    return best


def _files(path: str) -> list[str]:
    return [path + suffix for suffix in ("", "-wal") if os.path.exists(path + suffix)]


def _best(path: str, target: str, read: Pages | None) -> Salvage:
    """Salvage with the WAL; when that leaves gaps, also without it: it may belong to another file."""
    first = _salvaged(path, f"{target}.part", read, with_log=True)
    if first.complete or len(_files(path)) == 1:
        return first
    second = _salvaged(path, f"{target}.part2", read, with_log=False)
    better, worse = (first, second) if _intact(first) >= _intact(second) else (second, first)
    if better is second:
        better.notes.append("the WAL was left out: with it, fewer sessions are whole; it may belong to another file")
    offline.discard(worse.target)
    return better


def _intact(salvage: Salvage) -> tuple[int, int]:
    """How many sessions came over whole, then how many messages at all."""
    saved = {table.table: table.saved for table in salvage.tables}
    hurt = {*salvage.lost_messages, *salvage.altered_messages}
    touched = {*hurt, *salvage.placeholders, *salvage.doubtful_sessions}
    return saved.get("sessions", 0) - len(touched), saved.get("messages", 0)


def _salvaged(path: str, draft: str, read: Pages | None, *, with_log: bool) -> Salvage:
    report = Salvage(path, draft)
    offline.discard(draft)
    try:
        with image.opened(path, with_log=with_log) as pages:
            _create(draft, page_checksums=pages.reserved == checksums.RESERVED and checksums.available())
            connection = connect(draft)
            try:
                _fill(connection, pages, report, read)
            finally:
                connection.close()
    except apsw.Error as exc:
        offline.discard(draft)
        raise translated(exc, draft) from exc
    except BaseException:
        offline.discard(draft)
        raise
    return report


def _refuse_newer(salvager: Salvager, path: str) -> None:
    """A newer schema has rows that would be lost here; that it is newer must be said twice, for one may be damage."""
    version, application = salvager.image.stamps()
    told = {row.values[0] for row in salvager.rows(salvager.catalogue.tables["schema_version"])}
    if application == schema.APPLICATION_ID and version in told:
        schema.check(schema.Kind("ours", version), path, upgrade=True)


def _create(path: str, *, page_checksums: bool) -> None:
    provider = SQLiteProvider()
    provider.initialize(path=path, checksums=page_checksums, synchronous="NORMAL")
    provider.shutdown()


def _fill(connection: apsw.Connection, pages: image.Image, report: Salvage, read: Pages | None) -> None:
    # The draft is thrown away when anything goes wrong, and synced as a whole at the end.
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA foreign_keys = OFF")
    fresh = catalogue.of(connection.execute(catalogue.SCHEMA).fetchall())
    connection.execute("BEGIN IMMEDIATE")
    salvager = Salvager(pages, fresh, read)
    _refuse_newer(salvager, report.source)
    Rebuild(connection, fresh, report).run(salvager)
    _note_damage(salvager, report)
    connection.execute(
        "INSERT OR REPLACE INTO meta (name, value) VALUES ('repaired', ?)", (json.dumps(_summary(report)),)
    )
    connection.execute("COMMIT")
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    _check(connection, report)


def _note_damage(salvager: Salvager, report: Salvage) -> None:
    if not salvager.image.header_sound:
        report.notes.append("the header of the file is damaged")
    if salvager.unreadable_pages or salvager.broken_cells:
        report.notes.append(
            f"{salvager.unreadable_pages} pages and {salvager.broken_cells} entries of pages could not be read"
        )


def _summary(report: Salvage) -> dict[str, object]:
    return {
        "from": report.source,
        "at": time.time(),
        "lost": {table.table: table.lost for table in report.tables if table.lost},
        "placeholders": len(report.placeholders),
    }


def _check(connection: apsw.Connection, report: Salvage) -> None:
    problems = connection.execute("PRAGMA quick_check(1)").fetchall()
    checked = ledgers.check(connection)
    if problems != [("ok",)] or not checked.ok:
        raise Corrupt(f"what was salvaged from {report.source} does not check out; please report this as a bug")
