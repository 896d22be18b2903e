"""Text to words: the same words wherever they are made, and never an exception."""

from __future__ import annotations

import random
from itertools import chain
from unicodedata import category, normalize

import pytest
from hypothesis import given
from hypothesis.strategies import text
from search_texts import laws, texts

from sessiondb.search import analyze
from sessiondb.search.analyze import MAX_TOKEN, extra, runs, spans, stem, tokens, unspaced


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("Hello, World!", ["hello", "world"]),
        ("/etc/nginx/nginx.conf", ["etc", "nginx", "nginx", "conf"]),
        ("snake_case", ["snake", "case"]),
        ("getUserName", ["getusername"]),
        ("Łódź Straße", ["lodz", "strasse"]),
        ("東京都", ["東京", "京都", "都"]),
        ("x東y", ["x", "東", "y"]),
        ("हिन्दी", ["हिन्दी"]),
        ("می\u200cخواهم", ["ميخواهم"]),
        ("a\u00adb", ["ab"]),
        ("go🚀🚀", ["go", "🚀", "🚀"]),
        ("👍🏽 1️⃣", ["👍", "1"]),
        ("│ box ─┘ → ©", ["box"]),
        ("a\ud800b\0c", ["a", "b", "c"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert tokens(text) == words


@laws
@given(texts)
def test_spans_are_the_tokens_with_their_places(text: str) -> None:
    located = spans(text)
    assert [token for token, _, _ in located] == tokens(text)
    assert all(0 <= start < end <= len(text) for _, start, end in located)
    assert [start for _, start, _ in located] == sorted(start for _, start, _ in located)


@laws
@given(texts)
def test_the_place_of_a_token_gives_the_token(text: str) -> None:
    for token, start, end in spans(text):
        assert token in tokens(text[start:end])


@laws
@given(texts)
def test_a_token_is_short_and_free_of_separators(text: str) -> None:
    for token in tokens(text) + extra(text):
        assert 0 < len(token) <= MAX_TOKEN
        assert all(not char.isascii() or (char.isalnum() and not char.isupper()) for char in token)
        assert all(category(char)[0] not in "ZPC" or category(char) == "Cn" for char in token)


@laws
@given(texts)
def test_composed_and_decomposed_text_have_the_same_tokens(text: str) -> None:
    assert tokens(normalize("NFC", text)) == tokens(normalize("NFD", text)) == tokens(text)


@laws
@given(texts)
def test_words_are_made_of_words(text: str) -> None:
    assert runs(" ".join(runs(text))) == runs(text)


@laws
@given(texts, texts)
def test_a_blank_separates(left: str, right: str) -> None:
    assert tokens(f"{left} {right}") == tokens(left) + tokens(right)


def test_characters_of_all_planes_have_a_place() -> None:
    for code in chain(range(0x3400), range(0x3400, 0x30000, 17), range(0x30000, 0x110000, 997)):
        text = f"a{chr(code)}b"
        if [token for token, _, _ in spans(text)] != tokens(text):
            pytest.fail(f"U+{code:04X}")


def test_pairs_of_composing_characters_have_a_place() -> None:
    chance = random.Random(7)
    composing = [chr(code) for code in range(0x20000) if normalize("NFKD", chr(code)) != chr(code)]
    marks = [chr(code) for code in range(0x20000) if category(chr(code))[0] == "M"]
    for _ in range(20_000):
        text = "".join(chance.choices(composing, k=2) + chance.choices(marks, k=2) + chance.choices(composing))
        assert [token for token, _, _ in spans(text)] == tokens(text)


def test_an_overlong_word_keeps_its_beginning_and_its_identity() -> None:
    first, second = tokens("x" * 500 + "a " + "x" * 500 + "b")
    assert first != second
    assert first[:40] == second[:40] == "x" * 40
    assert tokens("x" * MAX_TOKEN) == ["x" * MAX_TOKEN]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("getUserName", ["get", "user", "name"]),
        ("HTTPServer2", ["http", "server"]),
        ("parseJSON", ["parse", "json"]),
        ("python3", ["python"]),
        ("name of userName", ["user"]),
        ("Plain WORDS and 42 snake_case", []),
        ("aGVsbG8gd29ybGQhCg", []),
        ("a1b2c3d4", []),
    ],
)
def test_parts_of_identifiers(text: str, parts: list[str]) -> None:
    assert extra(text) == parts


def test_long_noise_takes_linear_time() -> None:
    for noise in ("a" * 300_000, "aB" * 150_000, "é" * 100_000, "-" * 300_000, "a\u0301\u0323" * 30_000):
        assert tokens(noise) is not None
        assert extra(noise) == []


@pytest.mark.parametrize(
    "family", ["deploy deploys deployed deploying", "box boxes", "run running runner", "class classes"]
)
def test_inflections_share_a_stem(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


@laws
@given(texts)
def test_a_stem_is_never_empty_for_a_word(text: str) -> None:
    assert all(stem(token) for token in tokens(text))


def test_scripts_without_blanks_are_told_apart() -> None:
    assert all(unspaced(run) for run in ("東", "한", "ก", "ລ", "ភ", "မ", "ー"))
    assert not any(unspaced(run) for run in ("a", "я", "ह", "ع", "🚀"))


@laws
@given(text(alphabet="abЯяЁёЙй 9.«»—…’", max_size=40))
def test_russian_is_folded_like_any_text(written: str) -> None:
    assert tokens(written) == tokens(f"{written} 日")[:-1]


@laws
@given(texts)
def test_parts_are_the_same_whoever_made_the_words(written: str) -> None:
    assert extra(written, tokens(written)) == extra(written)


@laws
@given(text("aBcDE12_ -é", max_size=12))
def test_texts_that_are_passed_by_have_no_parts(written: str) -> None:
    if not analyze._MIXED.search(written):
        assert not any(analyze._PARTS[word] for word in analyze._ASCII_RUN.findall(written))


@laws
@given(text("abAB12", min_size=3, max_size=6))
def test_words_with_parts_are_not_passed_by(word: str) -> None:
    assert bool(analyze._MIXED.search(word)) is not analyze._is_plain(word)


class TestEastAsianTexts:
    """Texts of Han, Kana and Hangul take a shorter way, which must not show."""

    def test_every_character_of_the_shorter_way_is_cut_as_on_the_longer(self) -> None:
        shorter, _ = analyze._east_asian()
        taken = [character for code in range(0x80, 0x20000) if shorter.fullmatch(character := chr(code))]
        assert len(taken) > 30_000
        for character in taken:
            for said in (character, f"漢{character}字A{character}b", f"x{character}は"):
                assert analyze._found_runs(said) == analyze._run().findall(analyze._fold(said)), said

    def test_a_mark_that_changes_its_neighbour_takes_the_longer_way(self) -> None:
        assert analyze.tokens("か\u3099き") == analyze.tokens("がき") == ["がき", "き"]


@laws
@given(text("aB1 -é\x1b[;m", max_size=16))
def test_colours_change_no_place(written: str) -> None:
    shown = analyze._seen(written)
    assert len(shown) == len(written)
    assert spans(written) == spans(shown)


def test_colours_are_no_letters() -> None:
    assert tokens("\x1b[31mRED\x1b[0m and \x1b[1;32mgreen\x1b[m") == ["red", "and", "green"]
