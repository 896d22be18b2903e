"""Times and durations as people type them."""

from __future__ import annotations

import time

import click

from ..upkeep import seconds

_DAY = 86_400.0


class Moment(click.ParamType[float]):
    """2025-03-05, 2025-03-05T14:30, today, yesterday, or how long ago: 12h, 7d, 2w. Gives epoch seconds."""

    name = "when"

    def __init__(self, *, end: bool = False) -> None:
        self._end = end

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        from ..search.filters import resolve_time

        found = resolve_time(str(value), time.time(), end=self._end)
        if found is None:
            self.fail(f"{value!r} is no time; write 2025-03-05, 2025-03-05T14:30, today, yesterday, 12h, 7d or 2w")
        return found


class Days(click.ParamType[float]):
    """A number of days, such as 30, or a duration such as 12h, 30d or 2w. Gives days."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        text = str(value).strip()
        try:
            return float(text) if text.replace(".", "", 1).isdigit() else seconds(text) / _DAY
        except ValueError:
            self.fail(f"{value!r} is no duration; write 30 for days, or 12h, 30d, 2w")


SINCE, UNTIL, DAYS = Moment(), Moment(end=True), Days()
