"""Credentials in text, replaced by what they were: `[redacted: github token]`. Pure; the rules are in `credentials`.

What is left out is the value alone: the words around it stay, so that a reader sees what was there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from string import ascii_uppercase
from typing import Any, NamedTuple

from .credentials import RULES, Rule, begins, named

__all__ = ["RULES", "Finding", "Rule", "findings", "mark", "redact", "redacted"]

# The longest field name that may name a secret.
_LONGEST_NAME = 100


class Finding(NamedTuple):
    name: str
    start: int
    end: int


def findings(text: str) -> list[Finding]:
    """What would be left out of the text, in order; of overlapping ones the first rule's."""
    folded = _folded(text)
    found: list[Finding] = []
    for rule in RULES:
        if any(hint in folded for hint in rule.hints):
            tried = text if rule.exact else folded
            found.extend([each for each in _by_rule(rule, text, tried) if not _overlaps(each, found)])
    return sorted(found, key=lambda finding: finding.start)


def redact(text: str) -> str:
    """The text without its credentials; a text that has none is returned as it is."""
    found = findings(text)
    if not found:
        return text
    parts, at = [], 0
    for finding in found:
        parts += [text[at : finding.start], mark(finding.name)]
        at = finding.end
    return "".join([*parts, text[at:]])


def redacted(value: Any) -> Any:
    """The same structure of dicts and lists, every text in it redacted; names of fields stay."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {name: _field(name, inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(inner) for inner in value]
    return value


def mark(name: str) -> str:
    """What stands in the place of a credential."""
    return f"[redacted: {name}]"


def _field(name: Any, value: Any) -> Any:
    """The name of a field tells what its value is, as it does in a line of text."""
    if not isinstance(value, str):
        return redacted(value)
    clean = redact(value)
    kind = named(name, value) if clean == value and isinstance(name, str) and len(name) <= _LONGEST_NAME else None
    return clean if kind is None else mark(kind)


def _folded(text: str) -> str:
    """The text in lower case, every character at its place: of some the small form is two."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.translate(_SMALL)


_SMALL = {ord(letter): letter.lower() for letter in ascii_uppercase}


def _by_rule(rule: Rule, text: str, tried: str) -> Iterator[Finding]:
    search, at = _compiled(rule.pattern).search, 0
    while match := search(tried, at):
        at = match.end()
        if rule.apart and not begins(text, match.start()):
            at = match.start() + 1
            continue
        start, end = match.span(match.lastgroup or 0)
        if rule.check(text[start:end]):
            yield Finding(rule.name, start, end)


def _overlaps(finding: Finding, others: list[Finding]) -> bool:
    return any(finding.start < other.end and other.start < finding.end for other in others)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
