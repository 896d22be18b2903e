"""A backup becomes a store again: beside the old one, or in its place when nobody has that open."""

from __future__ import annotations

import os
import time

import apsw

from ....errors import AlreadyExists, NotFound
from ....upkeep import Pages, Restored, Tick
from .. import mark, mounts
from ..connection import connect, translated
from ..crash import kill_point
from . import offline
from .backup import existing, verified


def _not_a_backup(backup: str, path: str) -> str:
    if not os.path.isdir(backup):
        return f"no backup at {backup}"
    held = existing(path, backup)
    way_out = f"name a file of it, such as the newest, {held[-1]}" if held else "name a file"
    return f"{backup} is a directory; {way_out}"


def restore(
    backup: str, path: str, *, over: bool = False, copied: Pages | None = None, tick: Tick | None = None
) -> Restored:
    """Verify a backup and copy it to `path`; a store that is there is replaced only if `over`, and kept aside."""
    backup, path = os.path.abspath(backup), os.path.abspath(path)
    if not os.path.isfile(backup):
        raise NotFound(_not_a_backup(backup, path))
    if os.path.lexists(path) and not over:
        raise AlreadyExists(f"{path} exists; restore to another file, or over it with --over")
    if os.path.lexists(path):
        offline.require_unused(path, "restore over it")
    draft = f"{path}.{os.getpid()}.part"
    offline.discard(draft)
    try:
        offline.require_room(os.path.dirname(path), os.path.getsize(backup))
        with offline.looking(backup) as source:
            offline.copy_database(source, draft, backup, copied=copied)
        report = verified(draft, f"{backup} was not restored", tick)
        make_working(draft, path)
        aside = _put_in_place(draft, path)
    except BaseException:
        offline.discard(draft)
        raise
    return Restored(path, report.sessions, report.messages, aside)


def make_working(draft: str, path: str) -> None:
    """Make the copy a store that is worked with, not a file that is kept."""
    connection = connect(draft)
    try:
        connection.pragma("journal_mode", "wal" if mounts.wal_is_safe(path) else "delete")
    except apsw.Error as exc:
        raise translated(exc, draft) from exc
    finally:
        connection.close()
    offline.sync(draft)


def _put_in_place(draft: str, path: str) -> str | None:
    """Give a finished draft its name; what had the name before is kept aside, whole, and that name returned."""
    if not os.path.lexists(path):
        os.link(draft, path)
        os.unlink(draft)
        offline.sync(path)
        return None
    with offline.exclusive(path, "restore over it"):
        return swap(draft, path)


def swap(draft: str, path: str) -> str:
    """Exchange a store that is kept from everybody else; returns where the old one is."""
    aside = _set_aside(path)
    kill_point("before restore rename")
    os.replace(draft, path)
    if mark.read(path) is not None:
        # What the lock file says of the old store does not hold for the new one.
        mark.write(path, "-", is_open=False)
    offline.sync(path)
    return aside


def _set_aside(path: str) -> str:
    """A second name for the old store and its WAL; only then does the WAL lose the first one.

    A crash in between leaves the whole old store under the new name.
    """
    aside = f"{path}.replaced-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}"
    logs = [suffix for suffix in ("-wal", "-journal") if offline.size(path + suffix)]
    for suffix in ("", *logs):
        os.link(path + suffix, aside + suffix)
    for suffix in offline.SIDECARS:
        if os.path.exists(path + suffix):
            os.unlink(path + suffix)
    return aside
