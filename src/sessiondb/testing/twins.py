"""Two stores under the same clock: what one answers, the other must answer.

Row ids are numbered by each store on its own, so they are left out of comparisons; positions stand for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from ..db import SessionDB
from ..errors import SessionDBError
from ..models import Filter

_NUMBERED = frozenset({"id", "message_id", "last_message_id"})
_FACTS_OF_THE_HOST = frozenset({"host", "size_bytes", "index_bytes", "large_texts"})

Call: TypeAlias = Callable[[SessionDB], Any]


def comparable(answer: Any) -> Any:
    """An answer without the numbers that each store gives on its own; session ids are texts and stay."""
    if isinstance(answer, dict):
        return {name: comparable(value) for name, value in answer.items() if _kept(name, value)}
    if isinstance(answer, list | tuple):
        return [comparable(value) for value in answer]
    return answer


def _kept(name: Any, value: Any) -> bool:
    return name not in _FACTS_OF_THE_HOST and not (name in _NUMBERED and isinstance(value, int))


def difference(mine: Any, expected: Any, where: str = "answer") -> str | None:
    """The first place where two answers differ, or None."""
    if isinstance(mine, dict) and isinstance(expected, dict) and mine.keys() == expected.keys():
        parts = [(f"{where}[{name!r}]", mine[name], expected[name]) for name in mine]
    elif isinstance(mine, list) and isinstance(expected, list) and len(mine) == len(expected):
        parts = [(f"{where}[{number}]", *pair) for number, pair in enumerate(zip(mine, expected, strict=True))]
    else:
        return None if mine == expected else f"{where}: memory has {expected!r}, the subject {mine!r}"
    return next((found for place, one, other in parts if (found := difference(one, other, place))), None)


class Twins:
    def __init__(self, subject: SessionDB, oracle: SessionDB) -> None:
        self.subject = subject
        self.oracle = oracle

    def agree(self, call: Call) -> Any:
        """Run `call` on both; the answers, or the types of the errors, must be the same. Returns the subject's."""
        mine, expected = _answer(self.subject, call), _answer(self.oracle, call)
        # Not `==`: pytest would print both answers whole, and they are long.
        where = difference(mine, expected)
        assert where is None, where
        return mine

    def agree_on_everything(self) -> None:
        self.agree(lambda db: db.list_sessions_rich(limit=1000, include_children=True, where=Filter()))
        self.agree(lambda db: [row["id"] for row in db.list_sessions_rich(limit=1000, order_by="activity")])
        self.agree(lambda db: db.export_all())
        self.agree(lambda db: [db.get_tool_calls(row["id"]) for row in db.search_sessions(limit=1000)])
        self.agree(lambda db: db.list_trash(limit=None))
        self.agree(lambda db: (db.stats(), db.usage_by_model(), db.top_sessions_by_tokens()))
        self.agree(lambda db: (db.verify().ok, db.verify().messages))
        assert self.subject.verify().ok


def _answer(db: SessionDB, call: Call) -> Any:
    try:
        return comparable(call(db))
    except SessionDBError as error:
        return type(error)


def positions_of(db: SessionDB, message_ids: list[int]) -> list[tuple[str, int | None]]:
    """Where messages are, for stores that number them differently."""
    rows = map(db.provider.get_message, message_ids)
    return [(row["session_id"], row["seq"]) for row in rows if row is not None]


def nth_message(db: SessionDB, session_id: str, number: int) -> int:
    """The id of some message of a session; an impossible one when it has none."""
    rows = db.get_messages(session_id, include_inactive=True)
    return rows[number % len(rows)]["id"] if rows else 0
