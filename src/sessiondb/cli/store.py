"""The store that a command works on: found, opened, and never created by a reader."""

from __future__ import annotations

import os

from .. import config, registry
from ..db import SessionDB
from ..errors import NotFound, SchemaOutdated
from ..provider import SessionDBProvider
from . import output


def open_store(named: str | None, *, read_only: bool, index: bool = False, create: bool = False) -> SessionDB:
    """The store that exists; a default one that nobody has written to yet reads as empty. Raises NotFound.

    `index` lets a search index grow where the files allow it; `create` begins a store, as an import may.
    """
    settings = config.load(named)
    for warning in settings.warnings:
        output.complain(warning)
    if named is None:
        _bring_in(settings)
    if _is_absent(settings) and not create:
        if _is_named(settings) or not read_only:
            raise NotFound(f"no store at {settings.options['path']}; it begins with the first session written to it")
        return SessionDB("memory://")
    try:
        return _opened(settings, read_only=read_only and not (index and _is_ours_to_write(settings)))
    except SchemaOutdated:
        if not read_only:
            raise
        db = _opened(settings, read_only=False)
        output.complain(f"{db.db_path or 'the store'} was brought to the current schema")
        return db


def open_to_browse(named: str | None, *, read_only: bool) -> tuple[SessionDB, bool]:
    """The store, and whether it can only be read: as wished, or because it is not ours to write, or not there yet."""
    settings = config.load(named)
    if read_only or _is_absent(settings) or not _is_ours_to_write(settings):
        return open_store(named, read_only=True), True
    return open_store(named, read_only=False), False


def _opened(settings: config.Settings, *, read_only: bool) -> SessionDB:
    provider: SessionDBProvider = registry.load("providers", settings.provider)()
    provider.initialize(
        **settings.options, **({"read_only": True} if read_only and provider.features.read_only else {})
    )
    return SessionDB(provider=provider, redact_on_write=settings.redact_on_write)


def _bring_in(settings: config.Settings) -> None:
    """What agents noted belongs into the store of the settings, not into one named for a single command."""
    if not os.path.exists(os.path.join(settings.home, "spool", "events")) or not _is_ours_to_write(settings):
        return
    from .draining import drain

    drain(lambda: _opened(settings, read_only=False), settings.home)


def _is_ours_to_write(settings: config.Settings) -> bool:
    path = settings.options.get("path")
    if path is None or not os.path.lexists(path):
        return True
    return os.access(path, os.W_OK) and os.access(os.path.dirname(os.path.abspath(path)), os.W_OK)


def _is_absent(settings: config.Settings) -> bool:
    return settings.provider == "sqlite" and not os.path.lexists(settings.options["path"])


def _is_named(settings: config.Settings) -> bool:
    return settings.origins["sessiondb.provider"] in ("argument", "SESSIONDB_URL")
