"""What the last days were like: sessions, tokens, costs, tools, and when people worked.

`gather` reads, `insights` computes. Days, weekdays and hours are those of a time zone that comes in as a value (None:
the local one). Sessions, tokens and costs are of the sessions that began in these days, activity is of every message
written in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING, Any, Literal, Protocol

from .models import TOKEN_COLUMNS, Activity, Filter, MessageFilter, SessionRow

if TYPE_CHECKING:
    from .provider import SessionDBProvider

# Every time zone is a multiple of this away from UTC.
STEP = 900.0
_DAY = 86_400.0
_PART = 35 * _DAY
By = Literal["model", "source", "tool", "day", "project"]
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Prices(Protocol):
    def cost(self, session: SessionRow) -> float | None: ...


@dataclass(frozen=True, slots=True)
class Tokens:
    """`input` is without what was read from or written to a cache; `reasoning` is part of `output`."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def total(self) -> int:
        return self.input + self.output + self.cache_read + self.cache_write


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars. None where nothing is known; `unknown` sessions used tokens that nobody can price."""

    reported: float | None = None
    estimated: float | None = None
    unknown: int = 0

    @property
    def total(self) -> float | None:
        known = [amount for amount in (self.reported, self.estimated) if amount is not None]
        return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class Group:
    """Sessions with something in common."""

    name: str
    sessions: int
    messages: int
    tool_calls: int
    tokens: Tokens
    cost: Cost


@dataclass(frozen=True, slots=True)
class Notable:
    """A session that stands out, and by how much."""

    what: str
    session_id: str
    title: str | None
    amount: float


@dataclass(frozen=True, slots=True)
class Streak:
    days: int = 0
    last_day: date | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """Whole days up to and including today."""

    first: date
    last: date
    since: float
    until: float


@dataclass(frozen=True, slots=True)
class Facts:
    """What was read: sessions begun in the window, messages and calls written in it."""

    window: Window
    sessions: Sequence[SessionRow] = ()
    activity: Sequence[Activity] = ()
    calls: Mapping[str, int] = field(default_factory=dict)
    # Begun earlier, active in the window.
    older: int = 0


@dataclass(frozen=True, slots=True)
class Insights:
    window: Window
    total: Group
    subagents: int
    continuations: int
    older: int
    messages: Mapping[str, int]
    active_seconds: float
    models: Sequence[Group]
    sources: Sequence[Group]
    projects: Sequence[Group]
    days: Sequence[Group]
    tools: Mapping[str, int]
    by_day: Mapping[date, int]
    by_weekday: Sequence[int]
    by_hour: Sequence[int]
    longest_streak: Streak
    current_streak: Streak
    notable: Sequence[Notable]

    def groups(self, by: By) -> Sequence[Group]:
        """The sessions by one of their properties; tools are counted apart, they have no sessions of their own."""
        kinds = {"model": self.models, "source": self.sources, "project": self.projects, "day": self.days}
        return kinds.get(by, ())


def window(days: int, now: float, zone: tzinfo | None = None) -> Window:
    """The last so many days, today included, from midnight to now."""
    today = datetime.fromtimestamp(now, zone).date()
    first = today - timedelta(days=days - 1)
    return Window(first, today, datetime.combine(first, time.min, zone).timestamp(), now)


def gather(
    provider: SessionDBProvider, days: Window, source: str | None = None, tick: Callable[[int, int], None] | None = None
) -> Facts:
    """Read what there is to count, some weeks at a time; `tick` is told days done and days in all."""
    active = Filter(sources=None if source is None else (source,), active_since=days.since)
    written = MessageFilter(since=days.since, until=days.until)
    sessions: list[SessionRow] = []
    activity: list[Activity] = []
    calls: Counter[str] = Counter()

    def count(part: Filter) -> None:
        activity.extend(provider.activity(part, written, STEP))
        calls.update(provider.tool_usage(part, days.since, days.until))

    older = replace(active, started_before=days.since)
    count(older)
    for since, until in _parts(days):
        # Clocks differ: what begins after now began today.
        ends = until if until < days.until else None
        part = replace(active, active_since=None, started_since=since, started_before=ends)
        sessions[:0] = provider.session_facts(part)
        count(part)
        if tick is not None:
            tick(round((until - days.since) / _DAY), round((days.until - days.since) / _DAY))
    return Facts(days, sessions, activity, calls, provider.count_sessions(older))


def _parts(days: Window) -> Iterator[tuple[float, float]]:
    since = days.since
    while since < days.until:
        until = min(since + _PART, days.until)
        yield since, until
        since = until


def insights(facts: Facts, zone: tzinfo | None = None, prices: Prices | None = None) -> Insights:
    sessions = facts.sessions
    days = _messages_by(facts.activity, lambda moment: moment.date(), zone)
    weekdays = _messages_by(facts.activity, lambda moment: moment.weekday(), zone)
    hours = _messages_by(facts.activity, lambda moment: moment.hour, zone)
    costs = {row["id"]: session_cost(row, prices) for row in sessions}

    def groups(key: Callable[[SessionRow], str]) -> list[Group]:
        return _groups(sessions, costs, key)

    return Insights(
        window=facts.window,
        total=_group("", sessions, costs),
        subagents=sum(row["relation"] == "subagent" for row in sessions),
        continuations=sum(row["relation"] == "compression" for row in sessions),
        older=facts.older,
        messages=_counted((row.role, row.messages) for row in facts.activity),
        active_seconds=STEP * len({row.since for row in facts.activity if row.role in ("user", "assistant")}),
        models=groups(lambda row: row["model"] or ""),
        sources=groups(lambda row: row["source"]),
        projects=groups(lambda row: row["cwd"] or ""),
        days=sorted(groups(lambda row: str(_local(row["started_at"], zone).date())), key=lambda group: group.name),
        tools=tools(facts),
        by_day=dict(sorted(days.items())),
        by_weekday=[weekdays.get(number, 0) for number in range(7)],
        by_hour=[hours.get(number, 0) for number in range(24)],
        longest_streak=max(streaks(days), key=lambda streak: streak.days, default=Streak()),
        current_streak=_current(streaks(days), facts.window.last),
        notable=list(_notable(sessions, costs)),
    )


def session_cost(row: SessionRow, prices: Prices | None) -> Cost:
    """What was reported, else what somebody estimated, else what the price table says; in that order."""
    if row["actual_cost_usd"] is not None:
        return Cost(reported=row["actual_cost_usd"])
    if row["cost_status"] == "included":
        return Cost(reported=0.0)
    if row["estimated_cost_usd"] is not None:
        return Cost(estimated=row["estimated_cost_usd"])
    if not tokens(row).total:
        return Cost()
    priced = prices.cost(row) if prices is not None else None
    return Cost(unknown=1) if priced is None else Cost(estimated=priced)


def tokens(row: SessionRow) -> Tokens:
    return Tokens(*(row[name] or 0 for name in TOKEN_COLUMNS))  # type: ignore[literal-required]


def tools(facts: Facts) -> dict[str, int]:
    """Calls by tool, most first. Rows of older code have no calls, but the results name their tools."""
    results = _counted((row.tool_name, row.messages) for row in facts.activity if row.role == "tool" and row.tool_name)
    names = {*results, *facts.calls}
    counts = {name: max(results.get(name, 0), facts.calls.get(name, 0)) for name in names}
    return dict(sorted(counts.items(), key=lambda counted: (-counted[1], counted[0])))


def streaks(days: Iterable[date]) -> list[Streak]:
    """Runs of days without a gap, in order."""
    out: list[Streak] = []
    for day in sorted(days):
        follows = bool(out) and out[-1].last_day == day - timedelta(days=1)
        if follows:
            out[-1] = Streak(out[-1].days + 1, day)
        else:
            out.append(Streak(1, day))
    return out


def _current(runs: Sequence[Streak], today: date) -> Streak:
    """A streak lives until a whole day has passed without a message."""
    alive = runs and runs[-1].last_day in (today, today - timedelta(days=1))
    return runs[-1] if alive else Streak()


def _local(moment: float, zone: tzinfo | None) -> datetime:
    return datetime.fromtimestamp(moment, zone)


def _counted(pairs: Iterable[tuple[Any, int]]) -> dict[Any, int]:
    counts: Counter[Any] = Counter()
    for name, number in pairs:
        counts[name] += number
    return dict(counts)


def _messages_by(activity: Iterable[Activity], key: Callable[[datetime], Any], zone: tzinfo | None) -> dict[Any, int]:
    people = (row for row in activity if row.role in ("user", "assistant"))
    return _counted((key(_local(row.since, zone)), row.messages) for row in people)


def _groups(sessions: Iterable[SessionRow], costs: Mapping[str, Cost], key: Callable[[SessionRow], str]) -> list[Group]:
    members: dict[str, list[SessionRow]] = {}
    for row in sessions:
        members.setdefault(key(row), []).append(row)
    groups = [_group(name, rows, costs) for name, rows in members.items()]
    return sorted(groups, key=lambda group: (-group.tokens.total, -group.sessions, group.name))


def _group(name: str, rows: Sequence[SessionRow], costs: Mapping[str, Cost]) -> Group:
    used = [tokens(row) for row in rows]
    return Group(
        name,
        len(rows),
        sum(row["message_count"] for row in rows),
        sum(row["tool_call_count"] for row in rows),
        Tokens(*(sum(getattr(each, name) for each in used) for name in Tokens.__slots__)),
        _sum([costs[row["id"]] for row in rows]),
    )


def _sum(costs: Sequence[Cost]) -> Cost:
    reported = [cost.reported for cost in costs if cost.reported is not None]
    estimated = [cost.estimated for cost in costs if cost.estimated is not None]
    return Cost(
        sum(reported) if reported else None, sum(estimated) if estimated else None, sum(cost.unknown for cost in costs)
    )


def _notable(sessions: Sequence[SessionRow], costs: Mapping[str, Cost]) -> Iterable[Notable]:
    measures: dict[str, Callable[[SessionRow], float]] = {
        "longest": lambda row: (row["last_active"] or row["started_at"]) - row["started_at"],
        "messages": lambda row: row["message_count"],
        "tokens": lambda row: tokens(row).total,
        "tool_calls": lambda row: row["tool_call_count"],
        "cost": lambda row: costs[row["id"]].total or 0.0,
    }
    for what, measure in measures.items():
        best = max(sessions, key=measure, default=None)
        if best is not None and measure(best) > 0:
            yield Notable(what, best["id"], best["title"], measure(best))


def document(found: Insights, *, source: str | None, prices: Mapping[str, Any] | None) -> dict[str, Any]:
    """The plain form, for JSON."""
    plain = asdict(found)
    return plain | {
        "source": source,
        "prices": prices,
        "window": {name: _plain(value) for name, value in plain["window"].items()},
        "by_day": {str(day): messages for day, messages in found.by_day.items()},
        "by_weekday": dict(zip(WEEKDAYS, found.by_weekday, strict=True)),
        "longest_streak": {"days": found.longest_streak.days, "last_day": _plain(found.longest_streak.last_day)},
        "current_streak": {"days": found.current_streak.days, "last_day": _plain(found.current_streak.last_day)},
    }


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, date) else value
