"""PostgreSQL: an append against the bare driver doing the same transaction, and searches in a large store."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .. import corpus
from ..figures import Ratio, Rounds, mean, p50, p99, ratio
from ..results import Comparison, Result, Target
from ..setting import MICROSECOND, MILLISECOND, Setting

APPEND_TO_DRIVER = Target(1.3)
SCHEMA = "bench"
SEARCHES = 5
# A page that a server read from the disk belongs to its cache after the second use only.
WARMING = 12
# The start of a word, a word in most messages, two together, a path, two ideographs in many and in few messages, a
# phrase, a word that nobody said; and how many ms each may take.
QUERIES = {
    "kaka*": 40.0, "kakato": 40.0, "kakato karine": 30.0, "/etc/kakaka": 30.0, "数据": 40.0, "重启": 10.0,
    '"kakaka kakaka"': 30.0, "nowhere": 1.0,
}  # fmt: skip
# Said in one message of so many.
IDEOGRAPHS = {40: "日志：数据库连接失败了，请检查配置", 500: "然后重启服务"}
# Parts of words and words with slips, by mode.
TEXTS = (("orisela", "substring"), ("absentword", "substring"), ("extraordinary", "fuzzy"))


@contextmanager
def _server() -> Iterator[Any]:
    """A private server with the durability of the usual settings."""
    from tests.servers.postgres import PostgreSQL

    server = PostgreSQL(durable=True, fsync="on", full_page_writes="on")
    try:
        yield server
    finally:
        server.process.remove()


def postgres(setting: Setting) -> Result:
    from sessiondb.backends.postgres import PostgreSQLProvider
    from sessiondb.db import SessionDB

    result = Result("postgres", "one message, one durable commit; and searches of a filled store")
    with _server() as server:
        provider = PostgreSQLProvider()
        provider.initialize(dsn=server.dsn(), schema=SCHEMA)
        with SessionDB(provider=provider) as db:
            _add_appends(setting, result, db, server.dsn())
            _add_searches(setting, result, db)
    return result


def _add_appends(setting: Setting, result: Result, db: Any, dsn: str) -> None:
    import psycopg

    with psycopg.connect(dsn, autocommit=True) as driver:
        rounds = [_round(db, driver, f"bench{number}", setting.sizes.appends) for number in range(setting.rounds + 1)][
            1:
        ]
    ours, bare, analysis = (Rounds([found[at] for found in rounds]) for at in range(3))
    for label, times in (("sessiondb", ours), ("driver", bare), ("analysis of the words", analysis)):
        result.figures[label] = {
            "p50 µs": times.typical(p50) / MICROSECOND,
            "p99 µs": times.overall(p99) / MICROSECOND,
            "mean µs": times.typical(mean) / MICROSECOND,
        }
    worked = Rounds([[took - apart for took in found[0]] for found in rounds for apart in [p50(found[2])]])
    result.comparisons += [
        Comparison("append: p50 without analysis / driver", ratio(worked, bare, p50), target=APPEND_TO_DRIVER),
        Comparison("append: p50 / driver", ratio(ours, bare, p50)),
    ]


def _round(db: Any, driver: Any, session_id: str, count: int) -> tuple[list[float], list[float], list[float]]:
    """The same messages through the library and as finished statements, in turns; and the making of these."""
    from sessiondb.backends.postgres import appends
    from sessiondb.drafts import draft

    texts = [row["content"] for row in corpus.messages(session_id, count)]
    drafts = [draft({"role": "user", "content": text}, time.time(), 1 << 26) for text in texts]
    db.create_session(session_id, "bench")
    dialect = db.provider.driver.dialect
    times: tuple[list[float], list[float], list[float]] = ([], [], [])
    for text, prepared in zip(texts, drafts, strict=True):
        sql, params = _timed(times[2], lambda prepared=prepared: appends.statement(session_id, prepared))
        statement = dialect.text(sql).encode()
        _timed(times[0], lambda text=text: db.append_message(session_id, "user", text))
        _timed(times[1], lambda statement=statement, params=params: driver.execute(statement, params).fetchone())
    return times


def _timed(times: list[float], work: Callable[[], Any]) -> Any:
    begun = time.perf_counter_ns()
    answer = work()
    times.append(time.perf_counter_ns() - begun)
    return answer


def _add_searches(setting: Setting, result: Result, db: Any, slack: float = 1.0) -> None:
    """`slack`: how many times as long a search may take."""
    each = 500
    wanted = max(1, setting.sizes.served // each)
    begun = time.perf_counter()
    db.import_sessions(_documents(wanted, each))
    db.index()
    result.notes.append(f"{wanted * each:,} messages imported in {time.perf_counter() - begun:.0f} s")
    for query, most in QUERIES.items():
        hits, took = _searches(db, query, WARMING)
        result.comparisons.append(Comparison(f"search {query!r}, {hits} shown", took, "ms", Target(most * slack)))
    for pattern, mode in TEXTS:
        hits, took = _searches(db, pattern, 1, mode=mode)
        result.comparisons.append(Comparison(f"{mode} {pattern!r}, {hits} shown", took, "ms"))


def _documents(count: int, each: int) -> Iterator[dict[str, Any]]:
    for document in corpus.documents("filled", count, each):
        for spacing, said in IDEOGRAPHS.items():
            for row in document["messages"][::spacing]:
                row["content"] = f"{row['content']} {said}"
        yield document


def _searches(db: Any, query: str, warming: int, **wishes: Any) -> tuple[int, Ratio]:
    times: list[float] = []
    hits = [_timed(times, lambda: db.search_messages(query, limit=20, **wishes)) for _ in range(SEARCHES + warming)]
    took = [value / MILLISECOND for value in times[warming:]]
    return len(hits[0]), Ratio(p50(took), min(took), max(took))
