"""Opening a store: whose file is it, create or upgrade it once, then share its engine."""

from __future__ import annotations

import os

import apsw

from ... import errors
from ...sql.driver import Tx
from . import bodies, checksums, engine, files, mark, schema
from .connection import connect, translated
from .crash import kill_point
from .engine import Engine, Options

_READY = schema.Kind("ours", schema.VERSION)


def acquire(path: str, options: Options, *, page_checksums: bool = False) -> Engine:
    """The engine of a file, made on first use; the schema is ready when it returns.

    `page_checksums` is for a file that is created here; others keep what they were created with.
    """
    with engine.registry_lock():
        created = False
        if not options.read_only:
            created = files.prepare(path)
        elif os.path.isdir(path):
            raise files.is_directory(path)
        elif not os.path.isfile(path):
            raise errors.NotFound(f"no store at {path}; open it once without read_only to create it")
        key = (*files.identity(path), options.read_only)
        found = engine.engines.get(key)
        if found is None:
            found = engine.engines[key] = _ready(path, options, page_checksums)
        elif options.synchronous != found.options.synchronous:
            raise errors.Invalid(
                f"{path} is open in this process with synchronous={found.options.synchronous}; a store has one setting"
            )
        found.handles += 1
    if created and not files.is_default_home(path):
        from . import worktree

        worktree.warn_if_endangered(path)
    return found


def release(held: Engine) -> None:
    """Give an engine back; the last handle closes it."""
    with engine.registry_lock():
        held.handles -= 1
        if held.handles == 0:
            for key in [key for key, known in engine.engines.items() if known is held]:
                del engine.engines[key]
            held.close()
            if not held.options.read_only:
                mark.close(held.path)


def _ready(path: str, options: Options, page_checksums: bool) -> Engine:
    kind = schema.probe(path)
    schema.check(kind, path, upgrade=options.upgrade)
    if kind != _READY:
        if options.read_only:
            raise errors.SchemaOutdated(f"{path} must be created or upgraded first; open it once without read_only")
        with files.creation_lock(path, options.deadline):
            _install(path, options, page_checksums)
    opened = Engine(path, options)
    if not options.read_only:
        _adopt(opened)
        mark.write(path, opened.read(store_id), is_open=os.path.exists(path + "-wal"))
    return opened


def _install(path: str, options: Options, page_checksums: bool) -> None:
    """Create or upgrade; another process may have done it while this one waited for the lock."""
    kind = schema.probe(path)
    schema.check(kind, path, upgrade=options.upgrade)
    if kind == _READY:
        return
    if kind.name == "seed":
        schema.backup_before_upgrade(path, kind.version)
        kill_point("after upgrade backup")
    from . import mounts

    with_checksums = page_checksums and kind.name == "empty"
    connection = connect(path, vfs=checksums.load() if with_checksums else None)
    try:
        connection.set_busy_timeout(int(options.deadline * 1000))
        if with_checksums:
            checksums.reserve(connection)
        if kind.name == "empty":
            # Lets `optimize` give space back in small steps; can only be chosen before the first table.
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute(f"PRAGMA journal_mode = {'WAL' if mounts.wal_is_safe(path) else 'DELETE'}")
        connection.execute("PRAGMA synchronous = FULL")
        schema.install(connection, kind)
        connection.execute("INSERT OR IGNORE INTO meta (name, value) VALUES ('store_id', ?)", (os.urandom(8).hex(),))
        if kind.name == "empty":
            # No process of an older version has this store open, which would take references for texts.
            connection.execute("INSERT OR IGNORE INTO meta (name, value) VALUES ('bodies', ?)", (bodies.PLAIN,))
        if with_checksums:
            checksums.check(connection)
    except apsw.Error as exc:
        raise translated(exc, path) from exc
    finally:
        connection.close()


def store_id(tx: Tx) -> str:
    """What makes this store another than its neighbour; "-" in files that were created without."""
    found = tx.row("SELECT value FROM meta WHERE name = 'store_id'")
    return str(found[0]) if found else "-"


def _adopt(opened: Engine) -> None:
    """Rows of older code get their positions, a batch at a time, so that other writers come in between."""
    if opened.read(schema.needs_adoption):
        while opened.write(schema.adopt_some):
            pass
