"""Moving a SQLite store to PostgreSQL: messages a second, proof and search index included, and where the time goes."""

from __future__ import annotations

import time
from pathlib import Path

from .. import corpus
from ..figures import Ratio, p50
from ..results import Comparison, Result, Target
from ..setting import Setting
from .servers import _server

AT_LEAST = Target(5000, least=True)
# How long conversations are: many short ones take more round trips.
LENGTHS = (10, 200)
RUNS = 3


def moving(setting: Setting) -> Result:
    result = Result("moving", "SQLite to PostgreSQL, durable commits, proven, with its search index")
    count = setting.sizes.moved
    with _server() as server:
        for each in LENGTHS:
            path = setting.stores.new()
            _fill(path, max(1, count // each), each)
            runs = [_moved(path, server.dsn(), f"moved_{each}_{number}") for number in range(RUNS)]
            label = f"sessions of {each} messages"
            result.figures[label] = {
                f"{phase} s": p50([run[1].get(phase, 0.0) for run in runs])
                for phase in ("load", "proof", "index after")
            }
            rates = [run[0] for run in runs]
            value = Ratio(p50(rates), min(rates), max(rates))
            result.comparisons.append(Comparison(f"{label}, {count:,} in all", value, "/s", AT_LEAST))
    return result


def _fill(path: Path, sessions: int, each: int) -> None:
    from sessiondb.db import SessionDB

    with SessionDB(path) as db:
        db.import_sessions(corpus.documents("moved", sessions, each))


def _moved(path: Path, dsn: str, schema: str) -> tuple[float, dict[str, float]]:
    """Messages a second, and seconds by phase; what takes part of two is told by the later one."""
    from sessiondb import registry
    from sessiondb.migrate import Move

    source, target = (registry.load("providers", name)() for name in ("sqlite", "postgresql"))
    source.initialize(path=str(path), read_only=True)
    target.initialize(dsn=dsn, schema=schema)
    last: dict[str, float] = {}
    begun = time.monotonic()

    def tick(phase: str, done: int, total: int) -> None:
        last[phase] = time.monotonic() - begun

    done = Move(source, target, source_name=path.name, tick=tick).run()
    source.shutdown()
    target.shutdown()
    if not done.verified or done.problems:
        raise RuntimeError(f"the move could not be proven: {done.problems[:3]}")
    loaded, proven = last.get("messages", 0.0), last.get("verify", 0.0)
    return done.messages / done.seconds, {
        "load": loaded, "proof": proven - loaded, "index after": done.seconds - proven
    }  # fmt: skip
