"""Answers for programs: `--json` is one document that names its schema, `--jsonl` one record per line.

The shapes are in docs/json.md; a change that could break a reader raises the number in the schema.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from io import TextIOWrapper
from typing import Any, TextIO

from .text import safe_json

VERSION = 1
# What was asked for: "json", "jsonl", or None for people.
Form = str | None


def give(form: Form, schema: str, facts: Mapping[str, Any], *, records: str | None = None) -> None:
    """Print `facts`; as lines, the items of the list `records` among them, or all on one line if there is none."""
    if form == "jsonl" and records is not None:
        give_lines(facts[records])
        return
    document = {"schema": f"sessiondb.{schema}.v{VERSION}", **facts}
    print(to_json(document, indent=None if form == "jsonl" else 2), file=stream())


def give_lines(records: Iterable[Any]) -> None:
    out = stream()
    for record in records:
        print(to_json(record, indent=None), file=out)


def to_json(value: Any, *, indent: int | None = 2) -> str:
    """JSON with letters of all scripts as they are; what a terminal would obey is escaped, as JSON allows."""
    import json

    return safe_json(json.dumps(value, ensure_ascii=False, indent=indent))


def stream() -> TextIO:
    """The standard output, in UTF-8 whatever the locale says, as JSON is."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    return sys.stdout
