"""Titles that sessions get by themselves: once, after the first exchange, never over a title that somebody chose.

A model names the session where one is configured; without one, or when it fails, the first real prompt does.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

from .errors import SessionDBError
from .llm import Endpoint, NoAnswer, without_thoughts
from .models import MAX_TITLE_LENGTH, MessageRow
from .redact import redact
from .search.analyze import unspaced
from .search.text import readable

if TYPE_CHECKING:
    from .db import SessionDB

log = logging.getLogger(__name__)

FEWEST_WORDS, MOST_WORDS = 2, 7
MOST_CHARACTERS = 60
_UNSPACED_CHARACTERS = 20
_SHOWN = 1500
INSTRUCTIONS = (
    "Name the topic of this conversation in three to seven words, in the language of the person. Answer with the name "
    "alone: no quotation marks, no full stop, no words like 'title' or 'conversation'."
)
_GREETING = re.compile(
    r"(?i)^(?:(?:hi|hello|hey|good (?:morning|evening|day)|halo|hai|selamat (?:pagi|siang|malam)|hallo|hola|bonjour|"
    r"ok|okay|so|well|please|tolong|bitte|por favor|thanks|can you|could you|would you|will you|i (?:want|need|"
    r"would like)"
    r"(?: you)? to|i'd like (?:you )?to|help me(?: to)?|bisa(?:kah)?(?: kamu)?)\b[\s,!.:]*)+"
)
_NOISE = re.compile(r"```.*?(?:```|\Z)|<[^<>\n]{1,80}>|https?://\S+|[*_#>`|]+", re.DOTALL)
_CLAUSE = re.compile(r"[.!?;。！？；\n]+(?:\s|$)|[。！？；\n]|\s[-–—]\s")
_LABEL = re.compile(r"(?i)^(?:title|titel|judul|标题)\s*[:：]\s*")


def from_prompt(prompt: str) -> str | None:
    """A title of the first words of a prompt; None when it has none."""
    plain = " ".join(_NOISE.sub(" ", prompt[:4000]).split(" "))
    clauses = (_GREETING.sub("", clause.strip()).strip(" \t,:'\"“”()[]") for clause in _CLAUSE.split(plain))
    first = next((clause for clause in clauses if any(map(str.isalnum, clause))), None)
    return _shortened(first) if first else None


def _shortened(text: str) -> str:
    words = text.split()[:MOST_WORDS]
    short = " ".join(words)
    if any(map(unspaced, short)):
        short = re.split(r"[,，、:：]", short[: _UNSPACED_CHARACTERS * 2])[0][:_UNSPACED_CHARACTERS]
    while len(short) > MOST_CHARACTERS and " " in short:
        short = short.rsplit(" ", 1)[0]
    return short[:MOST_CHARACTERS].rstrip(" ,.:;!?，。！？")


def from_answer(answer: str) -> str | None:
    """A model's answer as a title; None when it is no title but a speech, a single word, or nothing."""
    lines = [line.strip() for line in without_thoughts(answer).splitlines() if line.strip()]
    if len(lines) != 1:
        return None
    title = _LABEL.sub("", lines[0].strip("#* ")).strip(" '\"“”«»*.").strip()
    fits = FEWEST_WORDS <= len(title.split()) <= MOST_WORDS or any(map(unspaced, title))
    return title if fits and len(title) <= MAX_TITLE_LENGTH else None


class Titler:
    """Gives titles in the background; one for a process, safe to use from many threads."""

    def __init__(self, db: SessionDB, endpoint: Endpoint | None = None) -> None:
        self._db, self._endpoint = db, endpoint
        self._lock = threading.Lock()
        self._seen: set[str] = set()
        self._waiting: dict[str, str] = {}
        self._threads: list[threading.Thread] = []

    def set_title(self, session_id: str, title: str) -> bool:
        """Set a person's title now, or when the session begins: False means it waits. Raises TitleTaken, Invalid."""
        cleaned = self._db.sanitize_title(title)
        if self._db.set_session_title(session_id, cleaned):
            return True
        with self._lock:
            self._waiting[session_id] = cleaned or ""
        return False

    def waiting_title(self, session_id: str) -> str | None:
        """The title that waits for its session."""
        with self._lock:
            return self._waiting.get(session_id)

    def session_began(self, session_id: str) -> None:
        """Apply the title that waited for this session. Raises TitleTaken when somebody took it meanwhile."""
        with self._lock:
            title = self._waiting.pop(session_id, None)
        if title:
            self._db.set_session_title(session_id, title)

    def after_exchange(self, session_id: str) -> threading.Thread | None:
        """Call after an answer was stored: a thread gives the session a title, once.

        After a greeting there is no topic yet; then the next exchange is asked.
        """
        with self._lock:
            if session_id in self._seen:
                return None
            self._seen.add(session_id)
        thread = threading.Thread(target=self._give, args=(session_id,), name="sessiondb-title", daemon=True)
        self._threads = [each for each in self._threads if each.is_alive()] + [thread]
        thread.start()
        return thread

    def wait(self, timeout: float | None = None) -> None:
        """Wait for titles on their way, as before a program ends."""
        for thread in self._threads:
            thread.join(timeout)

    def _give(self, session_id: str) -> None:
        try:
            if give_title(self._db, session_id, self._endpoint) is None and not self._db.get_session_title(session_id):
                with self._lock:
                    self._seen.discard(session_id)
        except SessionDBError as exc:
            # A title is a comfort: the conversation goes on without it.
            log.warning("no title for session %s: %s", session_id, exc)


def give_title(db: SessionDB, session_id: str, endpoint: Endpoint | None = None) -> str | None:
    """Name a session that has no title and at least one exchange; the title given, or None.

    The store decides: a title that a person sets meanwhile stays.
    """
    session = db.get_session(session_id)
    if session is None or session["title"]:
        return None
    exchange = _first_exchange(db.get_messages(session_id, limit=20))
    if exchange is None:
        return None
    named = _by_model(endpoint, *exchange) if endpoint else None
    title, source = (named, "llm") if named else (from_prompt(exchange[0]), "first_prompt")
    if not title or not db.set_auto_title_if_empty(session_id, title, source):
        return None
    return db.get_session_title(session_id)


def _by_model(endpoint: Endpoint, prompt: str, answer: str) -> str | None:
    said = f"Person: {redact(prompt)[:_SHOWN]}\n\nAssistant: {redact(answer)[:_SHOWN]}"
    messages = [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": said}]
    try:
        return from_answer(endpoint.complete(messages, max_tokens=500))
    except NoAnswer as exc:
        log.warning("the first prompt names the session: %s", exc)
        return None


def _first_exchange(rows: Iterable[MessageRow]) -> tuple[str, str] | None:
    """The first prompt of a person that says something, and what was answered."""
    prompt: str | None = None
    for row in rows:
        text = readable(row)
        if row["role"] == "user" and not row["injected"] and prompt is None and from_prompt(text):
            prompt = text
        elif row["role"] == "assistant" and prompt is not None and text.strip():
            return prompt, text
    return None
