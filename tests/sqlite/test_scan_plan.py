"""Pages of a scan cost what they hold, however many sessions pass the filter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sessiondb import SessionDB
from sessiondb.backends.sqlite.connection import SQLiteTx
from sessiondb.backends.sqlite.dialect import SQLITE
from sessiondb.models import Filter, MessageFilter
from sessiondb.sql import messages
from sessiondb.sql.driver import Row


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The plans of the statements that read rows, as they come."""
    seen: list[str] = []
    read = SQLiteTx.rows

    def explaining(tx: SQLiteTx, sql: str, params: dict[str, Any]) -> list[Row]:
        explained = tx.connection.execute(f"EXPLAIN QUERY PLAN {SQLITE.text(sql)}", params)
        seen.append("\n".join(str(step[3]) for step in explained))
        return read(tx, sql, params)

    monkeypatch.setattr(SQLiteTx, "rows", explaining)
    return seen


@pytest.mark.parametrize("where", [Filter(), Filter(sources=("cli", "cron")), Filter(exclude_sources=("cron",))])
def test_the_messages_of_many_sessions_are_not_sorted_for_a_page(
    where: Filter, fast_path: Path, plans: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "FEW_SESSIONS", 0)
    with SessionDB(fast_path / "scan.db") as db:
        db.create_session("s", "cli")
        db.append_messages("s", [{"role": "user", "content": str(number)} for number in range(5)])
        del plans[:]
        assert len(list(db.provider.scan_messages(where, MessageFilter(), batch=2))) == 5
    assert len(plans) == 4
    assert not any("TEMP B-TREE" in plan for plan in plans)


def test_those_of_few_are_read_by_their_sessions(fast_path: Path, plans: list[str]) -> None:
    with SessionDB(fast_path / "scan.db") as db:
        db.create_session("s", "cli")
        db.append_message("s", "user", "hello")
        del plans[:]
        assert len(list(db.provider.scan_messages(Filter(sources=("cli",)), MessageFilter()))) == 1
    assert plans[0].index("sessions_source") < plans[0].index("messages_position")
