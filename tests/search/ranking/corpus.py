"""The store that questions are put to: the stories scattered over half a year among three times as much chatter."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from sessiondb import SessionDB

from .chatter import Chatter, Turn
from .stories import TUNED, Story, stories

NOW = 1_750_000_000.0
DAY = 86400.0
CHATTER = 300
SEED = 20


class Entry(NamedTuple):
    key: str
    source: str
    title: str | None
    turns: list[Turn]


@dataclass(frozen=True)
class Corpus:
    db: SessionDB
    # The message of each turn of a story.
    ids: dict[tuple[str, int], int]

    def answer(self, story: Story) -> int:
        return self.ids[story.key, story.answer]


def built(path: Path, *folders: str) -> Corpus:
    """A store with the stories of these folders, those that were tuned with by default."""
    db = SessionDB(path / "ranking.db", clock=lambda: NOW, synchronous="NORMAL")
    entries = [*_told(folders or (TUNED,)), *_chattered()]
    random.Random(SEED).shuffle(entries)
    ids: dict[tuple[str, int], int] = {}
    for place, entry in enumerate(entries):
        kept = _kept(db, entry, NOW - 180 * DAY * (1 - place / len(entries)))
        ids |= {(entry.key, turn): each for turn, each in enumerate(kept)}
    return Corpus(db, ids)


def _told(folders: Sequence[str]) -> Iterator[Entry]:
    for folder in folders:
        for story in stories(folder):
            yield Entry(story.key, story.source, story.title, story.turns)


def _chattered() -> Iterator[Entry]:
    for number, (source, title, turns) in enumerate(Chatter(SEED).conversations(CHATTER)):
        yield Entry(f"chatter-{number:03d}", source, f"{title} {number}" if title else None, turns)


def _kept(db: SessionDB, entry: Entry, begun: float) -> list[int]:
    db.create_session(entry.key, entry.source, started_at=begun)
    if entry.title:
        db.set_session_title(entry.key, entry.title)
    turns = enumerate(entry.turns)
    rows = [{"role": role, "content": text, "timestamp": begun + 60 * turn} for turn, (role, text) in turns]
    return db.append_messages(entry.key, rows)
