"""Gateway processes as people start them, and what the store has afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from sessiondb import SessionDB
from sessiondb.gateway import processes
from sessiondb.models import Filter

PATIENCE = 30.0


def until(done: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        found = done()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"not within {patience} seconds: {what}")


class Gateway:
    """`sessiondb gateway run` in a process of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.log = home / "gateway.log"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SESSIONDB")}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "sessiondb", "gateway", "run"],
                env=environment | {"SESSIONDB_HOME": str(home), "HOME": str(home)},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip

    def ready(self) -> Self:
        self.facts = until(self._health, f"a gateway; {self.log.read_text()[-2000:]}")
        return self

    def _health(self) -> dict[str, Any] | None:
        assert self.process.poll() is None, self.log.read_text()[-3000:]
        mine = [each for each in processes.known(str(self.home)) if each.pid == self.process.pid]
        return processes.health(mine[0]) if mine else None

    @property
    def url(self) -> str:
        return f"http://{self.facts['listen']}"

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def __enter__(self) -> Self:
        return self.ready()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.kill()


def configure(home: Path, model_url: str, channels: dict[str, Any], **more: Any) -> None:
    home.mkdir(exist_ok=True)
    values = {
        "sessiondb": {"sqlite": {"synchronous": "normal"}},
        "llm": {"base_url": f"{model_url}/v1", "model": "scripted", "timeout": 5, "retries": 0},
        "channels": channels,
        "streaming": {"edit_interval": 0.1, "buffer_threshold": 5},
        **more,
        "gateway": {
            "listen": "127.0.0.1:0", "interval": 0.5, "grace_seconds": 10, "when_busy": "queue",
            **more.get("gateway", {}),
        },
    }  # fmt: skip
    (home / "config.yaml").write_text(yaml.safe_dump(values))


def sessions(home: Path) -> list[list[dict[str, Any]]]:
    """The messages of each session, in the order the sessions began."""
    with SessionDB(home / "state.db") as db:
        assert db.verify().ok
        found = db.list_sessions_rich(limit=10_000, include_children=True, where=Filter())
        ordered = sorted(found, key=lambda each: (each["started_at"], each["last_message_id"] or 0))
        return [[dict(row) for row in db.get_messages(each["id"])] for each in ordered]


def said(home: Path, role: str) -> list[str]:
    rows = [row for rows in sessions(home) for row in rows]
    return [row["content"] for row in rows if row["role"] == role and not row["injected"]]


def logged(gateway: Gateway) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gateway.log.read_text().splitlines()]
