"""Before a command looks at the store: what agents noted since the last one is brought in."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..errors import SessionDBError
from . import output
from .progress import Progress

if TYPE_CHECKING:
    from ..db import SessionDB
    from ..importers.runner import Tick

_MEGA = 1_000_000


def drain(opened: Callable[[], SessionDB], home: str) -> None:
    """Never stops the command that comes after it: what cannot be brought in waits, and that is said."""
    from ..hooks import spool

    try:
        with opened() as db, Progress(noun="MB") as progress:

            def tick(told: Tick) -> None:
                progress.reached(told.bytes // _MEGA, max(told.all_bytes // _MEGA, 1))

            report = spool.drain(db, home, os.environ, tick)
    except SessionDBError as exc:
        output.complain(f"what agents noted waits in {spool.place(home)}: {exc}")
        return
    for what in report.errors if report else ():
        output.complain(f"{what.path}: {what.why}; `sessiondb import` tries again")
