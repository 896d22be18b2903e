"""A gateway process: the channels of config.yaml, one agent, one store, until it is asked to stop.

channels:
  telegram: {token: ${TELEGRAM_TOKEN}}
gateway:
  listen: 127.0.0.1:8480        # where webhooks come in
  health: 127.0.0.1:0           # 0: any free port; `sessiondb gateway status` finds it
  largest_body: 4194304         # bytes
  grace_seconds: 20             # for turns that run when the process is asked to stop
"""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from threading import Event as Flag
from typing import Any

from .. import registry
from ..chat.commands import obey
from ..chat.loop import Agent
from ..config import home_directory
from ..config_file import ConfigFile, read
from ..db import SessionDB
from ..errors import Invalid, SessionDBError
from ..titling import Titler
from . import processes, streaming
from .channels.base import Channel
from .channels.web import Request, Response, WebServer, answer
from .host import Host
from .settings import GATEWAY, open_router
from .watcher import Watcher

logger = logging.getLogger("sessiondb.gateway.service")
# Seconds that a title on its way may take at the end.
_LAST_TITLE = 3.0
NO_CHANNEL = "no channel is configured; add one to `channels` in config.yaml, as docs/channels.md shows"


def channels_of(file: ConfigFile) -> list[Channel]:
    """The channels of config.yaml. Raises Invalid for unknown ones, unknown keys and what is missing."""
    within, found = file.within("channels")
    made = [_channel(within, name) for name in found]
    if not made:
        raise Invalid(NO_CHANNEL)
    return made


def _channel(within: ConfigFile, name: str) -> Channel:
    kind: type[Channel] = registry.load("channels", name)
    settings = within.part(f"channels.{name}", kind.KEYS)
    missing = [key for key in kind.NEEDS if key not in settings]
    if missing:
        raise Invalid(f"{within.name}: channels.{name}.{missing[0]} is missing")
    return kind(settings)


class Service:
    def __init__(self, db: SessionDB, *, env: Mapping[str, str] | None = None) -> None:
        self.db = db
        self.env = os.environ if env is None else env
        self.home = home_directory(self.env)
        file = read(self.home, self.env)
        given = file.part("gateway", GATEWAY)
        self.grace = given.get("grace_seconds", 20.0)
        host, port = given.get("listen", ("127.0.0.1", 8480))
        self._health = WebServer(*given.get("health", ("127.0.0.1", 0)))
        agent = Agent.from_config(db, env=env)
        router = open_router(db, env=env)
        largest = given.get("largest_body", 4 * 1024 * 1024)
        web = WebServer(host, port, largest=largest, shared=partial(processes.listens, self.home))
        self._titler = Titler(db, agent.endpoint)
        self.host = Host(
            router, agent, channels_of(file),
            obey=partial(obey, agent=agent), web=web,
            streaming=streaming.Streaming(**file.part("streaming", streaming.KEYS)),
            interval=given.get("interval", 15.0),
            # The number that the store puts behind a title would tell of somebody else's.
            exchanged=self._titler.after_exchange if router.titles == "store" else str,
        )  # fmt: skip
        self._watcher = Watcher(router)
        self._stopping = Flag()
        self._started_at = time.time()
        self._file: Path | None = None

    def run(self) -> None:
        """Until SIGTERM or SIGINT; then turns end, or are stored as interrupted."""
        before = {number: signal.signal(number, self._asked) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            self.start()
            while not self._stopping.wait(1.0):
                pass
        finally:
            self.stop()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _asked(self, number: int, frame: Any) -> None:
        self._stopping.set()

    def start(self) -> None:
        self._health.route("/health", self._told)
        place = f"http://{self._health.host}:{self._health.port}/health"
        self.host.start()
        self._watcher.start()
        ours = processes.Process(os.getpid(), place, self._started_at, processes.birth(os.getpid()))
        self._file = processes.announce(self.home, ours)
        logger.info("running", extra={"fields": {"pid": os.getpid(), "health": place}})

    def stop(self) -> None:
        self._stopping.set()
        logger.info("stopping", extra={"fields": {"turns": self.host.turns}})
        self.host.stop(self.grace)
        self._watcher.stop()
        self._titler.wait(_LAST_TITLE)
        self._health.stop()
        if self._file is not None:
            self._file.unlink(missing_ok=True)
        logger.info("stopped")

    def _told(self, request: Request) -> Response:
        return answer(self.facts())

    def facts(self) -> dict[str, Any]:
        """The health of this process."""
        try:
            self.db.get_session("")
            store = "ok"
        except SessionDBError as exc:
            store = type(exc).__name__
        stopping = self._stopping.is_set()
        return {
            "status": "stopping" if stopping else "ok" if store == "ok" else "degraded",
            "pid": os.getpid(),
            "started_at": self._started_at,
            "store": store,
            "turns": self.host.turns,
            "listen": f"{self.host.web.host}:{self.host.web.port}",
            "channels": [_counted(name, self.host) for name in self.host.channels],
        }


def _counted(name: str, host: Host) -> dict[str, Any]:
    counts = host.counts[name]
    return {
        "name": name, "received": counts.received, "duplicates": counts.duplicates, "sent": counts.sent,
        "failed": counts.failed, "last_event_at": counts.last_event_at,
    }  # fmt: skip
