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

PLAIN = (
    "role", "content_type", "tool_call_id", "tool_name", "finish_reason",
    "reasoning", "timestamp", "token_count", "message_key",
)  # fmt: skip
# Compared by value, not by spelling: another writer's blanks or key order are not an edit.
JSON_TEXT = ("tool_calls", "reasoning_details", "codex_reasoning_items", "metadata")

_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def canonical(row: Mapping[str, Any]) -> bytes:
    """The bytes that stand for a stored message; absent and NULL are the same."""
    form = {name: row[name] for name in PLAIN if row[name] is not None}
    content = row["content"]
    if content is not None:
        form["content"] = _parsed(content) if row["content_type"] == "json" else content
    for name in JSON_TEXT:
        if row[name] is not None:
            form[name] = _parsed(row[name])
    return _encode(form).encode("utf-8", "surrogatepass")


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
