"""What a commit costs when many wait: threads of one process on each provider. `benchmarks.arrivals` counts with it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

from sessiondb.db import SessionDB

from .. import corpus
from ..figures import Rounds, p50, p99, summary
from ..results import Comparison, Result, Target
from ..setting import MICROSECOND, SECOND, Setting
from .servers import _server

# Sharing commits must pay; how much depends on the disk.
SHARING_PAYS = Target(1.0, least=True)
POOL = 8


def commits(setting: Setting) -> Result:
    result = Result("commits", "threads of one process append, each to its own session", plot="commits/s")
    for name in setting.sizes.committed:
        try:
            with PROVIDERS[name](setting) as (db, durability):
                _add(setting, result, name, db, durability)
        except RuntimeError as exc:
            result.notes.append(f"{name} was left out: {exc}")
    return result


def _add(setting: Setting, result: Result, name: str, db: SessionDB, durability: str) -> None:
    widths = [width for width in setting.sizes.threads if name == "sqlite" or width <= POOL]
    found: dict[int, list[tuple[float, list[float]]]] = {width: [] for width in widths}
    for number in range(setting.rounds + 1):
        for width in widths:
            measured = _round(db, f"{name}-{width}-{number}", width, setting.sizes.appends)
            if number:
                found[width].append(measured)
    for width, rounds in found.items():
        took = Rounds([each for _, each in rounds])
        row = {"commits/s": summary([rate for rate, _ in rounds]).middle}
        row |= {"p50 µs": took.typical(p50) / MICROSECOND, "p99 µs": took.overall(p99) / MICROSECOND}
        result.add(f"{name}, {width} at once", row, durability)
    gain = summary([many[0] / one[0] for one, many in zip(found[widths[0]], found[widths[-1]], strict=True)])
    result.comparisons.append(Comparison(f"{name}: rate of {widths[-1]} / of one", gain, target=SHARING_PAYS))


def _round(db: SessionDB, prefix: str, width: int, count: int) -> tuple[float, list[float]]:
    """Acknowledged appends a second, and what each took, in nanoseconds."""
    names = [f"{prefix}-{place}" for place in range(width)]
    texts = [row["content"] for row in corpus.messages(prefix, max(1, count // min(width, POOL)))]
    for name in names:
        db.create_session(name, "bench")
    begun = time.perf_counter_ns()
    with ThreadPoolExecutor(width) as pool:
        took = [each for times in pool.map(lambda name: _appended(db, name, texts), names) for each in times]
    return len(took) * SECOND / (time.perf_counter_ns() - begun), took


def _appended(db: SessionDB, name: str, texts: list[str]) -> list[float]:
    took = []
    for text in texts:
        begun = time.perf_counter_ns()
        db.append_message(name, "user", text)
        took.append(float(time.perf_counter_ns() - begun))
    return took


Opened = Iterator[tuple[SessionDB, str]]


@contextmanager
def _sqlite(setting: Setting) -> Opened:
    with SessionDB(setting.stores.new()) as db:
        yield db, "wal, FULL"


@contextmanager
def _postgres(_: Setting) -> Opened:
    from sessiondb.backends.postgres import PostgreSQLProvider

    with _server() as server:
        provider = PostgreSQLProvider()
        provider.initialize(dsn=server.dsn(), schema="commits")
        with SessionDB(provider=provider) as db:
            yield db, "fsync, synchronous_commit=on"


def _on_mysql(**options: Any) -> SessionDB:
    from sessiondb.backends.mysql import MySQLProvider

    provider = MySQLProvider()
    provider.initialize(**options, pool_size=POOL)
    return SessionDB(provider=provider)


def _create(options: dict[str, Any]) -> None:
    import pymysql

    with pymysql.connect(**options) as driver:
        driver.cursor().execute("CREATE DATABASE commits CHARACTER SET utf8mb4")


@contextmanager
def _mariadb(_: Setting) -> Opened:
    from tests.servers.mariadb import private

    with private(durable=True) as server:
        _create(server.options())
        with _on_mysql(**server.options(database="commits")) as db:
            yield db, "flush at each commit"


@contextmanager
def _galera(_: Setting) -> Opened:
    from tests.servers.galera import cluster

    with ExitStack() as stack:
        nodes = stack.enter_context(cluster())
        _create(nodes.nodes[0].options())
        db = stack.enter_context(_on_mysql(**nodes.nodes[0].options(database="commits")))
        yield db, "in the memory of three nodes"


PROVIDERS = {"sqlite": _sqlite, "postgres": _postgres, "mariadb": _mariadb, "galera": _galera}
