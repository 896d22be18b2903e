"""A plain question becomes things to look for; the search box's syntax keeps its meaning."""

from __future__ import annotations

import pytest
from hypothesis import given
from search_texts import boxes, laws

from sessiondb.search import analyze, stopwords
from sessiondb.search.match import matches
from sessiondb.search.nodes import Not, Or, Phrase, Term
from sessiondb.search.question import MOST_WANTED, Question, as_typed, taken_apart, understand


def wanted(box: str) -> list[str]:
    found = (thing.exact for thing in understand(box).wanted)
    return [" ".join(leaf.tokens) if isinstance(leaf, Phrase) else leaf.token for leaf in found]


@pytest.mark.parametrize(
    ("question", "things"),
    [
        ("When did we move to port 8443?", ["move", "port", "8443"]),
        ("What's in /usr/bin on the staging box?", ["usr bin", "staging", "box"]),
        ("Kapan kita pindah ke server yang baru?", ["pindah", "server", "baru"]),
        ("Warum ist die Verbindung zur Datenbank weg?", ["verbindung", "datenbank"]),
        ("¿Por qué se enviaban dos veces las facturas?", ["enviaban", "veces", "facturas"]),
        ("Pourquoi l'erreur d'hier est-elle revenue ?", ["erreur", "hier", "revenue"]),
        ("Por que o relatório não abre?", ["relatorio", "abre"]),
        ("数据库连接", ["数据", "据库", "库连", "连接"]),
        ("the who", ["the", "who"]),
    ],
)
def test_words_that_only_ask_are_set_aside(question: str, things: list[str]) -> None:
    assert wanted(question) == things


def test_a_stop_word_of_another_language_is_a_word() -> None:
    assert "bin" in wanted("what is in the bin directory")
    assert "bin" not in wanted("warum bin ich nicht angemeldet")


def test_all_stop_words_are_folded_as_texts_are() -> None:
    assert all(analyze.tokens(word) == [word] for language in stopwords.LANGUAGES for word in language)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("deploy", "deployed"),
        ("deploying", "deployment"),
        ("migrations", "migrate"),
        ("moved", "move"),
        ("Verbindungen", "Verbindung"),
        ("conexiones", "conexión"),
        ("очередь", "очереди"),
        ("docker-compose", "compose for docker"),
    ],
)
def test_inflections_are_found_loosely(typed: str, said: str) -> None:
    (thing,) = understand(typed).wanted
    assert matches(thing.loose, analyze.tokens(said))
    assert not matches(thing.exact, analyze.tokens(said))


@pytest.mark.parametrize("word", ["api", "8443", "v2", "utf8"])
def test_names_and_numbers_are_not_inflected(word: str) -> None:
    (thing,) = understand(word).wanted
    assert not matches(thing.loose, [word + "s", "x" + word])


class TestSyntax:
    def test_a_quoted_phrase_must_hold(self) -> None:
        asked = understand('why "connection reset" today')
        assert asked.required == (Phrase(("connection", "reset")),)

    def test_an_exclusion_must_hold(self) -> None:
        assert understand("deploy NOT staging").required == (Not(Term("staging")),)
        assert understand("deploy -staging").required == (Not(Term("staging")),)

    def test_alternatives_must_hold_but_for_the_words_that_only_ask(self) -> None:
        assert understand("should we use redis OR memcached").required == (Or((Term("redis"), Term("memcached"))),)

    def test_what_programs_say_excludes_nothing(self) -> None:
        assert understand("how do we add a NOT NULL column").required == ()
        assert understand("404 NOT FOUND from the proxy").required == ()

    def test_filters_are_the_query_s(self) -> None:
        asked = understand("source:cli when did nginx fail")
        assert asked.query.filters == (("source", "cli"),)
        assert [thing.exact for thing in asked.wanted] == [Term("nginx"), Term("fail")]

    def test_stop_words_beside_an_exclusion_are_looked_for(self) -> None:
        assert [thing.exact for thing in understand("how to -docker").wanted] == [Term("how"), Term("to")]

    def test_nothing_typed_wants_nothing(self) -> None:
        assert understand("").parts == understand("???").parts == understand("-docker").parts == []


def test_a_pasted_page_is_cut_to_its_telling_words() -> None:
    page = " ".join(f"word{'x' * (number % 40)}{number}" for number in range(300))
    assert len(understand(page).wanted) == MOST_WANTED


def test_the_last_resort_takes_phrases_apart() -> None:
    apart = taken_apart(understand("/opt/app/settings.py"))
    assert [thing.exact for thing in apart.wanted] == [Term("opt"), Term("app"), Term("settings"), Term("py")]


def test_the_last_resort_keeps_exclusions() -> None:
    assert taken_apart(understand('(redis OR "memory cache") NOT staging')).required == (Not(Term("staging")),)


@laws
@given(boxes)
def test_every_box_is_understood_and_the_whole_comes_first(box: str) -> None:
    asked: Question = understand(box)
    assert len(asked.parts) in (0, len(asked.wanted) + 1)
    assert not any(isinstance(part, Not) for part in asked.parts)


@pytest.mark.parametrize(("box", "is_one"), [
    ("/etc/nginx.conf", True), ("where is /etc/nginx.conf?", True), ("nginx", False),
    ("'/etc/nginx.conf' nginx", False),
    ("/etc/nginx.conf -old", False), ("/etc/nginx*", False), ("\u6570\u636e", False), ("", False),
])  # fmt: skip
def test_one_thing_of_several_words_can_be_taken_as_typed(box: str, is_one: bool) -> None:
    asked = understand(box)
    typed = as_typed(asked)
    assert (typed is not None) == is_one
    if typed is not None:
        assert (set(typed.parts), typed.whole) == ({asked.whole}, asked.whole)
