"""`doctor` and `verify` on a server: what is wrong there, and what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pymysql
import pytest

from servers import mysql_stores
from servers.postgres import PASSWORD, server
from sessiondb.backends.mysql import MySQLProvider
from sessiondb.backends.postgres import PostgreSQLProvider
from sessiondb.db import SessionDB
from sessiondb.provider import SessionDBProvider

Run = Callable[..., tuple[int, dict[str, Any]]]


class Place:
    """A store on a server: its URL, its settings, and somebody who may do anything there."""

    def __init__(self, provider: SessionDBProvider, config: str, execute: Callable[[str], None]) -> None:
        self.db, self.config, self.execute = SessionDB(provider=provider), config, execute
        self.db.append_messages(
            self.db.create_session("s", "cli"), [{"role": "user", "content": f"needle {n}"} for n in range(5)]
        )


@pytest.fixture
def postgres() -> Iterator[Place]:
    dsn, schema = server().dsn("laws"), f"own_{uuid4().hex[:12]}"

    def execute(sql: str) -> None:
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(sql.replace("{schema}", schema).encode())

    provider = PostgreSQLProvider()
    provider.initialize(dsn=dsn, schema=schema)
    settings = f"    dsn: {dsn}\n    schema: {schema}\n"
    yield Place(provider, f"sessiondb:\n  provider: postgresql\n  postgresql:\n{settings}", execute)
    provider.shutdown()
    execute("DROP SCHEMA {schema} CASCADE")


@pytest.fixture(scope="module")
def stores() -> Iterator[mysql_stores.Stores]:
    with mysql_stores.opened() as opened:
        yield opened


@pytest.fixture
def mysql(stores: mysql_stores.Stores) -> Iterator[Place]:
    options = stores.new()
    provider = MySQLProvider()
    provider.initialize(**options)
    url = f"mysql://root@127.0.0.1:{options['port']}/{options['database']}"

    def execute(sql: str) -> None:
        with pymysql.connect(**stores.server.options(database=options["database"]), ssl_disabled=True) as connection:
            connection.cursor().execute(sql.replace("{database}", options["database"]))
            connection.commit()

    yield Place(provider, f"sessiondb:\n  provider: mysql\n  mysql:\n    dsn: {url}\n", execute)
    provider.shutdown()
    stores.recycle()


@pytest.fixture(params=["postgres", "mysql"])
def place(request: pytest.FixtureRequest) -> Place:
    found: Place = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run(place: Place, *words: str, change: Callable[[str], str] = str) -> tuple[int, dict[str, Any]]:
        (tmp_path / "config.yaml").write_text(change(place.config))
        environment = {**os.environ, "SESSIONDB_HOME": str(tmp_path)}
        environment.pop("SESSIONDB_URL", None)
        line = [sys.executable, "-m", "sessiondb", *words, "--json"]
        done = subprocess.run(line, capture_output=True, text=True, env=environment, check=False, timeout=60)
        return done.returncode, json.loads(done.stdout) if done.stdout else {"error": done.stderr}

    return run


def told(answer: dict[str, Any], severity: str) -> list[tuple[str, str | None]]:
    return [(each["message"], each["next_step"]) for each in answer["findings"] if each["severity"] == severity]


def is_of_the_test_server(message: str) -> bool:
    """The private servers are quick, not safe."""
    return any(name in message for name in ("fsync", "full_page_writes", "innodb_flush_log_at_trx_commit"))


def warnings(answer: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [found for found in told(answer, "warning") if not is_of_the_test_server(found[0])]


def test_a_healthy_store(run: Run, place: Place) -> None:
    code, answer = run(place, "doctor")
    assert (code, answer["damaged"], warnings(answer)) == (0, False, [])
    assert {"server_version", "schema_version", "sessions", "messages", "size_bytes"} <= set(answer["facts"])


def test_settings_that_risk_data_are_told(run: Run, place: Place) -> None:
    _, answer = run(place, "doctor")
    assert any(is_of_the_test_server(message) and step for message, step in told(answer, "warning"))


def test_a_lost_message_is_damage(run: Run, place: Place) -> None:
    where = "{schema}.messages" if place.db.provider.name == "postgresql" else "messages"
    place.execute(f"DELETE FROM {where} WHERE seq = 3")
    code, answer = run(place, "doctor")
    ((message, step),) = told(answer, "damage")
    assert (code, "position 3" in message, "backup" in (step or "")) == (6, True, True)
    assert run(place, "verify")[0] == 6


def test_a_healthy_store_is_verified(run: Run, place: Place) -> None:
    code, answer = run(place, "verify")
    assert (code, answer["ok"], answer["messages"]) == (0, True, 5)


class TestPostgreSQL:
    def test_a_missing_index_is_named_with_its_statement(self, run: Run, postgres: Place) -> None:
        postgres.execute("DROP INDEX {schema}.sessions_activity")
        ((message, step),) = warnings(run(postgres, "doctor")[1])
        assert "sessions_activity" in message
        assert step is not None
        postgres.execute(step)
        assert warnings(run(postgres, "doctor")[1]) == []

    def test_a_missing_search_index_is_made_by_the_next_step(self, run: Run, postgres: Place) -> None:
        postgres.execute("DROP INDEX {schema}.search_tokens_tsv")
        steps = {step for _, step in warnings(run(postgres, "doctor")[1])}
        assert steps == {"sessiondb optimize --reindex"}
        run(postgres, "optimize", "--reindex")
        assert warnings(run(postgres, "doctor")[1]) == []

    def test_a_missing_right_is_named_with_its_grant(self, run: Run, postgres: Place) -> None:
        for right in ("USAGE ON SCHEMA {schema}", "SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA {schema}"):
            postgres.execute(f"GRANT {right} TO guarded")
        postgres.execute("GRANT DELETE ON ALL TABLES IN SCHEMA {schema} TO guarded")
        postgres.execute("GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA {schema} TO guarded")
        postgres.execute("REVOKE DELETE ON {schema}.tags FROM guarded")

        def as_guarded(config: str) -> str:
            return config.replace("user=admin", f"user=guarded password='{PASSWORD}'")

        code, answer = run(postgres, "doctor", change=as_guarded)
        ((message, step),) = warnings(answer)
        assert (code, "DELETE on tags" in message) == (0, True)
        assert step is not None
        postgres.execute(step)
        assert warnings(run(postgres, "doctor", change=as_guarded)[1]) == []

    def test_a_role_that_may_only_read(self, run: Run, postgres: Place) -> None:
        for right in ("USAGE ON SCHEMA", "SELECT ON ALL TABLES IN SCHEMA", "SELECT ON ALL SEQUENCES IN SCHEMA"):
            postgres.execute(f"GRANT {right} {{schema}} TO guarded")
        secret = f"user=guarded password='{PASSWORD}'"
        code, answer = run(postgres, "doctor", change=lambda config: config.replace("user=admin", secret))
        assert (code, warnings(answer)) == (0, [])
        assert any("only read" in message for message, _ in told(answer, "note"))
        assert PASSWORD not in json.dumps(answer)

    def test_words_of_another_version(self, run: Run, postgres: Place) -> None:
        postgres.execute("UPDATE {schema}.schema_version SET analyser = 0")
        ((message, step),) = warnings(run(postgres, "doctor")[1])
        assert ("another version" in message, step) == (True, "sessiondb optimize --reindex")
        run(postgres, "optimize", "--reindex")
        assert warnings(run(postgres, "doctor")[1]) == []

    def test_nobody_answers(self, run: Run, postgres: Place) -> None:
        port = f"port={server().port}"
        code, answer = run(postgres, "doctor", change=lambda config: config.replace(port, "port=1"))
        assert (code, "error" in answer) == (5, True)


class TestMySQL:
    def test_a_missing_key_is_named_with_its_statement(self, run: Run, mysql: Place) -> None:
        mysql.execute("ALTER TABLE sessions DROP KEY sessions_activity")
        ((message, step),) = warnings(run(mysql, "doctor")[1])
        assert "sessions_activity" in message
        assert step is not None
        mysql.execute(step)
        assert warnings(run(mysql, "doctor")[1]) == []

    def test_a_missing_right_is_named_with_its_grant(self, run: Run, mysql: Place) -> None:
        mysql.execute("DROP USER IF EXISTS agent@'127.0.0.1'")
        mysql.execute("CREATE USER agent@'127.0.0.1'")
        tables = [table for table in mysql_stores.TABLES if table != "tags"]
        for table in tables:
            mysql.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {{database}}.{table} TO agent@'127.0.0.1'")
        mysql.execute("GRANT SELECT, INSERT ON {database}.tags TO agent@'127.0.0.1'")
        mysql.execute("GRANT SELECT ON {database}.schema_version TO agent@'127.0.0.1'")
        code, answer = run(mysql, "doctor", change=lambda config: config.replace("root@", "agent@"))
        ((message, _),) = warnings(answer)
        assert (code, "UPDATE, DELETE on tags" in message) == (0, True)
