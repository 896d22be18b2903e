"""The corpus holds: every query finds its text, and not the other one."""

from __future__ import annotations

import pytest
from search_corpus import ROWS

from sessiondb.search.match import matches
from sessiondb.search.query import parse
from sessiondb.search.text import document


def finds(box: str, text: str) -> bool:
    node = parse(box).node
    return node is not None and matches(node, *document(text, ""))


@pytest.mark.parametrize(("box", "text"), [(box, found) for box, found, _ in ROWS if found])
def test_it_finds(box: str, text: str) -> None:
    assert finds(box, text)


@pytest.mark.parametrize(("box", "text"), [(box, other) for box, _, other in ROWS])
def test_it_does_not_find(box: str, text: str) -> None:
    assert not finds(box, text)


@pytest.mark.parametrize("text", [found for _, found, _ in ROWS if parse(found).node and "NOT" not in found])
def test_every_text_pasted_into_the_box_finds_itself(text: str) -> None:
    assert finds(text, text)


def test_the_corpus_is_large_and_has_no_doubles() -> None:
    assert len(ROWS) == len(set(ROWS)) >= 100
