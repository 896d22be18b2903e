"""Search without an index: the right rows, in the right order, page by page."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sessiondb.models import Match, MessageRow, Page, SearchOrder, SessionRow
from sessiondb.search import rank
from sessiondb.search import scan as scanning
from sessiondb.search.match import matches
from sessiondb.search.nodes import leaves
from sessiondb.search.query import parse
from sessiondb.search.scan import scan
from sessiondb.search.text import words

NOW = 1_700_000_000.0
DAY = 86400.0
ALL = Page(limit=None)

Rows = list[tuple[MessageRow, SessionRow]]


def row(
    number: int, content: Any, *, source: str = "cli", age: float = 0.0, **more: Any
) -> tuple[MessageRow, SessionRow]:
    message: MessageRow = {"id": number, "session_id": "s", "content": content, "timestamp": NOW - age, **more}  # type: ignore[typeddict-item]
    return message, {"id": "s", "source": source}


def found(rows: Rows, box: str, order: SearchOrder = "relevance", page: Page = ALL) -> list[int]:
    return [hit.message["id"] for hit in scan(rows, parse(box), page, order, NOW).hits]


def story(size: int, seed: int = 5) -> Rows:
    chance = random.Random(seed)
    vocabulary = [
        "deploy",
        "nginx",
        "port",
        "8443",
        "東京都",
        "café",
        "getUserName",
        "/etc/hosts",
        "🚀",
        "the",
        "the",
        "the",
    ]
    return [
        row(
            number,
            " ".join(chance.choices(vocabulary, k=chance.randint(0, 12))),
            source=chance.choice(["cli", "telegram", "cron"]),
            age=chance.random() * 90 * DAY,
        )
        for number in range(1, size + 1)
    ]


BOXES = [
    "deploy",
    "deploy nginx",
    "deploy OR 8443 -the",
    '"the deploy"',
    "京",
    "京都",
    "cafe",
    "user",
    "/etc/hosts",
    "🚀 -cafe",
    "dep* (the OR port)",
]


@pytest.mark.parametrize("box", BOXES)
def test_the_rows_found_are_those_that_match(box: str) -> None:
    rows = story(400)
    node = parse(box).node
    assert node is not None
    expected = {message["id"] for message, _ in rows if matches(node, *words(message))}
    assert 0 < len(expected) < 400
    assert set(found(rows, box)) == expected
    assert scan(rows, parse(box), Page(1), "relevance", NOW).total == len(expected)


@pytest.mark.parametrize("order", ["relevance", "newest", "oldest"])
@pytest.mark.parametrize("weighed", [5, 5000])
def test_pages_put_together_are_the_whole(order: SearchOrder, weighed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "WEIGHED", weighed)
    rows = story(200)
    whole = found(rows, "deploy OR nginx", order)
    pages = [found(rows, "deploy OR nginx", order, Page(7, offset)) for offset in range(0, len(whole) + 7, 7)]
    assert [number for page in pages for number in page] == whole


@pytest.mark.parametrize("order", ["relevance", "newest", "oldest"])
def test_the_order_of_reading_does_not_matter(order: SearchOrder) -> None:
    rows = story(200)
    shuffled = random.Random(2).sample(rows, len(rows))
    assert found(rows, "deploy the", order, Page(20)) == found(shuffled, "deploy the", order, Page(20))


def test_newest_and_oldest_go_by_id() -> None:
    rows = [row(2, "x"), row(9, "x", source="cron"), row(5, "x")]
    assert found(rows, "x", "newest") == [9, 5, 2]
    assert found(rows, "x", "oldest", Page(2)) == [2, 5]


class TestRelevance:
    def test_peoples_sessions_come_before_automation(self) -> None:
        rows = [
            row(1, "deploy", age=300 * DAY),
            row(2, "deploy deploy", source="cron"),
            row(3, "deploy", source="subagent"),
        ]
        assert found(rows, "deploy")[0] == 1

    def test_peoples_sessions_are_not_crowded_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scanning, "WEIGHED", 3)
        rows = [row(1, "deploy"), *(row(number, "deploy", source="cron") for number in range(2, 20))]
        assert found(rows, "deploy", page=Page(1)) == [1]

    def test_the_rarer_word_counts_more(self) -> None:
        rows = [row(number, "common") for number in range(10, 60)] + [row(1, "rare"), row(2, "common")]
        assert found(rows, "rare OR common")[0] == 1

    def test_more_often_is_better_and_fades(self) -> None:
        assert found([row(1, "port port is open"), row(2, "port is open now")], "port") == [1, 2]
        assert rank.frequency(2, 50) - rank.frequency(1, 50) > rank.frequency(9, 50) - rank.frequency(8, 50) > 0

    def test_the_newer_of_two_equals_comes_first(self) -> None:
        assert found([row(1, "x"), row(2, "x", age=40 * DAY)], "x") == [1, 2]
        assert found([row(1, "x"), row(2, "x")], "x") == [2, 1]

    def test_recency_never_hides_a_message(self) -> None:
        assert rank.recency(-5) == rank.recency(0) == 1.0
        assert rank.recency(100 * 365 * DAY) == pytest.approx(rank.OLD_SHARE)

    def test_a_word_that_all_have_still_counts(self) -> None:
        assert rank.rarity(10, 10) > 0

    def test_document_frequencies_count_rows_that_do_not_match(self) -> None:
        few = [row(1, "alpha beta")]
        many = few + [row(number, "Alpha") for number in range(2, 40)]
        assert score(many, "alpha beta").score != score(few, "alpha beta").score

    def test_words_of_skipped_rows_are_words_that_are_not_there(self) -> None:
        rows = story(300)
        node = parse("deploy nginx").node
        assert node is not None
        totals = [sum(matches(leaf, *words(message)) for message, _ in rows) for leaf in leaves(node)]
        survey = scanning._Survey(parse("deploy nginx"), node, scanning._Window(None, "newest"))
        for message, session in rows:
            survey.look_at(message, session)
        assert survey.containing == totals


def score(rows: Rows, box: str) -> Match:
    return scan(rows, parse(box), ALL, "relevance", NOW).hits[0]


CALL = {"id": "c1", "function": {"name": "read_file", "arguments": '{"path": "/srv/app/main.py"}'}}


class TestTools:
    def test_names_and_arguments_are_found(self) -> None:
        rows = [row(1, "", tool_calls=[CALL]), row(2, "ok", tool_name="read_file"), row(3, "ok")]
        assert found(rows, "/srv/app/main.py") == [1]
        assert found(rows, "read_file", "oldest") == [1, 2]

    def test_the_tool_filter_wants_the_tool_not_the_word(self) -> None:
        rows = [row(1, "", tool_calls=[CALL]), row(2, "how does read_file work?")]
        assert found(rows, "tool:read_file") == [1]
        assert found(rows, "tool:Read_File main") == [1]


@pytest.mark.parametrize("box", ["", "***", "-word", "source:cli"])
def test_a_query_with_a_problem_finds_nothing_and_says_why(box: str) -> None:
    answer = scan([row(1, "word")], parse(box), ALL, "relevance", NOW)
    assert (list(answer.hits), answer.total, answer.notices) == ([], 0, (parse(box).problem,))


def test_notices_of_the_query_reach_the_caller() -> None:
    assert scan([], parse("x OR -yyy"), ALL, "newest", NOW).notices == parse("x OR -yyy").notices != ()


def test_a_page_of_nothing_still_counts() -> None:
    answer = scan([row(1, "x"), row(2, "x")], parse("x"), Page(0), "newest", NOW)
    assert (list(answer.hits), answer.total) == ([], 2)


def test_overlong_words_are_not_skipped() -> None:
    assert found([row(1, "y" * 200)], "y" * 200) == [1]
    assert found([row(1, "Y" * 200)], "y" * 100 + "*") == [1]


def test_rows_are_skipped_only_when_no_column_can_match() -> None:
    mixed = row(1, "call getUser", tool_name="read_file")
    node = parse('"file get"').node
    assert node is not None
    assert (found([mixed], '"file get"') == [1]) == matches(node, *words(mixed[0]))


def test_rows_with_missing_fields_are_read() -> None:
    rows: Rows = [({"id": 1, "content": None}, {}), ({"id": 2, "content": "x", "timestamp": None}, {})]  # type: ignore[typeddict-item]
    assert found(rows, "x") == [2]
