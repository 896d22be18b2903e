"""The filters of the search box: what their values mean, and how they narrow a search."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from ..models import AUTOMATION_SOURCES, Filter, MessageFilter
from ..values import replace

FIELDS = ("source", "role", "model", "session", "title", "tag", "tool", "kind", "cwd", "since", "until")
TIMES = ("since", "until")
KINDS = ("command", "path", "url", "decision", "todo")

Filters = tuple[tuple[str, str], ...]

_AGO = r"([0-9]{1,6})([hdw])"
_SECONDS = {"h": 3600.0, "d": 86400.0, "w": 604800.0}
_WHOLE_DAY = r"today|yesterday|\d{4}-\d\d-\d\d"
_A_MOMENT = 1e-6


def resolve_time(value: str, now: float, *, end: bool = False) -> float | None:
    """Epoch seconds of an ISO date or time, `24h`, `7d`, `2w`, `today`, `yesterday`; None for anything else.

    Times without an offset are local. A whole day is its first moment, or with `end` its last.
    """
    value = value.strip()
    if ago := re.fullmatch(_AGO, value):
        return now - int(ago[1]) * _SECONDS[ago[2]]
    try:
        return _calendar_time(value, now, last_moment=end and re.fullmatch(_WHOLE_DAY, value) is not None)
    except (ValueError, OverflowError, OSError):
        return None


def _calendar_time(value: str, now: float, *, last_moment: bool) -> float:
    from datetime import datetime, timedelta

    midnight = datetime.fromtimestamp(now).replace(hour=0, minute=0, second=0, microsecond=0)
    if value == "today":
        moment = midnight
    elif value == "yesterday":
        moment = midnight - timedelta(days=1)
    else:
        moment = datetime.fromisoformat(value)
    return (moment + timedelta(days=1)).timestamp() - _A_MOMENT if last_moment else moment.timestamp()


def filter_value(name: str, value: str) -> str | None:
    """What a value of this field means; None where it means nothing, and the text is to be looked for."""
    if name[0] == "-":
        return value if name == "-source" else None
    if name in TIMES:
        return value if resolve_time(value, 0.0) is not None else None
    if name == "kind":
        named = value.lower()
        return next((kind for kind in KINDS if named in (kind, f"{kind}s")), None)
    return value


def narrowed(filters: Filters, where: Filter, messages: MessageFilter, now: float) -> tuple[Filter, MessageFilter]:
    """Both the caller's filters and the box's hold; where they exclude each other, nothing is selected.

    `-source:` excludes. Of two values of one of model, title and cwd the last counts. `tool:` and `kind:` are checked
    on the messages themselves (`Query.admits`).
    """
    wanted = _by_field(filters)
    where, possible = _narrow_sessions(wanted, where)
    roles = _both(messages.roles or None, wanted.get("role")) or ()
    if not possible or (wanted.get("role") and not roles):
        where = replace(where, ids=())
    since, until = _bounds(wanted, now)
    return where, replace(
        messages, roles=roles, since=_extreme(max, messages.since, since), until=_extreme(min, messages.until, until)
    )


def people_and_machines(where: Filter) -> tuple[Filter, Filter]:
    """The filter in two: without automation, and automation alone."""
    people = replace(where, exclude_sources=(*where.exclude_sources, *AUTOMATION_SOURCES))
    return people, replace(where, sources=_both(where.sources, AUTOMATION_SOURCES))


def _by_field(filters: Filters) -> dict[str, list[str]]:
    wanted: dict[str, list[str]] = {}
    for field, value in filters:
        wanted.setdefault(field, []).append(value)
    return wanted


def _narrow_sessions(wanted: dict[str, list[str]], where: Filter) -> tuple[Filter, bool]:
    """The narrowed filter, and whether any session can pass it."""
    last = {field: values[-1] for field, values in wanted.items()}
    model, model_fits = _one(where.model, last.get("model"))
    title, title_fits = _one(where.title_contains, last.get("title"))
    cwd, cwd_fits = _one(where.cwd, last.get("cwd"))
    narrowed = replace(
        where,
        ids=_both(where.ids, wanted.get("session")),
        sources=_both(where.sources, wanted.get("source")),
        exclude_sources=(*where.exclude_sources, *wanted.get("-source", ())),
        tags=tuple(dict.fromkeys((*where.tags, *wanted.get("tag", ())))),
        model=model,
        title_contains=title,
        cwd=cwd,
    )
    return narrowed, model_fits and title_fits and cwd_fits


def _both(given: Sequence[str] | None, wanted: Sequence[str] | None) -> Sequence[str] | None:
    if given is None or wanted is None:
        return given if wanted is None else tuple(dict.fromkeys(wanted))
    return tuple(value for value in given if value in wanted)


def _one(given: str | None, wanted: str | None) -> tuple[str | None, bool]:
    if given is None or wanted is None:
        return (wanted if given is None else given), True
    return given, given == wanted


def _bounds(wanted: dict[str, list[str]], now: float) -> tuple[float | None, float | None]:
    since = (resolve_time(value, now) for value in wanted.get("since", ()))
    until = (resolve_time(value, now, end=True) for value in wanted.get("until", ()))
    return _extreme(max, *since), _extreme(min, *until)


def _extreme(choose: Callable[[Iterable[float]], float], *times: float | None) -> float | None:
    known = [time for time in times if time is not None]
    return choose(known) if known else None
