"""The browser on stores of every kind: empty, small, large, damaged, locked, shared, hostile; and on every size."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sessiondb
from sessiondb.cli.text import width
from sessiondb.tui.choice import Choice

DAY = 86_400.0
EVIL = "\x1b[2J\x1b]0;owned\x07 \x9b31m \u202e back \x00 [red]markup[/red] [@click=app.exit]press[/] tab\there"


def test_an_empty_store_says_what_to_do(browse) -> None:
    async def act(user) -> None:
        assert "No sessions yet" in user.screen
        for key in ("j", "G", "space", "A", "d", "r", "t", "p", "a", "T", "y", "Y", "c", "n", "z", "enter", "u", "s"):
            await user.press(key)
        assert not user.app._exit

    with sessiondb.open("memory://") as db:
        assert browse(db, act) is None


def test_one_session(browse) -> None:
    async def act(user) -> None:
        assert user.listed == ["only"]
        await user.press("j", "k", "G", "d")
        assert user.listed == []
        await user.press("u")
        assert user.here == "only"
        await user.press("enter")

    with sessiondb.open("memory://") as db:
        db.create_session("only", "cli")
        assert browse(db, act) == "only"


def test_ten_thousand_sessions_are_read_by_page(browse) -> None:
    async def act(user) -> None:
        pages = user.browser.sessions.pages
        assert len(pages) == 10_000
        assert len(list(pages.loaded())) == 100
        await user.press("G")
        assert user.here == "s00000"
        assert "question 0 " in user.screen
        assert len(list(pages.loaded())) < 500
        await user.press("g", "pagedown", "pagedown")
        assert user.here is not None
        await user.press("slash")
        await user.type("4711")
        assert user.listed == ["s04711"]

    with sessiondb.open("memory://") as db:
        now = time.time()
        for number in range(10_000):
            name = f"s{number:05d}"
            db.create_session(name, "cli", started_at=now - 10_000 + number)
            db.append_message(name, "user", f"question {number} is asked", timestamp=now - 10_000 + number)
        browse(db, act)


def test_a_long_conversation_is_read_by_window(browse) -> None:
    async def act(user) -> None:
        preview = user.browser.preview
        assert len(preview.transcript.parts) == 40
        assert "message 999" in user.screen
        await user.press("l")
        for _ in range(20):
            await user.press("pageup")
        assert len(preview.transcript.parts) > 40
        seqs = [part.seq for part in preview.transcript.parts]
        assert seqs == list(range(seqs[0], seqs[-1] + 1))
        await user.press("g")
        assert "message 0" in user.screen
        for _ in range(20):
            await user.press("pagedown")
        seqs = [part.seq for part in preview.transcript.parts]
        assert len(seqs) > 40
        assert seqs == list(range(seqs[0], seqs[-1] + 1))
        await user.press("escape", "slash")
        await user.type("needle")
        await user.press("enter", "n")
        assert "needle here" in user.screen

    with sessiondb.open("memory://") as db:
        db.create_session("long", "cli")
        db.append_messages(
            "long",
            [
                {"role": "user", "content": f"message {number}" + (" needle here" if number in (3, 700) else "")}
                for number in range(1000)
            ],
        )
        browse(db, act)


def test_a_search_goes_on_at_its_end(browse) -> None:
    async def act(user) -> None:
        await user.press("slash")
        await user.type("word")
        await user.press("enter")
        assert len(user.listed) == 200
        await user.press("G", "G")
        assert sorted(user.listed) == sorted(f"s{number}" for number in range(250))

    with sessiondb.open("memory://") as db:
        for number in range(250):
            db.create_session(f"s{number}", "cli")
            db.append_message(f"s{number}", "user", f"a word {number}")
        browse(db, act)


def test_stale_answers_are_dropped_and_typing_never_waits(browse, db, monkeypatch) -> None:
    """A slow search is running while letters are typed; the screen takes them, and shows the answer to the last."""
    real = db.search_messages

    def slow(query, *args, **kwargs):
        time.sleep(0.6 if query.startswith("che*") else 0)
        return real(query, *args, **kwargs)

    monkeypatch.setattr(db, "search_messages", slow)

    async def act(user) -> None:
        await user.press("slash")
        for letter in "che":
            await user.pilot.press(letter)
        late = asyncio.create_task(asyncio.sleep(0))
        await user.pilot.press("backspace", "backspace", "backspace")
        await user.type("nginx")
        await late
        assert user.browser.choice.query == "nginx"
        assert user.listed == ["b"]
        await asyncio.sleep(0.7)
        await user.settled()
        assert user.listed == ["b"]

    browse(db, act)


@pytest.mark.parametrize("size", [(20, 6), (40, 12), (80, 24), (109, 30), (110, 30), (200, 50)])
def test_every_size_shows_and_fits(browse, db, size) -> None:
    async def act(user) -> None:
        for key in ("j", "Z", "question_mark", "escape", "i", "escape", "f", "escape", "r", "escape", "slash", "n"):
            await user.press(key)
            assert len(user.lines) == size[1]
            assert all(width(row) <= size[0] for row in user.lines), key

    browse(db, act, size=size)


def test_resizing_keeps_the_place(browse, db) -> None:
    async def act(user) -> None:
        await user.press("j")
        for size in ((200, 50), (40, 10), (120, 24), (80, 24)):
            await user.pilot.resize_terminal(*size)
            await user.settled()
            assert user.here == "b"
            assert "nginx 502" in user.screen
            assert user.browser.preview.transcript.columns == user.browser.preview.columns
        side_by_side = user.browser.preview.region.x
        await user.pilot.resize_terminal(120, 24)
        await user.settled()
        assert user.browser.preview.region.x > side_by_side == 0

    browse(db, act)


def test_hostile_text_is_shown_and_obeyed_by_nobody(browse) -> None:
    async def act(user) -> None:
        for keys in (
            "Z",
            "w",
            "w",
            "slash",
            "b",
            "a",
            "c",
            "k",
            "enter",
            "T",
            "i",
            "escape",
            "f",
            "escape",
            "t",
            "escape",
        ):
            await user.press(keys)
            shown = user.screen
            assert not any((ord(letter) < 32 and letter != "\n") or 127 <= ord(letter) < 160 for letter in shown)
            assert "\u202e" not in shown
        assert "[red]markup[/red]" in user.screen
        assert "\\x1b[2J" in user.screen
        assert not user.app._exit

    with sessiondb.open("memory://") as db:
        db.create_session("evil\x1b[2J", EVIL, model=EVIL, cwd=EVIL.replace("\x00", ""))
        db.set_session_title("evil\x1b[2J", "[red]title[/red] [@click=app.exit]x")
        db.append_message("evil\x1b[2J", "user", f"{EVIL}\n```{EVIL}\n{EVIL}\n```\n[link](javascript:x) <b>html</b>")
        call = {"id": "1", "function": {"name": EVIL, "arguments": EVIL}}
        db.append_message("evil\x1b[2J", "assistant", EVIL, tool_calls=[call], reasoning=EVIL)
        db.append_message("evil\x1b[2J", "tool", EVIL, tool_name=EVIL, tool_call_id="1")
        db.tag_session("evil\x1b[2J", "[b]tag\x1b[2J")
        browse(db, act)


def test_read_only_refuses_every_change(browse, db) -> None:
    before = [db.export_session(name) for name in ("a", "b", "c")]

    async def act(user) -> None:
        assert "read-only" in user.lines[0]
        for key in ("r", "t", "p", "a", "d", "delete", "u"):
            await user.press(key)
            assert user.status == "This store is opened read-only; nothing can be changed here."
            assert user.app.screen is user.browser
        await user.press("question_mark")
        assert "Read-only: nothing" in user.screen or "move to the trash" not in user.screen

    browse(db, act, read_only=True)
    assert [db.export_session(name) for name in ("a", "b", "c")] == before


def test_scopes_move_on_when_empty(browse, db, tmp_path: Path) -> None:
    root = tmp_path / "repo"
    (root / ".git").mkdir(parents=True)
    (root / "src" / "empty").mkdir(parents=True)
    db.create_session("in-repo", "cli", cwd=str(root))
    db.append_message("in-repo", "user", "about the repo")
    db.create_session("in-src", "cli", cwd=str(root / "src"))
    db.append_message("in-src", "user", "about the source")

    async def in_src(user) -> None:
        assert user.listed == ["in-src"]
        await user.press("s")
        assert sorted(user.listed) == ["in-repo", "in-src"]
        await user.press("s")
        assert len(user.listed) == 5
        await user.press("s", "slash")
        await user.type("nginx")
        assert user.listed == ["b"]
        assert "Nothing in this directory; showing everywhere." in user.screen

    async def in_empty(user) -> None:
        assert sorted(user.listed) == ["in-repo", "in-src"]
        assert "Nothing in this directory; showing repository" in user.screen

    browse(db, in_src, directory=root / "src", choice=Choice())
    browse(db, in_empty, directory=root / "src" / "empty", choice=Choice())


def exported(db, session_id: str) -> dict:
    """All of a session; messages that come back get new numbers."""
    whole = db.export_session(session_id)
    del whole["last_message_id"]
    for message in whole["messages"]:
        del message["id"]
    return {**whole, "tags": db.get_tags(session_id)}


def test_delete_and_undo_keep_messages_tags_and_links(browse, fast_path: Path) -> None:
    with sessiondb.open(fast_path / "s.db", synchronous="NORMAL") as db:
        for number in range(5):
            db.create_session(
                f"s{number}", "cli", parent_session_id="s0" if number else None, relation="fork" if number else None
            )
            db.append_message(f"s{number}", "user", f"text {number}")
            db.tag_session(f"s{number}", "work")
        before = [exported(db, f"s{number}") for number in range(5)]

        async def act(user) -> None:
            await user.press("A", "d")
            assert user.listed == []
            assert db.session_count() == 0
            await user.press("u")
            assert len(user.listed) == 5

        browse(db, act)
        assert [exported(db, f"s{number}") for number in range(5)] == before
        assert db.verify().ok


LOCK = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
"""


def test_a_store_that_others_hold_can_be_read_and_says_so(browse, fast_path: Path) -> None:
    path = fast_path / "s.db"
    with sessiondb.open(path, deadline=0.4) as db:
        db.create_session("a", "cli")
        db.append_message("a", "user", "hello")
        holder = subprocess.Popen(
            [sys.executable, "-c", LOCK, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            assert holder.stdout.readline() == "locked\n"

            async def act(user) -> None:
                await user.pilot.press("d")
                await user.pilot.press("slash", "h", "e", "l")
                assert user.browser.choice.query == "hel"
                await user.settled()
                assert user.listed == ["a"]
                await user.press("enter", "escape", "escape", "p")
                assert "0.4 s" in user.status or "other" in user.status
                holder.stdin.write("\n")
                holder.stdin.close()
                holder.wait(10)
                await user.press("d")
                assert user.listed == []

            browse(db, act)
        finally:
            holder.kill()
            holder.wait()
            holder.stdout.close()
            holder.stdin.close()


def test_a_damaged_index_costs_no_answer(browse, fast_path: Path) -> None:
    path = fast_path / "s.db"
    with sessiondb.open(path, synchronous="NORMAL") as db:
        for number in range(50):
            db.create_session(f"s{number}", "cli")
            db.append_message(f"s{number}", "user", f"nginx answers number{number}")
        db.index()
    files = sorted(fast_path.glob("s-search-*"))
    assert files
    for file in files:
        os.truncate(file, file.stat().st_size // 2)

    async def act(user) -> None:
        await user.press("slash")
        await user.type("number17")
        assert user.listed == ["s17"]
        assert "answers number17" in user.screen

    with sessiondb.open(path) as db:
        browse(db, act)


def test_what_another_deleted_meanwhile_is_told(browse, db) -> None:
    async def act(user) -> None:
        db.delete_session("b")
        await user.press("j")
        assert "deleted meanwhile" in user.screen
        await user.press("d")
        assert "deleted meanwhile" in user.status
        assert len(user.browser.undo) == 0

    browse(db, act)


def test_quitting_waits_for_what_was_ordered(browse, db, monkeypatch) -> None:
    real = db.delete_session

    def slow(*args, **kwargs):
        time.sleep(0.3)
        return real(*args, **kwargs)

    monkeypatch.setattr(db, "delete_session", slow)

    async def act(user) -> None:
        await user.pilot.press("d")
        await user.pilot.press("q")

    browse(db, act)
    assert db.get_session("c") is None
