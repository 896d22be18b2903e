"""The tool that agents call, on a store with history: whole answers, grouped, with surroundings, fitted to a budget."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter_ns
from typing import Any

from sessiondb import SessionDB
from sessiondb.jsontext import dumps
from sessiondb.tools.session_search import session_search

from ..arena import SESSIONDB
from ..figures import Ratio, p50, percentile, summary
from ..results import Comparison, Result, Target
from ..searches import planted, queries
from ..setting import MILLISECOND, Setting
from ..works import filled_session

# At a million messages, over all that is asked.
P95_MILLISECONDS = Target(60.0)
p95 = percentile(0.95)


def recall(setting: Setting) -> Result:
    each = setting.sizes.messages_per_session
    sessions = setting.sizes.searched // each
    store = setting.stores.copy(setting.stores.filled(SESSIONDB, sessions, each))
    times, sizes = _timed(store, sessions, setting.rounds)
    result = Result("recall", f"session_search, {setting.sizes.searched:,} messages")
    for kind, took in times.items():
        result.figures[kind] = {"p50 ms": p50(took), "p95 ms": p95(took), "answer KB": sizes[kind] / 1000}
    plain = [took for kind, times_of in times.items() if not kind.startswith("kind:") for took in times_of]
    result.comparisons = [Comparison("all but kind:, p95", _exact(p95(plain)), "ms", P95_MILLISECONDS)]
    result.comparisons += [Comparison(f"{kind}: p50", summary(took), "ms") for kind, took in times.items()]
    setting.stores.discard(store)
    return result


def _asked(sessions: int) -> dict[str, dict[str, Any]]:
    asked = {kind: {"query": query} for kind, query in queries().items()}
    tenth = queries()["10 % word"]
    middle = filled_session(sessions // 2, sessions)
    return {
        **asked,
        "newest": {"query": tenth, "sort": "newest"},
        "recent": {},
        "read": {"session_id": middle},
        "kind: with a word": {"query": tenth, "kind": "path"},
        "kind: alone": {"kind": "path"},
    }


def _timed(store: Path, sessions: int, rounds: int) -> tuple[dict[str, list[float]], dict[str, int]]:
    times: dict[str, list[float]] = {}
    sizes: dict[str, int] = {}
    with SessionDB(store) as db:
        db.create_session("planted", "cli")
        db.append_messages("planted", planted())
        db.index()
        for number in range(rounds + 1):
            for kind, arguments in _asked(sessions).items():
                begun = perf_counter_ns()
                answer = dumps(session_search(db, arguments))
                took = (perf_counter_ns() - begun) / MILLISECOND
                sizes[kind] = len(answer)
                # The first round warms up.
                if number:
                    times.setdefault(kind, []).append(took)
    return times, sizes


def _exact(value: float) -> Ratio:
    return Ratio(value, value, value)
