"""Changes of sessions that can be taken back; no screen is needed for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..api.trash import TRASH_DAYS
from ..cli.output import count
from ..cli.text import cut, line
from ..db import SessionDB
from ..errors import NotFound, SessionDBError

_NAME = 40


@dataclass(frozen=True)
class Change:
    """What was done, in a sentence, and how it is taken back; `undo` answers in a sentence too."""

    said: str
    undo: Callable[[], str]
    # What went wrong after a part of it was done.
    problem: SessionDBError | None = None


@dataclass
class Undo:
    """The changes that can be taken back, the last first."""

    _done: list[Change] = field(default_factory=list)

    def push(self, change: Change) -> None:
        self._done.append(change)

    def pop(self) -> Change | None:
        return self._done.pop() if self._done else None

    def __len__(self) -> int:
        return len(self._done)


def rename(db: SessionDB, session_id: str, title: str) -> Change:
    before = db.get_session_title(session_id)
    if not db.set_session_title(session_id, title):
        raise NotFound(f"session {session_id!r} was deleted meanwhile")
    now = db.get_session_title(session_id)

    def undo() -> str:
        db.set_session_title(session_id, before)
        return f"It is {_quoted(before)} again."

    return Change(f"It is {_quoted(now)} now.", undo)


def pin(db: SessionDB, ids: Sequence[str], on: bool) -> Change:
    words = ("Pinned", "Unpinned") if on else ("Unpinned", "Pinned")
    return _stamped(ids, words, lambda name, to: db.pin_session(name, to), on)


def archive(db: SessionDB, ids: Sequence[str], on: bool) -> Change:
    words = ("Archived", "Brought back") if on else ("Brought back", "Archived")
    return _stamped(ids, words, lambda name, to: db.archive_session(name, to), on)


def tag(db: SessionDB, ids: Sequence[str], add: Sequence[str], remove: Sequence[str]) -> Change:
    """Undone, each session has the tags it had: one that it had before is not taken away."""
    before: dict[str, list[str]] = {}

    def change(name: str) -> None:
        before[name] = db.get_tags(name)
        if add:
            db.tag_session(name, *add)
        if remove:
            db.untag_session(name, *remove)

    done, problem = _each(ids, change)

    def undo() -> str:
        for name in done:
            now = db.get_tags(name)
            gained = [each for each in now if each not in before[name]]
            lost = [each for each in before[name] if each not in now]
            if gained:
                db.untag_session(name, *gained)
            if lost:
                db.tag_session(name, *lost)
        return f"{_sessions(done)} as tagged before."

    told = " ".join([*(f"#{each}" for each in add), *(f"-#{each}" for each in remove)])
    return Change(f"Tagged {_sessions(done)} {line(told)}.", undo, problem)


def delete(db: SessionDB, ids: Sequence[str]) -> Change:
    def gone(name: str) -> None:
        if not db.delete_session(name):
            raise NotFound(f"session {name!r} was deleted meanwhile")

    done, problem = _each(ids, gone)

    def undo() -> str:
        for name in reversed(done):
            db.restore_deleted(name)
        return f"{_sessions(done).capitalize()} back from the trash."

    return Change(f"Moved {_sessions(done)} to the trash for {TRASH_DAYS} days; u brings back.", undo, problem)


def wanted_tags(text: str) -> tuple[list[str], list[str]]:
    """Words add a tag, words with a dash take one away; a leading # does not count."""
    words = text.split()
    add = [word.lstrip("#") for word in words if not word.startswith("-")]
    remove = [word[1:].lstrip("#") for word in words if word.startswith("-")]
    return list(filter(None, add)), list(filter(None, remove))


def _stamped(ids: Sequence[str], words: tuple[str, str], stamp: Callable[[str, bool], None], on: bool) -> Change:
    done, problem = _each(ids, lambda name: stamp(name, on))

    def undo() -> str:
        for name in done:
            stamp(name, not on)
        return f"{words[1]} {_sessions(done)}."

    return Change(f"{words[0]} {_sessions(done)}.", undo, problem)


def _each(ids: Sequence[str], change: Callable[[str], None]) -> tuple[list[str], SessionDBError | None]:
    """What was changed, up to the first problem; that of the first session is raised, for nothing was done."""
    done: list[str] = []
    for name in ids:
        try:
            change(name)
        except SessionDBError as exc:
            if not done:
                raise
            return done, exc
        done.append(name)
    return done, None


def _sessions(ids: Sequence[str]) -> str:
    return count(len(ids), "session")


def _quoted(title: str | None) -> str:
    return f"“{cut(line(title), _NAME)}”" if title else "untitled"
