"""Looking after SQLite stores: checks, repair, copies, space."""

from __future__ import annotations

from collections.abc import Callable

import apsw

from ....upkeep import Backup, Diagnosis, Optimized, Pages, Restored, Salvage
from ....verify import Report, Tick
from ..connection import translated


class SQLiteUpkeep:
    """See `sessiondb.upkeep.Upkeep`; each part is imported when it is used."""

    def verify(self, path: str, tick: Tick | None = None) -> Report:
        from . import ledgers, offline

        with offline.looking(path) as connection:
            try:
                return ledgers.check(connection, tick)
            except apsw.Error as exc:
                raise translated(exc, path) from exc

    def doctor(self, path: str, tick: Tick | None = None) -> Diagnosis:
        from .doctor import doctor

        return doctor(path, tick)

    def repair(self, path: str, output: str | None = None, read: Pages | None = None) -> Salvage:
        from .repair import repair

        return repair(path, output, read)

    def backup(
        self,
        path: str,
        target: str | None = None,
        *,
        keep: int | None = None,
        every: float | None = None,
        copied: Pages | None = None,
        tick: Tick | None = None,
    ) -> Backup:
        from .backup import backup

        return backup(path, target, keep=keep, every=every, copied=copied, tick=tick)

    def restore(
        self, backup: str, path: str, *, over: bool = False, copied: Pages | None = None, tick: Tick | None = None
    ) -> Restored:
        from .restore import restore

        return restore(backup, path, over=over, copied=copied, tick=tick)

    def optimize(
        self, path: str, *, full: bool = False, large: str | None = None, tick: Tick | None = None
    ) -> Optimized:
        from .optimize import optimize

        return optimize(path, full=full, large=large, tick=tick)

    def reindex(self, path: str, tick: Callable[[int, int], None] | None = None) -> int:
        from .reindex import reindex

        return reindex(path, tick)
