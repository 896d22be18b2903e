"""Which session a record of Claude Code belongs to, and what is known of that session."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from .. import jsontext
from . import packed
from .base import Record, Session
from .claude_copies import copied_into
from .claude_messages import begins_conversation, messages
from .parts import Totals, object_of
from .source import Source, first_objects, head_of
from .texts import when, words_of

# Sidechains and calls in flight; older ones are done.
_RECENT = 2000
_HELD = 100
# A file of a gigabyte may have millions of records.
_SEEN = 50_000
# The ends of conversations, which later records may name.
_LAST = 20
_TITLES = {"custom-title": ("customTitle", "user"), "ai-title": ("aiTitle", "agent")}
_CHAINED = frozenset({"user", "assistant", "system", "attachment"})
# State of the program, not of the conversation.
_NOISE = frozenset(
    {
        "progress", "file-history-snapshot", "file-history-delta", "last-prompt", "queue-operation", "permission-mode",
        "mode", "agent-name", "bridge-session", "atis-latch", "started", "result", "worktree-state", "frame-link",
    }
)  # fmt: skip


class Recent:
    """The last records by uuid: session and hash. Half of them go when there are too many."""

    def __init__(self, known: dict[str, tuple[str, int]]) -> None:
        self._newer = known
        self._older: dict[str, tuple[str, int]] = {}

    def get(self, uuid: str) -> tuple[str, int] | None:
        return self._newer.get(uuid) or self._older.get(uuid)

    def add(self, uuid: str, mark: tuple[str, int]) -> None:
        if len(self._newer) >= _SEEN:
            self._newer, self._older = {}, self._newer
        self._newer[uuid] = mark


class Transcript:
    """A file of records; everything that must survive until the next import is in the source's carry."""

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self.carry = source.carry
        self.carry.setdefault("sessions", {})
        self.carry.setdefault("chains", {})
        self.carry.setdefault("leaves", {})
        self.carry.setdefault("last", {})
        if not source.is_tail and (copied := copied_into(source.file)) is not None:
            self.carry["copied"] = list(copied)
        # Of this reading only: uuid -> session and hash, to tell lines written twice from uuids used twice.
        self.seen = Recent({uuid: (owner, 0) for uuid, owner in self.carry["last"].items()})

    def records(self, record: dict[str, Any]) -> Iterator[Record]:
        kind = words_of(record.get("type"))
        self._mark_copy(record)
        if kind in _NOISE:
            return
        if kind == "summary":
            self._keep_summary(record)
            return
        owner = self._owner(record)
        if kind in _TITLES:
            self._keep_title(owner, record, *_TITLES[kind])
            return
        state = self._state(owner, record)
        if kind == "relocated" or kind == "pr-link":
            self._keep_fact(state, record)
            return
        uuid = record.get("uuid")
        if isinstance(uuid, str) and not self._is_new(uuid, owner, record):
            return
        yield from self._in_session(owner, state, record)

    def _mark_copy(self, record: dict[str, Any]) -> None:
        """Newer versions write themselves where a record was copied from."""
        if "uuid" in record and self.carry.get("copied", (0, ""))[0] > 0:
            self.carry["copied"][0] -= 1
            record.setdefault("forkedFrom", {"sessionId": self.carry["copied"][1]})

    def _in_session(self, owner: str, state: dict[str, Any], record: dict[str, Any]) -> Iterator[Record]:
        if not state["begun"]:
            if not begins_conversation(record):
                state["held"] = [*state["held"], record][-_HELD:]
                return
            state["begun"] = True
            yield self._session(owner, state)
            for held in state.pop("held"):
                yield from messages(owner, state, held)
        state["changed"] = True
        yield from messages(owner, state, record)

    def rest(self) -> Iterator[Record]:
        """Answers that may still grow, and what is known of the sessions by the end of the file."""
        for owner, state in self.carry["sessions"].items():
            if not state["begun"] or not (self._find_summary(owner, state) or state["changed"]):
                continue
            yield from messages(owner, state, None)
            yield self._session(owner, state)
            if state["totals"]:
                yield Totals.usage(state["totals"], owner, "claude-code")
            state["changed"] = False

    # Sessions

    def _owner(self, record: dict[str, Any]) -> str:
        """The session of a record. A subagent's begins differently from its parent's: beginnings name sessions."""
        main = words_of(record.get("sessionId")) or self.carry.get("session") or self.path.stem
        self.carry["session"] = main
        if not record.get("isSidechain"):
            return str(main)
        if agent := words_of(record.get("agentId")):
            return f"agent-{agent}:{main}"
        return f"side-{self._chain(record)}:{main}"

    def _chain(self, record: dict[str, Any]) -> str:
        """The first uuid of the chain of records that the subagent's prompt began."""
        chains = self.carry["chains"]
        uuid = words_of(record.get("uuid")) or ""
        chains[uuid] = root = str(chains.get(words_of(record.get("parentUuid")) or "", uuid))
        if len(chains) > 2 * _RECENT:
            for old in list(chains)[:_RECENT]:
                del chains[old]
        return root

    def _state(self, owner: str, record: dict[str, Any]) -> dict[str, Any]:
        state: dict[str, Any] = self.carry["sessions"].get(owner)
        if state is None:
            state = self.carry["sessions"][owner] = _new_state()
        if not state["linked"] and words_of(record.get("type")) in _CHAINED:
            state["linked"] = True
            self._link(owner, state, record)
        known = state["info"]
        if cwd := words_of(record.get("cwd")):
            known.setdefault("cwd", cwd)
        if (branch := words_of(record.get("gitBranch"))) and branch != "HEAD":
            known["git_branch"] = branch
        if version := words_of(record.get("version")):
            state["facts"]["version"] = version
        if origin := words_of(object_of(record.get("forkedFrom")).get("sessionId")):
            known["parent_native_id"], known["relation"] = origin, "fork"
        if "started_at" not in known and (moment := when(record.get("timestamp"))) is not None:
            known["started_at"] = moment
        return state

    def _link(self, owner: str, state: dict[str, Any], record: dict[str, Any]) -> None:
        known = state["info"]
        if record.get("isSidechain"):
            known |= {"parent_native_id": owner.partition(":")[2], "relation": "subagent", "source": "subagent"}
            self._describe(state)
            return
        linked = words_of(record.get("logicalParentUuid")) or words_of(record.get("parentUuid"))
        before = self.seen.get(linked or "")
        if before is not None and before[0].rpartition(":")[2] != owner:
            compacted = record.get("subtype") == "compact_boundary" or record.get("isCompactSummary")
            known["parent_native_id"], known["relation"] = before[0], "compression" if compacted else "fork"

    def _describe(self, state: dict[str, Any]) -> None:
        """What the file beside a subagent's transcript says of it."""
        beside = self.path.with_suffix(".meta.json")
        if not self.path.stem.startswith("agent-") or not beside.is_file():
            return
        for about in first_objects(head_of(beside).replace(b"\n", b" ")):
            if title := words_of(about.get("description")):
                state["titles"]["described"] = title
            state["facts"]["agent_type"] = words_of(about.get("agentType"))
            state["facts"]["tool_call_id"] = words_of(about.get("toolUseId"))

    def _is_new(self, uuid: str, owner: str, record: dict[str, Any]) -> bool:
        known = self.seen.get(uuid)
        mark = _mark(record)
        self.carry["last"][uuid] = owner
        if len(self.carry["last"]) > _LAST:
            del self.carry["last"][next(iter(self.carry["last"]))]
        if known is None:
            self.seen.add(uuid, (owner, mark))
            return True
        if known in ((owner, mark), (owner, 0)):
            return False
        if known[0] == owner:
            # Another record under a used id: known by its content instead.
            del record["uuid"]
        return True

    # Titles and facts

    def _keep_title(self, owner: str, record: dict[str, Any], field: str, source: str) -> None:
        if title := words_of(record.get(field)):
            state = self.carry["sessions"].setdefault(owner, _new_state())
            state["titles"][source] = title
            state["changed"] = True

    def _keep_summary(self, record: dict[str, Any]) -> None:
        leaf, summary = words_of(record.get("leafUuid")), words_of(record.get("summary"))
        if leaf and summary:
            self.carry["leaves"][leaf] = summary
            if (named := self.seen.get(leaf)) is not None:
                self.carry["sessions"][named[0]]["changed"] = True
            for old in list(self.carry["leaves"])[:-_RECENT]:
                del self.carry["leaves"][old]

    def _find_summary(self, owner: str, state: dict[str, Any]) -> bool:
        """Older versions name a conversation by its last message, often in the file of a later one."""
        titles = state["titles"]
        before = titles.get("summary")
        if "user" in titles or "agent" in titles:
            return False
        for leaf, summary in (summaries_in(self.path.parent) | self.carry["leaves"]).items():
            if (named := self.seen.get(leaf)) is not None and named[0] == owner:
                titles["summary"] = summary
        return bool(titles.get("summary") != before)

    def _keep_fact(self, state: dict[str, Any], record: dict[str, Any]) -> None:
        state["changed"] = True
        if moved := words_of(record.get("relocatedCwd")):
            state["facts"]["relocated_cwd"] = moved
        url = words_of(record.get("prUrl"))
        if url and url not in state["facts"].setdefault("pull_requests", []):
            state["facts"]["pull_requests"].append(url)

    def _session(self, owner: str, state: dict[str, Any]) -> Session:
        titles = state["titles"]
        named = next(
            ((titles[kind], kind) for kind in ("user", "agent", "summary", "described") if kind in titles), None
        )
        title, kind = named or (None, None)
        facts = {name: value for name, value in state["facts"].items() if value}
        return Session(
            owner,
            title=title,
            title_source=None if kind is None else "user" if kind == "user" else "agent",
            metadata=facts or None,
            **state["info"],
        )


def _new_state() -> dict[str, Any]:
    return {
        "begun": False, "linked": False, "changed": False, "held": [], "info": {}, "titles": {}, "facts": {},
        "totals": {}, "open": None, "finished": [], "calls": {}, "turns": [],
    }  # fmt: skip


def _mark(record: dict[str, Any]) -> int:
    try:
        return hash(msgspec.json.encode(record))
    except UnicodeEncodeError:
        return hash(jsontext.canonical(record))


@lru_cache(maxsize=8)
def _summaries(directory: Path, changed: int) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in packed.beside(directory, "*.jsonl"):
        for line in packed.lines_of(path):
            if not line.startswith(b'{"type":"summary"'):
                break
            for record in first_objects(line):
                if isinstance(record.get("leafUuid"), str) and words_of(record.get("summary")):
                    found[record["leafUuid"]] = record["summary"]
    return found


def summaries_digest(directory: Path) -> str | None:
    """A mark that changes when conversations of a project are named."""
    return _digest(directory, directory.stat().st_mtime_ns)


@lru_cache(maxsize=8)
def _digest(directory: Path, changed: int) -> str | None:
    found = _summaries(directory, changed)
    return hashlib.sha256(jsontext.canonical(found).encode()).hexdigest()[:24] if found else None


def summaries_in(directory: Path) -> dict[str, str]:
    """The summaries at the heads of the files of a project: last uuid of a conversation -> what it was about."""
    return _summaries(directory, directory.stat().st_mtime_ns)
