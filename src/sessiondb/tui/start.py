"""Opens the full screen; the first page is read while Textual is imported, which takes longer."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from ..db import SessionDB
from . import listing
from .choice import Choice
from .scope import Scope


def start(db: SessionDB, choice: Choice, known: Sequence[Scope], *, read_only: bool) -> str | None:
    """Run the browser until it is left; the id of the session to take up, or None."""
    with ThreadPoolExecutor(1) as beside:
        early = beside.submit(listing.first, db, choice, known)
        from .app import BrowserApp

        return BrowserApp(db, choice, known, read_only=read_only, early=early).run()
