"""What goes wrong on a server is told in one sentence, and the handle works again afterwards."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg_pool import ConnectionPool

from servers.common import free_port
from servers.postgres import PASSWORD, PostgreSQL
from sessiondb.backends.postgres import PostgreSQLProvider, schema
from sessiondb.backends.postgres.dialect import TABLES
from sessiondb.db import SessionDB
from sessiondb.errors import Busy, Closed, Conflict, Invalid, SchemaOutdated, SchemaTooNew, SessionDBError, Unavailable
from sessiondb.models import Filter, MessageFilter, Page
from sessiondb.search.query import parse

Open = Callable[..., SessionDB]
LATER = 1e6


def refusal(**options: Any) -> SessionDBError:
    with pytest.raises(SessionDBError) as caught:
        PostgreSQLProvider().initialize(**options)
    return caught.value


class TestTheDoor:
    def test_a_wrong_password_is_told_and_not_shown(self, postgres: PostgreSQL) -> None:
        error = refusal(dsn=postgres.dsn("laws", "guarded", "hunter2 secret"))
        assert isinstance(error, Unavailable)
        assert ("refuses the password" in str(error), "hunter2" in f"{error!r}{error.__cause__}") == (True, False)

    def test_the_right_password_opens(self, postgres: PostgreSQL) -> None:
        assert isinstance(refusal(dsn=postgres.dsn("laws", "guarded", PASSWORD), upgrade=False), SchemaOutdated)

    @pytest.mark.parametrize("password", ["pax@vob", "pax/vob?zif#gok", "77@vob/88", "50% pax", "жуж é"])
    def test_a_password_in_a_url_is_written_as_it_is_and_no_part_of_it_is_shown(
        self, postgres: PostgreSQL, password: str
    ) -> None:
        place = f"127.0.0.1:{postgres.port}/laws"
        role = f"r_{uuid4().hex[:8]}"
        postgres.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{password}' IN ROLE guarded")
        right = refusal(dsn=f"postgresql://{role}:{password}@{place}", schema="not_there", upgrade=False)
        assert isinstance(right, SchemaOutdated)
        nobody = str(refusal(dsn=f"postgresql://{role}:{password}@127.0.0.1:{free_port()}/laws"))
        assert "at 127.0.0.1:" in nobody
        assert not re.search("pax|vob|zif|gok|жуж", nobody)

    def test_a_missing_database_is_named(self, postgres: PostgreSQL) -> None:
        error = refusal(dsn=postgres.dsn("nowhere"))
        assert isinstance(error, Unavailable)
        assert 'database "nowhere" does not exist' in str(error)

    def test_a_server_that_is_not_there_is_named(self) -> None:
        port = free_port()
        error = refusal(dsn=f"postgresql://ann:hunter2@127.0.0.1:{port}/db")
        assert isinstance(error, Unavailable)
        assert (str(port) in str(error), "hunter2" in str(error)) == (True, False)

    def test_a_password_that_is_asked_for_and_not_given_is_told(
        self, postgres: PostgreSQL, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PGPASSFILE", "/dev/null")
        error = refusal(dsn=postgres.dsn("laws", "guarded"))
        assert isinstance(error, Unavailable)
        assert ("asks for a password" in str(error), "reached" in str(error)) == (True, False)

    def test_a_server_that_is_not_there_is_told_with_the_reason(self) -> None:
        assert "Connection refused" in str(refusal(dsn=f"postgresql://ann@127.0.0.1:{free_port()}/db"))

    @pytest.mark.parametrize("dsn", ["", "nonsense hunter2", "postgresql://ann:hunter2@h:x:y/db?what=1"])
    def test_a_dsn_that_is_none_is_refused_without_repeating_it(self, dsn: str) -> None:
        error = refusal(dsn=dsn)
        assert isinstance(error, Invalid)
        assert "hunter2" not in str(error)

    @pytest.mark.parametrize(
        "option",
        [
            {"schema": ""}, {"schema": "x" * 64}, {"schema": 1}, {"synchronous_commit": "maybe"}, {"pool_size": 0},
            {"pool_size": "ten"}, {"max_overflow": -1}, {"max_overflow": None}, {"deadline": "soon"}, {"deadline": 0},
            {"deadline": float("nan")}, {"prepare_threshold": "often"}, {"prepare_threshold": -1}, {"pool": 3},
        ],
    )  # fmt: skip
    def test_a_bad_option_is_refused_by_name(self, postgres: PostgreSQL, option: dict[str, Any]) -> None:
        error = refusal(dsn=postgres.dsn("laws"), **option)
        assert isinstance(error, Invalid)
        assert next(iter(option)) in str(error)

    def test_the_first_of_several_hosts_may_be_down(self, opened: Open, postgres: PostgreSQL) -> None:
        dsn = f"host=127.0.0.1,127.0.0.1 port={free_port()},{postgres.port} dbname=laws user=admin"
        assert opened(dsn=f"{dsn} target_session_attrs=read-write").create_session("s", "cli") == "s"

    def test_a_database_that_cannot_hold_all_text_is_refused(self, postgres: PostgreSQL) -> None:
        postgres.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        assert "LATIN1" in str(refusal(dsn=postgres.dsn("latin")))


@pytest.mark.parametrize("missing", ["psycopg", "psycopg_pool"])
def test_a_missing_driver_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    assert "pip install 'sessiondb[postgres]'" in str(refusal(dsn="postgresql://h/db"))


class TestRights:
    @pytest.fixture
    def role(self, postgres: PostgreSQL, options: dict[str, Any]) -> str:
        """A role that may do nothing yet."""
        name = f"r_{uuid4().hex[:8]}"
        postgres.execute(f"CREATE ROLE {name} LOGIN")
        return name

    def test_a_role_without_rights_gets_one_sentence(self, postgres: PostgreSQL, role: str) -> None:
        error = refusal(dsn=postgres.dsn("laws", role), schema="new_schema")
        assert isinstance(error, Unavailable)
        assert ("may not" in str(error), "docs/providers.md" in str(error)) == (True, True)

    def test_a_role_with_the_documented_rights_can_do_everything_but_ddl(
        self, opened: Open, postgres: PostgreSQL, options: dict[str, Any], role: str
    ) -> None:
        opened().close()
        schema = options["schema"]
        postgres.execute(
            f"GRANT USAGE ON SCHEMA {schema} TO {role}",
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}",
            f"GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {role}",
            database="laws",
        )
        db = opened(dsn=postgres.dsn("laws", role))
        db.append_message(db.create_session("s", "cli"), "user", "needle")
        db.append_message("s", "assistant", None, tool_calls=[{"id": "c1", "name": "shell"}])
        db.rotate_session("s", new_id="t")
        db.delete_session("t")
        db.restore_deleted("t")
        assert ([hit["session_id"] for hit in db.search_messages("needle")], db.verify().ok) == (["s"], True)
        assert db.health()["status"] == "ok"

    def test_a_role_that_may_only_read_reads(
        self, opened: Open, postgres: PostgreSQL, options: dict[str, Any], role: str
    ) -> None:
        writer = opened()
        writer.append_message(writer.create_session("s", "cli"), "user", "needle")
        schema = options["schema"]
        postgres.execute(
            f"GRANT USAGE ON SCHEMA {schema} TO {role}",
            f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}",
            f"GRANT SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO {role}",
            database="laws",
        )
        reader = opened(dsn=postgres.dsn("laws", role), read_only=True)
        assert len(reader.search_messages("needle")) == 1
        with pytest.raises(Unavailable, match="may not"):
            opened(dsn=postgres.dsn("laws", role)).create_session("t", "cli")


class TestSchemas:
    def test_a_newer_schema_is_refused_and_left_alone(
        self, opened: Open, postgres: PostgreSQL, options: dict[str, Any]
    ) -> None:
        opened().close()
        version = f"{options['schema']}.schema_version"
        postgres.execute(f"UPDATE {version} SET version = 9999", database="laws")
        try:
            assert isinstance(refusal(**options), SchemaTooNew)
        finally:
            postgres.execute(f"UPDATE {version} SET version = {schema.VERSION}", database="laws")

    def test_tables_of_another_program_are_left_alone(self, postgres: PostgreSQL) -> None:
        postgres.execute("CREATE SCHEMA foreigner", "CREATE TABLE foreigner.sessions (x int)", database="laws")
        assert isinstance(refusal(dsn=postgres.dsn("laws"), schema="foreigner"), SchemaTooNew)

    def test_nothing_is_created_without_upgrade(self, postgres: PostgreSQL) -> None:
        for wish in ({"upgrade": False}, {"read_only": True}):
            assert isinstance(refusal(dsn=postgres.dsn("laws"), schema="not_there", **wish), SchemaOutdated)

    @pytest.mark.parametrize("name", ["Gross Schreibung", 'quo"te', "it's", "percent%s", "sel:ect"])
    def test_a_schema_may_have_any_name(self, postgres: PostgreSQL, name: str) -> None:
        provider = PostgreSQLProvider()
        provider.initialize(dsn=postgres.dsn("laws"), schema=name)
        with SessionDB(provider=provider) as db:
            db.append_message(db.create_session("s", "cli"), "user", "needle")
            assert (len(db.search_messages("needle")), db.stats()["size_bytes"] > 0) == (1, True)

    def test_every_table_is_known_to_the_dialect(self, opened: Open, options: dict[str, Any]) -> None:
        opened()
        sql = "SELECT tablename FROM pg_tables WHERE schemaname = %s"
        with psycopg.connect(options["dsn"]) as connection:
            found = connection.execute(sql, [options["schema"]]).fetchall()
        assert {row[0] for row in found} == set(TABLES)


class TestPools:
    def test_an_exhausted_pool_is_busy_and_names_its_size(self, opened: Open) -> None:
        db = opened(pool_size=1, max_overflow=1, deadline=0.3)
        pools = db.provider._engine.pools  # type: ignore[attr-defined]
        with (
            pools.leased(LATER),
            pools.leased(LATER),
            pytest.raises(Busy, match=r"all 2 connections .*pool_size 1, max_overflow 1"),
        ):
            db.session_count()
        assert db.session_count() == 0

    def test_the_callers_pool_is_used_and_left_as_it_was(self, opened: Open, options: dict[str, Any]) -> None:
        with ConnectionPool(options["dsn"], min_size=1, max_size=2, open=True) as pool:
            db = opened(dsn="", pool=pool)
            db.append_message(db.create_session("s", "cli"), "user", "x")
            db.close()
            with pool.connection() as connection:
                assert (connection.autocommit, pool.closed) == (False, False)

    def test_a_closed_pool_of_the_caller_is_told(self, opened: Open, options: dict[str, Any]) -> None:
        with ConnectionPool(options["dsn"], min_size=1, max_size=2, open=True) as pool:
            db = opened(dsn="", pool=pool)
        with pytest.raises(Closed, match="pool"):
            db.session_count()

    def test_a_pool_that_is_not_open_yet_is_told(self, options: dict[str, Any]) -> None:
        with pytest.raises(Closed, match="not open yet"):
            PostgreSQLProvider().initialize(pool=ConnectionPool(options["dsn"], open=False), schema=options["schema"])

    def test_settings_reach_the_server(self, opened: Open) -> None:
        assert opened(synchronous_commit="off").health()["synchronous_commit"] == "off"
        assert opened(synchronous_commit=None).health()["synchronous_commit"] == "on"

    def test_behind_a_transaction_pooler_nothing_stays_on_a_connection(
        self, opened: Open, postgres: PostgreSQL
    ) -> None:
        db = opened(prepare_threshold=None, pool_size=1, max_overflow=0)
        db.create_session("s", "cli")
        for number in range(12):
            db.append_message("s", "user", f"needle {number}", message_key=str(number))
        db.search_messages("needle")
        with db.provider._engine.pools.leased(LATER) as connection:  # type: ignore[attr-defined]
            prepared = connection.execute("SELECT COUNT(*) FROM pg_prepared_statements").fetchone()
            locks = connection.execute("SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory'").fetchone()
            path = connection.execute("SHOW search_path").fetchone()
        assert (prepared, locks, path) == ((0,), (0,), ('"$user", public',))


class TestBetweenWriters:
    def test_a_lock_that_is_held_ends_in_busy(self, opened: Open, options: dict[str, Any]) -> None:
        db = opened(deadline=0.5)
        db.create_session("s", "cli")
        with psycopg.connect(options["dsn"]) as other:
            other.execute(f"SELECT 1 FROM {options['schema']}.sessions FOR UPDATE".encode())
            with pytest.raises(Busy, match="held a row"):
                db.append_message("s", "user", "x")
        assert db.append_message("s", "user", "x")

    def test_a_deadlock_is_run_again(self, opened: Open, options: dict[str, Any]) -> None:
        db = opened(deadline=10)
        for name in "ab":
            db.create_session(name, "cli")
        order: list[str] = []

        def in_the_middle(tx: Any) -> None:
            order.append("begun")
            tx.run("UPDATE sessions SET cwd = 'x' WHERE id = 'a'")
            if len(order) == 1:
                raise psycopg.errors.DeadlockDetected
            tx.run("UPDATE sessions SET cwd = 'x' WHERE id = 'b'")

        db.provider.driver.write(in_the_middle)  # type: ignore[attr-defined]
        assert (len(order), [row["cwd"] for row in db.search_sessions()]) == (2, ["x", "x"])

    @pytest.mark.parametrize("error", [psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected])
    def test_a_collision_that_never_ends_is_busy(self, opened: Open, error: type[psycopg.Error]) -> None:
        db = opened(deadline=1.0)

        def collide(tx: Any) -> None:
            raise error

        with pytest.raises(Busy, match="other writers"):
            db.provider.driver.write(collide)  # type: ignore[attr-defined]
        assert db.session_count() == 0

    def test_a_transaction_that_loses_its_connection_runs_again(self, opened: Open, postgres: PostgreSQL) -> None:
        db = opened()
        db.create_session("s", "cli")
        attempts: list[int] = []

        def work(tx: Any) -> None:
            attempts.append(1)
            tx.run("UPDATE sessions SET input_tokens = input_tokens + 1 WHERE id = 's'")
            if len(attempts) == 1:
                (pid,) = tx.row("SELECT pg_backend_pid()")
                postgres.execute(f"SELECT pg_terminate_backend({pid})")
            tx.run("UPDATE sessions SET output_tokens = output_tokens + 1 WHERE id = 's'")

        db.provider.driver.write(work)  # type: ignore[attr-defined]
        session = db.get_session("s")
        assert session is not None
        assert (len(attempts), session["input_tokens"], session["output_tokens"]) == (2, 1, 1)

    def test_an_append_is_one_statement(self, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
        db = opened()
        db.create_session("s", "cli")
        sent: list[object] = []
        execute = psycopg.Connection.execute

        def counted(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
            sent.append(query)
            return execute(self, query, *args, **kwargs)

        monkeypatch.setattr(psycopg.Connection, "execute", counted)
        db.append_message("s", "user", "a needle")
        db.append_message("s", "user", "a needle", message_key="k")
        db.append_message("s", "user", "long " * 10_000)
        assert len(sent) == 3

    def test_a_row_that_stays_in_the_way_is_a_conflict(self, opened: Open) -> None:
        db = opened()
        db.create_session("s", "cli", origin="codex", native_id="1")
        with pytest.raises(Conflict):
            db.create_session("t", "cli", origin="codex", native_id="1")


class TestLongTexts:
    def test_two_megabytes_are_found_from_end_to_end(self, opened: Open) -> None:
        db = opened()
        text = "alpha needle " + " ".join(f"word{number}" for number in range(200_000)) + " needle omega"
        db.append_message(db.create_session("s", "cli"), "user", text)
        for query, hits in [
            ("alpha omega", 1), ('"needle omega"', 1), ("word150000", 1), ('"word2999 word3000 word3001"', 1),
            ('"word3000 word2999"', 0), ("alpha -omega", 0), ("alpha -absent", 1),
            ("absent OR omega", 1), ("word19999*", 1),
        ]:  # fmt: skip
            found = db.provider.search(parse(query), Filter(), MessageFilter(), Page(), "newest", 1.0)
            assert len(found.hits) == hits, query

    def test_a_phrase_longer_than_the_overlap_is_found(self, opened: Open) -> None:
        db = opened()
        said = " ".join(f"w{number}" for number in range(5000))
        db.append_message(db.create_session("s", "cli"), "user", said)
        phrase = " ".join(f"w{number}" for number in range(2950, 3100))
        assert len(db.search_messages(f'"{phrase}"')) == 1
        assert len(db.search_messages(f'"{phrase} w1"')) == 0

    def test_the_same_word_many_times_is_no_problem(self, opened: Open) -> None:
        db = opened()
        db.append_message(db.create_session("s", "cli"), "user", "again " * 100_000 + "and again once")
        assert len(db.search_messages('"again once"')) == 1
