"""A private PostgreSQL for this test process."""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from uuid import uuid4

import psycopg

from . import common

OWNER = "postgres"
PASSWORD = "open sesame@1"
INITDB = ("-U", "admin", "-E", "UTF8", "--locale=C.UTF-8", "--auth=trust", "--no-sync")
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "fsync": "off",
    "full_page_writes": "off",
    "log_min_messages": "fatal",
    "log_min_error_statement": "panic",
}
# `guarded` and its members need their passwords; the others come in as they are, for speed.
ACCESS = "host all +guarded 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n"


def binary(name: str) -> str:
    """The newest installed server's program; a missing one fails the run."""
    found = [str(path) for path in Path("/usr/lib/postgresql").glob(f"*/bin/{name}")]
    newest = max(found, key=lambda path: int(re.findall(r"\d+", path)[0]), default=shutil.which(name))
    if newest is None:
        raise RuntimeError(f"{name} is not installed; `tools/setup.sh servers` installs PostgreSQL")
    return newest


class PostgreSQL:
    def __init__(self, *, durable: bool = False, **settings: str) -> None:
        self.user = common.server_user(OWNER)
        self.port = common.free_port()
        directory = common.new_directory("pg", self.user, durable=durable)
        self.data = directory / "data"
        common.run(
            [binary("initdb"), "-D", str(self.data), *INITDB],
            self.user,
            directory,
        )
        (self.data / "pg_hba.conf").write_text(ACCESS)
        options = [f"{name}={value}" for name, value in {**SETTINGS, **settings}.items()]
        command = [binary("postgres"), "-D", str(self.data), "-p", str(self.port)]
        self.process = common.Process(
            [*command, *(word for option in options for word in ("-c", option))], self.user, directory, signal.SIGINT
        )
        self.start()

    def start(self) -> None:
        self.process.start(self._answers)

    def stop(self, number: int | None = None) -> None:
        self.process.stop(number)

    def dsn(self, database: str = "postgres", user: str = "admin", password: str | None = None) -> str:
        secret = f" password='{password}'" if password else ""
        return f"host=127.0.0.1 port={self.port} dbname={database} user={user}{secret}"

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.dsn(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def execute(self, *statements: str, database: str = "postgres") -> None:
        with psycopg.connect(self.dsn(database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())


@cache
def server() -> PostgreSQL:
    """The server of this test process, started when first asked for."""
    started = PostgreSQL()
    started.execute("CREATE DATABASE laws", f"CREATE ROLE guarded LOGIN PASSWORD '{PASSWORD}'")
    return started


TABLES = (
    "search_tokens", "tool_calls", "media_refs", "tags", "messages", "sessions", "meta", "import_files",
    "gateway_bindings", "trash_sessions", "trash_messages", "trash_tool_calls", "trash_media_refs",
)  # fmt: skip


class Schemas:
    """Empty schemas to test in; emptied and used again, since making one takes longer than most tests."""

    def __init__(self) -> None:
        self.idle: list[str] = []
        self.used: list[str] = []

    def options(self) -> dict[str, object]:
        name = self.idle.pop() if self.idle else f"s_{uuid4().hex[:12]}"
        self.used.append(name)
        return {
            "dsn": server().dsn("laws"),
            "schema": name,
            "deadline": 5.0,
            "media_directory": str(server().process.directory / "media" / uuid4().hex),
        }

    @contextmanager
    def lent(self) -> Iterator[Schemas]:
        try:
            yield self
        finally:
            used, self.used = self.used, []
            self._empty(used)
            self.idle += used

    def _empty(self, names: list[str]) -> None:
        if not names:
            return
        with psycopg.connect(server().dsn("laws"), autocommit=True) as connection:
            for name in names:
                if connection.execute("SELECT to_regnamespace(%s)", [name]).fetchone() != (None,):
                    emptied = (f'DELETE FROM "{name}".{table};' for table in TABLES)
                    connection.execute("\n".join(emptied).encode())


schemas = Schemas()
