"""A query as an FTS5 expression, and the score of a row computed where the matches are known."""

from __future__ import annotations

from typing import Any

import apsw

from ....search import rank
from ....search.nodes import And, Leaf, Node, Not, Or, Phrase, Term

BODY, EXTRA = 0, 1
# In the extra words of messages that machines wrote to each other; the analyser makes no such word of any text.
MACHINE = "\ue000machine"


def available() -> bool:
    """Whether this SQLite has FTS5."""
    return "ENABLE_FTS5" in apsw.compile_options


def of_people(expression: str) -> str:
    return f'({expression} NOT "{MACHINE}")'


def of_machines(expression: str) -> str:
    return f'({expression} AND "{MACHINE}")'


def expression(node: Node) -> str:
    match node:
        case Term(token, prefix):
            return f'"{token}"{" *" if prefix else ""}'
        case Phrase(tokens, prefix):
            return f'"{" ".join(tokens)}"{" *" if prefix else ""}'
        case Or(parts):
            return "(" + " OR ".join(map(expression, parts)) + ")"
        case Not(part):
            raise ValueError(f"a negation stands only beside what it excludes from: {part}")
        case And(parts):
            wanted = " AND ".join(expression(part) for part in parts if not isinstance(part, Not))
            excluded = "".join(f" NOT {expression(part.part)}" for part in parts if isinstance(part, Not))
            return f"(({wanted}){excluded})"


def scored_leaves(node: Node) -> list[Leaf | None]:
    """The leaves in the order in which FTS5 numbers its phrases; None for those that must be absent."""
    match node:
        case Or(parts):
            return [leaf for part in parts for leaf in scored_leaves(part)]
        case Not(part):
            return [None for _ in scored_leaves(part)]
        case And(parts):
            ordered = sorted(parts, key=lambda part: isinstance(part, Not))
            return [leaf for part in ordered for leaf in scored_leaves(part)]
        case _:
            return [node]


def relevance(api: apsw.FTS5ExtensionApi, /, *given: Any) -> float:
    """The worth of the current row: its age, then one rarity per phrase, 0 for those that must be absent."""
    age, *rarities = given
    length = api.column_size(BODY)
    total = 0.0
    for phrase, rarity in enumerate(rarities):
        if rarity:
            columns = api.phrase_locations(phrase)
            times = len(columns[BODY]) + rank.EXTRA_WEIGHT * len(columns[EXTRA])
            total += rank.frequency(times, length) * rarity
    return total * rank.recency(age)


def present(api: apsw.FTS5ExtensionApi, /, *_: Any) -> str:
    """The phrases that the current row has, as bits; there may be more than an integer of SQLite has."""
    found, columns = 0, api.phrase_columns
    for phrase in range(api.phrase_count):
        if columns(phrase):
            found |= 1 << phrase
    return hex(found)


def register(connection: apsw.Connection) -> None:
    connection.register_fts5_function("relevance", relevance)
    connection.register_fts5_function("present", present)
