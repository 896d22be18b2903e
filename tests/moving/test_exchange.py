"""`push` and `pull` between stores and machines: in any order, however often, both sides have everything once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from move_stores import IMAGE, ledgers, opened, portrait, write_history

from sessiondb.backends.remote import RemoteProvider
from sessiondb.cli import exchange
from sessiondb.db import SessionDB
from sessiondb.errors import ConnectionLost, Invalid, NotFound, TitleTaken
from sessiondb.migrate import Summary

# Stands in for ssh: forgets options and host, and runs the command here.
STAND_IN = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do
    if [ "$1" = -p ]; then shift; fi
    shift
done
[ "$1" = unreachable ] && { echo "ssh: connect to host unreachable port 22: No route to host" >&2; exit 255; }
shift
exec sh -c "exec $*"
"""
PATIENCE = 30.0


class Machine:
    """A home with a store, and the command run there."""

    def __init__(self, home: Path, ssh: Path) -> None:
        home.mkdir()
        self.home, self.store = home, home / "state.db"
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.environment = {"PATH": path, "SESSIONDB_HOME": str(home), "HOME": str(home), "SESSIONDB_SSH": str(ssh)}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "sessiondb", *arguments]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments), env=self.environment, capture_output=True, text=True, check=False, timeout=120
        )

    def opened(self) -> SessionDB:
        return SessionDB(self.store, synchronous="NORMAL")

    def write(self, session_id: str, *texts: str, **fields: Any) -> None:
        with self.opened() as db:
            db.create_session(session_id, "cli", **fields)
            db.append_messages(session_id, [{"role": "user", "content": text} for text in texts])

    def ledgers(self) -> dict[str, tuple[int, int]]:
        with self.opened() as db:
            return ledgers(db.provider)


@pytest.fixture
def ssh(tmp_path: Path) -> Path:
    program = tmp_path / "ssh"
    program.write_text(STAND_IN)
    program.chmod(0o755)
    return program


@pytest.fixture
def here(tmp_path: Path, ssh: Path) -> Machine:
    return Machine(tmp_path / "here", ssh)


@pytest.fixture
def there(tmp_path: Path, ssh: Path) -> Machine:
    return Machine(tmp_path / "there", ssh)


@pytest.fixture(params=["path", "ssh"])
def way(request: pytest.FixtureRequest) -> Callable[[Machine], str]:
    """How one machine names the store of the other."""
    if request.param == "ssh":
        return lambda machine: f"ssh://me@host:2222{machine.store}"
    return lambda machine: str(machine.store)


def test_both_directions_and_nothing_twice(here: Machine, there: Machine, way: Callable[[Machine], str]) -> None:
    here.write("a", "one", "two")
    there.write("b", "three")
    first = here.run("push", way(there))
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout.startswith("Pushed 1 session, 2 messages, ")
    assert here.run("pull", way(there)).stdout.startswith("Pulled 1 session, 1 message, ")
    assert here.ledgers() == there.ledgers()
    before = here.ledgers()
    for command in ("push", "pull"):
        again = here.run(command, way(there))
        assert "0 sessions, 0 messages" in again.stdout
        assert "2 were there already" in again.stdout
    assert here.ledgers() == there.ledgers() == before


def test_what_grew_is_continued_and_what_is_new_about_it_is_learned(
    here: Machine, there: Machine, way: Callable[[Machine], str]
) -> None:
    here.write("a", "one")
    here.run("push", way(there))
    with there.opened() as db:
        db.append_message("a", "assistant", "two")
        db.set_session_title("a", "counting")
        db.end_session("a", "done")
    assert here.run("pull", way(there)).stdout.startswith("Pulled 1 session, 1 message, ")
    with here.opened() as db:
        row = db.get_session("a")
        assert row is not None
        assert [message["content"] for message in db.get_messages("a")] == ["one", "two"]
        assert row["end_reason"] == "done"
    assert here.run("pull", way(there)).returncode == 0
    with here.opened() as db:
        assert db.get_session_title("a") == "counting"


def test_a_session_that_both_wrote_to_is_told_and_left(
    here: Machine, there: Machine, way: Callable[[Machine], str]
) -> None:
    here.write("a", "one")
    here.run("push", way(there))
    for machine, text in ((here, "here"), (there, "there")):
        with machine.opened() as db:
            db.append_message("a", "user", text)
    before = there.ledgers()
    done = here.run("push", way(there))
    assert done.returncode == 4
    assert "a: both have messages that the other has not" in done.stdout
    assert there.ledgers() == before


def test_an_import_of_both_machines_is_one_session(here: Machine, there: Machine) -> None:
    for machine, name in ((here, "mine"), (there, "theirs")):
        machine.write(name, origin="claude", native_id="n1", started_at=1.0)
        with machine.opened() as db:
            db.append_message(name, "user", "the same", timestamp=2.0)
    done = here.run("push", str(there.store))
    assert (done.returncode, "1 were there already" in done.stdout) == (0, True)
    with here.opened() as db:
        db.append_message("mine", "user", "more", timestamp=3.0)
    assert here.run("push", str(there.store)).stdout.startswith("Pushed 1 session, 1 message, ")
    assert list(there.ledgers()) == ["theirs"]
    assert there.ledgers()["theirs"] == here.ledgers()["mine"]


def test_watching_goes_on_until_it_is_interrupted(here: Machine, there: Machine) -> None:
    here.write("a", "one")
    there.write("b", "two")
    process = subprocess.Popen(
        here.command("push", str(there.store), "--watch", "--every", "0.1"),
        env=here.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Pushed 1 session, 1 message, ")
        with here.opened() as db:
            db.append_message("a", "user", "later")
        assert process.stdout.readline().startswith("Pushed 1 session, 1 message, ")
        assert there.ledgers()["a"] == here.ledgers()["a"]
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out, err.strip()) == (130, "", "")
    finally:
        process.kill()
        process.wait()


class TestRemote:
    @pytest.fixture
    def remote(self, there: Machine, ssh: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RemoteProvider]:
        for name, value in there.environment.items():
            monkeypatch.setenv(name, value)
        provider = RemoteProvider()
        provider.initialize(dsn=f"ssh://host{there.store}")
        yield provider
        provider.shutdown()

    def test_everything_goes_through_it(self, remote: RemoteProvider, there: Machine, tmp_path: Path) -> None:
        from sessiondb.migrate import Move

        source = opened(("sqlite", {"path": str(tmp_path / "source.db")}))
        write_history(source, 8, 20)
        done = Move(source, remote, source_name="here").run()
        assert (done.verified, done.media_files > 0, done.trash) == (True, True, 1)
        back = opened(("sqlite", {"path": str(tmp_path / "back.db")}))
        assert Move(remote, back, source_name="there").run().verified
        assert portrait(back) == portrait(source)
        with there.opened() as db:
            assert portrait(db.provider) == portrait(source)

    def test_it_is_a_store_like_any_other(self, remote: RemoteProvider) -> None:
        db = SessionDB(provider=remote)
        db.create_session("s", "cli")
        db.append_message("s", "user", [{"type": "image_url", "image_url": {"url": IMAGE}}])
        db.append_messages("s", [{"role": "user", "content": f"needle {number} \ud800"} for number in range(450)])
        assert [hit["session_id"] for hit in db.search_messages("needle", limit=1)] == ["s"]
        assert len(list(db.iter_messages("s"))) == 451
        assert db.verify().ok
        db.set_session_title("s", "deploy")
        db.create_session("t", "cli")
        with pytest.raises(TitleTaken, match="belongs to session s"):
            db.set_session_title("t", "deploy")
        with pytest.raises(NotFound):
            db.append_message("ghost", "user", "x")

    def test_a_machine_that_does_not_answer_is_told_in_its_own_words(self, remote: RemoteProvider) -> None:
        with pytest.raises(ConnectionLost, match="No route to host"):
            RemoteProvider().initialize(dsn="ssh://unreachable/x.db")

    @pytest.mark.parametrize("dsn", ["ssh:///x.db", "ssh://-oProxyCommand=evil/x.db", "ssh://host:port/x"])
    def test_an_address_that_is_none_is_refused(self, remote: RemoteProvider, dsn: str) -> None:
        with pytest.raises(Invalid):
            RemoteProvider().initialize(dsn=dsn)

    def test_a_connection_that_breaks_is_a_lost_one(self, remote: RemoteProvider) -> None:
        assert remote._process is not None
        remote._process.kill()
        with pytest.raises(ConnectionLost):
            remote.get_session("s")


def test_an_interrupt_that_was_swallowed_ends_the_watch_at_its_next_turn() -> None:
    """Python drops what is raised while it tidies up: the interrupt must not be lost with it."""
    turns: list[int] = []

    def once() -> Summary:
        turns.append(1)
        if len(turns) > 5:
            raise AssertionError("the watch went on")
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return Summary()

    with pytest.raises(KeyboardInterrupt):
        exchange._watch(once, 0.01, "push", None)
    assert (len(turns), signal.getsignal(signal.SIGINT)) == (1, signal.default_int_handler)
