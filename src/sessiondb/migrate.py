"""From one store to another, whatever keeps them: batch by batch, each durable, and proven at the end.

The target itself remembers how far a move came: a session is there, whole or up to a position, and its ledger tells
whether it is the same. So a move that was killed is simply run again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from . import places
from .errors import Conflict, Invalid, SessionDBError, TitleTaken
from .meanwhile import Meanwhile
from .models import SessionRow
from .moving import PART_ROWS, SIDE_TABLES, Entry, Part, grouped
from .provider import SessionDBProvider
from .quarantine import Quarantine, bad_row, bad_session
from .readable import read_past
from .reconcile import Finding, Target, compare
from .values import replace
from .verify import verify, verify_together

# Told the phase, how much is done, and how much there is.
Tick = Callable[[str, int, int], None]
MARKER = "migration"
# Facts about the store itself, not about what it keeps.
_OWN_META = frozenset({"store_id", MARKER})
BATCH_BYTES = 8 * 1024 * 1024


@dataclass
class Summary:
    """What a move did."""

    sessions: int = 0
    messages: int = 0
    index_entries: int | None = None
    same: int = 0
    ahead: int = 0
    # Sessions that were there, and of which more is known now.
    updated: int = 0
    trash: int = 0
    media_files: int = 0
    seconds: float = 0.0
    verified: bool = False
    dry_run: bool = False
    resumed: bool = False
    renamed: dict[str, str] = field(default_factory=dict)
    conflicts: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    quarantined: int = 0
    quarantine_reasons: list[str] = field(default_factory=list)
    quarantine_file: str | None = None

    @property
    def ok(self) -> bool:
        return not (self.problems or self.conflicts or self.quarantined)


def _no_tick(phase: str, done: int, total: int) -> None:
    """Nobody is watching."""


def migrate(
    source: places.Place,
    target: places.Place,
    *,
    merge: bool = False,
    dry_run: bool = False,
    quarantine: str | None = None,
    tick: Tick = _no_tick,
) -> Summary:
    """Copy all conversations from one store to another, and prove it; the source stays as it is.

    Raises Conflict when the target has sessions already, unless `merge`. Rows that cannot be moved go to the file
    `quarantine`. A move that was interrupted is finished by running it again.
    """
    places.check_different(source, target)
    with ExitStack() as opened:
        first = places.source(source)
        opened.callback(first.shutdown)
        second = places.rehearsed(target) if dry_run else places.target(target)
        opened.callback(second.shutdown)
        named = places.name(source)
        move = Move(first, second, source_name=named, merge=merge, quarantine=quarantine, tick=tick)
        return move.rehearse() if dry_run else move.run()


class Move:
    """One move; `merge` allows a target that has sessions of its own."""

    def __init__(
        self,
        source: SessionDBProvider,
        target: SessionDBProvider,
        *,
        source_name: str,
        merge: bool = False,
        quarantine: str | None = None,
        tick: Tick = _no_tick,
        part_rows: int = PART_ROWS,
    ) -> None:
        self.source, self.target, self.source_name, self.merge, self.tick = source, target, source_name, merge, tick
        self.part_rows = part_rows
        self.quarantine = Quarantine(quarantine)
        self.summary = Summary()
        # How far the target must be at the end, by id.
        self._expected: dict[str, int] = {}
        # How much of a batch each fills that was moved whole.
        self._weights: dict[str, int] = {}
        self._done = self._total = 0

    def run(self) -> Summary:
        """Move everything; raises Conflict for a target that is not empty, and leaves nothing half done."""
        begun = time.monotonic()
        known = Target(self.target.catalogue())
        self._begin(known)
        entries = sorted(self.source.catalogue(), key=attrgetter("activity"))
        self._total = sum(entry.message_count for entry in entries)
        try:
            self._move_sessions(entries, known)
            self._link(entries)
            self._move_the_rest()
            index = Meanwhile(self.target.update_index)
            self._prove()
            index.wait(lambda done, total: self.tick("index", done, total))
            self._count_index()
        finally:
            self.quarantine.close()
        self.target.set_meta(MARKER, None)
        return self._finished(begun)

    def rehearse(self) -> Summary:
        """What `run` would do; reads everything, writes nothing."""
        begun = time.monotonic()
        self.quarantine.path = None
        known = Target(self.target.catalogue())
        self._refuse_full(known)
        entries = list(self.source.catalogue())
        self._total = sum(entry.message_count for entry in entries)
        for finding, entry in self._to_move(entries, known):
            for part in self._parts(entry.id, finding):
                self._count(part)
        self._leave_homeless()
        self.summary.dry_run = True
        return self._finished(begun)

    # --- may we ---

    def _begin(self, known: Target) -> None:
        self._refuse_full(known)
        if not known.by_id:
            self.target.expect_load()
        if not self.merge:
            self.target.set_meta(MARKER, json.dumps({"from": self.source_name}))

    def _refuse_full(self, known: Target) -> None:
        noted = self.target.get_meta(MARKER)
        began = json.loads(noted)["from"] if noted else None
        self.summary.resumed = began == self.source_name
        if self.merge or self.summary.resumed or not known.by_id:
            return
        if began is not None:
            raise Conflict(f"a move from {began} into this target was not finished; finish it, or use --merge")
        raise Conflict(f"the target has {len(known.by_id):,} sessions already; --merge adds to them, changing none")

    # --- sessions ---

    def _move_sessions(self, entries: Iterable[Entry], known: Target) -> None:
        batch: list[Part] = []
        size = 0
        for finding, entry in self._to_move(entries, known):
            for part in self._parts(entry.id, finding):
                # Parts of one session go in one after another, each in a transaction of its own.
                if batch and (size >= self.part_rows or batch[-1].id == part.id):
                    self._load(batch)
                    batch, size = [], 0
                batch.append(part)
                size += self._weight(part)
        if batch:
            self._load(batch)

    def _weight(self, part: Part) -> int:
        """How much of a batch it fills: by rows, or by bytes where they are long."""
        length = sum(len(row["content"] or "") for row in part.rows)
        return max(1, len(part.rows), length * self.part_rows // BATCH_BYTES)

    def _to_move(self, entries: Iterable[Entry], known: Target) -> Iterator[tuple[Finding, Entry]]:
        for entry in entries:
            finding = compare(self.source, entry, self.target, known.counterpart(entry))
            if finding.verdict in ("new", "behind"):
                self.summary.sessions += 1
                yield finding, entry
                continue
            self._done += entry.message_count
            if finding.verdict == "conflict":
                self.summary.conflicts[entry.id] = finding.why
            elif finding.verdict == "same":
                self.summary.same += 1
                self._same(entry, finding, known.by_id[finding.target_id])
            else:
                self.summary.ahead += 1

    def _same(self, entry: Entry, finding: Finding, there: Entry) -> None:
        """The messages are the same; what the target does not know about the session yet, it learns."""
        if self.summary.resumed:
            self._expected[finding.target_id] = finding.at
        if not self.merge or self.summary.dry_run:
            return
        ended = entry.ended_at is not None and there.ended_at is None
        titled = entry.title is not None and there.title is None
        found = self.source.get_session(entry.id) if ended or titled else None
        if found is None:
            return
        learned = False
        if ended:
            changes = {"ended_at": found["ended_at"], "end_reason": found["end_reason"]}
            learned = self.target.update_session(there.id, changes, unless_set="ended_at")
        if titled:
            learned |= self._title(there.id, found)
        self.summary.updated += learned

    def _title(self, session_id: str, found: SessionRow) -> bool:
        try:
            return self.target.set_title(session_id, found["title"], found["title_source"], only_if_empty=True)
        except TitleTaken as exc:
            self.summary.notes.append(f"{session_id}: {exc}")
            return False

    def _parts(self, session_id: str, finding: Finding) -> Iterator[Part]:
        """The parts of a session that the target lacks, without what cannot be moved."""
        # Where the source is read from, and where the target is: rows left behind make a difference.
        after = at = finding.at
        new, reason = finding.verdict == "new", None
        while True:
            part = self._read(session_id, after)
            if part is None:
                return
            if new:
                reason = bad_session(part.session)
            if reason is not None:
                self._leave_session(part, reason)
            else:
                session = {**part.session, "id": finding.target_id}
                good = replace(self._good(part), session=session, new=new, after=at)
                yield good
                at = good.last_seq
            after, new = part.last_seq, False
            if part.complete:
                return

    def _read(self, session_id: str, after: int) -> Part | None:
        part, lost = read_past(self.source, session_id, after, self.part_rows)
        for seq in lost:
            self.quarantine.put("message", f"{session_id} position {seq}", "it cannot be read", None)
        if part is None and lost:
            self.summary.sessions -= 1
            self.quarantine.put("session", session_id, "it cannot be read", None)
        return part

    def _good(self, part: Part) -> Part:
        limit = self.target.features.max_content_bytes
        bad = [(row, reason) for row in part.rows if (reason := bad_row(row, limit)) is not None]
        for row, reason in bad:
            self._leave_row(row, reason)
        return part.without([row for row, _ in bad]) if bad else part

    def _leave_row(self, row: dict[str, Any], reason: str) -> None:
        self.quarantine.put("message", f"{row['session_id']} position {row['seq']}", reason, row)

    def _leave_session(self, part: Part, reason: str) -> None:
        if part.new:
            self.summary.sessions -= 1
            self.quarantine.put("session", str(part.session["id"]), reason, part.session)
        for row in part.rows:
            self._leave_row(row, f"its session was not moved: {reason}")

    # --- into the target ---

    def _load(self, batch: list[Part]) -> None:
        try:
            self.summary.renamed |= self.target.load(batch)
        except (Invalid, Conflict) as exc:
            self._load_carefully(batch, exc)
            return
        for part in batch:
            self._count(part)

    def _load_carefully(self, batch: list[Part], exc: SessionDBError) -> None:
        """Find the one that the target refuses, and leave it behind."""
        if len(batch) > 1:
            for part in batch:
                self._load([part])
            return
        (part,) = batch
        if isinstance(exc, Conflict) or not part.rows:
            self.summary.conflicts[part.id] = str(exc)
        elif len(part.rows) == 1:
            self._leave_row(part.rows[0], f"the target refuses it: {exc}")
            self._load([part.without(part.rows)])
        else:
            for half in part.halves():
                self._load([half])

    def _count(self, part: Part) -> None:
        self.summary.messages += len(part.rows)
        self._done += len(part.rows)
        self._expected[part.id] = part.last_seq
        self._weights[part.id] = self._weights.get(part.id, 0 if part.new else self.part_rows) + self._weight(part)
        self.summary.media_files += self._copy_media(part) if not self.summary.dry_run else 0
        self.tick("messages", self._done, max(self._total, self._done))

    def _copy_media(self, part: Part) -> int:
        copied = 0
        for digest in {row["sha256"] for row in part.media if row["sha256"]}:
            data = self.source.find_media(digest)
            if data is None:
                self.summary.notes.append(f"{part.id}: the file {digest[:12]}… it names is not in the source's media")
            elif self.target.put_media(digest, data):
                copied += 1
        return copied

    def _link(self, entries: Iterable[Entry]) -> None:
        """Children to their parents, now that all are there."""
        for entry in entries:
            if entry.parent_session_id is None or entry.id not in self._expected:
                continue
            there = self.target.get_session(entry.id)
            if there is None or there["parent_session_id"] is not None:
                continue
            try:
                self.target.update_session(entry.id, {"parent_session_id": entry.parent_session_id})
            except SessionDBError as exc:
                self.summary.notes.append(f"{entry.id}: could not be linked to its parent: {exc}")

    # --- beside the sessions ---

    def _move_the_rest(self) -> None:
        for table in SIDE_TABLES:
            rows = [row for row in self.source.side_rows(table) if table != "meta" or row["name"] not in _OWN_META]
            self.target.load_side_rows(table, rows)
        for entry in self.source.buried():
            self.summary.trash += self.target.bury(entry)
        self._leave_homeless()

    def _leave_homeless(self) -> None:
        self.summary.notes += self.source.left_out()
        for row in self.source.unreadable_sessions():
            self.quarantine.put("session", str(row["id"]), row.get("refused") or "it cannot be read", row)
        for row in self.source.homeless():
            reason = row.get("refused") or f"its session {row['session_id']!r} is not there"
            self.quarantine.put("message", f"message {row['id']}", reason, row)

    def _count_index(self) -> None:
        if not self._expected:
            return
        lag = self.target.health().get("index_lag") or 0
        self.summary.index_entries = self.summary.messages - min(lag, self.summary.messages)

    # --- proof ---

    def _prove(self) -> None:
        """Every session that was moved is read back, and adds up to what the source says."""
        here = {entry.id: entry for entry in self.source.catalogue()}
        there = {entry.id: entry for entry in self.target.catalogue()}
        checked = 0
        # What was there before is of unknown length, and read alone.
        for some in grouped(self._expected, lambda each: self._weights.get(each, self.part_rows), self.part_rows):
            report = verify_together(self.target, some) if len(some) > 1 else verify(self.target, some[0])
            checked += report.messages
            self.tick("verify", checked, max(checked, self.summary.messages))
            self.summary.problems += [f"{problem.session_id}: {problem.message}" for problem in report.problems]
        for session_id, last_seq in self._expected.items():
            entry = there.get(session_id)
            if entry is None or entry.last_seq < last_seq:
                self.summary.problems.append(f"{session_id}: it is not complete in the target")
            elif session_id in here and not self._agrees(here[session_id], entry):
                self.summary.problems.append(f"{session_id}: its ledger differs from the source's")
        self.summary.verified = not self.summary.problems

    def _agrees(self, entry: Entry, moved: Entry) -> bool:
        return compare(self.source, entry, self.target, moved).verdict != "conflict"

    def _finished(self, begun: float) -> Summary:
        done = self.summary
        done.seconds = time.monotonic() - begun
        done.quarantined = self.quarantine.count
        done.quarantine_reasons = self.quarantine.reasons
        done.quarantine_file = self.quarantine.path if self.quarantine.count else None
        return done
