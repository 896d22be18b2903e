"""A private PgBouncer before a private PostgreSQL: a connection belongs to a client only during a transaction."""

from __future__ import annotations

import shutil
import signal

import psycopg

from . import common
from .postgres import OWNER, PostgreSQL

CONFIG = """
[databases]
* = host=127.0.0.1 port={server}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {directory}/users
pool_mode = transaction
default_pool_size = {size}
max_client_conn = 200
"""


def binary() -> str:
    found = shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin:/usr/local/bin:/usr/bin")
    if found is None:
        raise RuntimeError("pgbouncer is not installed; `tools/setup.sh servers` installs it")
    return found


class PgBouncer:
    def __init__(self, server: PostgreSQL, size: int = 3) -> None:
        self.port = common.free_port()
        user = common.server_user(OWNER)
        directory = common.new_directory("pgbouncer", user)
        (directory / "users").write_text('"admin" ""\n')
        config = directory / "pgbouncer.ini"
        config.write_text(CONFIG.format(server=server.port, port=self.port, directory=directory, size=size))
        for path in (directory / "users", config):
            path.chmod(0o644)
        self.process = common.Process([binary(), str(config)], user, directory, signal.SIGINT)
        self.process.start(self._answers)

    def dsn(self, database: str) -> str:
        return f"host=127.0.0.1 port={self.port} dbname={database} user=admin"

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.dsn("postgres"), connect_timeout=2, prepare_threshold=None).close()
        except psycopg.OperationalError:
            return False
        return True
