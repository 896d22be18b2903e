"""Wrong places, broken connections, full pools: a typed error with a way out, and the handle goes on."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import pymysql
import pytest

import sessiondb
from servers.mariadb import free_port
from servers.mysql_stores import Open, Stores
from sessiondb.backends.mysql import MySQLProvider, faults, pool
from sessiondb.backends.mysql.address import address
from sessiondb.db import SessionDB
from sessiondb.errors import Busy, Closed, ConnectionLost, Invalid, NotFound, NotSupported, Unavailable

# "Unknown thread id": it ended by itself meanwhile.
GONE = 1094


def kill_connections(stores: Stores, database: str) -> int:
    """End every connection to a database as an operator would."""
    found = stores.execute("SELECT id FROM information_schema.processlist WHERE db = %s", (database,))
    for (number,) in found:
        try:
            stores.execute(f"KILL {number}")
        except pymysql.err.OperationalError as exc:
            if exc.args[0] != GONE:
                raise
    return len(found)


class TestOpening:
    def test_a_wrong_password_is_told_without_showing_it(self, stores: Stores, open_db: Open) -> None:
        with pytest.raises(Unavailable, match="refuses the user or password") as caught:
            open_db(stores.new(), user="nobody", password="hunter2")
        assert "hunter2" not in str(caught.value)

    @pytest.mark.parametrize("password", ["p@ss", "a/b?c#d:e", "50%", "пароль é"])
    def test_a_password_in_a_url_is_written_as_it_is(self, stores: Stores, open_db: Open, password: str) -> None:
        options = stores.new()
        user = f"u_{uuid4().hex[:8]}"
        stores.execute(f"CREATE USER {user} IDENTIFIED BY %s", (password,))
        stores.execute(f"GRANT ALL ON {options['database']}.* TO {user}")
        place = f"{options['host']}:{options['port']}/{options['database']}"
        with sessiondb.open(f"mysql://{user}:{password}@{place}") as db:
            assert db.session_count() == 0

    @pytest.mark.parametrize("password", ["a/b", "ab#c", "ab?c", "[ab"])
    def test_no_part_of_a_password_is_taken_for_a_port(self, password: str) -> None:
        assert (address(f"mysql://ann:{password}@h:7/db").password, address(f"mysql://ann:{password}@h:7/db").port) == (
            password,
            7,
        )

    def test_a_missing_database_is_named(self, stores: Stores, open_db: Open) -> None:
        with pytest.raises(Unavailable, match="no database nowhere"):
            open_db(stores.new(), database="nowhere")

    def test_a_server_that_is_not_there_is_an_error_at_once(self, stores: Stores, open_db: Open) -> None:
        started = time.monotonic()
        with pytest.raises(Unavailable, match="no server answers"):
            open_db(stores.new(), port=free_port())
        assert time.monotonic() - started < 5

    def test_a_socket_serves_as_well_as_a_port(self, stores: Stores, open_db: Open) -> None:
        options = {"database": stores.new()["database"], "user": "root"}
        assert open_db(options, unix_socket=stores.server.socket).session_count() == 0

    @pytest.mark.parametrize(
        "option",
        [
            {"pool_size": 0}, {"pool_size": "ten"}, {"max_overflow": -1}, {"max_overflow": None}, {"deadline": "soon"},
            {"deadline": 0}, {"deadline": float("nan")},
        ],
    )  # fmt: skip
    def test_a_bad_option_is_refused_by_name(self, stores: Stores, open_db: Open, option: dict[str, Any]) -> None:
        with pytest.raises(Invalid, match=next(iter(option))):
            open_db(stores.new(), **option)

    def test_a_user_without_any_right_is_told_where_to_look(self, stores: Stores, open_db: Open) -> None:
        stores.execute("CREATE USER IF NOT EXISTS stranger")
        with pytest.raises(Unavailable, match=r"no rights .* docs/providers\.md"):
            open_db(stores.new(), user="stranger")


class TestAddresses:
    def test_a_url_names_everything(self) -> None:
        found = address("mariadb://ann:p%40ss@db.example:3307/agents?connect_timeout=3&unix_socket=/run/x.sock")
        assert (found.host, found.port, found.user, found.password) == ("db.example", 3307, "ann", "p@ss")
        assert (found.database, found.unix_socket, dict(found.options)) == (
            "agents",
            "/run/x.sock",
            {"connect_timeout": 3},
        )

    def test_single_values_win(self) -> None:
        assert address("mysql://h/db", port=5, database=None).port == 5

    def test_an_address_never_shows_its_password(self) -> None:
        found = address("mysql://ann:hunter2@h/db")
        assert "hunter2" not in f"{found} {found!r}"

    @pytest.mark.parametrize("url", ["postgresql://h/db", "mysql://h", "mysql://h:x/db", "mysql://h/db?colour=red"])
    def test_a_bad_url_is_refused(self, url: str) -> None:
        with pytest.raises(Invalid):
            address(url)


class TestPackets:
    def test_content_beyond_the_packet_names_the_setting(self, db: SessionDB) -> None:
        db.create_session("s", "cli")
        with pytest.raises(Invalid, match="max_allowed_packet"):
            db.append_message("s", "user", "x" * (db.features.max_content_bytes + 1))

    def test_content_that_is_all_escapes_still_fits(self, db: SessionDB) -> None:
        db.create_session("s", "cli")
        text = "'" * db.features.max_content_bytes
        db.append_message("s", "user", text)
        assert db.get_messages("s")[0]["content"] == text

    def test_other_fields_beyond_the_packet_name_the_setting(self, db: SessionDB) -> None:
        db.create_session("s", "cli")
        with pytest.raises(Invalid, match="max_allowed_packet"):
            db.append_message("s", "user", "x", reasoning="y" * db.health()["max_allowed_packet"])
        assert (db.message_count(), len(db.get_messages("s"))) == (0, 0)

    def test_a_batch_beyond_the_packet_is_sent_in_parts(self, db: SessionDB) -> None:
        db.create_session("s", "cli")
        texts = [f"{number} " + "x" * 3_000_000 for number in range(8)]
        ids = db.append_messages("s", [{"role": "user", "content": text} for text in texts])
        assert [db.provider.get_message(each)["content"] for each in ids] == texts  # type: ignore[index]

    def test_two_megabytes_are_stored_and_found(self, db: SessionDB) -> None:
        db.create_session("s", "cli")
        db.append_message("s", "user", "hay " * 500_000 + "needle")
        assert len(db.search_messages("needle hay")) == 1

    def test_an_id_that_grows_too_long_is_refused(self, db: SessionDB) -> None:
        with pytest.raises(Invalid, match="too long"):
            db.create_session("\ud800" * 255, "cli")


class TestPool:
    def test_a_full_pool_says_how_large_it_is(self, stores: Stores, open_db: Open) -> None:
        db = open_db(stores.new(), pool_size=1, max_overflow=1, deadline=0.3)
        inside, done = threading.Barrier(3), threading.Event()

        def hold() -> None:
            db.provider.driver.read(lambda tx: (inside.wait(10), done.wait(10)))  # type: ignore[attr-defined]

        with ThreadPoolExecutor(2) as threads:
            held = [threads.submit(hold) for _ in range(2)]
            inside.wait(10)
            try:
                with pytest.raises(Busy, match="pool_size 1, max_overflow 1"):
                    db.session_count()
            finally:
                done.set()
            for each in held:
                each.result()
        assert db.session_count() == 0

    def test_connections_beyond_the_size_are_not_kept(self, stores: Stores, open_db: Open) -> None:
        db = open_db(stores.new(), pool_size=1, max_overflow=3)
        inside = threading.Barrier(3)
        with ThreadPoolExecutor(3) as threads:
            list(threads.map(lambda _: db.provider.driver.read(lambda tx: inside.wait(10)), range(3)))  # type: ignore[attr-defined]
        assert db.health()["connections_free"] == 1

    def test_a_connection_that_died_while_resting_is_replaced(
        self, stores: Stores, open_db: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        options = stores.new()
        db = open_db(options)
        db.create_session("s", "cli")
        monkeypatch.setattr(pool, "RESTED", 0.0)
        assert kill_connections(stores, options["database"]) > 0
        retries = db.health()["retries"]
        assert (db.session_count(), db.health()["retries"]) == (1, retries)

    def test_a_closed_store_says_so_to_those_who_wait(self, stores: Stores, open_db: Open) -> None:
        db = open_db(stores.new(), pool_size=1, max_overflow=0)
        driver = db.provider.driver  # type: ignore[attr-defined]
        inside = threading.Event()
        with ThreadPoolExecutor(2) as threads:
            held = threads.submit(driver.read, lambda tx: (inside.set(), time.sleep(0.3)))
            inside.wait(10)
            waiting = threads.submit(driver.read, lambda tx: 1)
            time.sleep(0.1)
            db.close()
            held.result()
            with pytest.raises(Closed):
                waiting.result()


class TestLostConnections:
    def test_a_transaction_that_loses_its_connection_runs_again(self, stores: Stores, open_db: Open) -> None:
        options = stores.new()
        db = open_db(options)
        db.create_session("s", "cli")
        attempts: list[int] = []

        def work(tx: Any) -> None:
            attempts.append(1)
            tx.run("UPDATE sessions SET input_tokens = input_tokens + 1 WHERE id = 's'")
            if len(attempts) == 1:
                kill_connections(stores, options["database"])
            tx.run("UPDATE sessions SET output_tokens = output_tokens + 1 WHERE id = 's'")

        db.provider.driver.write(work)  # type: ignore[attr-defined]
        session = db.get_session("s")
        assert session is not None
        assert (len(attempts), session["input_tokens"], session["output_tokens"]) == (2, 1, 1)

    def test_a_lost_commit_is_not_run_again_without_a_key(
        self, stores: Stores, open_db: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        db = open_db(stores.new())
        db.create_session("s", "cli")
        lose_one_commit(monkeypatch)
        with pytest.raises(ConnectionLost, match="message_key"):
            db.append_message("s", "user", "once")
        assert len(db.get_messages("s")) == 1

    def test_a_lost_commit_with_a_key_is_stored_once(
        self, stores: Stores, open_db: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        db = open_db(stores.new())
        db.create_session("s", "cli")
        lose_one_commit(monkeypatch)
        db.append_message("s", "user", "once", message_key="k")
        assert [row["content"] for row in db.get_messages("s")] == ["once"]

    def test_a_server_that_stays_away_is_an_error_after_the_deadline(
        self, stores: Stores, open_db: Open, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        options = stores.new()
        db = open_db(options, deadline=0.5)
        db.create_session("s", "cli")
        driver = db.provider.driver  # type: ignore[attr-defined]
        here = driver.address
        monkeypatch.setattr(driver, "address", address(None, database="x", host="127.0.0.1", port=free_port()))
        kill_connections(stores, options["database"])
        with pytest.raises(Unavailable):
            db.append_message("s", "user", "x")
        monkeypatch.setattr(driver, "address", here)
        db.append_message("s", "user", "back")
        assert [row["content"] for row in db.get_messages("s")] == ["back"]


def lose_one_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next commit happens, and its answer is lost."""
    from sessiondb.backends.mysql.connection import Connection

    commit = Connection.commit

    def lost(self: Connection) -> None:
        commit(self)
        if self.isolation == "READ-COMMITTED":
            monkeypatch.setattr(Connection, "commit", commit)
            raise pymysql.err.OperationalError(2013, "Lost connection to MySQL server during query")

    monkeypatch.setattr(Connection, "commit", lost)


class TestDeadlocks:
    def test_writers_who_block_each_other_all_finish(self, stores: Stores, open_db: Open) -> None:
        db = open_db(stores.new())
        for name in ("a", "b"):
            db.create_session(name, "cli")
        attempts: list[str] = []
        both = threading.Barrier(2)

        def cross(first: str, second: str) -> None:
            def work(tx: Any) -> None:
                attempts.append(first)
                tx.run("UPDATE sessions SET input_tokens = input_tokens + 1 WHERE id = :id", {"id": first})
                if len(attempts) <= 2:
                    both.wait(10)
                tx.run("UPDATE sessions SET input_tokens = input_tokens + 1 WHERE id = :id", {"id": second})

            db.provider.driver.write(work)  # type: ignore[attr-defined]

        with ThreadPoolExecutor(2) as threads:
            list(threads.map(cross, "ab", "ba"))
        tokens = [row["input_tokens"] for row in db.list_sessions_rich()]
        assert (tokens, len(attempts)) == ([2, 2], 3)

    def test_a_row_that_stays_locked_is_busy(self, stores: Stores, open_db: Open) -> None:
        options = stores.new()
        db = open_db(options, deadline=1.0)
        db.create_session("s", "cli")
        with pymysql.connect(**stores.server.options(database=options["database"])) as other:
            other.cursor().execute("SELECT id FROM sessions WHERE id = 's' FOR UPDATE")
            with pytest.raises(Busy):
                db.append_message("s", "user", "x")
            other.rollback()
        db.append_message("s", "user", "y")
        assert [row["content"] for row in db.get_messages("s")] == ["y"]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (1213, Busy), (2006, ConnectionLost), (2003, Unavailable), (1153, Invalid), (1452, NotFound),
        (1792, NotSupported),
    ],
)  # fmt: skip
def test_errors_are_told_by_their_number(code: int, kind: type[Exception]) -> None:
    assert type(faults.translated(pymysql.err.OperationalError(code, "whatever"), "here")) is kind


def test_a_forked_child_has_connections_of_its_own(stores: Stores, open_db: Open) -> None:
    import multiprocessing

    db = open_db(stores.new())
    db.create_session("s", "cli")
    child = multiprocessing.get_context("fork").Process(target=db.append_message, args=("s", "user", "from the child"))
    child.start()
    child.join(30)
    db.append_message("s", "user", "from the parent")
    assert child.exitcode == 0
    assert [row["content"] for row in db.get_messages("s")] == ["from the child", "from the parent"]
    assert isinstance(db.provider, MySQLProvider)


def test_a_url_opens_the_store(stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSIONDB_HOME", str(tmp_path))
    options = stores.new()
    for scheme in ("mysql", "mariadb"):
        with sessiondb.open(f"{scheme}://root@127.0.0.1:{options['port']}/{options['database']}") as db:
            assert (db.health()["provider"], db.provider.media_directory) == (
                "mysql",
                str(tmp_path / "media" / options["database"]),
            )
