"""The first cut of a relaxed search: which messages hold most of what was asked, before any text is weighed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nsmallest

from ..models import MessageRow, SessionRow
from ..values import NamedTuple, dataclass
from . import rank
from .match import matches
from .nodes import Node
from .text import words


class Candidate(NamedTuple):
    """A message that holds parts of a question: bit n of `held` stands for part n."""

    id: int
    session_id: str
    seq: int
    timestamp: float
    source: str
    held: int


@dataclass(frozen=True, slots=True)
class Candidates:
    """The best candidates in order; for each part in how many messages it is, about, and of how many."""

    hits: Sequence[Candidate]
    containing: Sequence[int]
    total: int


def gather(rows: Iterable[tuple[MessageRow, SessionRow]], parts: Sequence[Node], limit: int) -> Candidates:
    """The `limit` rows that hold most, see `best`; reads them all."""
    found = []
    containing = [0] * len(parts)
    total = 0
    for message, session in rows:
        total += 1
        held = held_parts(message, parts)
        if held:
            containing = [seen + (held >> part & 1) for part, seen in enumerate(containing)]
            found.append(candidate(message, session.get("source", ""), held))
    return Candidates(best(found, rarities_of(containing, total), limit), containing, total)


def held_parts(message: MessageRow, parts: Sequence[Node]) -> int:
    body, extra = words(message)
    return sum(1 << number for number, part in enumerate(parts) if matches(part, body, extra))


def candidate(message: MessageRow, source: str, held: int) -> Candidate:
    return Candidate(message["id"], message["session_id"], message["seq"] or 0, message["timestamp"], source, held)


def best(found: Iterable[Candidate], rarities: Sequence[float], limit: int) -> list[Candidate]:
    """People's before machines', then those whose parts are worth most, rare ones counting more, then the newest."""
    return nsmallest(limit, found, key=lambda hit: (rank.automated(hit.source), -worth(hit.held, rarities), -hit.id))


def rarities_of(containing: Iterable[int], total: int) -> list[float]:
    return [rank.rarity(count, total) for count in containing]


def worth(held: int, rarities: Sequence[float]) -> float:
    return sum(rarity for part, rarity in enumerate(rarities) if held >> part & 1)
