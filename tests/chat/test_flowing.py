"""An answer on the screen of a terminal, whatever the pieces it comes in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiondb.cli.flowing import Flow
from sessiondb.cli.text import width

WORDS = st.lists(st.text("abcdefgh数据库，。「」é", min_size=1, max_size=9), min_size=1, max_size=30)


class Glass:
    """A terminal: letters are put where the cursor is, \\b goes back one column."""

    def __init__(self, columns: int) -> None:
        self.columns, self.lines = columns, [""]

    def take(self, text: str) -> None:
        for letter in text:
            if letter == "\n":
                self.lines.append("")
            elif letter == "\b":
                self._back()
            else:
                self._put(letter)

    def _back(self) -> None:
        # A wide sign goes in two steps: what is left of it is one blank.
        last = self.lines[-1][-1]
        self.lines[-1] = self.lines[-1][:-1] + " " * (width(last) - 1)

    def _put(self, letter: str) -> None:
        if width(self.lines[-1]) + width(letter) > self.columns:
            self.lines.append("")
        self.lines[-1] += letter

    @property
    def shown(self) -> list[str]:
        return [line.rstrip() for line in self.lines]


def shown(text: str, columns: int, size: int = 1, column: int = 0) -> list[str]:
    flow, glass = Flow(column), Glass(columns)
    glass.take("." * column)
    for at in range(0, len(text), size):
        glass.take(flow.add(text[at : at + size], columns))
    return glass.shown


@given(WORDS, st.integers(1, 7))
def test_pieces_do_not_matter_and_nothing_is_lost(words: list[str], size: int) -> None:
    text = " ".join(words)
    lines = shown(text, 20, size)
    assert lines == shown(text, 20, len(text))
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(width(line) < 20 for line in lines)


def test_words_stay_whole() -> None:
    assert shown("one two three four", 12) == ["one two", "three four"]


def test_a_mark_before_the_text_takes_room() -> None:
    assert shown("one two three", 12, column=5) == [".....one", "two three"]


def test_a_word_longer_than_a_line_begins_one_and_is_left_to_the_terminal() -> None:
    text = "see https://example.com/a/long/way and more"
    assert Flow().add(text, 20).endswith("\nhttps://example.com/a/long/way and more")
    assert shown(text, 20) == ["see", "https://example.com/", "a/long/way and more"]


def test_ideographs_break_anywhere_but_before_what_closes() -> None:
    assert shown("数据库的会话，记录", 13) == ["数据库的会", "话，记录"]
    assert shown("数据库的会「话」", 13) == ["数据库的会", "「话」"]


@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_code_is_left_as_it_is(fence: str) -> None:
    code = "curl --fail --silent https://example.com/health"
    text = f"{fence}sh\n{code}\n{fence}\none two three four"
    assert code in Flow().add(text, 12)
    assert shown(text, 12)[-2:] == ["one two", "three four"]


def test_line_ends_of_the_text_stay() -> None:
    assert shown("one\n\n  - two\n", 40) == ["one", "", "  - two", ""]
