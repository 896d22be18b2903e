"""What every private server needs: a directory, a port, a user that is not root, and an end in every case."""

from __future__ import annotations

import atexit
import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

MEMORY = "/dev/shm"
PR_SET_PDEATHSIG = 1


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def server_user(name: str) -> str | None:
    """Whom a server runs as: root must not run one, anybody else runs his own."""
    return name if os.getuid() == 0 else None


def new_directory(prefix: str, owner: str | None, *, durable: bool = False) -> Path:
    """Outside pytest's tmp_path, whose parents another user cannot enter."""
    in_memory = not durable and os.access(MEMORY, os.W_OK)
    directory = Path(tempfile.mkdtemp(prefix=f"sessiondb-{prefix}-", dir=MEMORY if in_memory else None))
    if owner is not None:
        found = pwd.getpwnam(owner)
        os.chown(directory, found.pw_uid, found.pw_gid)
    return directory


def run(command: Sequence[str], user: str | None, cwd: Path) -> None:
    """Run a tool of the server's, as its user; what it says is shown when it fails."""
    done = subprocess.run(
        command, user=user, group=user, extra_groups=[] if user else None, cwd=cwd, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


class Process:
    """A server as our child: ended when the tests end, and by the kernel when they are killed."""

    def __init__(self, command: Sequence[str], user: str | None, directory: Path, stop_signal: int) -> None:
        self.command, self.user, self.directory, self.stop_signal = command, user, directory, stop_signal
        self.popen: subprocess.Popen[bytes] | None = None
        atexit.register(self.remove)

    def start(self, answers: Callable[[], bool], seconds: float = 60) -> None:
        """Return when the server answers."""
        with open(self.directory / "server.log", "ab") as log:
            self.popen = subprocess.Popen(
                self.command, user=self.user, group=self.user, extra_groups=[] if self.user else None,
                cwd=self.directory, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                # Ctrl-C is for the tests, which then end the server.
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )  # fmt: skip
        until = time.monotonic() + seconds
        while not answers():
            if self.popen.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"the server did not start:\n{self.log()[-3000:]}")
            time.sleep(0.02)

    def log(self) -> str:
        return (self.directory / "server.log").read_text("utf-8", "replace")

    def stop(self, number: int | None = None) -> None:
        if self.popen is None or self.popen.poll() is not None:
            return
        self.popen.send_signal(self.stop_signal if number is None else number)
        try:
            self.popen.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait()

    def remove(self) -> None:
        """Stop it, and leave nothing behind."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.directory, ignore_errors=True)


_libc = ctypes.CDLL(None)


def _die_with_parent() -> None:
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGQUIT)
