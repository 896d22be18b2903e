"""When a conversation begins anew, as a table."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from sessiondb import Invalid
from sessiondb.gateway.policy import Policies, ResetPolicy, State, last_boundary, reset_reason, told

BERLIN = ZoneInfo("Europe/Berlin")
IDLE = ResetPolicy("idle", idle_minutes=60)
DAILY = ResetPolicy("daily", at_hour=4, timezone="Europe/Berlin")
BOTH = ResetPolicy("both", at_hour=4, idle_minutes=60, timezone="Europe/Berlin")


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()


@pytest.mark.parametrize(
    ("policy", "last", "now", "reason"),
    [
        (ResetPolicy(), "2026-01-01 00:00", "2026-12-31 00:00", None),
        (IDLE, "2026-06-01 10:00", "2026-06-01 11:00", None),
        (IDLE, "2026-06-01 10:00", "2026-06-01 11:01", "idle"),
        (DAILY, "2026-06-01 03:59", "2026-06-01 04:00", "daily"),
        (DAILY, "2026-06-01 04:00", "2026-06-02 03:59", None),
        (DAILY, "2026-06-01 23:00", "2026-06-02 03:00", None),
        (DAILY, "2026-06-01 02:00", "2026-06-01 03:00", None),
        (DAILY, "2026-05-31 03:00", "2026-06-01 03:00", "daily"),
        (BOTH, "2026-06-01 03:30", "2026-06-01 04:10", "daily"),
        (BOTH, "2026-06-01 01:00", "2026-06-01 05:00", "idle"),
        # A clock that was set back.
        (BOTH, "2026-06-01 12:00", "2026-06-01 11:00", None),
    ],
)
def test_by_the_clock(policy: ResetPolicy, last: str, now: str, reason: str | None) -> None:
    assert reset_reason(policy, State(at(last)), at(now)) == reason


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (State(0.0), "idle"),
        (State(0.0, busy=True), None),
        (State(0.0, busy=True, suspended=True), None),
        (State(1e9, suspended=True), "suspended"),
        (State(0.0, resume_pending=True), None),
        (State(0.0, resume_pending=True, suspended=True), "suspended"),
        (State(1e9, ended=True), "ended"),
        (State(1e9, ended=True, busy=True), "ended"),
    ],
)
def test_by_what_is_known_of_the_session(state: State, reason: str | None) -> None:
    assert reset_reason(IDLE, state, 1e9) == reason


class TestDaylightSaving:
    @pytest.mark.parametrize(
        ("hour", "now", "boundary"),
        [
            # 2026-03-29: 02:00 becomes 03:00, so there is no 02:00.
            (2, "2026-03-29 12:00", "2026-03-29 03:00"),
            (3, "2026-03-29 12:00", "2026-03-29 03:00"),
            # 2026-10-25: 03:00 becomes 02:00, so 02:00 comes twice; the first counts.
            (2, "2026-10-25 12:00", "2026-10-25 02:00"),
            (4, "2026-10-25 12:00", "2026-10-25 04:00"),
        ],
    )
    def test_the_hour_of_the_wall_clock_counts(self, hour: int, now: str, boundary: str) -> None:
        policy = ResetPolicy("daily", at_hour=hour, timezone="Europe/Berlin")
        assert last_boundary(policy, at(now)) == at(boundary)

    @pytest.mark.parametrize("month", range(1, 13))
    def test_there_is_one_boundary_a_day(self, month: int) -> None:
        start = at(f"2026-{month:02}-01 00:00")
        hours = {last_boundary(DAILY, start + hour * 3600) for hour in range(27 * 24)}
        assert len(hours) in (27, 28)


class TestPolicies:
    def test_platform_before_type_before_default(self) -> None:
        policies = Policies(IDLE, {"group": {"mode": "daily", "at_hour": 5}}, {"slack": {"mode": "none"}})
        assert policies.of("telegram", "dm") == IDLE
        assert policies.of("telegram", "group") == ResetPolicy("daily", 5, 60)
        assert policies.of("slack", "group") == ResetPolicy("none", 5, 60)

    @pytest.mark.parametrize(
        "wrong", [{"mode": "sometimes"}, {"at_hour": 24}, {"at_hour": True}, {"idle_minutes": 0}, {"idle_minutes": "x"}]
    )
    def test_what_makes_no_sense_is_refused(self, wrong: dict[str, object]) -> None:
        with pytest.raises(Invalid, match=next(iter(wrong))):
            ResetPolicy(**wrong)  # type: ignore[arg-type]

    def test_an_unknown_zone_is_named(self) -> None:
        with pytest.raises(Invalid, match="Mars/Base"):
            last_boundary(ResetPolicy("daily", timezone="Mars/Base"), 0)


@pytest.mark.parametrize(
    ("policy", "platform", "active", "heard"),
    [
        (ResetPolicy(), "telegram", True, True),
        (ResetPolicy(), "telegram", False, False),
        (ResetPolicy(), "webhook", True, False),
        (ResetPolicy(notify=False), "telegram", True, False),
    ],
)
def test_who_hears_of_a_reset(policy: ResetPolicy, platform: str, active: bool, heard: bool) -> None:
    assert told(policy, platform, had_activity=active) == heard
