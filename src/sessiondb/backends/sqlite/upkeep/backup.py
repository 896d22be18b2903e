"""Copies that are verified before they get their name; nothing that has one is lost for a copy that has none yet."""

from __future__ import annotations

import os
import time

import apsw

from ....errors import Corrupt, Invalid, NotFound
from ....upkeep import Backup, Pages, Tick
from ....verify import Report
from .. import schema
from ..connection import connect, translated
from ..crash import kill_point
from . import ledgers, offline

SUFFIX = ".bak"
_DRAFT = ".part"


def backup(
    path: str,
    target: str | None = None,
    *,
    keep: int | None = None,
    every: float | None = None,
    copied: Pages | None = None,
    tick: Tick | None = None,
) -> Backup:
    """Copy a store, open or not, into a directory; verified, durable, and named last.

    `every`: do nothing while the newest copy there is younger than so many seconds. `keep`: afterwards remove all but
    so many; without it nothing is ever removed.
    """
    path = os.path.abspath(path)
    if not os.path.isfile(path):
        raise NotFound(f"no store at {path}; there is nothing to back up")
    if keep is not None and keep < 1:
        raise Invalid(f"keep must be 1 or more, not {keep}")
    directory = os.path.abspath(target or directory_of(path))
    recent = _recent(path, directory, every)
    if recent is not None:
        return Backup(recent, False, os.path.getsize(recent))
    os.makedirs(directory, mode=0o700, exist_ok=True)
    _remove_drafts(path, directory)
    name, report = _made(path, directory, copied, tick)
    removed = _thinned(path, directory, name, keep)
    return Backup(name, True, os.path.getsize(name), report.sessions, report.messages, removed)


def directory_of(path: str) -> str:
    return path + ".backups"


def existing(path: str, directory: str | None = None) -> list[str]:
    """The backups of a store in a directory, the newest last: their names carry the time."""
    place = directory or directory_of(path)
    start = f"{os.path.basename(path)}."
    names = os.listdir(place) if os.path.isdir(place) else []
    found = sorted(name.removesuffix(SUFFIX) for name in names if name.startswith(start) and name.endswith(SUFFIX))
    return [os.path.join(place, name + SUFFIX) for name in found]


def restore_beside(path: str) -> str:
    """The command that brings the newest backup back under another name."""
    newest = existing(path)[-1:] or ["BACKUP"]
    return f"sessiondb restore {newest[0]} --to {path}.restored"


def _recent(path: str, directory: str, every: float | None) -> str | None:
    newest = existing(path, directory)[-1:]
    if every is None or not newest:
        return None
    age = time.time() - os.path.getmtime(newest[0])
    # A clock that was set back must not stop the backups.
    return newest[0] if 0 <= age < every else None


def _made(path: str, directory: str, copied: Pages | None, tick: Tick | None) -> tuple[str, Report]:
    draft = os.path.join(directory, f"{os.path.basename(path)}.{os.getpid()}{_DRAFT}")
    offline.discard(draft)
    try:
        with offline.reading(path) as source:
            _require_store(source, path)
            _require_room(source, directory)
            offline.copy_database(source, draft, path, copied=copied)
        report = verified(draft, f"{path} was not backed up", tick)
        offline.sync(draft)
        kill_point("before backup rename")
        name = _named(draft, path, directory)
    except BaseException:
        offline.discard(draft)
        raise
    offline.sync(name)
    kill_point("after backup rename")
    return name, report


def _named(draft: str, path: str, directory: str) -> str:
    """Give the draft its name; one that exists is never replaced."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    base = os.path.join(directory, f"{os.path.basename(path)}.{stamp}")
    for number in range(1000):
        name = f"{base}{f'-{number:03d}' if number else ''}{SUFFIX}"
        try:
            os.link(draft, name)
        except FileExistsError:
            continue
        os.unlink(draft)
        return name
    raise Invalid(f"{directory} has a thousand backups of this second; look what makes them")


def _require_store(source: apsw.Connection, path: str) -> None:
    try:
        kind = schema.kind_of(source)
    except apsw.Error as exc:
        raise translated(exc, path) from exc
    if kind.name == "empty":
        raise NotFound(f"{path} is empty; there is nothing to back up")
    schema.check(kind, path, upgrade=True)


def _require_room(source: apsw.Connection, directory: str) -> None:
    offline.require_room(directory, int(source.pragma("page_count")) * int(source.pragma("page_size")))


def verified(copy: str, consequence: str, tick: Tick | None = None) -> Report:
    """Check structure and ledgers of a copy; raises Corrupt."""
    connection = connect(copy, read_only=True, immutable=True)
    try:
        problems = connection.execute("PRAGMA quick_check(1)").fetchall()
        if problems != [("ok",)]:
            raise Corrupt(f"{consequence}: the copy is damaged ({problems[0][0]}); `sessiondb doctor` tells more")
        report = ledgers.check(connection, tick) if schema.kind_of(connection).name == "ours" else Report()
    except apsw.Error as exc:
        raise translated(exc, copy) from exc
    finally:
        connection.close()
    if not report.ok:
        first = report.problems[0]
        raise Corrupt(f"{consequence}: session {first.session_id}: {first.message}; `sessiondb doctor` tells more")
    return report


def _remove_drafts(path: str, directory: str) -> None:
    """Drafts of processes that died."""
    start = f"{os.path.basename(path)}."
    for name in os.listdir(directory):
        if name.startswith(start) and name.endswith(_DRAFT):
            pid = name.removeprefix(start).removesuffix(_DRAFT)
            if pid.isdigit() and not os.path.exists(f"/proc/{pid}") and os.path.isdir("/proc/self"):
                offline.discard(os.path.join(directory, name))


def _thinned(path: str, directory: str, made: str, keep: int | None) -> tuple[str, ...]:
    if keep is None:
        return ()
    # Whatever the clock says: the one that was made just now is the newest.
    others = [name for name in existing(path, directory) if name != made]
    old = others[: max(0, len(others) - keep + 1)]
    for name in old:
        os.unlink(name)
    return tuple(old)
