"""A warm process that forks: actors start in milliseconds, are killed one by one, and never outlive the test.

The test's own process stays out of it: it has threads and open stores, which forks would inherit.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from types import TracebackType
from typing import Any, Self

PATIENCE = 60.0


class Nursery:
    """Starts functions of `actors` in processes of their own."""

    def __init__(self) -> None:
        self._complaints = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - closed at the end
        self._server = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.communicate()
        self._complaints.close()

    def start(self, actor: str, *arguments: Any, **options: Any) -> int:
        """Fork, call `actors.<actor>`, and return the process id."""
        return int(self._ask(do="start", actor=actor, arguments=list(map(_plain, arguments)), options=options))

    def kill(self, pid: int, number: signal.Signals = signal.SIGKILL) -> None:
        self._ask(do="kill", pid=pid, number=int(number))

    def wait(self, pid: int, patience: float = PATIENCE) -> int:
        """The exit code, negative for a signal; raises with what actors said when it does not end."""
        code = self._ask(do="wait", pid=pid, patience=patience)
        if code is None:
            raise TimeoutError(f"process {pid} did not end in {patience:g} s: {self.complaints()}")
        return int(code)

    def stop(self, pid: int) -> int:
        self.kill(pid)
        return self.wait(pid)

    def complaints(self) -> str:
        self._complaints.seek(0)
        return self._complaints.read()

    def _ask(self, **order: Any) -> Any:
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(order) + "\n")
        self._server.stdin.flush()
        return json.loads(self._server.stdout.readline())


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


class _Server:
    def __init__(self) -> None:
        self._children: set[int] = set()

    def start(self, actor: str, arguments: list[Any], options: dict[str, Any]) -> int:
        pid = os.fork()
        if pid == 0:
            _live(actor, arguments, options)
        self._children.add(pid)
        return pid

    def kill(self, pid: int, number: int) -> None:
        # Not waited for yet, so the number still belongs to our child.
        if pid in self._children:
            os.kill(pid, number)

    def wait(self, pid: int, patience: float) -> int | None:
        until = time.monotonic() + patience
        while time.monotonic() < until:
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                self._children.discard(pid)
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.0005)
        return None

    def close(self) -> None:
        for pid in self._children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _live(actor: str, arguments: list[Any], options: dict[str, Any]) -> None:
    """Be the actor; never returns."""
    import actors

    code = 1
    try:
        os.close(0)
        os.dup2(2, 1)
        getattr(actors, actor)(*arguments, **options)
        code = 0
    except SystemExit as exc:
        code = exc.code if isinstance(exc.code, int) else 1
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stderr.flush()
        os._exit(code)


def _serve() -> None:
    import actors  # noqa: F401 - warm before the first fork

    server = _Server()
    try:
        for line in sys.stdin:
            order = json.loads(line)
            print(json.dumps(getattr(server, order.pop("do"))(**order)), flush=True)
    finally:
        server.close()


if __name__ == "__main__":
    _serve()
