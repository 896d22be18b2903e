"""Conversations written by hand, each with one answer and a question that asks for it.

== key source       a conversation
T: text             its title
U: text  A: text    what the user and the assistant said
A!: text            the answer
? text              a plain question        ~ text      a paraphrased one: few words in common with the answer
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
# The conversations that constants were chosen with, and those that no choice was made with.
TUNED, HELD_OUT = "conversations", "held_out"
ROLES = {"U": "user", "A": "assistant", "A!": "assistant"}


@dataclass
class Story:
    key: str
    source: str
    title: str | None = None
    turns: list[tuple[str, str]] = field(default_factory=list)
    answer: int = -1
    question: str = ""
    paraphrased: bool = False

    def take(self, line: str) -> None:
        mark, text = line.split(" ", 1)
        mark = mark.removesuffix(":")
        if mark == "T":
            self.title = text
        elif mark in "?~":
            self.question, self.paraphrased = text, mark == "~"
        else:
            self.answer = len(self.turns) if mark == "A!" else self.answer
            self.turns.append((ROLES[mark], text))


def stories(folder: str = TUNED) -> list[Story]:
    found: list[Story] = []
    for path in sorted((HERE / folder).glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("== "):
                found.append(Story(*line.split()[1:]))
            elif line:
                found[-1].take(line)
    return found


@dataclass(frozen=True)
class Judged:
    """A query with the grades of the turns of conversations: key and turn to 1, 2 or 3."""

    query: str
    grades: dict[tuple[str, int], int]


def judged() -> list[Judged]:
    known = {story.key: story for story in stories()}
    lines = (HERE / "judged.txt").read_text(encoding="utf-8").splitlines()
    split = (line.split(" :: ") for line in lines if not line.startswith("#"))
    return [Judged(query, _grades(known, marks.split())) for query, marks in split]


def _grades(known: dict[str, Story], marks: list[str]) -> dict[tuple[str, int], int]:
    grades = {}
    for key, grade in (mark.split("=") for mark in marks):
        story = known[key]
        for turn in range(len(story.turns)):
            less = 0 if turn == story.answer else 1 if turn == 0 else 2
            grades[key, turn] = max(0, int(grade) - less)
    return {place: grade for place, grade in grades.items() if grade}
