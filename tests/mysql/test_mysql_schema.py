"""Installing, upgrading, refusing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from servers.mariadb import MYSQLD
from servers.mysql_stores import Open, Stores
from sessiondb.backends.mysql import MySQLProvider, schema
from sessiondb.errors import MissingExtra, SchemaOutdated, SchemaTooNew, Unavailable

INSTALLER = """
import sys
from sessiondb.backends.mysql import MySQLProvider
provider = MySQLProvider()
provider.initialize(dsn=sys.argv[1])
provider.create_session({"id": sys.argv[2], "source": "cli", "started_at": 1.0})
provider.shutdown()
"""


@pytest.fixture
def empty(stores: Stores) -> dict[str, Any]:
    return stores.server.options(database=stores.empty_database())


def tables(stores: Stores, options: dict[str, Any]) -> list[Any]:
    return stores.execute(f"SHOW TABLES FROM {options['database']}")


def test_processes_that_install_at_once_all_succeed(stores: Stores, empty: dict[str, Any], open_db: Open) -> None:
    dsn = f"mysql://root@127.0.0.1:{stores.server.port}/{empty['database']}"
    running = [subprocess.Popen([sys.executable, "-c", INSTALLER, dsn, str(number)]) for number in range(3)]
    assert [process.wait(timeout=60) for process in running] == [0, 0, 0]
    assert open_db(empty).session_count() == 3


def test_an_installation_that_was_stopped_is_finished(stores: Stores, empty: dict[str, Any], open_db: Open) -> None:
    open_db(empty).close()
    stores.execute(f"DROP TABLE {empty['database']}.search_chunks")
    stores.execute(f"UPDATE {empty['database']}.schema_version SET version = 0")
    db = open_db(empty)
    db.append_message(db.create_session("s", "cli"), "user", "needle")
    assert len(db.search_messages("needle")) == 1


def test_a_newer_schema_is_refused_and_left_alone(stores: Stores, empty: dict[str, Any], open_db: Open) -> None:
    open_db(empty).close()
    stores.execute(f"UPDATE {empty['database']}.schema_version SET version = {schema.VERSION + 1}")
    with pytest.raises(SchemaTooNew, match="upgrade sessiondb"):
        open_db(empty)


def test_tables_of_another_program_are_refused_and_left_alone(
    stores: Stores, empty: dict[str, Any], open_db: Open
) -> None:
    stores.execute(f"CREATE TABLE {empty['database']}.sessions (id INT)")
    with pytest.raises(SchemaTooNew, match="another program"):
        open_db(empty)
    assert len(tables(stores, empty)) == 1


def test_an_older_schema_is_upgraded_only_when_asked(stores: Stores, empty: dict[str, Any], open_db: Open) -> None:
    open_db(empty).close()
    stores.execute(f"UPDATE {empty['database']}.schema_version SET version = 1000")
    with pytest.raises(SchemaOutdated, match="upgrade=True"):
        open_db(empty, upgrade=False)
    open_db(empty)
    assert stores.execute(f"SELECT version FROM {empty['database']}.schema_version") == [(schema.VERSION,)]


def test_reading_only_installs_nothing(stores: Stores, empty: dict[str, Any], open_db: Open) -> None:
    with pytest.raises(SchemaOutdated, match="without read_only"):
        open_db(empty, read_only=True)
    assert tables(stores, empty) == []


class TestRights:
    @pytest.fixture
    def reader(self, stores: Stores, empty: dict[str, Any]) -> dict[str, Any]:
        """Options of a user who may only read."""
        name = f"reader_{empty['database'][-20:]}"
        stores.execute(f"CREATE USER {name}@'127.0.0.1' IDENTIFIED BY 'secret'")
        stores.execute(f"GRANT SELECT ON {empty['database']}.* TO {name}@'127.0.0.1'")
        return {**empty, "user": name, "password": "secret"}

    def test_who_may_not_create_tables_is_told_so(self, reader: dict[str, Any], open_db: Open) -> None:
        with pytest.raises(Unavailable, match="may not create tables") as caught:
            open_db(reader)
        assert "secret" not in str(caught.value)

    def test_who_may_only_read_reads(self, empty: dict[str, Any], reader: dict[str, Any], open_db: Open) -> None:
        open_db(empty).create_session("s", "cli")
        assert open_db(reader, read_only=True).session_count() == 1

    def test_who_may_only_read_cannot_write(self, empty: dict[str, Any], reader: dict[str, Any], open_db: Open) -> None:
        open_db(empty)
        with pytest.raises(Unavailable, match="right"):
            open_db(reader).create_session("s", "cli")

    def test_daily_work_needs_four_rights(
        self, stores: Stores, empty: dict[str, Any], reader: dict[str, Any], open_db: Open
    ) -> None:
        open_db(empty)
        stores.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {empty['database']}.* TO {reader['user']}@'127.0.0.1'")
        db = open_db(reader)
        db.append_message(db.create_session("s", "cli"), "user", "needle")
        db.delete_session("s")
        db.restore_deleted("s")
        db.create_session("t", "cli")
        assert [hit["session_id"] for hit in db.search_messages("needle")] == ["s"]
        assert [row["id"] for row in db.list_sessions_rich(order_by="activity")] == ["t", "s"]


def test_every_table_compares_text_byte_by_byte(stores: Stores, empty: dict[str, Any], open_db: Open) -> None:
    open_db(empty)
    found = stores.execute(
        "SELECT DISTINCT collation_name FROM information_schema.columns"
        " WHERE table_schema = %s AND collation_name IS NOT NULL",
        (empty["database"],),
    )
    binary = "utf8mb4_0900_bin" if MYSQLD else "utf8mb4_nopad_bin"
    assert {name for (name,) in found} == {binary, "ascii_bin"}


def test_the_provider_is_there_when_its_driver_is() -> None:
    assert MySQLProvider.is_available()


def test_a_missing_driver_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymysql", None)
    with pytest.raises(MissingExtra, match=r"pip install 'sessiondb\[mysql\]'"):
        MySQLProvider().initialize(dsn="mysql://h/db")


def test_compressed_columns_change_nothing_but_the_room(stores: Stores, empty: dict[str, Any], open_db: Open) -> None:
    """What the documentation tells an administrator to do, done to a store that is in use."""
    db = open_db(empty)
    large = "päth/to/it " * 2000 + "\0\ud800"
    db.create_session("s", "cron", system_prompt=large)
    db.append_messages("s", [{"role": "tool", "content": large}, {"role": "user", "content": None}])
    page = (Path(__file__).parents[2] / "docs" / "providers.md").read_text()
    statements = re.findall(r"ALTER TABLE (\w+ MODIFY .* COMPRESSED);", page)
    assert len(statements) == 2
    for statement in statements:
        stores.execute(f"ALTER TABLE {empty['database']}.{statement}")
    db.append_message("s", "tool", large + " needle")
    assert [row["content"] for row in db.get_messages("s")] == [large, None, large + " needle"]
    assert (db.get_session("s")["system_prompt"], db.verify().ok) == (large, True)
    assert len(db.search_messages("needle")) == len(db.search_messages("eedl", mode="substring")) == 1
    db.delete_session("s")
    db.restore_deleted("s")
    assert (db.get_messages("s")[-1]["content"], db.verify().ok) == (large + " needle", True)
    (shown,) = stores.execute(f"SELECT LENGTH(content) FROM {empty['database']}.v1_messages WHERE seq = 3")
    assert shown[0] > len(large)
