"""Bars, sparks and a calendar, drawn with blocks; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_HEIGHTS = " ▁▂▃▄▅▆▇█"
_SHADES = "·░▒▓█"


def bar(amount: float, most: float, columns: int) -> str:
    """As long as the share of the greatest; whatever is above zero can be seen."""
    if amount <= 0 or most <= 0:
        return ""
    eighths = max(1, round(8 * columns * amount / most))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def spark(amounts: Sequence[float], each: int = 2) -> str:
    """One column of blocks per amount, `each` wide."""
    most = max(amounts, default=0)
    return "".join(_HEIGHTS[_step(amount, most, 8)] * each for amount in amounts)


def hours(each: int = 2) -> str:
    """What stands below a spark of 24 hours."""
    return "".join(f"{hour:02d}".ljust(6 * each) for hour in range(0, 24, 6)).rstrip()


def _step(amount: float, most: float, steps: int) -> int:
    return 0 if amount <= 0 else max(1, -(-steps * amount // most).__int__())


def calendar(by_day: Mapping[date, int], first: date, last: date) -> Iterator[str]:
    """Weeks from left to right, Monday on top; the darker, the more. Days outside are blank."""
    monday = first - timedelta(days=first.weekday())
    weeks = (last - monday).days // 7 + 1
    most = max(by_day.values(), default=0)
    yield "     " + _months(monday, weeks, last)
    for weekday, name in enumerate(("Mon", "", "Wed", "", "Fri", "", "Sun")):
        days = (monday + timedelta(days=7 * week + weekday) for week in range(weeks))
        cells = (_SHADES[_step(by_day.get(day, 0), most, 4)] if first <= day <= last else " " for day in days)
        yield f"{name:3}  " + "".join(cell * 2 for cell in cells).rstrip()


def _months(monday: date, weeks: int, last: date) -> str:
    """The name of each month, above the first of its weeks that has room for it."""
    line, named = "", None
    for week in range(weeks):
        sunday = min(monday + timedelta(days=7 * week + 6), last)
        if (sunday.year, sunday.month) != named and len(line) <= 2 * week:
            line, named = line.ljust(2 * week) + f"{sunday:%b} ", (sunday.year, sunday.month)
    return line.rstrip()


def number(amount: float) -> str:
    """A count in three or four characters: 950, 12.3k, 4.5M."""
    if amount < 1000:
        return f"{amount:.0f}"
    for unit in ("k", "M", "G"):
        amount /= 1000
        if amount < 999.5 or unit == "G":
            break
    return f"{amount:.0f}{unit}" if amount >= 99.95 else f"{amount:.1f}{unit}"


def dollars(amount: float | None) -> str:
    """An amount of money; blank when it is not known."""
    if amount is None:
        return ""
    return f"${amount:.4f}" if 0 < amount < 0.01 else f"${amount:,.2f}"


def duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes}m"
    if minutes < 48 * 60:
        return f"{minutes // 60}h {minutes % 60:02d}m"
    return f"{minutes // 1440}d {minutes % 1440 // 60}h"
