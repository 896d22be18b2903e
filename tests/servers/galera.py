"""Three MariaDB nodes that replicate to each other with Galera, on loopback, without a service manager."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pymysql

from . import common
from .mariadb import MariaDB, free_port, stop

LIBRARY = (
    "/usr/lib/galera/libgalera_smm.so", "/usr/lib/libgalera_smm.so", "/usr/lib64/galera-4/libgalera_smm.so",
)  # fmt: skip
# A node that is gone is missed after a second, not after five.
QUICK = (
    "evs.keepalive_period=PT0.3S;evs.inactive_check_period=PT0.1S;evs.suspect_timeout=PT1S;"
    "evs.inactive_timeout=PT3S;evs.join_retrans_period=PT0.3S;evs.install_timeout=PT2S;gcache.size=32M"
)
PATIENCE = 60.0


def library() -> str:
    found = next((path for path in LIBRARY if os.path.exists(path)), None)
    if found is None:
        raise RuntimeError("Galera is not installed; `tools/setup.sh servers` installs it")
    return found


class Node(MariaDB):
    """A server of the cluster, with the ports it speaks to the others on."""

    def __init__(self, directory: Path, number: int) -> None:
        super().__init__(directory)
        # The copy to a new node is made by rsync, which as root would turn into nobody.
        self.user = common.server_user("mysql") or self.user
        self.number = number
        self.group, self.state, self.transfer = free_port(), free_port(), free_port()
        self._plain = self.settings

    def join(self, nodes: list[Node], *, first: bool = False) -> None:
        """Start it, and wait until it has all the others have."""
        others = ",".join(f"127.0.0.1:{node.group}" for node in nodes)
        provider = (
            f"base_host=127.0.0.1;base_port={self.group};gmcast.listen_addr=tcp://127.0.0.1:{self.group};"
            f"ist.recv_addr=127.0.0.1:{self.state};{QUICK}"
        )
        self.settings = (
            *self._plain,
            "--binlog-format=ROW",
            "--innodb-autoinc-lock-mode=2",
            "--wsrep-on=ON",
            f"--wsrep-provider={library()}",
            "--wsrep-cluster-name=agents",
            f"--wsrep-cluster-address=gcomm://{others}",
            f"--wsrep-node-name=node{self.number}",
            "--wsrep-node-address=127.0.0.1",
            "--wsrep-sst-method=rsync",
            f"--wsrep-sst-receive-address=127.0.0.1:{self.transfer}",
            f"--wsrep-provider-options={provider}",
            *(("--wsrep-new-cluster",) if first else ()),
        )
        self.start()
        wait_for(lambda: self.status("wsrep_local_state_comment") == "Synced", f"node {self.number} to join")

    def status(self, name: str) -> str | None:
        try:
            connection = pymysql.connect(**self.options(), ssl_disabled=True, connect_timeout=2, read_timeout=5)
        except pymysql.err.MySQLError:
            return None
        try:
            with connection.cursor() as cursor:
                cursor.execute("SHOW STATUS LIKE %s", (name,))
                found = cursor.fetchone()
                return str(found[1]) if found else None
        except pymysql.err.MySQLError:
            return None
        finally:
            connection.close()

    def kill(self) -> None:
        self.stop(signal.SIGKILL)


class Galera:
    def __init__(self, directory: Path) -> None:
        self.nodes = [Node(directory / f"node{number}", number) for number in (1, 2, 3)]
        for node in self.nodes:
            node.directory.mkdir(mode=0o700)
            shutil.chown(node.directory, node.user)
            node.install()
        for node in self.nodes:
            node.join(self.nodes, first=node is self.nodes[0])

    def size(self) -> str | None:
        return self.nodes[0].status("wsrep_cluster_size")

    def options(self, number: int, **more: Any) -> dict[str, Any]:
        """The options of `initialize` for one of the nodes."""
        return self.nodes[number].options(database="agents", deadline=20.0, pool_size=2, max_overflow=0, **more)

    def url(self, *order: int) -> str:
        """All nodes; the first is preferred."""
        hosts = ",".join(f"127.0.0.1:{self.nodes[number].port}" for number in order)
        return f"mysql://root@{hosts}/agents"


@contextmanager
def cluster() -> Iterator[Galera]:
    directory = Path(tempfile.mkdtemp(prefix="sessiondb-galera-", dir=common.MEMORY if _has_room() else None))
    directory.chmod(0o755)
    try:
        yield Galera(directory)
    finally:
        for place in sorted(directory.glob("node*")):
            stop(place, signal.SIGKILL)
        shutil.rmtree(directory, ignore_errors=True)


def _has_room() -> bool:
    return os.access(common.MEMORY, os.W_OK) and shutil.disk_usage(common.MEMORY).free > 2 * 1024**3


def wait_for(condition: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError(f"waited {PATIENCE:g} s for {what}")
        time.sleep(0.05)
