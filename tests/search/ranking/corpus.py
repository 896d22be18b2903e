"""The store that questions are put to: the stories scattered over half a year among three times as much chatter."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from sessiondb import SessionDB

from .chatter import Chatter
from .stories import Story, stories

NOW = 1_750_000_000.0
DAY = 86400.0
CHATTER = 300
SEED = 20


@dataclass(frozen=True)
class Corpus:
    db: SessionDB
    # The message of each turn of a story.
    ids: dict[tuple[str, int], int]

    def answer(self, story: Story) -> int:
        return self.ids[story.key, story.answer]


def built(path: Path) -> Corpus:
    chance = random.Random(SEED)
    db = SessionDB(path / "ranking.db", clock=lambda: NOW, synchronous="NORMAL")
    told = stories()
    entries = [(story.key, story.source, story.title, story.turns) for story in told]
    for number, (source, title, turns) in enumerate(Chatter(SEED).conversations(CHATTER)):
        entries.append((f"chatter-{number:03d}", source, f"{title} {number}" if title else None, turns))
    chance.shuffle(entries)
    ids: dict[tuple[str, int], int] = {}
    for place, (key, source, title, turns) in enumerate(entries):
        begun = NOW - 180 * DAY * (1 - place / len(entries))
        db.create_session(key, source, started_at=begun)
        if title:
            db.set_session_title(key, title)
        rows = [
            {"role": role, "content": text, "timestamp": begun + 60 * turn} for turn, (role, text) in enumerate(turns)
        ]
        for turn, each in enumerate(db.append_messages(key, rows)):
            ids[key, turn] = each
    return Corpus(db, ids)
