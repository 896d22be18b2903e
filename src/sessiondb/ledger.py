"""Proof of completeness: every message has a digest, every position a term, every session the sum of its terms.

The digest d is 62 bits over the canonical form of what was said. The term of d at position seq is
`(d >> 31) * seq + (d & 0x7fffffff)`, masked to 62 bits: it depends on the place, so that a swap shows as well as a
loss, a double or an edit. A session's `ledger` is the masked sum of the terms of its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from json.encoder import encode_basestring as _quoted
from operator import itemgetter
from typing import Any

from . import jsontext
from .jsontext import escaped

try:
    # Past hashlib, which loads OpenSSL for what is not used here.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

MASK = (1 << 62) - 1
LOW = (1 << 31) - 1

NAMES = (
    "codex_reasoning_items", "content", "content_type", "finish_reason", "message_key", "metadata", "reasoning",
    "reasoning_details", "role", "timestamp", "token_count", "tool_call_id", "tool_calls", "tool_name",
)  # fmt: skip
JSON_TEXT = ("tool_calls", "reasoning_details", "codex_reasoning_items", "metadata")


def _form(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name in NAMES if (value := row[name]) is not None}


def canonical(row: Mapping[str, Any]) -> bytes:
    """The bytes that stand for a stored message: JSON with sorted keys; absent and NULL are the same.

    Columns that hold JSON count in our own spelling: another writer's blanks are not an edit.
    """
    form = _form(row)
    for name in JSON_TEXT:
        if name in form:
            form[name] = jsontext.normal(form[name])
    if form.get("content_type") == "json" and "content" in form:
        form["content"] = jsontext.normal(form["content"])
    return jsontext.canonical(form).encode("utf-8", "surrogatepass")


def _digest(form: bytes) -> int:
    return int.from_bytes(blake2b(form, digest_size=8).digest(), "big") & MASK


def digest(row: Mapping[str, Any]) -> int:
    """62 bits over the canonical form of a row as stored (JSON columns as text)."""
    return _digest(canonical(row))


class Spelling:
    """How `fresh_digest` spells rows that have all of these and nothing else.

    `places` is a text with a place for every value but content, `values` says whose value goes there, spelled how.
    `encode` does the same sooner, once the fast encoder is there.
    """

    __slots__ = ("encode", "names", "places", "values")

    def __init__(self, names: Sequence[str]) -> None:
        known = [name for name in names if name != "content"]
        self.names = tuple(names)
        self.places = ",".join([f'"{name}":%s' for name in known])
        self.values = tuple((name, _SPELLS.get(name, _quoted)) for name in known)
        self.encode: Callable[[Mapping[str, Any]], bytes] | None = None


# The messages of a batch share their moment, and a float takes longer to spell than a line of text.
_moment = lru_cache(8)(float.__repr__)
_SPELLS: dict[str, Callable[[Any], str]] = {"timestamp": _moment, "token_count": int.__repr__}


def spelling(names: Iterable[str]) -> Spelling | None:
    """None for rows with something that sorts before content."""
    given = {*names, "timestamp"}
    return None if "codex_reasoning_items" in given else Spelling([name for name in NAMES if name in given])


# Where a float has no exponent, everybody spells it alike.
_PLAIN_FROM, _PLAIN_TO = 1e-4, 1e15
# Loading the fast encoder takes as long as thousands of digests: programs that write little never do, and nobody's
# single append waits for it.
_LEFT_TO_SPELL = [500]


def tally(messages: int) -> None:
    """So many messages came together: whoever brings many has the fast encoder loaded."""
    _LEFT_TO_SPELL[0] -= messages


def _encoder(names: Sequence[str]) -> Callable[[Mapping[str, Any]], bytes]:
    """From a record with these fields JSON is made sooner than from a dict."""
    import msgspec

    record: Callable[..., Any] = msgspec.defstruct("Record", names, gc=False)
    encode, values = msgspec.json.Encoder().encode, itemgetter(*names)
    return lambda row: encode(record(*values(row)))


def fresh_digest(row: Mapping[str, Any], spelled: Spelling | None) -> tuple[int, bool]:
    """The digest of a checked row with JSON in our own spelling, and whether all it is made of is ASCII.

    The same number as `digest` gives, sooner where it is `spelled`.
    """
    if spelled is None:
        form = jsontext.canonical(_form(row)).encode("utf-8", "surrogatepass")
    elif spelled.encode is not None and _PLAIN_FROM < row["timestamp"] < _PLAIN_TO:
        try:
            form = spelled.encode(row)
        except UnicodeEncodeError:
            form = _spelled_form(row, spelled)
    else:
        form = _spelled_form(row, spelled)
        # Without a lock: it does not matter which of two threads makes it.
        if _LEFT_TO_SPELL[0] < 0 and spelled.encode is None:
            spelled.encode = _encoder(spelled.names)
    return int.from_bytes(blake2b(form, digest_size=8).digest(), "big") & MASK, form.isascii()


def _spelled_form(row: Mapping[str, Any], spelled: Spelling) -> bytes:
    said = spelled.places % tuple([spell(row[name]) for name, spell in spelled.values])
    rest, content = said.encode("utf-8", "surrogatepass"), row["content"]
    return b"{%b}" % rest if content is None else b'{"content":"%b",%b}' % (escaped(content), rest)


def term(message_digest: int, seq: int) -> int:
    return ((message_digest >> 31) * seq + (message_digest & LOW)) & MASK


def terms(digests: Iterable[int], positions: Iterable[int]) -> list[int]:
    """The terms of many messages at once."""
    return [((d >> 31) * seq + (d & LOW)) & MASK for d, seq in zip(digests, positions, strict=True)]


def total(terms: Iterable[int]) -> int:
    return sum(terms) & MASK


def minus(ledger: int, terms: Iterable[int]) -> int:
    """The ledger without these terms."""
    return (ledger - sum(terms)) & MASK
