"""Titles, without a store."""

from __future__ import annotations

import pytest

from sessiondb import titles
from sessiondb.errors import Invalid


@pytest.mark.parametrize(
    ("given", "cleaned"),
    [
        ("deploy", "deploy"),
        ("  a \t\r\n b  ", "a b"),
        ("a\x00\x07\x7fb", "ab"),
        ("a\u200b\u200f\u202e\u2066\ufeff\ufffcb", "ab"),
        ("\u3000漢\u3000字\u3000", "漢 字"),
        ("e\u0301", "e\u0301"),
        ("", None),
        (" \n ", None),
        ("\u200b", None),
        (None, None),
    ],
)
def test_a_title_is_cleaned(given: str | None, cleaned: str | None) -> None:
    assert titles.clean(given) == cleaned


def test_cleaning_twice_changes_nothing() -> None:
    once = titles.clean(" a \u200b b ")
    assert titles.clean(once) == once


def test_length_is_counted_in_characters() -> None:
    assert titles.clean("\N{PILE OF POO}" * 100) == "\N{PILE OF POO}" * 100
    with pytest.raises(Invalid, match="101"):
        titles.clean("x" * 101)


@pytest.mark.parametrize("given", [5, b"bytes", ["a"]])
def test_only_text_is_a_title(given: object) -> None:
    with pytest.raises(Invalid, match="text"):
        titles.clean(given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("title", "parts"),
    [
        ("deploy", ("deploy", None)),
        ("deploy #3", ("deploy", 3)),
        ("deploy #03", ("deploy", 3)),
        ("a #2 #3", ("a #2", 3)),
        ("deploy#3", ("deploy#3", None)),
        ("deploy #", ("deploy #", None)),
        ("deploy #notes", ("deploy #notes", None)),
        ("deploy #²", ("deploy #²", None)),
        ("deploy #3 ", ("deploy #3 ", None)),
    ],
)
def test_a_number_is_split_off(title: str, parts: tuple[str, int | None]) -> None:
    assert titles.split(title) == parts


@pytest.mark.parametrize(
    ("base", "title", "number"),
    [
        ("deploy", "deploy", 1),
        ("deploy", "deploy #2", 2),
        ("deploy", "deploy #02", None),
        ("deploy", "Deploy #2", None),
        ("deploy", "deploys #2", None),
        ("x" * 100, "x" * 97 + " #2", 2),
    ],
)
def test_a_lineage_knows_its_members(base: str, title: str, number: int | None) -> None:
    assert titles.lineage_number(base, title) == number


@pytest.mark.parametrize(
    ("taken", "following"),
    [
        ([], "deploy"),
        (["other", "deploy #x"], "deploy"),
        (["deploy"], "deploy #2"),
        (["deploy #9", "deploy", "deploy #10"], "deploy #11"),
    ],
)
def test_the_next_title_follows_the_highest(taken: list[str], following: str) -> None:
    assert titles.next_in_lineage("deploy", taken) == following


@pytest.mark.parametrize("number", [2, 10, 12345678])
def test_every_numbered_title_is_a_title_that_starts_like_its_lineage(number: int) -> None:
    title = titles.numbered("x" * 100, number)
    assert titles.clean(title) == title
    assert title.startswith(titles.lineage_prefix("x" * 100))
