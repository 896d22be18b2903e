"""Snippets: the matches are marked, everything else is the text as stored."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis.strategies import integers, lists, sampled_from
from search_texts import laws, texts

from sessiondb.models import MessageRow
from sessiondb.search.analyze import tokens
from sessiondb.search.nodes import leaves
from sessiondb.search.plain_snippet import plain_snippet
from sessiondb.search.query import literal, parse
from sessiondb.search.snippet import _CHARACTERS, _Text, row_snippet, snippet


@pytest.mark.parametrize(
    ("box", "text", "shown"),
    [
        ("deploy", "We Deploy today.", "We >>>Deploy<<< today."),
        ("conf*", "the config, the conf", "the >>>config<<<, the >>>conf<<<"),
        ("/etc/nginx.conf", "vi /etc/nginx.conf\n", "vi />>>etc/nginx.conf<<<\n"),
        ("cafe", "un Cafe\u0301 noir", "un >>>Cafe\u0301<<< noir"),
        ("straße", "STRASSE 5", ">>>STRASSE<<< 5"),
        ("京", "東京都に", "東>>>京<<<都に"),
        ("京都", "東京都に", "東>>>京都<<<に"),
        ("東京都", "東京都に", ">>>東京都<<<に"),
        ("東京 京都", "東京都に", ">>>東京都<<<に"),
        ("user", "call getUserName()", "call >>>getUserName<<<()"),
        ("👍", "ok 👍🏽!", "ok >>>👍🏽<<<!"),
        ("a OR b", "a-b c", ">>>a<<<->>>b<<< c"),
        ('"to be" be', "to be is", ">>>to be<<< is"),
        ("one -two", "one, not two", ">>>one<<<, not two"),
        ("absent", "only this", "only this"),
        ("***", "only this", "only this"),
        ("x", "", ""),
    ],
)
def test_marks(box: str, text: str, shown: str) -> None:
    assert snippet(text, parse(box).node) == shown


NUMBERS = " ".join(f"w{number}" for number in range(1000))


class TestWindow:
    def test_a_long_text_is_cut_around_the_match(self) -> None:
        shown = snippet(NUMBERS, parse("w500").node)
        assert shown.startswith("...w4")
        assert shown.endswith("...")
        assert ">>>w500<<<" in shown
        assert len(tokens(shown)) == 40

    def test_the_head_and_the_tail_are_cut_on_one_side(self) -> None:
        assert snippet(NUMBERS, parse("w0").node).startswith(">>>w0<<< w1 ")
        assert snippet(NUMBERS, parse("w999").node).endswith(" w998 >>>w999<<<")

    def test_without_a_match_the_head_is_shown(self) -> None:
        assert snippet(NUMBERS, parse("absent").node) == " ".join(NUMBERS.split()[:40]) + "..."

    def test_the_place_where_most_words_meet_is_chosen(self) -> None:
        text = f"alpha {NUMBERS} alpha then beta {NUMBERS} alpha alpha alpha"
        assert ">>>alpha<<< then >>>beta<<<" in snippet(text, parse("alpha beta").node)

    def test_the_width_is_a_choice(self) -> None:
        assert snippet(NUMBERS, parse("w500").node, width=3) == "...w499 >>>w500<<< w501..."

    def test_a_phrase_wider_than_the_window_is_still_shown(self) -> None:
        assert snippet(NUMBERS, parse('"w1 w2 w3 w4 w5"').node, width=3)

    def test_noise_does_not_fill_the_screen(self) -> None:
        for noise in ("x" * 100_000, "-" * 100_000):
            shown = snippet(f"{noise} needle {noise}", parse("needle").node)
            assert ">>>needle<<<" in shown
            assert len(shown) < 1000

    def test_many_matches_take_linear_time(self) -> None:
        assert snippet("needle " * 50_000, parse("needle").node).count(">>>") == 40


@laws
@given(texts, texts, texts)
def test_without_marks_and_cuts_a_snippet_is_a_stretch_of_the_text(before: str, word: str, after: str) -> None:
    text = f"{before} {word} {after}".replace(">", "").replace("<", "").replace(".", "")
    plain = snippet(text, literal(word), width=5).replace(">>>", "").replace("<<<", "").replace("...", "")
    assert plain in text


@laws
@given(texts, texts, texts)
def test_marks_are_paired_and_a_match_is_marked(before: str, word: str, after: str) -> None:
    before, word, after = (re.sub("[<>]", "", text) for text in (before, word, after))
    node = literal(word)
    shown = snippet(f"{before} {word} {after}", node)
    assert all("<<<" in part and ">>>" not in part for part in shown.split(">>>")[1:])
    assert shown.count(">>>") == shown.count("<<<")
    if node is not None and len(tokens(word)) < 40:
        assert ">>>" in shown
        assert ">>><<<" not in shown


_PIECES = sampled_from(["a", "b", "c3", "word", "getName", "x" * 30, ". ", "/", "\n"])
_SENTENCES = lists(_PIECES, max_size=120).map(" ".join)


@laws
@given(_SENTENCES, lists(sampled_from(["a", "b", "c3", "word", "name"]), min_size=1, max_size=3), integers(1, 40))
def test_the_short_way_shows_what_the_long_way_shows(text: str, words: list[str], width: int) -> None:
    node = literal(" ".join(words), prefix=width % 2 == 0)
    shown = plain_snippet(text, node, width, width * _CHARACTERS)
    assert shown is None or shown == _Text(text, node).snippet(width)


def test_the_short_way_is_taken_for_a_word_that_stands_once() -> None:
    node = literal("needle")
    assert plain_snippet(f"{NUMBERS} needle {NUMBERS}", node, 3, 100) == "...w999 >>>needle<<< w0..."


def test_a_leaf_is_counted_once() -> None:
    node = parse("(a OR b) a -other").node
    assert node is not None
    assert len(list(leaves(node))) == 2


ROW: MessageRow = {"content": "done", "tool_calls": [{"name": "shell", "arguments": {"command": "ls /srv"}}]}


class TestRows:
    def test_the_text_is_shown_when_it_matches(self) -> None:
        assert row_snippet(ROW, parse("done").node) == ">>>done<<<"

    def test_tool_calls_are_shown_when_only_they_match(self) -> None:
        assert row_snippet(ROW, parse("/srv").node) == "shell\ncommand\nls />>>srv<<<"

    def test_the_text_is_shown_when_nothing_matches(self) -> None:
        assert row_snippet(ROW, None) == "done"
        assert row_snippet({"content": None}, None) == ""
