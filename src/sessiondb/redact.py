"""Credentials in text, replaced by what they were: `[redacted: github token]`. Pure; the rules are one table.

Vendors' tokens are told by their form, other secrets by the name that stands before them. What is left out is the
value alone: the words around it stay, so that a reader sees what was there.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

_NAMES = (
    r"api[_-]?key|apikey|access[_-]?key|secret(?:[_-]?access)?(?:[_-]?key)?|client[_-]?secret|auth[_-]?token|"
    r"access[_-]?token|refresh[_-]?token|bearer[_-]?token|private[_-]?key|encryption[_-]?key|signing[_-]?key|"
    r"token|password|passwd|passphrase|pwd"
)


class Rule(NamedTuple):
    """What a credential is called and how it looks; the group `secret`, where there is one, is what is left out."""

    name: str
    pattern: str
    # A text without any of these cannot match: most texts are done after that look.
    hints: tuple[str, ...]
    check: Callable[[str], bool] | None = None


class Finding(NamedTuple):
    name: str
    start: int
    end: int


def _is_random(value: str) -> bool:
    """Whether a value looks made by a machine: mixed characters, much information in each."""
    kinds = sum(bool(re.search(kind, value)) for kind in ("[a-z]", "[A-Z]", "[0-9]", r"[^\w]"))
    return len(value) >= 8 and kinds >= 2 and _entropy(value) >= 2.5 and not re.fullmatch(_PLACEHOLDER, value)


def _entropy(value: str) -> float:
    shares = [value.count(character) / len(value) for character in set(value)]
    return -sum(share * math.log2(share) for share in shares)


# What documentation and configuration write instead of a secret.
_PLACEHOLDER = r"(?i)(?:\$\{?\w+\}?|<[^>]*>|\*+|x+|your[-_ ].*|example.*|changeme|none|null|true|false|\.\.\.|\{\{.*)"

RULES = (
    Rule(
        "private key",
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?P<secret>.*?)(?:-----END|\Z)",
        ("PRIVATE KEY",),
    ),
    Rule("github token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_\w{22,255})\b", ("gh", "github_pat_")),
    Rule("gitlab token", r"\bgl(?:pat|dt|rt|ptt|ft|soat)-[\w-]{20,}", ("gl",)),
    Rule("anthropic key", r"\bsk-ant-[\w-]{20,}", ("sk-ant-",)),
    Rule("openai key", r"\bsk-(?!ant-)(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,}", ("sk-",), _is_random),
    Rule("aws access key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b", ("AKIA", "ASIA", "ABIA", "ACCA")),
    Rule("google key", r"\bAIza[\w-]{35}(?![\w-])", ("AIza",)),
    Rule("google oauth token", r"\bya29\.[\w-]{20,}", ("ya29.",)),
    Rule("slack token", r"\bxox[abeoprs]-[\w-]{10,}", ("xox",)),
    Rule("slack webhook", r"https://hooks\.slack\.com/services/(?P<secret>[\w/]{20,})", ("hooks.slack.com",)),
    Rule("stripe key", r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}", ("k_live_", "k_test_")),
    Rule("npm token", r"\bnpm_[A-Za-z0-9]{36}\b", ("npm_",)),
    Rule("pypi token", r"\bpypi-AgE[\w-]{50,}", ("pypi-AgE",)),
    Rule("hugging face token", r"\bhf_[A-Za-z0-9]{30,}\b", ("hf_",)),
    Rule("sendgrid key", r"\bSG\.[\w-]{22}\.[\w-]{43}", ("SG.",)),
    Rule("digitalocean token", r"\bdo[opr]_v1_[a-f0-9]{64}\b", ("_v1_",)),
    Rule("telegram bot token", r"(?<!\d)\d{8,10}:AA[\w-]{33}(?![\w-])", (":AA",)),
    Rule("json web token", r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}", ("eyJ",)),
    Rule(
        "password in a url",
        r"\b[a-z][a-z0-9+.-]*://[^\s:/@]*:(?P<secret>[^\s/@]{3,})@[^\s@]",
        ("://",),
        lambda value: not re.fullmatch(_PLACEHOLDER, value),
    ),
    Rule(
        "authorization header",
        r"(?i)\bauthorization\b[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+(?P<secret>[\w.~+/=-]{12,})",
        ("uthorization", "UTHORIZATION"),
    ),
    Rule(
        "secret value",
        rf"(?i)(?<![A-Za-z])(?:[A-Za-z0-9]+[_-])*(?:{_NAMES})[\"']?\s*(?:[:=]|:=|=>)\s*[\"']?(?P<secret>[^\s\"',;)\]}}]{{8,200}})",
        ("=", ":"),
        _is_random,
    ),
)


def findings(text: str) -> list[Finding]:
    """What would be left out of the text, in order; of overlapping ones the first rule's."""
    found: list[Finding] = []
    for rule in RULES:
        if any(hint in text for hint in rule.hints):
            fresh = (finding for finding in _by_rule(rule, text) if not _overlaps(finding, found))
            found.extend(list(fresh))
    return sorted(found, key=lambda finding: finding.start)


def redact(text: str) -> str:
    """The text without its credentials."""
    parts, at = [], 0
    for finding in findings(text):
        parts += [text[at : finding.start], f"[redacted: {finding.name}]"]
        at = finding.end
    return "".join([*parts, text[at:]])


def redacted(value: Any) -> Any:
    """The same structure of dicts and lists, every text in it redacted; names of fields stay."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {name: redacted(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(inner) for inner in value]
    return value


def _by_rule(rule: Rule, text: str) -> Iterator[Finding]:
    for match in _compiled(rule.pattern).finditer(text):
        group = "secret" if "secret" in match.re.groupindex else 0
        if rule.check is None or rule.check(match[group]):
            yield Finding(rule.name, *match.span(group))


def _overlaps(finding: Finding, others: list[Finding]) -> bool:
    return any(finding.start < other.end and other.start < finding.end for other in others)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)
