"""When a conversation begins anew: all decisions in one pure function. Clock, zone and facts come in as values.

session_reset: {mode: none, at_hour: 4, idle_minutes: 1440, notify: true, timezone: Europe/Berlin}
reset_by_type: {group: {mode: daily}}
reset_by_platform: {telegram: {mode: idle, idle_minutes: 60}}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from ..errors import Invalid

MODES = ("none", "idle", "daily", "both")
SILENT_PLATFORMS = ("api_server", "webhook")


@dataclass(frozen=True, slots=True)
class ResetPolicy:
    """When a session ends by itself: never, unless somebody chose otherwise."""

    mode: str = "none"
    at_hour: int = 4
    idle_minutes: float = 1440
    notify: bool = True
    timezone: str | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise Invalid(f"session_reset.mode must be one of {', '.join(MODES)}, not {self.mode!r}")
        if self.at_hour.__class__ is not int or not 0 <= self.at_hour <= 23:
            raise Invalid(f"session_reset.at_hour must be an hour from 0 to 23, not {self.at_hour!r}")
        if (
            isinstance(self.idle_minutes, bool)
            or not isinstance(self.idle_minutes, int | float)
            or self.idle_minutes <= 0
        ):
            raise Invalid(f"session_reset.idle_minutes must be a positive number, not {self.idle_minutes!r}")


@dataclass(frozen=True, slots=True)
class Policies:
    """The policy of everybody, of kinds of chats, and of platforms; the last one that says something counts."""

    default: ResetPolicy = ResetPolicy()
    by_type: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    by_platform: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def of(self, platform: str, chat_type: str) -> ResetPolicy:
        return replace(self.default, **{**self.by_type.get(chat_type, {}), **self.by_platform.get(platform, {})})


@dataclass(frozen=True, slots=True)
class State:
    """What is known of a session when a message arrives, or when the watcher looks."""

    last_active: float
    # Somebody asked for a fresh start; it happens with the next message.
    suspended: bool = False
    # The gateway stopped in the middle of a turn; the session goes on whatever its age.
    resume_pending: bool = False
    # Work runs in the background for it.
    busy: bool = False
    ended: bool = False


def reset_reason(policy: ResetPolicy, state: State, now: float) -> str | None:
    """Why a new session begins: "suspended", "ended", "idle" or "daily"; None to go on."""
    if state.ended:
        return "ended"
    if state.busy:
        return None
    if state.suspended:
        return "suspended"
    if state.resume_pending:
        return None
    # A clock that was set back makes nobody idle.
    quiet = max(0.0, now - state.last_active)
    if policy.mode in ("idle", "both") and quiet > policy.idle_minutes * 60:
        return "idle"
    if policy.mode in ("daily", "both") and state.last_active < last_boundary(policy, now):
        return "daily"
    return None


def last_boundary(policy: ResetPolicy, now: float) -> float:
    """The last time before now that the clock on the wall showed `at_hour`.

    In the night when that hour does not exist, it is the moment after the gap; when it comes twice, the first.
    """
    zone = _zone(policy.timezone)
    wall = datetime.fromtimestamp(now, zone) if zone else datetime.fromtimestamp(now).astimezone()
    boundary = _at(wall, policy.at_hour, zone)
    return boundary if boundary <= now else _at(wall - timedelta(days=1), policy.at_hour, zone)


def _at(day: datetime, hour: int, zone: tzinfo | None) -> float:
    """The moment of a full hour of a day by the wall clock of a zone."""
    naive = datetime(day.year, day.month, day.day, hour)
    return (naive.replace(tzinfo=zone) if zone else naive).timestamp()


def _zone(name: str | None) -> tzinfo | None:
    if name is None:
        return None
    if name.upper() == "UTC":
        return UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as exc:
        raise Invalid(f"unknown time zone {name!r}; use a name such as Europe/Berlin or UTC") from exc


def told(policy: ResetPolicy, platform: str, *, had_activity: bool) -> bool:
    """Whether the person hears of a reset: not of one that nobody noticed, not where programs listen."""
    return policy.notify and had_activity and platform not in SILENT_PLATFORMS
