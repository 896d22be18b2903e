"""The histories of other agents in a store: once, linked, with media by hash, and as fresh as their files."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sessiondb import SessionDB
from sessiondb.importers.report import Report
from sessiondb.models import Filter, Page

from .places import AGENTS, FIXTURES
from .told import contents, stored, told

Bring = Callable[..., Report]
PICTURE = b"\x89PNG" + b"0123456789" * 9
CLAUDE = "11111111-1111-4111-8111-111111111111"
CODEX = "019fc710-e100-7000-8000-000000000001"
GEMINI = "77777777-7777-4777-8777-777777777777"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The fixtures, as a directory of our own that may change."""
    return Path(shutil.copytree(FIXTURES, tmp_path / "home"))


def listing(directory: Path) -> list[tuple[str, int, int]]:
    return sorted((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in directory.rglob("*"))


def test_a_second_import_changes_nothing_here_or_there(db: SessionDB, bring: Bring, home: Path) -> None:
    before = listing(home)
    bring(home)
    first = told(db)
    again = bring(home)
    assert (told(db), listing(home)) == (first, before)
    assert (again.total("new"), again.total("updated"), again.total("messages")) == (0, 0, 0)
    assert db.verify().ok


def test_files_touched_but_not_changed_change_nothing(db: SessionDB, bring: Bring, home: Path) -> None:
    bring(home)
    first = told(db)
    for path in home.rglob("*.json*"):
        os.utime(path)
    again = bring(home)
    assert told(db) == first
    assert (again.total("new"), again.total("updated")) == (0, 0)


@pytest.mark.parametrize("agent", AGENTS)
def test_every_agent_is_told_by_its_name(agent: str, db: SessionDB, bring: Bring, home: Path) -> None:
    report = bring(home / agent)
    assert {tally.agent for tally in report.tallies.values()} == {agent}


def test_children_stand_below_their_parents(db: SessionDB, bring: Bring, home: Path) -> None:
    bring(home)
    spawned = stored(db, f"agent-c0ffee:{CLAUDE}")
    assert (spawned["parent_session_id"], spawned["relation"], spawned["source"]) == (CLAUDE, "subagent", "subagent")
    rows = db.provider.list_sessions(Filter(), Page(100), "started")
    children = {row["id"]: (row["parent_session_id"], row["relation"]) for row in rows if row["parent_session_id"]}
    assert children == {
        f"agent-c0ffee:{CLAUDE}": (CLAUDE, "subagent"),
        "22222222-2222-4222-8222-222222222222": (CLAUDE, "fork"),
        "side-n1:33333333-3333-4333-8333-333333333333": ("33333333-3333-4333-8333-333333333333", "subagent"),
        "44444444-4444-4444-8444-444444444444": ("33333333-3333-4333-8333-333333333333", "compression"),
        "019fc712-b5c0-7000-8000-000000000005": (CODEX, "fork"),
        "019fc713-a020-7000-8000-000000000007": (CODEX, "subagent"),
        "88888888-8888-4888-8888-888888888888": (GEMINI, "subagent"),
        "ses_02child": ("ses_01main", "subagent"),
        "d0000000-0000-4000-8000-00000000000d": ("c0000000-0000-4000-8000-00000000000c", "subagent"),
        "0002": ("0001", "subagent"),
        "scout:k1": ("k1", "subagent"),
        "p2": ("p1", "fork"),
    }


@pytest.mark.parametrize("session", [CLAUDE, CODEX, GEMINI, "ses_01main"])
def test_pictures_are_known_by_their_hash(session: str, db: SessionDB, bring: Bring, home: Path) -> None:
    bring(home)
    pictures = {row["sha256"] for row in db.get_media_refs(session) if row["sha256"]}
    assert pictures == {hashlib.sha256(PICTURE).hexdigest()}
    assert "MDEyMzQ1Njc4OT" not in str(contents(db, session))


def test_what_was_taken_back_is_hidden_not_lost(db: SessionDB, bring: Bring, home: Path) -> None:
    bring(home)
    visible = {str(words) for words in contents(db, CODEX)}
    everything = {str(row["content"]) for row in db.get_messages(CODEX, include_inactive=True)}
    assert everything - visible == {"Delete everything", "Are you sure?"}


def test_a_prompt_a_person_typed_is_the_preview(db: SessionDB, bring: Bring, home: Path) -> None:
    bring(home)
    previews = {row["id"]: row["preview"] for row in db.list_sessions_rich(limit=100)}
    assert previews[CODEX] == "Why is the build red?"
    assert previews[GEMINI] == "Read @cart.py"
    assert previews[CLAUDE] == "The cart total is wrong, find out why"


def test_an_answer_that_grows_grows_in_its_place(db: SessionDB, bring: Bring, home: Path) -> None:
    path = next(home.rglob(f"{CLAUDE}.jsonl"))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:7]))
    bring(path)
    assert stored(db, CLAUDE)["output_tokens"] == 40
    path.write_bytes(b"".join(lines[:9]))
    bring(path)
    assert contents(db, CLAUDE)[2:5] == ["I look at the cart.", contents(db, CLAUDE)[3], "1 failed"]
    assert [call["tool_name"] for call in db.get_tool_calls(CLAUDE)] == ["Read", "Bash"]
    assert stored(db, CLAUDE)["output_tokens"] == 60


def test_a_rollout_that_is_compressed_and_moved_is_the_same_session(db: SessionDB, bring: Bring, home: Path) -> None:
    from .counts.codex import zstd

    bring(home / "codex")
    first = told(db)
    path = next(home.rglob(f"*{CODEX}.jsonl"))
    packed = home / "codex" / "archived_sessions" / f"{path.name}.zst"
    packed.write_bytes(zstd.compress(path.read_bytes()))
    path.unlink()
    again = bring(home / "codex")
    assert (again.total("new"), again.total("messages")) == (0, 0)
    assert told(db) == first


def test_the_conversation_that_changed_last_is_listed_first(db: SessionDB, bring: Bring, home: Path) -> None:
    wanted = ["22222222-2222-4222-8222-222222222222", CODEX, GEMINI, "55555555-5555-4555-8555-555555555555"]
    paths = [next(home.rglob(f"*{session[:8] if session == GEMINI else session}.jsonl")) for session in wanted]
    for age, path in enumerate(paths):
        os.utime(path, (1_790_000_000 - age, 1_790_000_000 - age))
    bring(*paths)
    assert [row["id"] for row in db.list_sessions_rich(order_by="activity")] == wanted


def test_a_title_given_later_in_another_file_arrives(db: SessionDB, bring: Bring, home: Path) -> None:
    """Codex names a thread in its index, older versions of Claude Code in the file of a later conversation."""
    named, summed = "019fc712-b5c0-7000-8000-000000000005", "55555555-5555-4555-8555-555555555555"
    bring(home)
    assert (stored(db, named)["title"], stored(db, summed)["title"]) == ("Another way", "Old talk about taxes")
    with (home / "codex" / "session_index.jsonl").open("a") as file:
        file.write(f'{{"id": "{named}", "thread_name": "Named at last"}}\n')
    summary = '{"type":"summary","summary":"Taxes, late","leafUuid":"w9"}\n'
    (next(home.rglob("33333333*.jsonl")).parent / "later.jsonl").write_text(summary)
    again = bring(home)
    assert (stored(db, named)["title"], stored(db, summed)["title"]) == ("Named at last", "Taxes, late")
    assert (again.total("new"), again.total("messages"), again.total("updated")) == (0, 0, 2)
