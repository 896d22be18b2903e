"""Commands that change where the conversation is, or what it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ..errors import Invalid, NotFound, TitleTaken
from ..models import MessageRow
from .compress import compress
from .desk import Desk, Outcome
from .looking import NOTHING_YET, sessions

if TYPE_CHECKING:
    from ..gateway.transcripts import Transcripts
    from .loop import Agent


_SAID = ("user", "assistant", "tool")


@runtime_checkable
class Filed(Protocol):
    """A desk with files beside the store; a gateway's is one."""

    transcripts: Transcripts | None


def new(desk: Desk, words: str, agent: Agent | None) -> Outcome:
    old = _seen(desk)
    desk.begin("new")
    if old is None:
        return Outcome("A new session begins.")
    desk.db.archive_session(old)
    if isinstance(desk, Filed) and desk.transcripts is not None:
        desk.transcripts.archive(desk.db, old)
    return Outcome(f"A new session begins. The last one is in the archive; /resume {old} goes back to it.")


def reset(desk: Desk, words: str, agent: Agent | None) -> Outcome:
    old = _seen(desk)
    desk.begin("reset")
    back = "" if old is None else f" /resume {old} goes back to the last one."
    return Outcome(f"A new session begins.{back}")


def title(desk: Desk, words: str, agent: Agent | None) -> Outcome:
    current = _seen(desk)
    if not words:
        named = desk.scope.get(current)["title"] if current else None
        return Outcome(f"This session is called {named!r}." if named else "This session has no title; /title NAME.")
    if current is None:
        cleaned = desk.db.sanitize_title(words)
        if cleaned is None:
            raise Invalid("a title needs something to read")
        desk.title_later(cleaned)
        return Outcome(f"The session will be called {cleaned!r} when it begins.")
    desk.scope.rename(current, words)
    return Outcome(f"This session is called {desk.scope.get(current)['title']!r} now.")


def resume(desk: Desk, words: str, agent: Agent | None) -> Outcome:
    if not words:
        return sessions(desk, words, agent)
    found = desk.scope.find(words)["id"]
    there = desk.scope.get(desk.db.get_compression_tip(found))
    if there["id"] == desk.session_id:
        return Outcome("That is where we are.")
    desk.switch(there["id"])
    if there["archived_at"] is not None:
        desk.db.archive_session(there["id"], False)
    count = there["message_count"]
    return Outcome(f"Going on in {there['title'] or there['id']} ({count} message{'s' * (count != 1)}).")


def compressed(desk: Desk, words: str, agent: Agent | None) -> Outcome:
    current = _needed(desk)
    done = compress(desk.db, current, endpoint=agent.endpoint if agent else None)
    desk.switch(done.session_id)
    named = desk.scope.get(done.session_id)["title"] or done.session_id
    written = "a summary" if done.by == "model" else "a summary made of quotes"
    return Outcome(f"Going on in {named} with {written}; every word stays in {current}.")


def undo(desk: Desk, words: str, agent: Agent | None) -> Outcome:
    current, last = _last_question(desk)
    hidden = _taken_back(desk, current, last)
    return Outcome(f"Taken back: {hidden} message{'s' * (hidden != 1)}.")


def retry(desk: Desk, words: str, agent: Agent | None) -> Outcome:
    current, last = _last_question(desk)
    if not isinstance(last["content"], str):
        raise Invalid("the last message was more than text; send it again")
    _taken_back(desk, current, last)
    return Outcome("Asking again.", prompt=last["content"])


def fork(desk: Desk, words: str, agent: Agent | None) -> Outcome:
    current = _needed(desk)
    wanted = desk.db.sanitize_title(words) if words else None
    original = desk.scope.get(current)
    copy = desk.db.fork_session(current)
    complaint = ""
    if wanted:
        complaint = _named(desk, copy, wanted)
    elif original["title"]:
        desk.db.set_auto_title_if_empty(copy, original["title"], "agent")
    desk.switch(copy)
    named = desk.scope.get(copy)["title"] or copy
    return Outcome(f"Going on in a copy, {named}; the original is {current}.{complaint}")


def _named(desk: Desk, session_id: str, title: str) -> str:
    """Empty, or why the name was not given: the session is there all the same."""
    try:
        desk.scope.rename(session_id, title)
    except TitleTaken as exc:
        return f" It has no name yet: {exc}."
    return ""


def _seen(desk: Desk) -> str | None:
    """The session the person is in, if it is theirs to see."""
    current = desk.session_id
    return None if current is None or desk.scope.having(current) is None else current


def _needed(desk: Desk) -> str:
    current = _seen(desk)
    if current is None:
        raise NotFound(NOTHING_YET)
    return current


def _last_question(desk: Desk) -> tuple[str, MessageRow]:
    current = _needed(desk)
    rows = desk.scope.messages(current)
    asked = [row for row in rows if row["role"] == "user" and not row["injected"]]
    if not asked:
        raise NotFound(NOTHING_YET)
    return current, asked[-1]


def _taken_back(desk: Desk, session_id: str, question: MessageRow) -> int:
    """Hide the question and what followed; how much of that was said, beside what a host noted."""
    start = question["seq"] or 1
    rows = desk.scope.messages(session_id)
    desk.db.provider.set_active(session_id, start - 1, False)
    return sum(row["role"] in _SAID and (row["seq"] or 0) >= start for row in rows)
