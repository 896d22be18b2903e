"""Text on a terminal: what it may do there, and how many columns it takes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiondb.cli.text import cut, line, pad, safe, width, wrapped

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("plain", 5),
        ("東京", 4),
        ("한국어", 6),
        ("ﾊﾝｶｸ", 4),
        ("e\u0301", 1),
        ("ไทย", 3),
        ("นี้", 1),
        ("😀", 2),
        (FAMILY, 2),
        ("👍🏽", 2),
        ("🇯🇵", 2),
        ("🇯🇵🇩🇪", 4),
        ("🇯", 2),
        ("☀\ufe0f", 2),
        ("☀\ufe0e", 1),
        ("☀", 1),
        ("❤\ufe0f\u200d🔥", 2),
        ("1\ufe0f\u20e3", 2),
        ("a\u200bb", 2),
        ("\u1112\u1161\u11ab", 2),
        ("…—─●", 4),
    ],
)
def test_columns(text: str, columns: int) -> None:
    assert width(text) == columns
    assert width(text * 3) == columns * 3 or text == "🇯"


@given(st.text(), st.integers(1, 30))
def test_cut_text_fits_and_is_the_beginning(text: str, columns: int) -> None:
    shown = cut(line(text), columns)
    assert width(shown) <= columns
    assert shown == line(text) or line(text).startswith(shown.removesuffix("…"))


@given(st.text(), st.integers(2, 30))
def test_a_padded_cell_is_as_wide_as_it_should_be(text: str, columns: int) -> None:
    assert width(pad(cut(line(text), columns), columns)) == columns


@pytest.mark.parametrize("columns", [2, 3, 9])
def test_what_is_drawn_as_one_is_never_torn(columns: int) -> None:
    assert set(cut(FAMILY * 8, columns)) <= {*FAMILY, "…"}
    assert cut(FAMILY * 8, columns).removesuffix("…").count(FAMILY) == (columns - 1) // 2


@given(st.text(), st.integers(4, 30))
def test_wrapped_lines_fit_and_lose_only_blanks(text: str, columns: int) -> None:
    shown = safe(text)
    lines = list(wrapped(shown, columns))
    assert all(width(each) <= columns for each in lines)
    assert "".join("".join(lines).split()) == "".join(shown.split())


def test_lines_are_broken_between_words() -> None:
    assert list(wrapped("one two three\n\nfour", 8)) == ["one two", "three", "", "four"]
    assert list(wrapped("abcdefghij", 4)) == ["abcd", "efgh", "ij"]


@given(st.text())
def test_nothing_in_it_commands_the_terminal(text: str) -> None:
    assert not set(safe(text)) & {*map(chr, [*range(9), *range(11, 32), *range(127, 160), 0x202E, 0x2066, 0x200F])}
