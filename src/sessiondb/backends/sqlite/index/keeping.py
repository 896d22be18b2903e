"""The index brought up to date in steps: by a thread beside the writing, or by whoever brings many messages."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import apsw

from ....errors import SessionDBError
from . import seal, turn
from .background import at_work

if TYPE_CHECKING:
    from ..engine import Engine
    from .background import Background
    from .snapshot import Snapshot

BATCH = 100
# While somebody writes, batches are small and the pause after each is so many times as long as it took.
BUSY_BATCH = 20
BUSY_PAUSE = 20
# Whoever brings many messages leaves so few of them to the next search.
ALONG_REST = 500
LONGEST_PAUSE = 1.0
# Another process may be at the same work.
WAIT_SECONDS = 0.05

# The next search says what is wrong with the store, or that there is no search here.
DIFFICULTIES = (SessionDBError, apsw.Error, seal.InUse)


def keep(background: Background) -> None:
    """Read what is new until nothing is left, unless another process is at it."""
    path = background.engine.path
    try:
        with turn.taken(path) as ours:
            if ours:
                _catch_up(background)
    except DIFFICULTIES as exc:
        _note("background indexing of %s paused: %s", path, exc)


def _catch_up(background: Background) -> None:
    lag, more = None, True
    while not background.is_stopped:
        began = time.monotonic()
        busy = background.is_busy
        found = _step(background.engine, BUSY_BATCH if busy else BATCH)
        if found is None:
            break
        if not found.lag:
            # What others write while we merge they leave to us: it is read between the steps, and after the last.
            if not more:
                break
            more = _merged(background)
        took = time.monotonic() - began
        pause = took * BUSY_PAUSE if busy else took / 4
        if found.lag == lag:
            pause = WAIT_SECONDS
        lag = found.lag
        background.rest(min(pause, LONGEST_PAUSE))


def _merged(background: Background) -> bool:
    """Merge a little while nobody writes; whether there may be more to do."""
    if background.is_busy:
        return False
    with at_work:
        return background.engine.searcher().merge()


def _step(engine: Engine, batch: int) -> Snapshot | None:
    with at_work:
        searcher = engine.searcher()
        found = searcher.step(0.0, batch)
        if found is not None and not found.lag:
            searcher.trim(found)
        return found


def index_along(engine: Engine) -> None:
    """Index what is new but for a rest, in the thread that brought it; a difficulty is left to the next search."""
    lag = None
    try:
        while (found := engine.searcher().step(0.0)) is not None and found.lag > ALONG_REST and found.lag != lag:
            lag = found.lag
    except DIFFICULTIES as exc:
        _note("indexing along with an import of %s put off: %s", engine.path, exc)


def _note(message: str, *facts: object) -> None:
    # Loaded here: all goes well nearly always, and a fork that waits for the loading would meet half its hooks.
    import logging

    logging.getLogger(__name__).debug(message, *facts)
