"""`sessiondb insights`"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from ..db import SessionDB
from ..errors import MissingExtra
from ..insights import WEEKDAYS, By, Facts, Group, Insights, Notable, document, gather, insights, session_cost, window
from ..pricing import Prices, load
from . import answers, ink, options, output, terminal
from .charts import bar, calendar, dollars, duration, hours, number, spark
from .progress import Progress
from .table import Column, show
from .text import cut

_TOOLS = 15
_GROUPS = 8
_BAR = 30
_MOST_DAYS = 36_600
# Below so many columns only the sums are shown.
_WIDE = 88


def _days(text: str) -> int:
    days: int = options.whole(1)(text.removesuffix("d"))
    if days > _MOST_DAYS:
        raise ValueError(f"{text!r} is more than {_MOST_DAYS} days")
    return days


@options.command("insights")
@options.option("--days", convert=_days, default=30, show_default=True, metavar="N", help="How many, with today.")
@options.source
@options.option("--by", choices=("model", "source", "tool", "day", "project"), help="Only one table.")
@options.answers
@options.reading
def command(db: SessionDB, days: int, source: str | None, by: By | None, form: answers.Form) -> None:
    """Tell what the last days were like: tokens, costs, models, tools, and when people worked.

    Sessions, tokens and costs are of the sessions that began in these days, activity is of every message written in
    them. A cost is what was reported, else an estimate from the prices of the package genai-prices; a session whose
    price nobody knows is counted, not guessed.

    \b
    Example:
        sessiondb insights
        sessiondb insights --days 7 --source cli
        sessiondb insights --by project --json
    """
    with Progress(noun="days") as progress:
        facts = gather(db.provider, window(days, time.time()), source, progress.reached)
    prices, advice = _prices(facts)
    found = insights(facts, prices=prices)
    if form:
        _answer(found, source, by, prices, form)
    elif not found.total.sessions and not found.older:
        output.say(_nothing(days, source))
    else:
        _show(found, source, by, prices, advice)


def _prices(facts: Facts) -> tuple[Prices | None, str]:
    """The price table, where a session needs it, or how to get it: reading it takes longer than all the rest."""
    if not any(session_cost(row, None).unknown for row in facts.sessions):
        return None, ""
    try:
        return load(), ""
    except MissingExtra as exc:
        return None, str(exc)


def _answer(found: Insights, source: str | None, by: By | None, prices: Prices | None, form: answers.Form) -> None:
    table = {"name": prices.name, "dated": prices.dated} if prices else None
    facts = document(found, source=source, prices=table)
    if by == "tool":
        facts["groups"] = [{"name": name, "calls": calls} for name, calls in found.tools.items()]
    elif by:
        facts["groups"] = facts[by + "s"]
    answers.give(form, "insights", facts, records="groups" if by else None)


def _nothing(days: int, source: str | None) -> str:
    named = f" of source {source!r}" if source else ""
    return f"No sessions{named} in the last {output.count(days, 'day')}; --days looks further back."


def _show(found: Insights, source: str | None, by: By | None, prices: Prices | None, advice: str) -> None:
    days = (found.window.last - found.window.first).days + 1
    output.say(
        ink.bold(f"Last {output.count(days, 'day')}"),
        ink.dim(f" · {found.window.first} to {found.window.last} · {source or 'all sources'}"),
    )
    if by == "tool":
        _show_tools(found, None)
    elif by:
        _show_groups(by.capitalize(), found.groups(by), None)
    else:
        _show_overview(found)
        _show_groups("Model", found.models, _GROUPS)
        _show_groups("Source", found.sources, _GROUPS)
        if any(group.name for group in found.projects):
            _show_groups("Project", found.projects, _GROUPS)
        _show_tools(found, _TOOLS)
        _show_activity(found)
        _show_notable(found.notable)
    if by != "tool":
        _show_prices(found, prices, advice)


def _heading(text: str) -> None:
    output.say()
    output.say(ink.bold(text))


def _fact(name: str, value: str, remark: str = "") -> None:
    if value:
        room = (terminal.columns() or 200) - 28
        output.say(f"  {name:<14}", ink.cyan(f"{value:>9}"), ink.dim(f"   {cut(remark, room)}" if remark else ""))


def _show_overview(found: Insights) -> None:
    total, tokens, cost = found.total, found.total.tokens, found.total.cost
    kinds = [
        output.count(found.subagents, "sub-agent") if found.subagents else "",
        output.count(found.continuations, "continuation") if found.continuations else "",
        f"{found.older} older still active" if found.older else "",
    ]
    roles = sorted(found.messages.items(), key=lambda counted: -counted[1])
    _heading("Overview")
    _fact("Sessions", number(total.sessions), ", ".join(filter(None, kinds)))
    _fact("Messages", number(sum(found.messages.values())), ", ".join(f"{role} {number(n)}" for role, n in roles))
    _fact("Tool calls", number(sum(found.tools.values())))
    _fact("Active time", duration(found.active_seconds), "quarter hours with messages")
    _heading("Tokens and costs")
    _fact("Input", number(tokens.input))
    _fact("Output", number(tokens.output), f"reasoning {number(tokens.reasoning)}" if tokens.reasoning else "")
    _fact(
        "Cache read", number(tokens.cache_read), f"written {number(tokens.cache_write)}" if tokens.cache_write else ""
    )
    _fact("Reported", dollars(cost.reported))
    _fact("Estimated", dollars(cost.estimated))
    _fact("Unknown", _above_zero(cost.unknown), "sessions with tokens but without a price")


def _show_groups(name: str, groups: Sequence[Group], limit: int | None) -> None:
    wide = (terminal.columns() or _WIDE) >= _WIDE
    headings = ("Sessions", "Messages", "Input", "Output", "Cache", "Reported", "Estimated", "Unknown")
    columns = (
        Column(name, share=1, least=12, most=44),
        *(Column(heading, right=True) for heading in (headings if wide else ("Sessions", "Tokens", "Cost", "Unknown"))),
    )
    output.say()
    show(columns, [_row(group) if wide else _short_row(group) for group in groups[:limit]])
    if limit is not None and len(groups) > limit:
        output.say(ink.dim(f"… and {len(groups) - limit} more: --by {name.lower()}"))


def _row(group: Group) -> list[str]:
    tokens, cost = group.tokens, group.cost
    return [
        group.name or "—",
        number(group.sessions),
        number(group.messages),
        *map(_above_zero, (tokens.input, tokens.output, tokens.cache_read)),
        dollars(cost.reported),
        dollars(cost.estimated),
        _above_zero(cost.unknown),
    ]


def _short_row(group: Group) -> list[str]:
    tokens = _above_zero(group.tokens.total)
    return [
        group.name or "—", number(group.sessions), tokens, dollars(group.cost.total), _above_zero(group.cost.unknown)
    ]  # fmt: skip


def _above_zero(amount: int) -> str:
    return number(amount) if amount else ""


def _show_tools(found: Insights, limit: int | None) -> None:
    if not found.tools:
        return
    total, most = sum(found.tools.values()), max(found.tools.values())
    rows: list[list[Any]] = [
        [name or "—", number(calls), f"{100 * calls / total:.0f}%", ink.cyan(bar(calls, most, _room()))]
        for name, calls in list(found.tools.items())[:limit]
    ]
    output.say()
    show(
        (Column("Tool", share=1, least=12, most=40), Column("Calls", right=True), Column("", right=True), Column("")),
        rows,
    )


def _room() -> int:
    return max(8, min(_BAR, (terminal.columns() or 80) - 46))


def _show_activity(found: Insights) -> None:
    most = max(found.by_weekday)
    _heading("By weekday")
    for day, messages in zip(WEEKDAYS, found.by_weekday, strict=True):
        drawn = bar(messages, most, _room())
        output.say(f"  {day:<10}{number(messages):>6}", *(("  ", ink.cyan(drawn)) if drawn else ()))
    _heading("By hour")
    each = 2 if (terminal.columns() or 80) > 50 else 1
    output.say("  ", ink.cyan(spark(found.by_hour, each).rstrip()))
    output.say("  ", ink.dim(hours(each)))
    _heading("Calendar")
    for week in map(str.rstrip, calendar(found.by_day, found.window.first, found.window.last)):
        output.say(*(("  ", ink.dim(week[:5]), ink.green(week[5:])) if week else ()))
    _show_streaks(found)


def _show_streaks(found: Insights) -> None:
    days = (found.window.last - found.window.first).days + 1
    longest, current = found.longest_streak, found.current_streak
    output.say(
        f"  Active on {len(found.by_day)} of {output.count(days, 'day')}; longest streak "
        f"{output.count(longest.days, 'day')}{f' to {longest.last_day}' if longest.days else ''}, "
        f"current {output.count(current.days, 'day')}."
    )


_NOTABLE = {
    "longest": ("Longest", duration),
    "messages": ("Most messages", number),
    "tokens": ("Most tokens", number),
    "tool_calls": ("Most tool calls", number),
    "cost": ("Dearest", dollars),
}


def _show_notable(notable: Sequence[Notable]) -> None:
    if notable:
        output.say()
        rows = [
            [_NOTABLE[each.what][0], _NOTABLE[each.what][1](each.amount), each.title or "—", each.session_id]
            for each in notable
        ]
        columns = (
            Column("Notable"),
            Column("", right=True),
            Column("Title", share=1, least=8, most=40),
            Column("ID", share=1, least=13, style=ink.dim),
        )
        show(columns, rows)


def _show_prices(found: Insights, prices: Prices | None, advice: str) -> None:
    if advice:
        output.say()
        output.say(ink.dim(f"Costs are what was reported; {advice}"))
    elif prices is not None and found.total.cost.estimated is not None:
        dated = f", the newest of {prices.dated}" if prices.dated else ""
        output.say()
        output.say(ink.dim(f"Estimates with the prices of {prices.name}{dated}."))
