"""A damaged index is told from damaged messages, and how far it lags is known."""

from __future__ import annotations

from pathlib import Path

import pytest

import sessiondb
from sessiondb import upkeep


@pytest.fixture
def indexed(tmp_path: Path) -> Path:
    path = tmp_path / "state.db"
    with sessiondb.open(path) as db:
        db.create_session("s", "cli")
        for number in range(50):
            db.append_message("s", "user", f"word{number} about nginx and a path /etc/hosts")
        assert db.search_messages("nginx", limit=1)
    return path


def index_file(path: Path) -> Path:
    (found,) = path.parent.glob("state-search-*.db")
    return found


def test_a_healthy_index_is_no_finding(indexed: Path) -> None:
    diagnosis = upkeep.of("sqlite").doctor(str(indexed))
    assert (diagnosis.findings, diagnosis.facts["index"]) == ([], {"generation": 1, "lag": 0})


@pytest.mark.parametrize("blow", ["noise", "zeroes", "cut"])
def test_a_damaged_index_is_not_damaged_data(indexed: Path, blow: str) -> None:
    file = index_file(indexed)
    whole = file.read_bytes()
    page = {"noise": bytes(range(256)) * 16, "zeroes": bytes(4096), "cut": b""}[blow]
    file.write_bytes(whole[:8192] + page + (whole[8192 + len(page) :] if page else b""))
    diagnosis = upkeep.of("sqlite").doctor(str(indexed))
    assert [(finding.area, finding.severity) for finding in diagnosis.findings] == [("index", "warning")]
    assert not diagnosis.damaged
    assert "sessiondb search" in (diagnosis.findings[0].next_step or "")


def test_the_next_step_heals_it(indexed: Path) -> None:
    file = index_file(indexed)
    file.write_bytes(b"\0" * len(file.read_bytes()))
    with sessiondb.open(indexed) as db:
        assert len(db.search_messages("nginx", limit=100)) == 50
        assert len(db.search_messages("nginx", limit=100)) == 50
    assert upkeep.of("sqlite").doctor(str(indexed)).findings == []


def test_health_tells_the_lag(indexed: Path) -> None:
    with sessiondb.open(indexed) as db:
        assert db.health()["index_lag"] == 0
        db.append_message("s", "user", "one more")
        assert db.health()["index_lag"] == 1
        db.search_messages("more")
        assert db.health()["index_lag"] == 0


def test_without_an_index_there_is_no_lag(tmp_path: Path) -> None:
    with sessiondb.open(tmp_path / "new.db") as db:
        assert db.health()["index_lag"] is None
