"""What callers give, checked and put into the stored form; pure.

Every refusal names the field; nothing is coerced silently.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from . import jsontext
from .errors import Invalid
from .ledger import digest, fresh_digest, plain_digest
from .models import MESSAGE_COLUMNS, RELATIONS, ROLES, TOKEN_COLUMNS, Draft

_TIMES = (
    "started_at", "ended_at", "last_active", "archived_at", "pinned_at", "estimated_cost_usd", "actual_cost_usd",
)  # fmt: skip
_TEXT_FIELDS = frozenset(
    {"tool_name", "tool_call_id", "finish_reason", "reasoning", "message_key", "provider", "model", "content_type"}
)
_COUNT_FIELDS = ("token_count", "input_tokens", "output_tokens")
_JSON_FIELDS = ("tool_calls", "reasoning_details", "codex_reasoning_items")
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


def check_count(value: Any, field: str) -> None:
    if value is None:
        return
    if not isinstance(value, int) or isinstance(value, bool):
        raise Invalid(f"{field} must be a whole number, not {type(value).__name__}")
    if not 0 <= value < 1 << 63:
        raise Invalid(f"{field} must not be negative or beyond 63 bits: {value}")


def check_time(value: Any, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Invalid(f"{field} must be epoch seconds, not {value!r}")
    return float(value)


def check_id(value: Any, field: str = "session_id") -> None:
    if not isinstance(value, str) or not value:
        raise Invalid(f"{field} must be a non-empty text, not {value!r}")
    if len(value) > 255:
        raise Invalid(f"{field} has {len(value)} characters; at most 255 are allowed")


def check_session(values: Mapping[str, Any]) -> None:
    """Check the columns of a whole session, as an import brings them."""
    for name, value in values.items():
        if name in _TIMES and value is not None:
            check_time(value, name)
        elif name in (*TOKEN_COLUMNS, "last_seq"):
            check_count(value, name)
        elif name not in _TIMES:
            check_text(value, name)
    if values.get("relation") not in (None, *RELATIONS):
        raise Invalid(f"unknown relation {values['relation']!r}; use one of {', '.join(RELATIONS)}")


def check_role(role: Any) -> None:
    if not isinstance(role, str) or role not in ROLES:
        raise Invalid(f"unknown role {role!r}; use one of {', '.join(sorted(ROLES))}")


def _stored_content(content: Any) -> tuple[str | None, bool]:
    if content is None or isinstance(content, str):
        return content, False
    if not isinstance(content, list | dict):
        raise Invalid(f"content must be text, a list or a dict, not {type(content).__name__}")
    try:
        return jsontext.dumps(content), True
    except (TypeError, ValueError, RecursionError) as exc:
        raise Invalid(f"content cannot be written as JSON: {exc}") from exc


def _check_size(text: str | None, max_bytes: int) -> None:
    if text is None or len(text) * 4 <= max_bytes:
        return
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
        "call_id": None if call_id is None else str(call_id),
        "tool_name": None if name is None else str(name),
        "arguments": arguments if arguments is None or isinstance(arguments, str) else to_json(arguments, "arguments"),
    }


_NOTHING: dict[str, Any] = {name: None for name in MESSAGE_COLUMNS if name not in _READ_ONLY} | {"injected": 0}


def plain_draft(role: str, content: str | None, timestamp: float, max_bytes: int) -> Draft:
    """A message that is nothing but words; what most are, so it goes the short way."""
    if role.__class__ is not str or role not in ROLES:
        check_role(role)
    if content is not None and len(content) * 4 > max_bytes:
        _check_size(content, max_bytes)
    values = _NOTHING.copy()
    values["role"] = role
    values["content"] = content
    values["timestamp"] = timestamp
    return Draft(values, plain_digest(role, content, timestamp))


def draft(
    role: str, content: Any = None, *, timestamp: float, max_bytes: int, media_refs: Any = None, **fields: Any
) -> Draft:
    """A checked message in its stored form, with its digest."""
    check_role(role)
    values = stored_values(content, fields, max_bytes)
    values["role"] = role
    values["timestamp"] = timestamp
    return Draft(values, fresh_digest(values, fields), calls_of(fields.get("tool_calls")), _all_media(media_refs))


def stored_values(content: Any, fields: Mapping[str, Any], max_bytes: int) -> dict[str, Any]:
    """The columns of a message but for role and timestamp; only what is given is looked at."""
    values = _NOTHING.copy()
    for name, value in fields.items():
        if value is not None:
            values[name] = _stored(name, value)
    text, structured = _stored_content(content)
    _check_size(text, max_bytes)
    values["content"] = text
    if structured:
        values["content_type"] = "json"
    return values


def _stored(name: str, value: Any) -> Any:
    if value.__class__ is str and name in _TEXT_FIELDS:
        return value
    if name in _JSON_FIELDS:
        return to_json(value, name)
    if name in _COUNT_FIELDS:
        check_count(value, name)
        return value
    if name == "injected":
        return 1 if value else 0
    if name == "metadata":
        if not isinstance(value, Mapping):
            raise Invalid(f"metadata must be a dict, not {type(value).__name__}")
        return to_json(dict(value), name)
    check_text(value, name)
    return value


def _all_media(references: Any) -> Sequence[dict[str, Any]]:
    if not references:
        return ()
    if not isinstance(references, Sequence) or isinstance(references, str):
        raise Invalid(f"media_refs must be a list of dicts, not {type(references).__name__}")
    return [_media(reference) for reference in references]


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


def restored(message: Mapping[str, Any], *, max_bytes: int, media_refs: Sequence[Mapping[str, Any]] = ()) -> Draft:
    """A message of an export in its stored form: same digest, same position."""
    if not isinstance(message, Mapping):
        raise Invalid(f"a message must be a dict, not {type(message).__name__}")
    role, seq = message.get("role"), message.get("seq")
    if not isinstance(role, str) or not role:
        raise Invalid(f"a message needs a role, not {role!r}")
    check_count(seq, "seq")
    fields = {name: value for name in _RESTORED if (value := message.get(name)) is not None}
    # JSON text of other writers is kept as it is: an import restores, it does not judge.
    texts = {name: fields.pop(name) for name in _JSON_FIELDS[1:] if isinstance(fields.get(name), str)}
    values = stored_values(message.get("content"), fields, max_bytes) | texts
    values["role"] = role
    values["timestamp"] = check_time(message.get("timestamp"), "timestamp")
    active = 1 if message.get("active", 1) else 0
    return Draft(
        values, digest(values), calls_of(fields.get("tool_calls")), _all_media(media_refs), seq=seq, active=active
    )


_RESTORED = tuple(name for name in _NOTHING if name not in ("role", "content", "timestamp"))
