"""The first cut of a relaxed search, from the index: who holds which parts, rare ones first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TypeGuard

from ....models import Filter, MessageFilter
from ....search import rank
from ....search.match import holds, implies
from ....search.nodes import And, Leaf, Node, Not, Or, Phrase, Term, any_of, leaves
from ....search.query import Query
from ....search.relaxed import Candidate, Candidates, best, candidate, held_parts, rarities_of, worth
from ....search.scan import LOOKED_AT
from ....sql import rows
from ....sql.driver import Params, Row
from ....sql.escape import unescape
from ....sql.filters import marks
from . import fts5
from .answer import WALKED_SHARE, Answer, Bounds, newest
from .few import read as few_rows
from .snapshot import Snapshot

# How many messages of one part are taken, the newest.
TAKEN = 1000
# Of so few messages with a rare part it is read what else they hold; of more the index tells.
READ = 20
# How many are looked up at most to find enough that pass the filters.
LOOKED_UP = 5000
BATCH = 250
# In so large a store, a beginning that is a word of every twentieth message itself is taken as this word, where other
# words must be there too: FTS5 reads all of its messages first.
NARROWED_FROM = 50_000
NARROWED_SHARE = 20
# FTS5 compares the places of all words of a phrase wherever they meet. One that every other message has is left out
# there, if no more than so many messages have the rest: those are read.
SHORTENED_FROM = 3
READ_OF_SHORTENED = 100

# The whole question is the first of its parts; in so large a store it is looked at first whether many hold it.
WHOLE = 0
FILLED_FROM = 50_000

PRESENT = """
    SELECT rowid, present(messages_fts)
      FROM messages_fts
     WHERE messages_fts MATCH :expression
     ORDER BY rowid DESC
     {page}
"""
HOLDERS = """
    SELECT rowid
      FROM messages_fts
     WHERE messages_fts MATCH :expression
       AND rowid BETWEEN :low AND :high
     ORDER BY rowid %s
     {page}
"""
FACTS = ("id", "session_id", "seq", "timestamp")
Held = dict[int, int]
Holding = Callable[[Node, Bounds, int, bool], list[Row]]


class Partial(Answer):
    """The parts of one question on one snapshot of index and data."""

    def __init__(self, snapshot: Snapshot, parts: Sequence[Node], where: Filter, messages: MessageFilter) -> None:
        super().__init__(snapshot, Query("", any_of(parts)), where, messages)
        self.parts = parts
        # What a message holds that holds a part, as bits: whoever holds all words holds each, and need not be asked.
        self.implied = [sum(1 << n for n, other in enumerate(parts) if implies(part, other)) for part in parts]
        self.telling_all = [n for n, held in enumerate(self.implied) if held == (1 << len(parts)) - 1]
        self.taken: dict[tuple[str, int], list[int]] = {}
        self.filtered = where != Filter() or messages != MessageFilter()

    def gathered(self, limit: int) -> Candidates:
        """The best candidates; what the index has not read is read one by one."""
        total = self.snapshot.newest
        if (few := few_rows(self.snapshot, self.filter, self.messages, self.where)) is not None:
            return self._best_of(few, limit)
        if (enough := self._enough_hold_all(limit)) is not None:
            return enough
        containing, complete, held = self._held(HOLDERS, {})
        rarities = rarities_of(containing, total)
        hits = self._looked_up(held, rarities, limit)
        if self.filtered and not complete and len(hits) < limit:
            hits = self._looked_up(self._held(self._passing, self.where.params)[-1], rarities, limit)
        return Candidates(best([*hits, *self._fresh()], rarities, limit), containing, total)

    def _enough_hold_all(self, limit: int) -> Candidates | None:
        """The newest that hold everything, when they fill the list: whoever holds less comes after them.

        Then nobody asks who holds the parts, and how rare they are is told by the words as typed.
        """
        if self.snapshot.newest < FILLED_FROM or WHOLE not in self.telling_all:
            return None
        ids = self._holders(HOLDERS, {}, WHOLE)
        known = self._typed_counts() if len(ids) >= TAKEN else None
        if known is None:
            return None
        rarities = rarities_of(known, self.snapshot.newest)
        hits = [*self._looked_up(dict.fromkeys(ids, self.implied[WHOLE]), rarities, limit), *self._fresh()]
        people = sum(not rank.automated(hit.source) and hit.held == self.implied[WHOLE] for hit in hits)
        return Candidates(best(hits, rarities, limit), known, self.snapshot.newest) if people >= limit else None

    def _best_of(self, found: Iterable[Row], limit: int) -> Candidates:
        """Of messages that are read, whatever the index knows of them."""
        containing = [self._about(part) for part in self.parts]
        hits = self._holding(found)
        return Candidates(
            best(hits, rarities_of(containing, self.snapshot.newest), limit), containing, self.snapshot.newest
        )

    def _about(self, part: Node) -> int:
        """In how many messages a part is, without asking the index for more than single words."""
        match part:
            case And(parts):
                return min(self._about(each) for each in parts if not isinstance(each, Not))
            case Or(parts):
                return min(self.snapshot.newest, sum(map(self._about, parts)))
            case Not(inner):
                return self.snapshot.newest - self._about(inner)
        return self._containing(part)

    def _typed_counts(self) -> list[int] | None:
        """In how many messages each part is, by the words that were typed for it; None when that cannot be told."""
        typed = [[leaf for leaf in leaves(self.parts[WHOLE]) if implies(leaf, part)] for part in self.parts]
        typed[WHOLE] = list(leaves(self.parts[WHOLE]))
        return [min(map(self._containing, words)) for words in typed] if all(typed) else None

    @property
    def _passing(self) -> str:
        return f"""
            SELECT m.id
              FROM messages_fts
             CROSS JOIN messages m ON m.id = messages_fts.rowid
             CROSS JOIN sessions s ON s.id = m.session_id
             WHERE messages_fts MATCH :expression
               AND messages_fts.rowid BETWEEN :low AND :high
               AND {self.where.sql}
             ORDER BY messages_fts.rowid %s
             {{page}}
        """

    def _held(self, sql: str, params: Params) -> tuple[list[int], bool, Held]:
        """In how many messages each part is, about, whether all of them were taken, and which parts each holds."""
        found = [self._holders(sql, params, number) for number in range(len(self.parts))]
        common = [number for number, ids in enumerate(found) if len(ids) >= TAKEN]
        containing = [self._extrapolated(ids) if number in common else len(ids) for number, ids in enumerate(found)]
        held = _by_message(found, self.implied)
        if common:
            _add(held, self._beside_rarer(common, found, containing))
        return containing, not common, held

    def _holders(self, sql: str, params: Params, number: int) -> list[int]:
        # What is asked for in quotes is its only part as well.
        number = self.parts.index(self.parts[number])
        if (sql, number) not in self.taken:
            self.taken[sql, number] = self._ask(sql, params, number)
        return self.taken[sql, number]

    def _ask(self, sql: str, params: Params, number: int) -> list[int]:
        part = self.parts[number]
        if self.beginnings.is_in_most(part) and (walked := self._newest_with(part)) is not None:
            return walked
        asked = part if number in self.telling_all else self._narrowed(part)
        stale = self.snapshot.stale
        return [each for (each,) in self._newest_indexed(asked, sql, params) if each not in stale]

    def _newest_indexed(self, node: Node, sql: str, params: Params) -> list[Row]:
        def holding(node: Node, bounds: Bounds, limit: int, oldest: bool) -> list[Row]:
            expression = fts5.expression(node)
            given = {"expression": expression, "low": bounds[0], "high": bounds[1], "limit": limit, "offset": 0}
            return self.tx.rows(sql % ("ASC" if oldest else "DESC"), {**params, **given})

        everywhere = (0, self.snapshot.at.last_id)
        spared = self.beginnings.spared(node)
        if spared != node:
            return list(islice(self._that_hold(node, holding(spared, everywhere, LOOKED_AT, False)), TAKEN))
        # Of a beginning FTS5 reads all there is each time it is asked.
        if isinstance(node, Term) or any(leaf.prefix for leaf in leaves(node)):
            return holding(node, everywhere, TAKEN, False)
        return newest(partial(self._meeting, node, holding), everywhere, TAKEN)

    def _meeting(self, node: Node, holding: Holding, bounds: Bounds, limit: int, oldest: bool) -> list[Row]:
        # Upwards they are asked for whose words seldom meet.
        shorter = self._shortened(node) if oldest else None
        if shorter is not None:
            found = holding(shorter, bounds, READ_OF_SHORTENED + 1, oldest)
            if len(found) <= READ_OF_SHORTENED:
                return list(self._that_hold(node, found))
        return holding(node, bounds, limit, oldest)

    def _newest_with(self, part: Node) -> list[int] | None:
        """The newest that hold what most hold, read one by one; None when that were not so many after all."""
        read = islice(self.snapshot.newest_first(self.where), self.snapshot.lag + WALKED_SHARE * TAKEN)
        known = (row for row in read if row[0] <= self.snapshot.at.last_id and row[0] not in self.snapshot.stale)
        found = list(islice((row[0] for row in known if held_parts(rows.message(row[:-1]), [part])), TAKEN))
        return found if len(found) == TAKEN else None

    def _narrowed(self, node: Node) -> Node:
        if not isinstance(node, And) or self.snapshot.newest < NARROWED_FROM:
            return node
        return And(tuple(Term(part.token) if self._is_common_start(part) else part for part in node.parts))

    def _shortened(self, part: Node) -> Phrase | None:
        """A phrase without its first or last word, if every other message has that."""
        if not isinstance(part, Phrase) or part.prefix or len(part.tokens) < SHORTENED_FROM:
            return None
        first, last = (self._counted(Term(part.tokens[end])) for end in (0, -1))
        if max(first, last) * 2 < self.snapshot.newest:
            return None
        return Phrase(part.tokens[1:] if first > last else part.tokens[:-1])

    def _that_hold(self, part: Node, found: Sequence[Row]) -> Iterator[Row]:
        for start in range(0, len(found), BATCH):
            batch = found[start : start + BATCH]
            messages = rows.with_ids(self.tx, [each for (each,) in batch])
            holders = {message["id"] for message in messages if held_parts(message, [part])}
            yield from (row for row in batch if row[0] in holders)

    def _is_common_start(self, part: Node) -> TypeGuard[Term]:
        if not isinstance(part, Term) or not part.prefix:
            return False
        return self._counted(Term(part.token)) * NARROWED_SHARE > self.snapshot.newest

    def _extrapolated(self, newest_ids: Sequence[int]) -> int:
        """In how many messages a part is, if it is everywhere as usual as among the newest."""
        total = self.snapshot.newest
        return max(len(newest_ids), int(len(newest_ids) * total / (total - newest_ids[-1] + 1)))

    def _beside_rarer(self, common: Sequence[int], found: Sequence[Sequence[int]], containing: Sequence[int]) -> Held:
        """All that those hold who hold a rare part; or the rarest, when none is rare: they must not be missed."""
        if any(number in common for number in self.telling_all):
            return {}
        known = {*common, *self.telling_all}
        rare = [number for number in range(len(self.parts)) if number not in known]
        seeds = {each for number in rare for each in found[number]}
        told = [number for number in common if not self._is_costly(self.parts[number])]
        if len(seeds) <= READ or len(told) < len(common):
            held = {message["id"]: held_parts(message, self.parts) for message in rows.with_ids(self.tx, sorted(seeds))}
        else:
            held = self._beside(rare, common)
        if len(told) > 1 and not any(found[number] for number in rare if not isinstance(self.parts[number], And)):
            rarest = min(told, key=lambda number: containing[number])
            _add(held, self._beside([rarest], [number for number in told if number != rarest]))
        return held

    def _is_costly(self, part: Node) -> bool:
        return self.beginnings.is_costly(part) or self.beginnings.spared(part) != part

    def _beside(self, some: Sequence[int], others: Sequence[int]) -> Held:
        """The newest messages that hold one of some parts and one of others, and what they hold of both."""
        groups = (" OR ".join(fts5.expression(self.parts[number]) for number in group) for group in (some, others))
        given = {"expression": " AND ".join(f"({group})" for group in groups), "limit": TAKEN * len(some), "offset": 0}
        meaning = _Meaning([(number, self.parts[number]) for number in (*some, *others)])
        found, stale = self.tx.rows(PRESENT, given), self.snapshot.stale
        return {each: meaning.held(present) for each, present in found if each not in stale}

    def _looked_up(self, held: Held, rarities: Sequence[float], limit: int) -> list[Candidate]:
        """Candidates that pass the filters, until there are enough of people's."""
        found: list[Candidate] = []
        ids = islice(_by_worth(held, rarities), LOOKED_UP)
        while batch := list(islice(ids, BATCH)):
            found += self._passing_of(batch, held)
            if sum(not rank.automated(hit.source) for hit in found) >= limit:
                break
        return found

    def _passing_of(self, ids: Sequence[int], held: Held) -> Iterator[Candidate]:
        names, params = marks("candidate", ids)
        sql = f"""
            SELECT {rows.prefixed(FACTS, "m")}, s.source
              FROM messages m
              JOIN sessions s ON s.id = m.session_id
             WHERE m.id IN ({names})
               AND {self.where.sql}
        """
        for each, session_id, seq, timestamp, source in self.tx.rows(sql, {**self.where.params, **params}):
            yield Candidate(each, unescape(session_id), seq or 0, timestamp, unescape(source), held[each])

    def _fresh(self) -> Iterator[Candidate]:
        return self._holding(self.snapshot.unread(self.where))

    def _holding(self, found: Iterable[Row]) -> Iterator[Candidate]:
        for row in found:
            message = rows.message(row[:-1])
            held = held_parts(message, self.parts)
            if held:
                yield candidate(message, unescape(row[-1]), held)


class _Meaning:
    """Which parts a message holds, told from the phrases that FTS5 found in it."""

    def __init__(self, parts: Sequence[tuple[int, Node]]) -> None:
        self._parts: list[tuple[int, Node, dict[Leaf | None, int]]] = []
        self._known: dict[str, int] = {}
        count = 0
        for number, part in parts:
            leaves = fts5.scored_leaves(part)
            self._parts.append((number, part, {leaf: count + at for at, leaf in enumerate(leaves)}))
            count += len(leaves)

    def held(self, present: str) -> int:
        if present not in self._known:
            self._known[present] = self._told(int(present, 16))
        return self._known[present]

    def _told(self, present: int) -> int:
        def is_held(part: Node, phrases: dict[Leaf | None, int]) -> bool:
            # What must be absent is not among them: FTS5 has passed over the rows that have it.
            return holds(part, lambda leaf: leaf in phrases and bool(present >> phrases[leaf] & 1))

        return sum(1 << number for number, part, phrases in self._parts if is_held(part, phrases))


def _add(held: Held, more: Held) -> None:
    for each, parts in more.items():
        held[each] = held.get(each, 0) | parts


def _by_message(found: Sequence[Sequence[int]], implied: Sequence[int]) -> Held:
    """Which parts each message holds."""
    held: Held = {}
    for ids, parts in zip(found, implied, strict=True):
        for each in ids:
            held[each] = held.get(each, 0) | parts
    return held


def _by_worth(held: Held, rarities: Sequence[float]) -> Iterator[int]:
    """Ids, those that hold most first, then the newest; sorted only as far as they are used."""
    alike: dict[int, list[int]] = defaultdict(list)
    for each, parts in held.items():
        alike[parts].append(each)
    for parts in sorted(alike, key=lambda parts: (-worth(parts, rarities), parts)):
        yield from sorted(alike[parts], reverse=True)
