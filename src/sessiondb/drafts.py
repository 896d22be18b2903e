"""What callers give, checked and put into the stored form; pure.

Every refusal names the field; nothing is coerced silently.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any

from . import jsontext
from .errors import Invalid
from .ledger import Spelling, digest, fresh_digest, spelling, tally
from .models import MESSAGE_COLUMNS, RELATIONS, ROLES, TOKEN_COLUMNS, Draft, Filter
from .rows import decoded

_TIMES = frozenset({"started_at", "ended_at", "last_active", "archived_at", "pinned_at"})
_COSTS = frozenset({"estimated_cost_usd", "actual_cost_usd"})
_COUNTS = frozenset({*TOKEN_COLUMNS, "last_seq"})
_TEXT_FIELDS = frozenset(
    {"role", "tool_name", "tool_call_id", "finish_reason", "reasoning", "message_key", "provider", "model",
     "content_type"}
)  # fmt: skip
# What `get_messages` adds when it hands a message out; a message given back may still carry them.
_READ_ONLY = frozenset({"id", "session_id", "seq", "term", "active"})
FIELDS = frozenset(MESSAGE_COLUMNS) - _READ_ONLY | {"media_refs"}


def to_json(value: Any, field: str) -> str | None:
    """JSON text of a value; nothing (None, empty list, empty dict) is NULL."""
    if not value:
        return None
    try:
        return jsontext.dumps(value)
    except (TypeError, ValueError, RecursionError) as exc:
        raise Invalid(f"{field} cannot be written as JSON: {exc}") from exc


def check_text(value: Any, field: str) -> None:
    if value is not None and not isinstance(value, str):
        raise Invalid(f"{field} must be text, not {type(value).__name__}")


def check_texts(values: Any, field: str) -> tuple[str, ...]:
    """Several texts; none for None. A single text is refused: taken for a list, it would be its letters."""
    if values is None:
        return ()
    if isinstance(values, str):
        raise Invalid(f"{field} must be a list of texts, such as [{values!r:.40}], not a single one")
    listed = isinstance(values, Collection) and not isinstance(values, bytes | Mapping)
    if not listed or not all(isinstance(value, str) for value in values):
        raise Invalid(f"{field} must be a list of texts, not {values!r:.40}")
    return tuple(values)


def check_filter(where: Any, default: Filter | None = None) -> Filter:
    """A filter as it was given, or the default, which is every session."""
    if where is None:
        return default or Filter()
    if not isinstance(where, Filter):
        raise Invalid(f"where must be a Filter, not {type(where).__name__}")
    return where


def check_days(value: Any, field: str = "older_than_days") -> float:
    days = _number(value)
    if days is None or not 0 <= days < math.inf:
        raise Invalid(f"{field} must be zero or more, not {value if days is None else days!r:.40}")
    return days


def check_seconds(value: Any, field: str) -> float:
    seconds = _number(value)
    if seconds is None or not 0 <= seconds < math.inf:
        raise Invalid(f"{field} must be a number of seconds, not {value if seconds is None else seconds!r:.40}")
    return seconds


def check_count(value: Any, field: str) -> None:
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool):
        raise Invalid(f"{field} must be a whole number, not {type(value).__name__}")
    if not 0 <= value < 1 << 63:
        raise Invalid(f"{field} must not be negative or beyond 63 bits: {value}")


def check_number(value: Any, field: str) -> None:
    """A count that must be given."""
    if value is None:
        raise Invalid(f"{field} must be a whole number, not None")
    check_count(value, field)


def check_time(value: Any, field: str) -> float:
    moment = value if value.__class__ is float else _number(value)
    if moment is None or not math.isfinite(moment):
        raise Invalid(f"{field} must be epoch seconds, not {value if moment is None else moment!r:.40}")
    # No store keeps the sign of zero.
    return moment + 0.0


def check_cost(value: Any, field: str) -> float | None:
    if value is None:
        return None
    cost = _number(value)
    if cost is None or not math.isfinite(cost) or cost < 0:
        raise Invalid(f"{field} must be a positive amount, not {value!r:.40}")
    return cost


def _number(value: Any) -> float | None:
    """A float of any number; beyond all floats: infinite; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


def check_id(value: Any, field: str = "session_id") -> None:
    if not isinstance(value, str) or not value:
        raise Invalid(f"{field} must be a non-empty text, not {value!r}")
    if len(value) > 255:
        raise Invalid(f"{field} has {len(value)} characters; at most 255 are allowed")


def check_session(values: Mapping[str, Any]) -> None:
    """Check the columns of a whole session, as an import brings them."""
    for name, value in values.items():
        if value is None:
            continue
        if name in _TIMES:
            check_time(value, name)
        elif name in _COSTS:
            check_cost(value, name)
        elif name in _COUNTS:
            check_count(value, name)
        else:
            check_text(value, name)
    if values.get("relation") not in (None, *RELATIONS):
        raise Invalid(f"unknown relation {values['relation']!r}; use one of {', '.join(RELATIONS)}")


def check_role(role: Any) -> None:
    if not isinstance(role, str) or role not in ROLES:
        raise Invalid(f"unknown role {role!r}; use one of {', '.join(sorted(ROLES))}")


def _plain(text: str) -> str:
    """What it says, of a text of any kind: encoders and drivers know only the plain one."""
    return str.__str__(text)


def _stored_content(content: Any, values: dict[str, Any]) -> str:
    if isinstance(content, str):
        return _plain(content)
    if not isinstance(content, list | dict):
        raise Invalid(f"content must be text, a list or a dict, not {type(content).__name__}")
    try:
        text = jsontext.dumps(content)
    except (TypeError, ValueError, RecursionError) as exc:
        raise Invalid(f"content cannot be written as JSON: {exc}") from exc
    values["content_type"] = "json"
    return text


def _check_size(text: str, max_bytes: int) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > max_bytes:
        raise Invalid(f"content has {size:,} bytes; this provider takes at most {max_bytes:,}")


def calls_of(tool_calls: Any) -> list[dict[str, Any]]:
    """One entry per tool call, whatever shape the model's API gave it; a single dict is one call."""
    if not tool_calls:
        return []
    return [_call(call) for call in (tool_calls if isinstance(tool_calls, list) else [tool_calls])]


def _call(call: Any) -> dict[str, Any]:
    if not isinstance(call, dict):
        return {"call_id": None, "tool_name": None, "arguments": None}
    function = call.get("function")
    inner: dict[str, Any] = function if isinstance(function, dict) else call
    arguments = inner.get("arguments", inner.get("input"))
    call_id = call.get("id", call.get("call_id"))
    name = inner.get("name")
    return {
        "call_id": None if call_id is None else _written(call_id),
        "tool_name": None if name is None else _written(name),
        "arguments": _plain(arguments) if isinstance(arguments, str) else to_json(arguments, "arguments"),
    }


def _written(value: Any) -> str:
    return _plain(value) if isinstance(value, str) else str(value)


_STORED = tuple(name for name in MESSAGE_COLUMNS if name not in _READ_ONLY)
# With room for the place that the store gives: a dict that need not grow is made in half the time.
_NOTHING: dict[str, Any] = dict.fromkeys((*_STORED, "session_id", "seq", "term", "active")) | {"injected": 0}


# Which fields must be text, which are converted and how, and how all are spelled.
Shape = tuple[tuple[str, ...], tuple[tuple[str, Callable[[Any, str], Any]], ...], Spelling | None]


@lru_cache(256)
def _shape(names: tuple[str, ...]) -> Shape:
    """What there is to do for messages with these fields; worked out once: a conversation has few shapes."""
    if not FIELDS.issuperset(names):
        raise Invalid(
            f"unknown message field {min(map(str, set(names) - FIELDS))!r}; known: {', '.join(sorted(FIELDS))}"
        )
    texts = tuple(name for name in names if name in _TEXT_FIELDS)
    converted = tuple((name, _CONVERTED[name]) for name in names if name in _CONVERTED)
    return texts, converted, spelling(names)


def draft(message: Mapping[str, Any], now: float, max_bytes: int) -> Draft:
    """A checked message in its stored form, with its digest; said `now` unless it has a timestamp."""
    role = message.get("role")
    if role.__class__ is not str or role not in ROLES:
        check_role(role)
    if None in message.values():
        message = {name: value for name, value in message.items() if value is not None}
    return _made(message, now, max_bytes)


def _made(message: Mapping[str, Any], now: float, max_bytes: int) -> Draft:
    """Of a message whose fields all have a value."""
    texts, converted, spelled = _shape(tuple(message))
    values = {**_NOTHING, **message}
    for name in texts:
        if values[name].__class__ is not str:
            check_text(values[name], name)
            values[name] = _plain(values[name])
    for name, convert in converted:
        stored = values[name] = convert(values[name], name)
        if stored is None:
            spelled = None
    if values["timestamp"] is None:
        values["timestamp"] = now
    # JSON that comes as text is spelled as its writer likes.
    is_fresh = values["content_type"] != "json"
    content = values["content"]
    if content is not None:
        if content.__class__ is not str:
            content = values["content"] = _stored_content(content, values)
            spelled = None
        if len(content) * 4 > max_bytes:
            _check_size(content, max_bytes)
    media = _all_media(values.pop("media_refs")) if "media_refs" in values else ()
    calls = calls_of(message["tool_calls"]) if values["tool_calls"] is not None else ()
    if not is_fresh:
        return Draft(values, digest(values), calls, media)
    number, is_ascii = fresh_digest(values, spelled)
    # The digest is not of everything.
    is_ascii = is_ascii and values["provider"] is None and values["model"] is None
    return Draft(values, number, calls, media, None, 1, is_ascii)


def _count(value: Any, field: str) -> int:
    check_count(value, field)
    return int(value)


def _flag(value: Any, _: str) -> int:
    return 1 if value else 0


def _metadata(value: Any, field: str) -> str | None:
    if not isinstance(value, Mapping):
        raise Invalid(f"metadata must be a dict, not {type(value).__name__}")
    return to_json(dict(value), field)


_CONVERTED: dict[str, Callable[[Any, str], Any]] = {
    **dict.fromkeys(("tool_calls", "reasoning_details", "codex_reasoning_items"), to_json),
    **dict.fromkeys(("token_count", "input_tokens", "output_tokens"), _count),
    "timestamp": check_time,
    "injected": _flag,
    "metadata": _metadata,
}


def checked_media(references: Any) -> Sequence[Any]:
    """What was given as media references, if it is a list; none for None."""
    if not references:
        return ()
    if not isinstance(references, Sequence) or isinstance(references, str):
        raise Invalid(f"media_refs must be a list of dicts, not {type(references).__name__}")
    return references


def _all_media(references: Any) -> Sequence[dict[str, Any]]:
    return [_media(reference) for reference in checked_media(references)]


def _media(reference: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(reference, Mapping):
        raise Invalid(f"media_refs must be a list of dicts, not of {type(reference).__name__}")
    kind = reference.get("kind")
    if not isinstance(kind, str):
        raise Invalid(f"a media reference needs a kind such as 'image', not {kind!r}")
    for name in ("path", "mime_type", "sha256"):
        check_text(reference.get(name), f"media {name}")
    check_count(reference.get("size"), "media size")
    plain = {name: reference.get(name) for name in ("path", "mime_type", "sha256", "size")}
    return {"kind": kind, **plain, "metadata": to_json(reference.get("metadata"), "media metadata")}


def latest(drafts: Sequence[Draft], hidden: Sequence[str] = ()) -> list[Draft]:
    """Of drafts with the same key only the last, in the place of the first; those with a key in `hidden` inactive."""
    kept: dict[Any, Draft] = {}
    for draft in drafts:
        key = draft.values["message_key"]
        kept[id(draft) if key is None else key] = draft
    for key in hidden:
        if key in kept:
            kept[key].active = 0
    return list(kept.values())


@lru_cache(256)
def _restorable(names: tuple[Any, ...]) -> tuple[tuple[str, ...], bool]:
    """What an import takes of a message with these names, and whether some of it is kept as it is spelled."""
    kept = tuple(name for name in names if name in FIELDS)
    return kept, not _KEPT.isdisjoint(kept)


def restored(message: Mapping[str, Any], *, max_bytes: int, media_refs: Any = None) -> Draft:
    """A message of an export in its stored form: same digest, same position."""
    if message.__class__ is not dict and not isinstance(message, Mapping):
        raise Invalid(f"a message must be a dict, not {type(message).__name__}")
    role, seq = message.get("role"), message.get("seq")
    if not isinstance(role, str) or not role:
        raise Invalid(f"a message needs a role, not {role!r}")
    check_count(seq, "seq")
    if message.get("timestamp") is None:
        raise Invalid("a message needs a timestamp in epoch seconds")
    tally(1)
    kept, has_texts = _restorable(tuple(message))
    given = {name: value for name in kept if (value := message[name]) is not None}
    made = _made(given, 0.0, max_bytes)
    if has_texts:
        _keep_texts(made, given)
    if media_refs:
        made.media = _all_media(media_refs)
    made.seq = seq
    made.active = 1 if message.get("active", 1) else 0
    return made


def revised(row: Mapping[str, Any], media: Sequence[Mapping[str, Any]]) -> Draft:
    """A stored row, changed, as a draft for its own place; `media` are its rows as stored."""
    values = {name: row[name] for name in _STORED}
    references = [{name: each[name] for name in _MEDIA} for each in media]
    calls = calls_of(decoded(row["tool_calls"])) if row["tool_calls"] is not None else ()
    return Draft(values, digest(values), calls, references, active=row["active"])


_MEDIA = ("kind", "path", "mime_type", "sha256", "size", "metadata")
_KEPT = frozenset({"reasoning_details", "codex_reasoning_items"})


def _keep_texts(made: Draft, given: Mapping[str, Any]) -> None:
    """JSON text of other writers stays as it is: an import restores, it does not judge."""
    texts = {name: given[name] for name in _KEPT if isinstance(given.get(name), str)}
    if texts:
        made.is_ascii = False
        made.values |= texts
        made.digest = digest(made.values)
