"""The ledger: what no page check can see. Each tampering passes `integrity_check`, and `verify` names it."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from inside import integrity

from sessiondb import SessionDB

TAMPERINGS = {
    "removed": "DELETE FROM messages WHERE seq = 3",
    "altered": "UPDATE messages SET content = 'something else' WHERE seq = 3",
    "doubled": "INSERT INTO messages (session_id, role, content, timestamp, seq, term)"
    " SELECT session_id, role, content, timestamp, 99, term FROM messages WHERE seq = 3",
    "swapped": "UPDATE messages SET content = CASE seq WHEN 3 THEN '4' ELSE '3' END WHERE seq IN (3, 4)",
    "cut off": "DELETE FROM messages WHERE seq = 5",
}


def store(path: Path) -> Path:
    with SessionDB(path) as db:
        db.create_session("a", "cli")
        for number in range(1, 6):
            db.append_message("a", "user", str(number), timestamp=1.0)
    return path


def tampered(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    for statement in statements:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize("statement", TAMPERINGS.values(), ids=TAMPERINGS)
def test_what_was_tampered_with_is_named(fast_path: Path, statement: str) -> None:
    path = store(fast_path / "state.db")
    tampered(path, statement)
    assert integrity(path) == "ok"
    with SessionDB(path) as db:
        problems = db.verify().problems
    assert {problem.session_id for problem in problems} == {"a"}
    assert {position for problem in problems for position in problem.positions} & {3, 4, 5, 99}


def test_without_the_ledger_a_loss_is_invisible(fast_path: Path) -> None:
    """The same loss, with the ledger made to agree: nothing is left that could tell."""
    path = store(fast_path / "state.db")
    settle = (
        "UPDATE sessions SET ledger = (SELECT SUM(term) & 4611686018427387903 FROM messages WHERE session_id = 'a')"
    )
    tampered(path, "DELETE FROM messages WHERE seq = 3", settle)
    assert integrity(path) == "ok"
    with SessionDB(path) as db:
        assert db.verify().ok
        assert [row["content"] for row in db.get_messages("a")] == ["1", "2", "4", "5"]
