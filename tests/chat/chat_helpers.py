"""Somebody who listens, and short ways to look at what was stored."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from sessiondb import SessionDB
from sessiondb.chat.loop import Agent
from sessiondb.chat.own import OwnDesk
from sessiondb.chat.talk import Reply


class Ear:
    """A listener that remembers; `on_text` is called with each piece."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, ...]] = []
        self.on_text: Callable[[str], object] = lambda piece: None

    @property
    def said(self) -> str:
        return "".join(each[1] for each in self.heard if each[0] == "text")

    @property
    def notices(self) -> list[str]:
        return [each[1] for each in self.heard if each[0] == "notice"]

    def text(self, piece: str) -> None:
        self.heard.append(("text", piece))
        self.on_text(piece)

    def tool_begins(self, name: str, arguments: str) -> None:
        self.heard.append(("begins", name, arguments))

    def tool_ends(self, name: str, result: str) -> None:
        self.heard.append(("ends", name, result))

    def notice(self, sentence: str) -> None:
        self.heard.append(("notice", sentence))


def exchange(agent: Agent, desk: OwnDesk, text: str, ear: Ear | None = None) -> Reply:
    """A question and its answer, stored as a host does it."""
    ear = ear or Ear()
    talk = desk.say(text, ear.notice)
    reply = agent.answer(talk, ear, threading.Event())
    talk.append(reply.last_words)
    desk.follow(talk)
    return reply


def stored(db: SessionDB, session_id: str | None) -> list[tuple[str, Any]]:
    return [(row["role"], row["content"]) for row in db.get_messages(session_id or "")]
