"""Proof of completeness: every message has a digest, every position a term, every session the sum of its terms.

The digest d is 62 bits over the canonical form of what was said. The term of d at position seq is
`(d >> 31) * seq + (d & 0x7fffffff)`, masked to 62 bits: it depends on the place, so that a swap shows as well as a
loss, a double or an edit. A session's `ledger` is the masked sum of the terms of its rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

try:
    # Past hashlib, which loads OpenSSL for what is not used here.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

MASK = (1 << 62) - 1
LOW = (1 << 31) - 1
MODULUS = MASK + 1

# Sorted, as JSON with sorted keys has them.
NAMES = (
    "codex_reasoning_items", "content", "content_type", "finish_reason", "message_key", "metadata", "reasoning",
    "reasoning_details", "role", "timestamp", "token_count", "tool_call_id", "tool_calls", "tool_name",
)  # fmt: skip
# Compared by value, not by spelling: another writer's blanks or key order are not an edit.
JSON_TEXT = frozenset({"tool_calls", "reasoning_details", "codex_reasoning_items", "metadata"})

_quoted = json.encoder.encode_basestring
# Rows of other programs may hold what JSON cannot say, such as bytes: any fixed spelling will do.
_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=repr).encode


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text)
    except (ValueError, TypeError):
        return text


def _member(row: Mapping[str, Any], name: str, value: Any) -> str:
    if name in JSON_TEXT or (name == "content" and row["content_type"] == "json"):
        value = _parsed(value)
    # Written piece by piece: a JSON encoder costs more to set up than most messages to encode.
    return f'"{name}":{_quoted(value) if value.__class__ is str else _encode(value)}'


def canonical(row: Mapping[str, Any]) -> bytes:
    """The bytes that stand for a stored message: JSON with sorted keys; absent and NULL are the same."""
    members = [_member(row, name, row[name]) for name in NAMES if row[name] is not None]
    return ("{" + ",".join(members) + "}").encode("utf-8", "surrogatepass")


def plain_digest(role: str, content: str | None, timestamp: float) -> int:
    """The digest of a message that has nothing but these; the same number, sooner."""
    said = "" if content is None else f'"content":{_quoted(content)},'
    form = f'{{{said}"role":{_quoted(role)},"timestamp":{timestamp!r}}}'
    return int.from_bytes(blake2b(form.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") & MASK


def digest(row: Mapping[str, Any]) -> int:
    """62 bits over the canonical form of a row as stored (JSON columns as text)."""
    return int.from_bytes(blake2b(canonical(row), digest_size=8).digest(), "big") & MASK


def term(message_digest: int, seq: int) -> int:
    return ((message_digest >> 31) * seq + (message_digest & LOW)) & MASK


def total(terms: Iterable[int]) -> int:
    return sum(terms) & MASK


def minus(ledger: int, terms: Iterable[int]) -> int:
    """The ledger without these terms."""
    return (ledger - sum(terms)) & MASK
