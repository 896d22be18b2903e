"""What the form of one query tells about another."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessiondb.search.match import implies, matches
from sessiondb.search.nodes import And, Node, Not, Or, Phrase, Term

WORDS = st.sampled_from(["a", "ab", "abc", "b", "bc"])
PHRASES = st.builds(Phrase, st.lists(WORDS, min_size=2, max_size=3).map(tuple), st.booleans())
LEAVES = st.builds(Term, WORDS, st.booleans()) | PHRASES
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(And, st.lists(inner | inner.map(Not), min_size=2, max_size=3).map(tuple)),
        st.builds(Or, st.lists(inner, min_size=2, max_size=3).map(tuple)),
    ),
    max_leaves=5,
)
TEXTS = st.lists(st.lists(WORDS, max_size=6), min_size=20, max_size=20)


@settings(max_examples=500)
@given(TREES, TREES, TEXTS)
def test_what_is_implied_holds_in_every_text(one: Node, other: Node, texts: list[list[str]]) -> None:
    if implies(one, other):
        assert all(matches(other, text) for text in texts if matches(one, text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Term("nginx"), Term("ngin", prefix=True)),
        (Phrase(("etc", "nginx", "conf")), And((Term("etc"), Term("ngin", prefix=True), Term("conf")))),
        (And((Term("move"), Term("port"))), Term("mov", prefix=True)),
        (And((Term("a"), Not(Term("b")))), And((Term("a", prefix=True), Not(Term("b"))))),
        (Term("a"), Or((Term("b"), Term("a")))),
        (Phrase(("a", "b", "c")), Phrase(("b", "c"))),
    ],
)
def test_a_question_as_typed_implies_its_parts(one: Node, other: Node) -> None:
    assert implies(one, other)
    assert not implies(other, one)
