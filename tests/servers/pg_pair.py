"""A PostgreSQL primary and a streaming standby on loopback; the primary can be killed and the standby promoted."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg

from . import common
from .postgres import ACCESS, SETTINGS, PostgreSQL, binary

STANDBY = "standby"
SLOT = "standby_slot"
REPLICATION = "host replication all 127.0.0.1/32 trust\n"
PATIENCE = 60.0


class Standby:
    """A copy of a primary that follows it."""

    def __init__(self, primary: PostgreSQL) -> None:
        self.user, self.port = primary.user, common.free_port()
        directory = common.new_directory("pg-standby", self.user)
        self.data = directory / "data"
        source = f"host=127.0.0.1 port={primary.port} user=admin application_name={STANDBY}"
        copy = ["-D", str(self.data), "-d", source, "-R", "-X", "stream", "-C", "-S", SLOT, "--checkpoint=fast"]
        common.run([binary("pg_basebackup"), *copy, "--no-sync"], self.user, directory)
        options = [f"{name}={value}" for name, value in SETTINGS.items()]
        command = [binary("postgres"), "-D", str(self.data), "-p", str(self.port)]
        self.process = common.Process(
            [*command, *(word for option in options for word in ("-c", option))], self.user, directory, signal.SIGINT
        )
        self.process.start(lambda: answers(self.port))

    def promote(self) -> None:
        promote = [binary("pg_ctl"), "promote", "-D", str(self.data), "-w", "-t", "30"]
        common.run(promote, self.user, self.process.directory)

    def cut_off(self) -> None:
        """End the stream from the primary."""
        execute(self.port, "ALTER SYSTEM SET primary_conninfo TO ''", "SELECT pg_reload_conf()")
        wait_for(lambda: query(self.port, "SELECT COUNT(*) FROM pg_stat_wal_receiver") == 0, "the stream to end")


class Pair:
    def __init__(self, *, synchronous: bool) -> None:
        self.primary = PostgreSQL(
            wal_level="replica", max_wal_senders="10", max_replication_slots="10", hot_standby="on",
            wal_receiver_status_interval="1",
        )  # fmt: skip
        (self.primary.data / "pg_hba.conf").write_text(REPLICATION + ACCESS)
        execute(self.primary.port, "SELECT pg_reload_conf()", "CREATE DATABASE agents")
        self.standby = Standby(self.primary)
        wait_for(lambda: self.state() is not None, "the standby to stream")
        if synchronous:
            execute(self.primary.port, f"ALTER SYSTEM SET synchronous_standby_names TO '{STANDBY}'")
            execute(self.primary.port, "SELECT pg_reload_conf()")
            wait_for(lambda: self.state() == "sync", "the standby to be synchronous")

    def state(self) -> object:
        return query(self.primary.port, "SELECT MAX(sync_state) FROM pg_stat_replication WHERE state = 'streaming'")

    @property
    def dsn(self) -> str:
        """Both hosts; whoever takes writes is the one."""
        ports = f"{self.primary.port},{self.standby.port}"
        return (
            f"host=127.0.0.1,127.0.0.1 port={ports} dbname=agents user=admin "
            "target_session_attrs=read-write connect_timeout=2"
        )

    @property
    def standby_dsn(self) -> str:
        return f"host=127.0.0.1 port={self.standby.port} dbname=agents user=admin"

    def kill_primary(self) -> None:
        """The whole server at once, as when its machine loses power."""
        process = self.primary.process.popen
        assert process is not None
        for pid in [process.pid, *children(process.pid)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()

    def remove(self) -> None:
        self.standby.process.remove()
        self.primary.process.remove()


@contextmanager
def pair(*, synchronous: bool) -> Iterator[Pair]:
    made = Pair(synchronous=synchronous)
    try:
        yield made
    finally:
        made.remove()


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def answers(port: int) -> bool:
    try:
        query(port, "SELECT 1", "postgres")
    except psycopg.OperationalError:
        return False
    return True


def execute(port: int, *statements: str) -> None:
    dsn = f"host=127.0.0.1 port={port} dbname=postgres user=admin"
    with psycopg.connect(dsn, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def query(port: int, sql: str, database: str = "postgres") -> object:
    with psycopg.connect(f"host=127.0.0.1 port={port} dbname={database} user=admin connect_timeout=2") as connection:
        found = connection.execute(sql.encode()).fetchone()
        return found[0] if found else None


def wait_for(condition: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError(f"waited {PATIENCE:g} s for {what}")
        time.sleep(0.02)
