"""Finding the conversation that was meant: a plain question to messages, messages to sessions with their context.

`rank_messages` never comes back empty while a word of the question is in the store: messages that hold all words come
first, then those that hold most, marked as partial. `group` shows them where they were said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from ..drafts import check_count
from ..models import Filter, ListedSession, MessageFilter, MessageRow, Page, SessionRow
from ..values import replace
from . import analyze, rank
from .nodes import Node, any_of
from .query import narrow
from .question import Question, as_typed, taken_apart, understand
from .relaxed import Candidate, Candidates, candidate, rarities_of
from .snippet import row_snippet
from .text import document, readable, tool_text
from .weigh import TUNING, Field, Tuning, asides, contents, presence, title_worths

if TYPE_CHECKING:
    from ..db import SessionDB
    from .shapes import Recalled as Recalled
    from .shapes import RecalledSession as RecalledSession
    from .windows import Window
else:
    # At run time these are dicts; see shapes.py.
    Recalled = RecalledSession = dict

CANDIDATES = 200
# When most of them are of the excluded conversation, or must be looked at one by one.
MANY_CANDIDATES = 2000
# So many texts are read and weighed; of a long one its beginning.
READ = 40
REPLIED = 10
WEIGHED_CHARACTERS = 20_000
HITS = 50
WINDOW = 3
LISTED = 50


_FIELDS = ("id", "session_id", "role", "timestamp", "score", "partial", "snippet", "source", "title")


# --- a question to messages ---


def rank_messages(
    db: SessionDB,
    question: str,
    limit: int = 10,
    *,
    where: Filter | None = None,
    messages: MessageFilter | None = None,
    exclude_session: str | None = None,
    tuning: Tuning = TUNING,
) -> list[Recalled]:
    """The messages that answer a question best: people's before machines', all words before some.

    The search box's syntax is respected: quotes, OR, NOT and filters must hold. With `exclude_session` nothing of
    that session's lineage is found.
    """
    return list(ranked(db, question, limit, where, messages, exclude_session, tuning))


def ranked(
    db: SessionDB,
    question: str,
    limit: int,
    where: Filter | None = None,
    messages: MessageFilter | None = None,
    exclude_session: str | None = None,
    tuning: Tuning = TUNING,
) -> Iterator[Recalled]:
    """`rank_messages`, one by one: a snippet takes longer than its message, and not all may be wanted."""
    check_count(limit, "limit")
    asked = understand(question)
    now = db._clock()
    scope = narrow(asked.query, where or Filter(), messages or MessageFilter(), now)
    excluded = _lineage(db, exclude_session)
    if asked.query.lists:
        return islice(_listed(db, question, where, messages, excluded), limit)
    asked, found = _asked(db, asked, scope, excluded, limit)
    return _Ranking(db, asked, found, scope[1], tuning, now).best(limit)


def _asked(
    db: SessionDB, asked: Question, scope: tuple[Filter, MessageFilter], excluded: frozenset[str], limit: int
) -> tuple[Question, Candidates]:
    """The question as it is answered, and its candidates: as strict as finds enough, as loose as finds something."""
    # Not every message with these words may hold the things of `kind:`.
    typed = None if asked.query.looks_at_rows else as_typed(asked)
    if typed is not None:
        # Whoever holds only parts of it would come after people's of these, and is far more to look through.
        found = _candidates(db, typed, scope, excluded)
        if sum(not rank.automated(hit.source) for hit in found.hits) >= limit:
            return typed, found
    found = _candidates(db, asked, scope, excluded)
    if not found.hits:
        asked = taken_apart(asked)
        found = _candidates(db, asked, scope, excluded)
    return asked, found


def _listed(
    db: SessionDB, box: str, where: Filter | None, messages: MessageFilter | None, excluded: frozenset[str]
) -> Iterator[Recalled]:
    wanted = messages or MessageFilter()
    found = db.search_messages(
        box, role_filter=wanted.roles or None, since=wanted.since, until=wanted.until, where=where, limit=HITS
    )
    for hit in found:
        if hit["session_id"] not in excluded:
            facts: Mapping[str, Any] = hit
            yield cast("Recalled", {name: facts.get(name, False) for name in _FIELDS})


def _lineage(db: SessionDB, session_id: str | None) -> frozenset[str]:
    if session_id is None:
        return frozenset()
    root = db.lineage_root(session_id)
    return frozenset({session_id, root, *(row["id"] for row in db.descendants(root))})


def _candidates(
    db: SessionDB, asked: Question, scope: tuple[Filter, MessageFilter], excluded: frozenset[str]
) -> Candidates:
    parts = asked.parts
    if not parts:
        return Candidates((), (), 0)
    few = MANY_CANDIDATES if asked.query.looks_at_rows else CANDIDATES
    found = db.provider.candidates(parts, *scope, few)
    kept = _others(found, excluded)
    if len(kept.hits) < READ and len(found.hits) == CANDIDATES:
        kept = _others(db.provider.candidates(parts, *scope, MANY_CANDIDATES), excluded)
    return kept


def _others(found: Candidates, excluded: frozenset[str]) -> Candidates:
    hits = [hit for hit in found.hits if hit.session_id not in excluded]
    return Candidates(hits, found.containing, found.total)


class _Ranking:
    """One question and its candidates."""

    def __init__(
        self, db: SessionDB, asked: Question, found: Candidates, messages: MessageFilter, tuning: Tuning, now: float
    ) -> None:
        self.db, self.asked, self.messages, self.now = db, asked, messages, now
        self.rarities = rarities_of(found.containing[1:], found.total)
        worths = {hit.id: presence(hit, self.rarities) for hit in found.hits}
        self.field = Field(found.hits, worths, tuning)
        self.sessions: dict[str, SessionRow] = {}

    def best(self, limit: int) -> Iterator[Recalled]:
        promising = _ordered(self.field.hits, self.field.scores(self.now))
        if not self.asked.query.looks_at_rows:
            promising = promising[: max(READ, limit)]
        rows = {row["id"]: row for row in islice(self._weighed(promising, max(READ, limit)), max(READ, limit))}
        found = [hit for hit in promising if hit.id in rows]
        # A question that is no decision may have one as its answer.
        asking = promising if self.asked.query.kinds else _ordered(found, self.field.scores(self.now))
        found += self._replies(asking[:REPLIED], rows)
        scores = self.field.scores(self.now)
        return (self._recalled(hit, rows[hit.id], scores[hit.id]) for hit in _ordered(found, scores)[:limit])

    def _replies(self, hits: Sequence[Candidate], rows: dict[int, MessageRow]) -> list[Candidate]:
        """What was said right after the best hits: an answer need not repeat the words of its question."""
        known = {hit.id for hit in self.field.hits}
        found: dict[int, Candidate] = {}
        for hit in [hit for hit in hits if hit.session_id in self.sessions]:
            for row in self.db.provider.get_messages(hit.session_id, after=hit.seq, limit=self.field.tuning.reach):
                if row["id"] not in known and self._may_stand_beside(row):
                    rows[row["id"]] = row
                    found[row["id"]] = candidate(row, hit.source, 0)
        self.field.join(list(found.values()))
        return list(found.values())

    def _may_stand_beside(self, row: MessageRow) -> bool:
        """Whether a message without any of the words passes what was asked for."""
        if self.asked.required or not self.asked.query.admits(row):
            return False
        wanted, moment = self.messages, row["timestamp"]
        return (
            (not wanted.roles or row["role"] in wanted.roles)
            and (wanted.since is None or moment >= wanted.since)
            and (wanted.until is None or moment < wanted.until)
        )

    def _weighed(self, hits: Sequence[Candidate], together: int) -> Iterator[MessageRow]:
        """The rows of candidates, their texts weighed; without those that are gone or that the query does not admit."""
        for start in range(0, len(hits), together):
            some = {hit.id: hit for hit in hits[start : start + together]}
            found = self.db.provider.found_messages(list(some))
            for _, session in found:
                self._remember(session)
            rows = {row["id"]: row for row, _ in found}
            for hit in some.values():
                if hit.id in rows and self.asked.query.admits(rows[hit.id]):
                    self._weigh(hit, rows[hit.id])
                    yield rows[hit.id]

    def _weigh(self, hit: Candidate, row: MessageRow) -> None:
        body, extra = document(readable(row)[:WEIGHED_CHARACTERS], tool_text(row)[:WEIGHED_CHARACTERS])
        known, tuning = self.field.worths[hit.id], self.field.tuning
        self.field.worths[hit.id] = contents(self.asked.wanted, known, body, extra, tuning)
        self.field.bonus[hit.id] = asides(self.asked.asides, body, tuning)

    def _remember(self, session: SessionRow) -> None:
        if session["id"] not in self.sessions:
            self.sessions[session["id"]] = session
            title = analyze.tokens(session["title"] or "")
            if title:
                worths = title_worths(self.asked.wanted, self.rarities, title, self.field.tuning)
                self.field.titles[session["id"]] = worths

    def _recalled(self, hit: Candidate, row: MessageRow, score: float) -> Recalled:
        return {
            "id": hit.id,
            "session_id": hit.session_id,
            "role": row["role"],
            "timestamp": hit.timestamp,
            "score": score,
            "partial": _partial(hit),
            "snippet": row_snippet(row, _shown(self.asked, hit)),
            "source": hit.source,
            "title": self.sessions[hit.session_id]["title"],
        }


def _ordered(hits: Sequence[Candidate], scores: Mapping[int, float]) -> list[Candidate]:
    return sorted(hits, key=lambda hit: (rank.automated(hit.source), _partial(hit), -scores[hit.id], -hit.id))


def _partial(hit: Candidate) -> bool:
    return not hit.held & 1


def _shown(asked: Question, hit: Candidate) -> Node | None:
    """What a snippet marks: of the things wanted those that the message holds."""
    # Bit 0 is the whole question.
    held = [thing for number, thing in enumerate(asked.wanted, start=1) if hit.held >> number & 1]
    return any_of([mark for thing in held for mark in thing.marks])


# --- messages to sessions ---


def recall(
    db: SessionDB, question: str, limit: int = 3, *, window: int = WINDOW, exclude_session: str | None = None
) -> list[RecalledSession]:
    """The conversations that answer a question best; without a question the recent ones."""
    if not question.strip():
        return recent(db, limit, exclude_session=exclude_session)
    hits = rank_messages(db, question, HITS, exclude_session=exclude_session)
    return group(db, hits, limit=limit, window=window)


def group(
    db: SessionDB,
    hits: Iterable[Mapping[str, Any]],
    *,
    limit: int | None = None,
    window: int = WINDOW,
    windows: int | None = None,
    exclude_session: str | None = None,
) -> list[RecalledSession]:
    """Hits by conversation, in the order of its first hit, with `window` neighbours on both sides of each.

    A conversation is a whole lineage. Windows that touch are one; messages that are gone are left out; `windows` is
    for how many of its hits there are any, all unless said. Takes hits of `rank_messages` and of `search_messages`.
    """
    from .windows import windows_of

    lineages = _Lineages(db, exclude_session)
    found: dict[str, list[Mapping[str, Any]]] = {}
    for hit in hits:
        if not lineages.excluded(hit["session_id"]):
            found.setdefault(lineages.root(hit["session_id"]), []).append(hit)
    grouped = (_conversation(db, root, own, windows_of(db, own, window, windows)) for root, own in found.items())
    return list(islice((each for each in grouped if each and each["windows"]), limit))


def recent(
    db: SessionDB,
    limit: int = 3,
    *,
    exclude_session: str | None = None,
    where: Filter | None = None,
    since: float | None = None,
    until: float | None = None,
) -> list[RecalledSession]:
    """The conversations last spoken in, each once; people's before machines'."""
    lineages = _Lineages(db, exclude_session)
    scope = replace(where or Filter(), active_since=since, active_until=until)
    found: dict[str, ListedSession] = {}
    for automated in (False, True):
        for row in _by_activity(db, scope):
            if len(found) == limit:
                break
            if rank.automated(row["source"]) == automated and not lineages.excluded(row["id"]):
                found.setdefault(lineages.root(row["id"]), row)
    conversations = (_conversation(db, root, (), []) for root in found)
    return [
        {**each, "latest_session_id": latest["id"], "last_active": latest["last_active"]}
        for each, latest in zip(conversations, found.values(), strict=True)
        if each
    ]


class _Lineages:
    """The root of each session, looked up once."""

    def __init__(self, db: SessionDB, exclude_session: str | None) -> None:
        self.db = db
        self.hidden = _lineage(db, exclude_session)
        self.roots: dict[str, str] = {}

    def excluded(self, session_id: str) -> bool:
        return session_id in self.hidden

    def root(self, session_id: str) -> str:
        if session_id not in self.roots:
            self.roots[session_id] = self.db.lineage_root(session_id)
        return self.roots[session_id]


def _by_activity(db: SessionDB, where: Filter) -> Iterator[ListedSession]:
    """All sessions, the last spoken in first, read page by page."""
    offset = 0
    while rows := db.provider.list_sessions(where, Page(LISTED, offset), "activity"):
        yield from rows
        offset += LISTED


def _conversation(
    db: SessionDB, root: str, hits: Sequence[Mapping[str, Any]], windows: list[Window]
) -> RecalledSession | None:
    """None when the root was deleted meanwhile."""
    rows = db.provider.list_sessions(Filter(ids=(root,)), Page(1), "started")
    if not rows:
        return None
    # The root may have ended long before what was found in its continuation.
    known = (rows[0]["last_active"], *(hit.get("timestamp") for hit in hits))
    active = [moment for moment in known if moment is not None]
    return {
        "session_id": root,
        "latest_session_id": hits[0]["session_id"] if hits else root,
        "title": rows[0]["title"],
        "source": rows[0]["source"],
        "started_at": rows[0]["started_at"],
        "last_active": max(active, default=None),
        "message_count": rows[0]["message_count"],
        "preview": rows[0]["preview"],
        "hits": list(hits),
        "windows": windows,
    }
