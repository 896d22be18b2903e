"""Times and durations as people type them; text to numbers, ValueError with a sentence."""

from __future__ import annotations

import time

_DAY = 86_400.0


def since(text: str) -> float:
    """Epoch seconds of 2025-03-05, 2025-03-05T14:30, today, yesterday, or how long ago: 12h, 7d, 2w."""
    return _moment(text, end=False)


def until(text: str) -> float:
    """The same; of a whole day its last moment."""
    return _moment(text, end=True)


def _moment(text: str, *, end: bool) -> float:
    from ..search.filters import resolve_time

    found = resolve_time(text, time.time(), end=end)
    if found is None:
        raise ValueError(f"{text!r} is no time; write 2025-03-05, 2025-03-05T14:30, today, yesterday, 12h, 7d or 2w")
    return found


def days(text: str) -> float:
    """A number of days, such as 30, or a duration such as 12h, 30d or 2w."""
    text = text.strip()
    if text.replace(".", "", 1).isdigit():
        return float(text)
    from ..upkeep import seconds

    try:
        return seconds(text) / _DAY
    except ValueError:
        raise ValueError(f"{text!r} is no duration; write 30 for days, or 12h, 30d, 2w") from None
