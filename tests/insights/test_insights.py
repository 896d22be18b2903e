"""What insights count, and by whose clock."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sessiondb
from sessiondb.db import SessionDB
from sessiondb.insights import (
    Cost,
    Facts,
    Insights,
    Streak,
    Tokens,
    document,
    gather,
    insights,
    session_cost,
    streaks,
    window,
)
from sessiondb.models import Activity, SessionRow

NOW = datetime(2026, 11, 18, 12, 0, tzinfo=UTC).timestamp()
DAY = 86_400.0
TOKYO = ZoneInfo("Asia/Tokyo")
KOLKATA = ZoneInfo("Asia/Kolkata")
BERLIN = ZoneInfo("Europe/Berlin")


def moment(*parts: int, zone: Any = UTC) -> float:
    return datetime(*parts, tzinfo=zone).timestamp()  # type: ignore[arg-type,misc]


@pytest.fixture
def db() -> Iterator[SessionDB]:
    with sessiondb.open("memory://") as opened:
        yield opened


def look(db: SessionDB, days: int = 30, zone: Any = UTC, source: str | None = None, prices: Any = None) -> Insights:
    return insights(gather(db.provider, window(days, NOW, zone), source), zone, prices)


def talk(db: SessionDB, name: str, started: float, *times: float, source: str = "cli", **fields: Any) -> str:
    db.create_session(name, source, started_at=started, **fields)
    for number, when in enumerate(times):
        db.append_message(name, ("user", "assistant")[number % 2], "x", timestamp=when)
    return name


class TestWindow:
    def test_today_is_the_last_of_the_days(self) -> None:
        found = window(30, NOW, UTC)
        assert (found.first, found.last) == (date(2026, 10, 20), date(2026, 11, 18))
        assert found.since == moment(2026, 10, 20)

    def test_one_day_is_today(self) -> None:
        assert window(1, NOW, UTC).since == moment(2026, 11, 18)

    def test_days_are_those_of_the_zone(self) -> None:
        late = moment(2026, 11, 18, 20)
        assert window(1, late, TOKYO).last == date(2026, 11, 19)
        assert window(1, late, TOKYO).since == moment(2026, 11, 18, 15)

    def test_the_day_of_the_change_of_clocks_has_25_hours(self) -> None:
        found = window(1, moment(2026, 10, 25, 23, zone=BERLIN), BERLIN)
        assert found.until - found.since == 24 * 3600


class TestWhatCounts:
    def test_sessions_count_when_they_began_within_the_days(self, db: SessionDB) -> None:
        talk(db, "old", NOW - 40 * DAY, NOW - 40 * DAY, NOW - 39 * DAY)
        talk(db, "still active", NOW - 40 * DAY, NOW - 40 * DAY, NOW - DAY)
        talk(db, "new", NOW - DAY, NOW - DAY)
        found = look(db)
        assert (found.total.sessions, found.older, found.messages) == (1, 1, {"assistant": 1, "user": 1})

    def test_a_source_alone(self, db: SessionDB) -> None:
        talk(db, "a", NOW - DAY, NOW - DAY)
        talk(db, "b", NOW - DAY, NOW - DAY, source="telegram")
        found = look(db, source="telegram")
        assert ([group.name for group in found.sources], found.messages) == (["telegram"], {"user": 1})

    def test_tokens_are_summed_by_kind(self, db: SessionDB) -> None:
        for name in ("a", "b"):
            talk(db, name, NOW - DAY, model="m")
            db.update_token_counts(name, 100, 10, cache_read_tokens=1000, cache_write_tokens=50, reasoning_tokens=5)
        found = look(db)
        assert found.total.tokens == Tokens(200, 20, 2000, 100, 10)
        assert found.total.tokens.total == 2320
        assert [(group.name, group.sessions) for group in found.models] == [("m", 2)]

    def test_groups_have_the_most_tokens_first(self, db: SessionDB) -> None:
        for name, used in (("few", 1), ("many", 9), ("some", 5)):
            talk(db, name, NOW - DAY, cwd=f"/srv/{name}")
            db.update_token_counts(name, used)
        assert [group.name for group in look(db).groups("project")] == ["/srv/many", "/srv/some", "/srv/few"]

    def test_the_groups_of_days_are_in_order_of_time(self, db: SessionDB) -> None:
        for number in (1, 3, 2):
            talk(db, str(number), NOW - number * DAY)
        assert [group.name for group in look(db).groups("day")] == ["2026-11-15", "2026-11-16", "2026-11-17"]

    def test_subagents_and_continuations_are_told_apart(self, db: SessionDB) -> None:
        talk(db, "a", NOW - DAY)
        talk(db, "helper", NOW - DAY, source="subagent", parent_session_id="a", relation="subagent")
        assert (look(db).total.sessions, look(db).subagents, look(db).continuations) == (2, 1, 0)

    def test_an_empty_store_has_nothing_to_tell(self, db: SessionDB) -> None:
        found = look(db)
        assert (found.total.sessions, found.notable, found.by_day, found.longest_streak) == (0, [], {}, Streak())

    @pytest.mark.parametrize("amount", ["sessions", "messages", "tool_calls"])
    def test_every_way_to_group_adds_up_to_the_total(self, db: SessionDB, amount: str) -> None:
        for number in range(12):
            talk(db, str(number), NOW - number * DAY, NOW, source="ab"[number % 2], model=[None, "m"][number % 2])
        found = look(db)
        for by in ("model", "source", "day", "project"):
            assert sum(getattr(group, amount) for group in found.groups(by)) == getattr(found.total, amount)  # type: ignore[arg-type]


class TestGather:
    def test_many_days_are_read_in_parts_that_make_one(self, db: SessionDB) -> None:
        for number in range(0, 400, 7):
            talk(db, str(number), NOW - number * DAY, NOW - number * DAY, NOW - DAY)
        ticks: list[tuple[int, int]] = []
        facts = gather(db.provider, window(365, NOW, UTC), None, lambda *reached: ticks.append(reached))
        begun = [row["started_at"] for row in facts.sessions]
        assert (len(begun), facts.older, begun == sorted(begun, reverse=True)) == (53, 5, True)
        assert sum(row.messages for row in facts.activity) == 52 + 58
        assert (len(ticks), ticks[-1]) == (11, (364, 364))


class TestTools:
    def test_calls_and_results_of_a_tool_are_the_same_calls(self) -> None:
        activity = [
            Activity(0.0, "tool", "read", 3),
            Activity(900.0, "tool", "read", 1),
            Activity(0.0, "tool", "old", 2),
        ]
        facts = Facts(window(1, NOW, UTC), activity=activity, calls={"read": 5, "never answered": 1})
        assert list(insights(facts, UTC).tools.items()) == [("read", 5), ("old", 2), ("never answered", 1)]


class TestClock:
    def test_hours_and_weekdays_are_those_of_the_zone(self, db: SessionDB) -> None:
        talk(db, "a", NOW - 3 * DAY, moment(2026, 11, 15, 22, 40))  # a Sunday; Monday in Tokyo and Kolkata
        for zone, weekday, hour in ((UTC, 6, 22), (TOKYO, 0, 7), (KOLKATA, 0, 4)):
            found = look(db, zone=zone)
            assert (found.by_weekday[weekday], found.by_hour[hour]) == (1, 1)
            assert sum(found.by_weekday) == sum(found.by_hour) == 1

    def test_tools_do_not_make_a_day_active(self, db: SessionDB) -> None:
        talk(db, "a", NOW - DAY)
        db.append_message("a", "tool", "x", timestamp=NOW - DAY)
        assert (look(db).by_day, look(db).active_seconds) == ({}, 0.0)

    def test_active_time_is_of_quarter_hours_with_messages(self, db: SessionDB) -> None:
        talk(db, "a", NOW - DAY, NOW - DAY, NOW - DAY + 60, NOW - DAY + 3600)
        assert look(db).active_seconds == 2 * 900

    @given(st.lists(st.floats(NOW - 40 * DAY, NOW), max_size=30), st.sampled_from([UTC, TOKYO, KOLKATA, BERLIN]))
    def test_every_message_has_one_day_one_weekday_and_one_hour(self, times: list[float], zone: Any) -> None:
        with sessiondb.open("memory://") as db:
            talk(db, "a", NOW - 40 * DAY, *times)
            found = look(db, zone=zone)
        within = sum(time >= found.window.since and time < NOW for time in times)
        assert sum(found.by_day.values()) == sum(found.by_weekday) == sum(found.by_hour) == within


class TestStreaks:
    def test_a_gap_ends_a_streak(self) -> None:
        first = date(2026, 2, 27)
        days = [first + timedelta(days=number) for number in (0, 1, 2, 5, 6)]
        assert streaks(days) == [Streak(3, date(2026, 3, 1)), Streak(2, date(2026, 3, 5))]

    @pytest.mark.parametrize(("ago", "current"), [(0, 1), (1, 1), (2, 0)])
    def test_today_may_still_be_to_come(self, db: SessionDB, ago: int, current: int) -> None:
        talk(db, "a", NOW - 3 * DAY, NOW - 60 - ago * DAY)
        assert look(db).current_streak.days == current


class TestCost:
    def row(self, **fields: Any) -> SessionRow:
        row = dict.fromkeys(("actual_cost_usd", "estimated_cost_usd", "cost_status")) | dict.fromkeys(
            ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"), 0
        )
        return {**row, **fields}  # type: ignore[typeddict-item,return-value]

    def test_what_was_charged_comes_before_every_estimate(self) -> None:
        assert session_cost(self.row(actual_cost_usd=2.0, estimated_cost_usd=3.0), None) == Cost(reported=2.0)

    def test_a_stored_estimate_comes_before_the_price_table(self) -> None:
        assert session_cost(self.row(estimated_cost_usd=3.0, input_tokens=9), Fixed(7.0)) == Cost(estimated=3.0)

    def test_the_price_table_comes_last(self) -> None:
        assert session_cost(self.row(input_tokens=9), Fixed(7.0)) == Cost(estimated=7.0)

    def test_an_unknown_cost_is_not_zero(self) -> None:
        for prices in (None, Fixed(None)):
            assert session_cost(self.row(input_tokens=9), prices) == Cost(unknown=1)
        assert Cost(unknown=1).total is None

    def test_what_a_subscription_includes_costs_nothing(self) -> None:
        assert session_cost(self.row(cost_status="included", input_tokens=9), Fixed(7.0)) == Cost(reported=0.0)

    def test_no_tokens_no_question(self) -> None:
        assert session_cost(self.row(), None) == Cost()

    def test_groups_keep_the_kinds_apart_and_count_the_unknown(self, db: SessionDB) -> None:
        for name, usage in (("a", {"actual_cost_usd": 1.0}), ("b", {"estimated_cost_usd": 2.0}), ("c", {})):
            talk(db, name, NOW - DAY)
            db.update_token_counts(name, 5, **usage)  # type: ignore[arg-type]
        assert look(db).total.cost == Cost(1.0, 2.0, 1)


class Fixed:
    def __init__(self, amount: float | None) -> None:
        self.amount = amount

    def cost(self, session: SessionRow) -> float | None:
        return self.amount


class TestNotable:
    def test_the_greatest_of_each_kind_is_named(self, db: SessionDB) -> None:
        talk(db, "short", NOW - DAY, NOW - DAY, NOW - DAY + 1, NOW - DAY + 2)
        talk(db, "long", NOW - 2 * DAY, NOW - DAY)
        db.set_session_title("long", "a long one")
        found = {each.what: (each.session_id, each.title, each.amount) for each in look(db).notable}
        assert found == {"longest": ("long", "a long one", DAY), "messages": ("short", None, 3)}

    def test_clocks_that_went_backwards_make_nothing_notable(self, db: SessionDB) -> None:
        talk(db, "a", NOW - DAY, NOW - 2 * DAY)
        assert "longest" not in {each.what for each in look(db).notable}


def test_the_document_is_plain(db: SessionDB) -> None:
    import json

    talk(db, "a", NOW - DAY, NOW - DAY)
    shown = json.loads(json.dumps(document(look(db), source=None, prices=None)))
    assert (shown["window"]["first"], shown["by_day"]) == ("2026-10-20", {"2026-11-17": 1})
    assert shown["total"]["cost"] == {"reported": None, "estimated": None, "unknown": 0}
    assert shown["by_weekday"]["Tuesday"] == 1
