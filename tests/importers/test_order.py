"""Where imported sessions stand among the others, by activity."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sessiondb import SessionDB
from sessiondb.importers.order import placed
from sessiondb.importers.report import Report

from .histories import hermes_database, lines


def row(name: str, last_active: float, place: int) -> Any:
    return {"id": name, "last_active": last_active, "started_at": 0.0, "last_message_id": place}


def test_sessions_of_one_import_stand_in_the_order_of_their_time() -> None:
    rows = [row("old", 1.0, 30), row("new", 3.0, 10), row("middle", 2.0, 20)]
    assert placed(rows, {"old", "new", "middle"}) == {"old": 10, "new": 30}


def test_what_was_active_later_stays_above() -> None:
    rows = [row("here", 5.0, 7), row("older here", 1.0, 3), row("old", 4.0, 30), row("new", 6.0, 40)]
    assert placed(rows, {"old", "new"}) == {"old": 6}


def test_what_is_in_order_stays() -> None:
    rows = [row("here", 1.0, 1), row("a", 2.0, 2), row("b", 3.0, 3)]
    assert placed(rows, {"a", "b"}) == {}


def test_a_database_of_old_sessions_does_not_push_aside_what_came_before(
    db: SessionDB, bring: Callable[..., Report], tmp_path: Path
) -> None:
    """The database was written last, but nobody has spoken in its sessions for long."""
    (tmp_path / "chat.jsonl").write_bytes(lines({
        "id": "recent", "created_at": 1790000000,
        "messages": [{"role": "user", "content": "hello", "timestamp": 1790000000}],
    }))  # fmt: skip
    bring(tmp_path)
    hermes_database(tmp_path / "state.db")
    bring(tmp_path)
    assert db.list_sessions_rich(order_by="activity")[0]["id"] == "recent"
    assert db.verify().ok
    db.append_message("help", "user", "and again")
    assert db.list_sessions_rich(order_by="activity", include_children=True)[0]["id"] == "help"
