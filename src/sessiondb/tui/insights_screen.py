"""Insights with charts, computed beside the screen."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from ..cli.charts import bar, calendar, dollars, duration, hours, number, spark
from ..cli.output import count
from ..cli.text import cut, line, pad, safe
from ..db import SessionDB
from ..errors import MissingExtra, SessionDBError
from ..insights import WEEKDAYS, Group, Insights, gather, insights, window
from ..pricing import Prices, load
from .lane import Lane

DAYS = (7, 30, 90, 365)
_BOLD, _DIM, _CHART, _CALENDAR = Style(bold=True), Style(dim=True), Style(color="cyan"), Style(color="green")
_MOST = 6
Told = Sequence[tuple[str, Style]]


def read(db: SessionDB, days: int) -> Insights:
    """Without the extra `cost`, only reported costs are known."""
    try:
        prices: Prices | None = load()
    except MissingExtra:
        prices = None
    return insights(gather(db.provider, window(days, time.time())), prices=prices)


def told(found: Insights, columns: int) -> Text:
    """The charts, as wide as the screen."""
    made = Text()
    for row in _rows(found, max(columns - 4, 36)):
        for text, style in row:
            made.append(safe(text), style)
        made.append("\n")
    return made


def _rows(found: Insights, columns: int) -> Iterator[Told]:
    yield from _sums(found)
    for name, groups in (("Models", found.models), ("Sources", found.sources), ("Projects", found.projects)):
        yield from _bars(name, sorted(map(_told, groups), key=lambda each: -each[1]), columns)
    yield from _bars("Tools", [(name or "—", calls, "") for name, calls in found.tools.items()], columns)
    weekdays = [(day, messages, "") for day, messages in zip(WEEKDAYS, found.by_weekday, strict=True)]
    yield from _bars("Messages by weekday", weekdays, columns, most=7)
    yield (("Messages by hour", _BOLD),)
    each = 2 if columns >= 50 else 1
    yield ((f"  {spark(found.by_hour, each)}", _CHART),)
    yield ((f"  {hours(each)}", _DIM),)
    yield ()
    yield (("Calendar", _BOLD),)
    for row in calendar(found.by_day, found.window.first, found.window.last):
        yield ((f"  {row[:5]}", _DIM), (row[5 : columns - 2], _CALENDAR))
    yield ((f"  longest streak {count(found.longest_streak.days, 'day')}, current {found.current_streak.days}", _DIM),)


def _sums(found: Insights) -> Iterator[Told]:
    total, cost = found.total, found.total.cost
    facts = {
        "Sessions": number(total.sessions),
        "Messages": number(sum(found.messages.values())),
        "Tool calls": number(sum(found.tools.values())),
        "Active time": duration(found.active_seconds),
        "Tokens in": number(total.tokens.input),
        "Tokens out": number(total.tokens.output),
        "Cache read": number(total.tokens.cache_read),
        "Cost": dollars(cost.total) or "unknown",
    }
    pairs = [f"{name:<12}{value:>10}" for name, value in facts.items()]
    for left, right in zip(pairs[:4], pairs[4:], strict=True):
        yield ((f"  {left}    {right}", Style()),)
    if cost.unknown:
        yield ((f"  {count(cost.unknown, 'session')} without a known price", _DIM),)
    yield ()


def _bars(name: str, each: Sequence[tuple[str, int, str]], columns: int, most: int = _MOST) -> Iterator[Told]:
    shown = [one for one in each[:most] if one[0]]
    if not any(amount for _, amount, _ in shown):
        return
    room = max(10, min(28, columns // 3))
    greatest = max(amount for _, amount, _ in shown)
    yield ((name, _BOLD),)
    for label, amount, remark in shown:
        chart = bar(amount, greatest, max(6, columns - room - 22))
        yield (
            (f"  {pad(cut(line(label), room), room)} {number(amount):>6}  ", Style()), (chart, _CHART),
            (f" {remark}" if remark else "", _DIM),
        )  # fmt: skip
    if len(each) > most:
        yield ((f"  … and {len(each) - most} more", _DIM),)
    yield ()


def _told(group: Group) -> tuple[str, int, str]:
    return group.name or "—", group.sessions, dollars(group.cost.total)


class InsightsScreen(Screen[None]):
    """What the last days were like."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,i,ctrl+c", "dismiss(None)", show=False),
        Binding("right_square_bracket,plus,l,right", "span(1)", show=False),
        Binding("left_square_bracket,minus,h,left", "span(-1)", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("pagedown,ctrl+d,space", "scroll(10)", show=False),
        Binding("pageup,ctrl+u", "scroll(-10)", show=False),
        Binding("g,home", "scroll(-100000)", show=False),
        Binding("G,end", "scroll(100000)", show=False),
    ]

    def __init__(self, db: SessionDB) -> None:
        super().__init__(id="insights")
        self._db = db
        self._span = 1
        self._found: Insights | None = None
        self._lane = Lane(self.call_later)

    def compose(self) -> ComposeResult:
        yield Static(id="top", markup=False)
        with VerticalScroll(can_focus=False):
            yield Static(id="charts", markup=False)
        yield Static(Text("[ ] fewer or more days   j k scroll   Esc back", _DIM), id="status", markup=False)

    def on_mount(self) -> None:
        self._read()

    def on_unmount(self) -> None:
        self._lane.close()

    def on_resize(self) -> None:
        self._draw()

    def action_span(self, step: int) -> None:
        self._span = max(0, min(self._span + step, len(DAYS) - 1))
        self._read()

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def _read(self) -> None:
        days = DAYS[self._span]
        self.query_one("#top", Static).update(Text(f" Insights · last {days} days · reading …"))
        self._lane.ask(lambda: read(self._db, days), self._show)

    def _show(self, done: Future[Insights]) -> None:
        days = DAYS[self._span]
        top = self.query_one("#top", Static)
        try:
            self._found = done.result()
        except SessionDBError as exc:
            top.update(Text(f" Insights · {line(exc)}", Style(color="red")))
            return
        top.update(Text(f" Insights · last {days} days · {self._found.window.first} to {self._found.window.last}"))
        self._draw()

    def _draw(self) -> None:
        if self._found is None:
            return
        empty = not self._found.total.sessions and not self._found.older
        shown = (
            Text(" No sessions in these days; ] looks further back.") if empty else told(self._found, self.size.width)
        )
        self.query_one("#charts", Static).update(shown)
