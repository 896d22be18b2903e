"""Is everything there that was acknowledged? Recompute terms (positions) and ledgers (sessions) and compare.

A row whose term does not fit its content and position was altered or moved. A session whose rows do not add up to its
ledger lost or gained rows; what is missing is then one of the positions without a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from . import ledger
from .drafts import restored
from .models import Filter, Page, SessionRow
from .provider import SessionDBProvider

Tick = Callable[[int], None]
# What is known of a stored message: its position, the term that was stored, the digest of what is stored.
Proof = tuple[int | None, int | None, int]
_MOST_CANDIDATES = 20
# A damaged last position may name billions of gaps.
_MOST_POSITIONS = 10_000
_ANY_SIZE = 1 << 62
_ATTEMPTS = 10
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Problem:
    session_id: str
    kind: str
    message: str
    positions: tuple[int, ...] = ()


@dataclass(slots=True)
class Report:
    sessions: int = 0
    messages: int = 0
    not_adopted: int = 0
    problems: list[Problem] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.problems

    def add(self, other: Report) -> None:
        self.sessions += other.sessions
        self.messages += other.messages
        self.not_adopted += other.not_adopted
        self.problems += other.problems


def verify(provider: SessionDBProvider, session_id: str | None = None, tick: Tick | None = None) -> Report:
    """Check one session or all; `tick` is called with the number of messages checked since the last call."""
    report = Report()
    for session in _sessions(provider, session_id):
        checked = _check_live(provider, session, report)
        if tick:
            tick(checked)
    return report


def verify_together(provider: SessionDBProvider, session_ids: Sequence[str]) -> Report:
    """Check a few short sessions, read at once."""
    report = Report()
    sessions = provider.list_sessions(Filter(ids=tuple(session_ids)), Page(len(session_ids), 0), "started")
    rows = provider.stored_together([session["id"] for session in sessions])
    for session in sessions:
        _check_live(provider, session, report, rows[session["id"]])
    return report


def verify_export(documents: Iterable[Mapping[str, Any] | Exception], tick: Tick | None = None) -> Report:
    """Check what an export holds; a line that could not be read stands as its exception."""
    report = Report()
    lines = _Lines(report)
    for number, document in enumerate(documents, start=1):
        checked = 0
        try:
            if isinstance(document, Exception):
                raise document
            checked = lines.take(document)
        except (ValueError, TypeError, KeyError, AttributeError) as exc:
            name = document.get("id") if isinstance(document, Mapping) else None
            report.problems.append(Problem(str(name or f"line {number}"), "unreadable", f"cannot be read: {exc}"))
        if tick:
            tick(checked)
    lines.settle()
    return report


class _Lines:
    """The lines of an export; a long session goes on in the lines after its own, one that is followed anywhere."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._open: tuple[dict[str, Any], list[Proof]] | None = None
        self._followed: dict[str, tuple[dict[str, Any], list[Proof]]] = {}

    def take(self, document: Mapping[str, Any]) -> int:
        """Check a line, or keep its proofs until the session is complete; the number of messages in it."""
        if "media" in document:
            _check_media(document)
            return 0
        proofs = [_exported(message) for message in document.get("messages") or ()]
        if "part_of" in document:
            self._go_on(document, proofs)
            return len(proofs)
        self._settle_open()
        if document.get("follows"):
            self._followed[document["id"]] = (dict(document), proofs)
        elif document.get("parts"):
            self._open = (dict(document), proofs)
        else:
            _check_proofs(document, proofs, self._report)
        return len(proofs)

    def _go_on(self, document: Mapping[str, Any], proofs: list[Proof]) -> None:
        name = document["part_of"]
        begun = self._followed.get(name) or self._open
        if begun is None or begun[0]["id"] != name:
            raise ValueError(f"a part of {name!r} does not follow its session")
        begun[0].update({key: document[key] for key in ("ledger", "last_seq") if key in document})
        begun[1].extend(proofs)

    def settle(self) -> None:
        """Check what waited for its last line."""
        self._settle_open()
        for document, proofs in self._followed.values():
            _check_proofs(document, proofs, self._report)

    def _settle_open(self) -> None:
        if self._open is not None:
            (document, proofs), self._open = self._open, None
            _check_proofs(document, proofs, self._report)


def _check_media(document: Mapping[str, Any]) -> None:
    from base64 import b64decode
    from hashlib import sha256

    if sha256(b64decode(document["data"], validate=True)).hexdigest() != document["media"]:
        raise ValueError(f"the bytes of media {document['media']} have another hash")


def _exported(message: Mapping[str, Any]) -> Proof:
    seq = message["seq"]
    return seq, message["term"], restored(message, max_bytes=_ANY_SIZE).digest


def _sessions(provider: SessionDBProvider, session_id: str | None) -> Iterable[SessionRow]:
    where = Filter(ids=None if session_id is None else (session_id,))
    offset = 0
    while page := provider.list_sessions(where, Page(_PAGE, offset), "started"):
        yield from page
        offset += len(page)


def _check_live(
    provider: SessionDBProvider, session: SessionRow, report: Report, rows: Iterable[Mapping[str, Any]] | None = None
) -> int:
    """Check a session that others may be writing to: what only the time between two reads explains is no problem."""
    own = _checked(session, provider.stored_messages(session["id"]) if rows is None else rows)
    for _ in range(_ATTEMPTS):
        if own.ok:
            break
        now = provider.get_session(session["id"])
        if now is None:
            # Deleted meanwhile: no longer part of the store.
            return 0
        if (now["last_seq"], now["ledger"]) == (session["last_seq"], session["ledger"]):
            break
        session = now
        own = _checked(session, _up_to(session["last_seq"], provider.stored_messages(session["id"])))
    report.add(own)
    return own.messages


def _checked(session: SessionRow, rows: Iterable[Mapping[str, Any]]) -> Report:
    report = Report()
    check_session(session, rows, report)
    return report


def _up_to(last: int, rows: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    return (row for row in rows if row["seq"] is None or row["seq"] <= last)


def check_session(session: Mapping[str, Any], rows: Iterable[Mapping[str, Any]], report: Report) -> int:
    """Compare one session with its stored rows, add to the report, return the number of rows."""
    return _check_proofs(session, ((row["seq"], row["term"], ledger.digest(row)) for row in rows), report)


def _check_proofs(session: Mapping[str, Any], proofs: Iterable[Proof], report: Report) -> int:
    terms: list[int] = []
    altered: list[int] = []
    seen: set[int] = set()
    doubled: list[int] = []
    adrift = 0
    for seq, stored, digest in proofs:
        if seq is None:
            adrift += 1
            continue
        if stored != ledger.term(digest, seq):
            altered.append(seq)
        if seq in seen:
            doubled.append(seq)
        seen.add(seq)
        terms.append(stored or 0)
    report.sessions += 1
    report.messages += len(terms) + adrift
    report.not_adopted += adrift
    report.problems.extend(_problems(session, terms, seen, altered, doubled))
    return len(terms) + adrift


def _problems(
    session: Mapping[str, Any], terms: list[int], seen: set[int], altered: list[int], doubled: list[int]
) -> Iterable[Problem]:
    name, last = session["id"], session["last_seq"] or 0
    if altered:
        yield Problem(name, "altered", _at("altered or moved", altered), tuple(altered))
    if doubled:
        yield Problem(name, "doubled", _at("stored twice", doubled), tuple(doubled))
    beyond = sorted(seq for seq in seen if seq > last)
    if beyond:
        yield Problem(name, "beyond", _at(f"beyond the last acknowledged position {last}", beyond), tuple(beyond))
    if ledger.total(terms) != (session["ledger"] or 0):
        missing = list(islice((seq for seq in range(1, last + 1) if seq not in seen), _MOST_POSITIONS))
        yield Problem(name, "ledger", _missing(missing, last - len(seen) + len(beyond)), tuple(missing))


def _at(what: str, positions: list[int]) -> str:
    return f"{what}: position {_short(positions, len(positions))}"


def _missing(positions: list[int], count: int) -> str:
    if not positions:
        return "the rows do not add up to the ledger, yet no position is missing: a row was added or altered"
    return f"the rows do not add up to the ledger; lost are some or all of position {_short(positions, count)}"


def _short(positions: list[int], count: int) -> str:
    shown = ", ".join(map(str, positions[:_MOST_CANDIDATES]))
    return shown + (f" and {count - _MOST_CANDIDATES} more" if count > _MOST_CANDIDATES else "")
