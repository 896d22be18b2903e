"""What the index makes of a text: the words of the analyser, each at its place, whichever way they came in."""

from __future__ import annotations

from collections.abc import Iterator

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sessiondb.search import analyze
from sessiondb.search.text import columns, document

LETTERS = st.text(st.characters(min_codepoint=0, max_codepoint=127), max_size=400)
LONG_WORDS = st.lists(st.integers(1, 140).map("a".__mul__), max_size=6).map(" ".join)
TEXTS = st.one_of(LETTERS, LONG_WORDS, st.tuples(LETTERS, LONG_WORDS).map("".join), st.text(max_size=60))
TOOLS = st.one_of(st.just(""), LETTERS)


@pytest.fixture(scope="module")
def index() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(body, extra, tokenize='ascii')")
    connection.execute("CREATE VIRTUAL TABLE found USING fts5vocab(words, instance)")
    yield connection
    connection.close()


def indexed(index: apsw.Connection, body: str, extra: str) -> tuple[list[str], list[str]]:
    index.execute("DELETE FROM words")
    index.execute("INSERT INTO words (body, extra) VALUES (?, ?)", (body, extra))
    found = index.execute("SELECT term, col FROM found ORDER BY col, offset").fetchall()
    return [str(term) for term, col in found if col == "body"], [str(term) for term, col in found if col == "extra"]


@given(body=TEXTS, tools=TOOLS)
@example("a" * 64 + " " + "b" * 65, "")
@example(" " * 31 + "a" * 65, "")
@example("getUserName /etc/nginx.conf\x00NUL\x1b[31mred\x1b[0m", "read_file")
def test_the_words_of_a_text_are_those_of_the_analyser(index: apsw.Connection, body: str, tools: str) -> None:
    body, tools = (text.encode("utf-8", "ignore").decode() for text in (body, tools))
    assert indexed(index, *columns(body, tools)) == document(body, tools)


@given(before=st.integers(0, 70), size=st.integers(65, 140), after=st.integers(0, 70))
def test_a_text_with_an_overlong_word_is_cut_by_the_analyser(before: int, size: int, after: int) -> None:
    assert not analyze.is_cut_alike(" " * before + "x" * size + " " * after)


def test_usual_texts_need_no_cutting() -> None:
    assert analyze.is_cut_alike("We moved the payment gateway to port 8443, see /etc/nginx/nginx.conf.\n" * 9)
