"""A private MariaDB in a temporary directory, one per test run; the last worker to leave stops it.

`SESSIONDB_MYSQLD` names a `mysqld` of MySQL to run instead.
"""

from __future__ import annotations

import atexit
import fcntl
import getpass
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PATIENCE = 60.0
_PREFIX = "sessiondb-mariadb-"
_MEMORY = "/dev/shm"
# Tests ask for laws, not for a disk; durability is tested with `durable=True`.
_QUICK = ("--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0")
_SETTINGS = (
    "--innodb-buffer-pool-size=128M",
    "--innodb-log-file-size=48M",
    "--performance-schema=OFF",
    "--skip-name-resolve",
    "--skip-log-bin",
    "--max-connections=300",
    "--bind-address=127.0.0.1",
)
MYSQLD = os.environ.get("SESSIONDB_MYSQLD")
_MYSQL = ("--mysqlx=OFF", "--secure-file-priv=NULL")
# MySQL knows root by name only, and names are not looked up.
_ROOT = """
CREATE USER IF NOT EXISTS root@'127.0.0.1';
GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;
"""


def free_port() -> int:
    """A port below those that clients get by themselves: who retries one of those may end up talking to himself."""
    while True:
        port = random.randrange(15_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def _program(name: str) -> str:
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin:/usr/local/bin")
    if found is None:
        raise RuntimeError(f"{name} is not installed; `tools/setup.sh servers` installs MariaDB")
    return found


_NEW = ("--auth-root-authentication-method=normal", "--skip-test-db")


def _new_mysql(program: str) -> list[str]:
    return [program, "--no-defaults", "--initialize-insecure"]


class MariaDB:
    """One server: its directory, port and process."""

    def __init__(self, directory: Path, *, durable: bool = False, settings: tuple[str, ...] = ()) -> None:
        self.directory = directory
        self.port = free_port()
        self.user = getpass.getuser()
        self.settings = (*_SETTINGS, *(_MYSQL if MYSQLD else ()), *(() if durable else _QUICK), *settings)

    @property
    def socket(self) -> str:
        return str(self.directory / "sock")

    def options(self, **more: Any) -> dict[str, Any]:
        """The options of `initialize` for this server."""
        return {"host": "127.0.0.1", "port": self.port, "user": "root", **more}

    @property
    def _places(self) -> tuple[str, ...]:
        """Of its own even for tables that it makes by the way: who cleans /tmp must not meet them."""
        return (f"--datadir={self.directory / 'data'}", f"--tmpdir={self.directory / 'tmp'}", f"--user={self.user}")

    def install(self) -> None:
        (self.directory / "tmp").mkdir(mode=0o700)
        shutil.chown(self.directory / "tmp", self.user)
        (self.directory / "root.sql").write_text(_ROOT)
        maker = [_program("mariadb-install-db"), "--no-defaults", *_NEW] if MYSQLD is None else _new_mysql(MYSQLD)
        subprocess.run(
            [*maker, *self._places], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE
        )

    def start(self) -> None:
        process = subprocess.Popen(
            [
                MYSQLD or _program("mariadbd"),
                "--no-defaults",
                *self._places,
                f"--socket={self.socket}",
                f"--port={self.port}",
                f"--pid-file={self.directory / 'pid'}",
                f"--log-error={self.directory / 'log'}",
                *((f"--init-file={self.directory / 'root.sql'}",) if MYSQLD else ()),
                *self.settings,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # Ctrl-C is for the tests, who stop the server after themselves.
            start_new_session=True,
        )
        (self.directory / "server").write_text(json.dumps({"pid": process.pid, "port": self.port}))
        self._wait_until_it_answers(process)

    def _wait_until_it_answers(self, process: subprocess.Popen[bytes]) -> None:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise RuntimeError(f"MariaDB did not start: {_said(self.directory)}")

    @property
    def pid(self) -> int:
        return int(json.loads((self.directory / "server").read_text())["pid"])

    def stop(self, kind: signal.Signals = signal.SIGTERM) -> None:
        stop(self.directory, kind)

    def restart(self, kind: signal.Signals = signal.SIGKILL) -> None:
        self.stop(kind)
        self.start()


def _said(directory: Path) -> str:
    """The end of its log, which some servers give another ending."""
    logs = [path.read_text("utf-8", "replace") for path in sorted(directory.glob("log*"))]
    return "\n".join(logs)[-3000:]


def stop(directory: Path, kind: signal.Signals = signal.SIGTERM) -> None:
    """End the server of a directory by its pid and wait until it is gone."""
    if not (directory / "server").exists():
        return
    pid = int(json.loads((directory / "server").read_text())["pid"])
    if _is_server_of(pid, directory):
        os.kill(pid, kind)
        until = time.monotonic() + PATIENCE
        while not _is_gone(pid):
            if time.monotonic() > until:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
    (directory / "server").unlink(missing_ok=True)


def _is_server_of(pid: int, directory: Path) -> bool:
    """Not another process that got its number."""
    try:
        return str(directory).encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


def _is_gone(pid: int) -> bool:
    """Whether it ended: a dying process keeps its port until it is a zombie."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        pass  # another worker's child
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


@contextmanager
def private(*, durable: bool = False, settings: tuple[str, ...] = ()) -> Iterator[MariaDB]:
    """A server of one test's own."""
    directory = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}own-{os.getpid()}-", dir=None if durable else _place()))
    server = MariaDB(directory, durable=durable, settings=settings)
    try:
        server.install()
        server.start()
        yield server
    finally:
        stop(directory)
        shutil.rmtree(directory, ignore_errors=True)


_in_this_process: list[MariaDB] = []


@contextmanager
def shared() -> Iterator[MariaDB]:
    """The server of this test run: started by the first worker, stopped by the last; once per process."""
    if _in_this_process:
        yield _in_this_process[0]
        return
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID") or str(os.getpid())
    server = MariaDB(Path(_place()) / f"{_PREFIX}{run}")
    _join(server)
    _in_this_process.append(server)
    atexit.register(_leave, server)
    yield server


def _join(server: MariaDB) -> None:
    _sweep()
    server.directory.mkdir(mode=0o700, exist_ok=True)
    with _locked(server.directory):
        _user(server).touch()
        if not (server.directory / "server").exists():
            server.install()
            server.start()
        server.port = int(json.loads((server.directory / "server").read_text())["port"])


def _sweep() -> None:
    """Stop and remove what runs that were killed have left behind."""
    for place in {_place(), tempfile.gettempdir()}:
        for directory in Path(place).glob(f"{_PREFIX}*"):
            if _is_old(directory) and not any(map(_alive, _users(directory))):
                stop(directory)
                shutil.rmtree(directory, ignore_errors=True)


def _is_old(directory: Path) -> bool:
    """Not just being made by another worker."""
    try:
        return time.time() - directory.stat().st_mtime > PATIENCE
    except FileNotFoundError:
        return False


def _users(directory: Path) -> list[int]:
    """The processes that use the server of a directory."""
    own = re.match(r"own-(\d+)-", directory.name.removeprefix(_PREFIX))
    if own:
        return [int(own[1])]
    return [int(user.name.removeprefix("user-")) for user in directory.glob("user-*")]


def _leave(server: MariaDB) -> None:
    with _locked(server.directory):
        _user(server).unlink(missing_ok=True)
        last = not any(map(_alive, _users(server.directory)))
        if last:
            stop(server.directory)
    if last:
        shutil.rmtree(server.directory, ignore_errors=True)


def _user(server: MariaDB) -> Path:
    return server.directory / f"user-{os.getpid()}"


def _place() -> str:
    return _MEMORY if os.access(_MEMORY, os.W_OK) else tempfile.gettempdir()


def _alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    with (directory / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
