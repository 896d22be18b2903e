"""Opening again, for reading only, twice: what the features promise."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any

import pytest

from ...db import SessionDB
from ...errors import NotSupported, Unavailable
from ...provider import SessionDBProvider
from ..clock import FakeClock
from ..requires import requires
from .base import LawBase, NewStore, OpenProvider, contents, say, titled
from .tools import LOOK

# Another process opens the store named by pickled options, appends, and goes.
VISITOR = """
import pickle, sys
from sessiondb.db import SessionDB
kind, options = pickle.loads(bytes.fromhex(sys.argv[1]))
provider = kind()
provider.initialize(**options)
with SessionDB(provider=provider) as db:
    db.append_message("s", "user", "from another process")
"""


def visit(kind: type[SessionDBProvider], options: dict[str, Any]) -> None:
    argument = pickle.dumps((kind, options)).hex()
    # What this process can import, the other can: the provider may live beside its tests.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    subprocess.run([sys.executable, "-c", VISITOR, argument], check=True, timeout=60, env=environment)


class LifeLaws(LawBase):
    def test_opening_twice_the_same_handle_is_harmless(self, open_provider: OpenProvider, new_store: NewStore) -> None:
        options = new_store()
        provider = open_provider(**options)
        provider.create_session({"id": "s", "source": "cli", "started_at": 1.0})
        provider.initialize(**options)
        assert provider.get_session("s") is not None

    @requires("persistent")
    def test_everything_is_there_after_opening_again(
        self, open_provider: OpenProvider, new_store: NewStore, clock: FakeClock
    ) -> None:
        options = new_store()
        with SessionDB(provider=open_provider(**options), clock=clock) as first:
            say(first, titled(first, "s", "deploy"), "a", LOOK)
            first.rotate_session("s", new_id="t")
            first.tag_session("t", "work")
            first.set_meta("key", "value")
            first.delete_session(titled(first, "gone", "other"))
            before = (first.export_all(), first.list_trash(), first.get_messages_as_conversation("s"))
        with SessionDB(provider=open_provider(**options), clock=clock) as second:
            assert (second.export_all(), second.list_trash(), second.get_messages_as_conversation("s")) == before
            assert (second.get_meta("key"), second.verify().ok) == ("value", True)

    @requires("persistent")
    def test_message_ids_and_positions_go_on_after_opening_again(
        self, open_provider: OpenProvider, new_store: NewStore
    ) -> None:
        options = new_store()
        with SessionDB(provider=open_provider(**options)) as first:
            (old,) = say(first, first.create_session("s", "cli"), "a")
        with SessionDB(provider=open_provider(**options)) as second:
            (new,) = say(second, "s", "b")
            assert (new > old, [row["seq"] for row in second.get_messages("s")]) == (True, [1, 2])

    @requires(not_="persistent")
    def test_a_store_that_is_not_kept_begins_empty(self, open_provider: OpenProvider, new_store: NewStore) -> None:
        options = new_store()
        with SessionDB(provider=open_provider(**options)) as first:
            first.create_session("s", "cli")
        with SessionDB(provider=open_provider(**options)) as second:
            assert second.session_count() == 0

    @requires("read_only")
    def test_a_store_opened_for_reading_answers(
        self, open_provider: OpenProvider, new_store: NewStore, clock: FakeClock
    ) -> None:
        options = new_store()
        with SessionDB(provider=open_provider(**options), clock=clock) as db:
            say(db, db.create_session("s", "cli"), "needle")
        with SessionDB(provider=open_provider(**options, read_only=True), clock=clock) as reader:
            assert contents(reader, "s") == ["needle"]
            assert [hit["session_id"] for hit in reader.search_messages("needle")] == ["s"]
            assert (reader.verify().ok, reader.export_all()[0]["id"]) == (True, "s")

    @requires("read_only")
    def test_a_store_opened_for_reading_is_not_written(self, open_provider: OpenProvider, new_store: NewStore) -> None:
        options = new_store()
        with SessionDB(provider=open_provider(**options)) as db:
            say(db, db.create_session("s", "cli"), "a")
        with SessionDB(provider=open_provider(**options, read_only=True)) as reader:
            for write in (
                lambda: say(reader, "s", "b"),
                lambda: reader.create_session("t", "cli"),
                lambda: reader.set_session_title("s", "deploy"),
                lambda: reader.delete_session("s"),
                lambda: reader.set_meta("key", "value"),
            ):
                with pytest.raises(NotSupported, match="read-only"):
                    write()
            assert (contents(reader, "s"), reader.session_count()) == (["a"], 1)

    @requires(not_="read_only")
    def test_reading_only_is_refused_where_it_is_not_offered(self, new_store: NewStore) -> None:
        with pytest.raises(NotSupported, match="read"):
            self.provider().initialize(**new_store(), read_only=True)

    @requires("multi_process")
    def test_two_handles_see_each_others_writes(self, open_provider: OpenProvider, new_store: NewStore) -> None:
        options = new_store()
        with (
            SessionDB(provider=open_provider(**options)) as one,
            SessionDB(provider=open_provider(**options)) as other,
        ):
            say(one, one.create_session("s", "cli"), "from one")
            say(other, "s", "from the other")
            assert contents(one, "s") == contents(other, "s") == ["from one", "from the other"]

    @requires("multi_process")
    def test_another_process_may_write_meanwhile(self, open_provider: OpenProvider, new_store: NewStore) -> None:
        options = new_store()
        with SessionDB(provider=open_provider(**options)) as db:
            say(db, db.create_session("s", "cli"), "before")
            visit(self.provider, options)
            say(db, "s", "after")
            assert contents(db, "s") == ["before", "from another process", "after"]
            assert db.verify().ok

    @requires("persistent", not_="multi_process")
    def test_a_second_user_is_refused_where_there_can_be_one(
        self, open_provider: OpenProvider, new_store: NewStore
    ) -> None:
        options = new_store()
        first = open_provider(**options)
        with pytest.raises(Unavailable):
            self.provider().initialize(**options)
        first.shutdown()
        assert open_provider(**options).count_messages() == 0
