"""Long texts in messages that a platform takes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sessiondb.gateway.pieces import pieces


def utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=300)


@given(TEXTS, st.integers(2, 40))
def test_no_piece_is_too_long_and_no_word_is_lost(text: str, longest: int) -> None:
    found = pieces(text, longest, utf16)
    assert all(utf16(piece) <= longest for piece in found)
    assert "".join(found).split() == text.split()


@given(TEXTS, TEXTS, st.integers(2, 40))
def test_pieces_of_a_growing_text_stay(text: str, more: str, longest: int) -> None:
    before, after = pieces(text, longest, utf16), pieces(text + more, longest, utf16)
    assert after[: len(before) - 1] == before[:-1]


def test_cuts_are_at_line_ends_then_at_blanks() -> None:
    assert pieces("one two\nthree four five", 12) == ["one two\n", "three four ", "five"]
    assert pieces("abcdefgh", 3) == ["abc", "def", "gh"]
