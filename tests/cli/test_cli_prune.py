"""`sessiondb prune` asks, shows, and takes only what is ended and old."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

OLD = 1_000_000.0


@pytest.fixture
def aged(db):
    for name, source in (("a", "cron"), ("b", "cli"), ("c", "cron")):
        db.create_session(name, source, started_at=OLD)
        db.end_session(name, "done")
    db.reopen_session("c")
    db.create_session("young", "cron")
    db.end_session("young", "done")
    return db


def left(db) -> set[str]:
    return {row["id"] for row in db.search_sessions()}


def test_old_ended_sessions_go_to_the_trash(run, aged) -> None:
    done = run("prune", "--older-than", "30", "--yes")
    assert (done.code, done.out) == (0, "Moved 2 sessions to the trash, restorable for 30 days.\n")
    assert left(aged) == {"c", "young"}


@pytest.mark.parametrize("age", ["30", "30d", "720h"])
def test_a_dry_run_lists_and_changes_nothing(run, aged, age: str) -> None:
    done = run("prune", "--older-than", age, "--source", "cron", "--dry-run")
    assert done.code == 0
    assert [line.split()[0] for line in done.lines[2:]] == ["a", "1"]
    assert left(aged) == {"a", "b", "c", "young"}


def test_without_a_terminal_it_refuses(run, aged) -> None:
    done = run("prune")
    assert (done.code, "--yes" in done.err) == (2, True)
    assert left(aged) == {"a", "b", "c", "young"}


def test_a_bad_age_is_one_sentence(run, aged) -> None:
    done = run("prune", "--older-than", "soon", "--yes")
    assert (done.code, done.err.count("\n")) == (2, 1)


def test_retention_follows_the_rules_of_the_config(run, aged, home: Path) -> None:
    (home / "config.yaml").write_text("sessiondb:\n  retention:\n    cron: 30d\n")
    done = run("prune", "--retention", "--yes")
    assert done.code == 0, done.err
    assert left(aged) == {"b", "c", "young"}


def test_without_rules_retention_says_so(run, aged) -> None:
    done = run("prune", "--retention", "--yes")
    assert (done.code, "sessiondb.retention" in done.err) == (2, True)


def test_filters_choose_what_goes(run, aged) -> None:
    aged.tag_session("a", "noise")
    done = run("prune", "--tag", "noise", "--dry-run", "--jsonl")
    assert [json.loads(line)["id"] for line in done.lines] == ["a"]
    assert run("prune", "--tag", "noise", "--yes").out == "Moved 1 session to the trash, restorable for 30 days.\n"
    assert left(aged) == {"b", "c", "young"}
