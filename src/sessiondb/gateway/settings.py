"""The gateway's part of config.yaml:

session_reset: {mode: none, at_hour: 4, idle_minutes: 1440, notify: true, timezone: Europe/Berlin}
reset_by_type: {group: {mode: daily}}
reset_by_platform: {telegram: {mode: idle, idle_minutes: 60}}
group_sessions_per_user: true
thread_sessions_per_user: true
gateway:
  when_busy: interrupt            # or queue
  visibility: chat                # or user, all
  lease_seconds: 300
  transcripts: true
  sessions_dir: ~/.sessiondb/sessions
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from ..config import expand_user, home_directory
from ..config_file import flag, read, seconds, text, whole
from ..db import SessionDB
from .keys import Rules
from .policy import MODES, Policies, ResetPolicy, last_boundary
from .router import WHEN_BUSY, Router
from .scope import TITLES, VISIBILITIES
from .transcripts import Transcripts


def _one_of(*choices: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value not in choices:
            raise ValueError(" or ".join(choices))
        return str(value)

    return check


def _hour(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 23:
        raise ValueError("an hour from 0 to 23")
    return value


def _minutes(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise ValueError("a positive number of minutes")
    return float(value)


def _zone(value: Any) -> str:
    name = text(value)
    # Raises Invalid, which says what a zone looks like.
    last_boundary(ResetPolicy("daily", timezone=name), 0.0)
    return name


_POLICY = {
    "mode": _one_of(*MODES), "at_hour": _hour, "idle_minutes": _minutes, "notify": flag, "timezone": _zone,
}  # fmt: skip


def _address(value: Any) -> tuple[str, int]:
    host, found, port = str(value).rpartition(":")
    if not found or not host or not port.isdecimal() or int(port) > 65535:
        raise ValueError("an address such as 127.0.0.1:8480")
    return host.strip("[]"), int(port)


GATEWAY = {
    "when_busy": _one_of(*WHEN_BUSY),
    "visibility": _one_of(*VISIBILITIES),
    "lease_seconds": seconds,
    "transcripts": flag,
    "sessions_dir": text,
    # Those of the process; see `service`.
    "listen": _address,
    "health": _address,
    "largest_body": whole,
    "grace_seconds": seconds,
    "interval": seconds,
}
_OF_THE_PROCESS = ("listen", "health", "largest_body", "grace_seconds", "interval")


def open_router(db: SessionDB, *, env: Mapping[str, str] | None = None, **given: Any) -> Router:
    """A router as config.yaml describes it; what is given here counts more. Raises Invalid for unknown keys."""
    env = os.environ if env is None else env
    home = home_directory(env)
    file = read(home, env)
    gateway = file.part("gateway", GATEWAY)
    for name in _OF_THE_PROCESS:
        gateway.pop(name, None)
    written, directory = gateway.pop("transcripts", True), gateway.pop("sessions_dir", os.path.join(home, "sessions"))
    rules = {name: file.single(name, flag) for name in Rules.__slots__}
    options = {
        "rules": Rules(**{name: value for name, value in rules.items() if value is not None}),
        "policies": Policies(
            ResetPolicy(**file.part("session_reset", _POLICY)),
            file.parts("reset_by_type", _POLICY),
            file.parts("reset_by_platform", _POLICY),
        ),
        "transcripts": Transcripts(expand_user(directory, env)) if written else None,
        "titles": file.part("titles", {"scope": _one_of(*TITLES)}).get("scope", "store"),
        **gateway,
    }
    return Router(db, **{**options, **given})
