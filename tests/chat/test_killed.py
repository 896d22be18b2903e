"""`kill -9` between the steps of a command: the conversation goes on where its words are, and none is lost."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from chat_helpers import stored

from sessiondb import SessionDB
from sessiondb.chat.commands import obey
from sessiondb.chat.own import OwnDesk
from sessiondb.cli.resume import chosen
from sessiondb.gateway.desk import ChatDesk
from sessiondb.gateway.keys import Source
from sessiondb.gateway.router import Router

ANN = Source("telegram", chat_id="1", user_id="ann")
# A program that obeys a command, and is killed where it would go on in the other session.
KILLED = """
import os, signal, sys
from sessiondb import SessionDB
from sessiondb.chat.commands import obey
from sessiondb.chat.own import OwnDesk
from sessiondb.gateway.desk import ChatDesk
from sessiondb.gateway.keys import Source
from sessiondb.gateway.router import Router

db = SessionDB(sys.argv[1])
ann = Source("telegram", chat_id="1", user_id="ann")
desk = ChatDesk(Router(db), ann) if sys.argv[3] == "chat" else OwnDesk(db, sys.argv[3])
desk.switch = lambda session_id: os.kill(os.getpid(), signal.SIGKILL)
print(obey(sys.argv[2], desk))
"""
SAID = [("user", "one"), ("assistant", "two")]


@pytest.fixture
def path(fast_path: Path) -> Path:
    return fast_path / "killed.db"


def killed(path: Path, line: str, where: str) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), line, where], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL


def spoken(path: Path) -> str:
    """A conversation at the terminal."""
    with SessionDB(path) as db:
        desk = OwnDesk(db)
        desk.say("one", print)
        db.append_message(desk.session_id or "", "assistant", "two")
        obey("/title plan", desk)
        return desk.session_id or ""


def chatted(path: Path) -> str:
    """A conversation in a chat."""
    with SessionDB(path) as db:
        arrival = Router(db).receive(ANN, "one")
        assert arrival.turn is not None
        arrival.turn.end([{"role": "assistant", "content": "two"}])
        obey("/title plan", ChatDesk(Router(db), ANN))
        return arrival.session_id


class TestAtTheTerminal:
    def test_a_compressed_conversation_goes_on_in_its_continuation(self, path: Path) -> None:
        session = spoken(path)
        killed(path, "/compress", session)
        with SessionDB(path) as db:
            found = chosen(db, None)
            assert found["parent_session_id"] == session
            assert (found["title"], found["ended_at"]) == ("plan #2", None)
            assert chosen(db, "plan")["id"] == chosen(db, session)["id"] == found["id"]
            assert stored(db, found["id"])[0][0] == "system"
            assert stored(db, session) == SAID
            assert db.verify().ok

    def test_a_copy_is_whole(self, path: Path) -> None:
        session = spoken(path)
        killed(path, "/fork", session)
        with SessionDB(path) as db:
            found = chosen(db, None)
            assert (found["parent_session_id"], found["relation"]) == (session, "fork")
            assert stored(db, found["id"]) == stored(db, session) == SAID
            assert db.verify().ok


class TestInAChat:
    def test_a_compressed_conversation_goes_on_in_its_continuation(self, path: Path) -> None:
        session = chatted(path)
        killed(path, "/compress", "chat")
        with SessionDB(path) as db:
            arrival = Router(db).receive(ANN, "three")
            assert (db.get_session(arrival.session_id) or {})["parent_session_id"] == session
            assert [role for role, _ in stored(db, arrival.session_id)] == ["system", "user"]
            assert db.verify().ok

    def test_a_copy_is_theirs_to_see_and_the_original_goes_on(self, path: Path) -> None:
        session = chatted(path)
        killed(path, "/fork", "chat")
        with SessionDB(path) as db:
            router = Router(db)
            titles = {each["title"] for each in router.scope(ANN).sessions()}
            assert titles == {"plan", "plan #2"}
            arrival = router.receive(ANN, "three")
            assert arrival.session_id == session
            assert stored(db, session) == [*SAID, ("user", "three")]
            assert db.verify().ok
