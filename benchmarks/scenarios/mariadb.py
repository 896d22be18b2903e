"""MariaDB: an append against the bare driver doing the same transaction, and searches in a large store."""

from __future__ import annotations

import time
from typing import Any

from .. import corpus
from ..figures import Rounds, mean, p50, p99, ratio
from ..results import Comparison, Result, Target
from ..setting import MICROSECOND, Setting
from .servers import _add_searches, _timed

APPEND_TO_DRIVER = Target(1.3)
SEARCH_SLACK = 6.0
DATABASE = "bench"


def mysql(setting: Setting) -> Result:
    import pymysql
    from tests.servers.mariadb import private

    from sessiondb.backends.mysql import MySQLProvider
    from sessiondb.db import SessionDB

    result = Result("mysql", "one message, one durable commit; and searches of a filled store")
    with private(durable=True) as server, pymysql.connect(**server.options()) as driver:
        driver.cursor().execute(f"CREATE DATABASE {DATABASE}")
        driver.select_db(DATABASE)
        provider = MySQLProvider()
        provider.initialize(**server.options(database=DATABASE))
        with SessionDB(provider=provider) as db:
            _add_appends(setting, result, db, driver)
            _add_searches(setting, result, db, slack=SEARCH_SLACK)
    return result


def _add_appends(setting: Setting, result: Result, db: Any, driver: Any) -> None:
    driver.cursor().execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
    count = setting.sizes.appends
    rounds = [_round(db, driver, f"bench{number}", count) for number in range(setting.rounds + 1)][1:]
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
    """The same messages through the library and as finished statements, in turns; and the making of their words."""
    times: tuple[list[float], list[float], list[float]] = ([], [], [])
    for name in (session_id, f"{session_id}-bare"):
        db.create_session(name, "bench")
    for row in corpus.messages(session_id, count):
        text = row["content"]
        words = _timed(times[2], lambda text=text: _words(text))
        _timed(times[0], lambda text=text: db.append_message(session_id, "user", text))
        _timed(times[1], lambda text=text, words=words: _bare_append(driver, f"{session_id}-bare", text, words))
    return times


def _words(text: str) -> dict[str, Any]:
    from sessiondb.backends.mysql.encoding import text_of
    from sessiondb.search.text import document

    body, extra = document(text, "")
    return {"words": len(body), "body": text_of(body), "extra": text_of(extra, barred=True)}


def _bare_append(driver: Any, session_id: str, text: str, words: dict[str, Any]) -> None:
    """The statements of the library, prepared, on the bare driver."""
    from sessiondb.backends.mysql.dialect import MYSQL
    from sessiondb.backends.mysql.indexing import ADD_WORDS
    from sessiondb.drafts import draft
    from sessiondb.sql.appends import COUNT_NEXT, INSERT_NEXT

    placed = {"session_id": session_id, "high": 12345, "low": 678, "calls": 0}
    values = {**draft({"role": "user", "content": text}, 1.5, 1 << 26).values, **placed}
    with driver.cursor() as cursor:
        cursor.execute(MYSQL.text(INSERT_NEXT), values)
        message_id = cursor.lastrowid
        cursor.execute(MYSQL.text(COUNT_NEXT), {**values, "timestamp": time.time()})
        cursor.execute(MYSQL.text(ADD_WORDS), {**words, "message_id": message_id})
    driver.commit()
