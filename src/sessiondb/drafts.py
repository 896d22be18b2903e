"""What callers give, checked and put into the stored form; pure.

Every refusal names the field; nothing is coerced silently.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import Invalid
from .ledger import digest
from .models import MESSAGE_COLUMNS, RELATIONS, ROLES, TOKEN_COLUMNS, Draft

_TIMES = (
    "started_at", "ended_at", "last_active", "archived_at", "pinned_at", "estimated_cost_usd", "actual_cost_usd",
)  # fmt: skip
_TEXT_FIELDS = ("tool_name", "tool_call_id", "finish_reason", "reasoning", "message_key", "provider", "model")
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
        return json.dumps(value, ensure_ascii=False)
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
        return json.dumps(content, ensure_ascii=False), True
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


def draft(
    role: str,
    content: Any = None,
    *,
    timestamp: float,
    max_bytes: int,
    tool_calls: Any = None,
    reasoning_details: Any = None,
    codex_reasoning_items: Any = None,
    content_type: str | None = None,
    injected: bool | int = False,
    metadata: Mapping[str, Any] | None = None,
    media_refs: Sequence[Mapping[str, Any]] = (),
    **fields: Any,
) -> Draft:
    """A checked message in its stored form, with its digest."""
    check_role(role)
    for name in _TEXT_FIELDS:
        check_text(fields.get(name), name)
    for name in _COUNT_FIELDS:
        check_count(fields.get(name), name)
    check_text(content_type, "content_type")
    if metadata is not None and not isinstance(metadata, Mapping):
        raise Invalid(f"metadata must be a dict, not {type(metadata).__name__}")
    text, structured = _stored_content(content)
    _check_size(text, max_bytes)
    values = {
        "role": role,
        "content": text,
        "content_type": "json" if structured else content_type,
        "tool_call_id": fields.get("tool_call_id"),
        "tool_calls": to_json(tool_calls, "tool_calls") if tool_calls else None,
        "tool_name": fields.get("tool_name"),
        "timestamp": timestamp,
        "token_count": fields.get("token_count"),
        "finish_reason": fields.get("finish_reason"),
        "reasoning": fields.get("reasoning"),
        "reasoning_details": to_json(reasoning_details, "reasoning_details") if reasoning_details else None,
        "codex_reasoning_items": to_json(codex_reasoning_items, "codex_reasoning_items")
        if codex_reasoning_items
        else None,
        "message_key": fields.get("message_key"),
        "provider": fields.get("provider"),
        "model": fields.get("model"),
        "input_tokens": fields.get("input_tokens"),
        "output_tokens": fields.get("output_tokens"),
        "injected": 1 if injected else 0,
        "metadata": to_json(metadata, "metadata") if metadata else None,
    }
    calls = calls_of(tool_calls) if tool_calls else ()
    return Draft(values, digest(values), calls, [_media(ref) for ref in media_refs] if media_refs else ())


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


def restored(message: Mapping[str, Any], *, max_bytes: int, media_refs: Sequence[Mapping[str, Any]] = ()) -> Draft:
    """A message of an export in its stored form: same digest, same position."""
    if not isinstance(message, Mapping):
        raise Invalid(f"a message must be a dict, not {type(message).__name__}")
    made = draft(
        "meta",
        message.get("content"),
        timestamp=check_time(message.get("timestamp"), "timestamp"),
        max_bytes=max_bytes,
        tool_calls=message.get("tool_calls"),
        content_type=message.get("content_type"),
        injected=bool(message.get("injected")),
        metadata=message.get("metadata"),
        media_refs=media_refs,
        **{name: message.get(name) for name in (*_TEXT_FIELDS, *_COUNT_FIELDS)},
    )
    role = message.get("role")
    if not isinstance(role, str) or not role:
        raise Invalid(f"a message needs a role, not {role!r}")
    # Roles and JSON text of other writers are kept as they are: an import restores, it does not judge.
    made.values["role"] = role
    for name in _JSON_FIELDS[1:]:
        value = message.get(name)
        made.values[name] = value if value is None or isinstance(value, str) else to_json(value, name)
    made.digest = digest(made.values)
    check_count(message.get("seq"), "seq")
    made.seq = message.get("seq")
    made.active = 1 if message.get("active", 1) else 0
    return made
