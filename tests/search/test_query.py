"""The search box: every text is a query, and the tree obeys its laws."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from search_texts import boxes, laws, texts

from sessiondb.models import Filter, MessageFilter
from sessiondb.search import query as box_rules
from sessiondb.search.match import matches
from sessiondb.search.query import (
    And,
    Node,
    Not,
    Or,
    Phrase,
    Query,
    Term,
    explain,
    literal,
    narrow,
    parse,
    resolve_time,
)
from sessiondb.search.text import document

NOW = datetime(2024, 5, 10, 12, 0).timestamp()


def children(node: Node) -> Iterator[Node]:
    yield from node.parts if isinstance(node, And | Or) else (node.part,) if isinstance(node, Not) else ()


def nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in children(node):
        yield from nodes(child)


def depth(node: Node) -> int:
    return 1 + max(map(depth, children(node)), default=0)


@pytest.mark.parametrize(
    ("box", "meaning"),
    [
        ("hello world", "hello AND world"),
        ("(docker OR java) python", "(docker OR java) AND python"),
        ("docker OR java python", "docker OR (java AND python)"),
        ("((a))", "a"),
        ("word -(one two)", "word AND NOT (one AND two)"),
        ("word -(NOT one)", "word AND one"),
        ("word (-one -two)", "word AND NOT (one OR two)"),
        ("foo foo", "foo"),
        ("foo NOT", "foo"),
        ("foo NOT OR bar", "foo OR bar"),
        ("foo AND NOT bar", "foo AND NOT bar"),
        ("/etc/hosts*", '"etc hosts"*'),
        ("ab12cd3", "ab12cd3*"),
        ("commit-ab12cd3", '"commit ab12cd3"*'),
        ("東", "東*"),
        ("東京", "東京"),
        ("東京都", '"東京 京都"'),
        ("東京 tower", "東京 AND tower"),
        ("東京tower", '"東京 京 tower"'),
        ("-js and -v", "js AND and AND v"),
        ("DO AND -doing", "do AND NOT doing"),
        ("java -Xmx2g -jar app.jar", 'java AND xmx2g AND jar AND "app jar"'),
        ("java -jar app.war", 'java AND NOT jar AND "app war"'),
        ("jar NOT jar", "jar AND NOT jar"),
        ("gcc -std=c99", 'gcc AND "std c99"'),
        ("cc -I/usr x", 'cc AND "i usr" AND x'),
        ("AND OR", "and AND or"),
        ("source:cli foo", "foo [source=cli]"),
        ('title:"big plan" foo', "foo [title=big plan]"),
        ("foo -source:cron", "foo [-source=cron]"),
        ("foo NOT source:cron", "foo [-source=cron]"),
        ("foo -role:tool", 'foo AND NOT "role tool"'),
        ("source: cli", "source AND cli"),
        ("Source:cli", '"source cli"'),
        ("foo since:7d until:2024-05-01", "foo [since=7d] [until=2024-05-01]"),
        ("since:lately", '"since lately"'),
        ("tool:read_file", '"read file" [tool=read_file]'),
    ],
)
def test_meaning(box: str, meaning: str) -> None:
    assert explain(parse(box)) == meaning


@pytest.mark.parametrize(
    ("box", "problem"),
    [
        ("", box_rules.EMPTY),
        (" \n", box_rules.EMPTY),
        ("***", box_rules.NO_WORD),
        ("→ ()", box_rules.NO_WORD),
        ("-word", box_rules.ONLY_EXCLUSIONS),
        ("NOT (one OR two)", box_rules.ONLY_EXCLUSIONS),
        ("source:cli", box_rules.ONLY_FILTERS),
    ],
)
def test_what_cannot_be_searched_says_why(box: str, problem: str) -> None:
    query = parse(box)
    assert (query.node, query.problem) == (None, problem)
    assert problem in explain(query)


@pytest.mark.parametrize(
    ("box", "notice"),
    [
        ("one OR -two2", box_rules.EXCLUDED_ALTERNATIVE),
        ("word " * 5000, box_rules.CUT),
    ],
)
def test_what_was_ignored_is_said(box: str, notice: str) -> None:
    assert parse(box).notices == (notice,)


class TestKinds:
    def test_a_kind_alone_lists(self) -> None:
        query = parse("kind:decision")
        assert (query.kinds, query.lists, query.problem) == (("decision",), True, None)

    @pytest.mark.parametrize("box", ["kind:TODO", "kind:todos", 'kind:"todo"'])
    def test_case_and_plural_do_not_count(self, box: str) -> None:
        assert parse(box).kinds == ("todo",)

    @pytest.mark.parametrize("box", ["kind:Pod", "-kind:todo"])
    def test_what_is_no_kind_is_text_to_look_for(self, box: str) -> None:
        query = parse(f"word {box}")
        assert query.kinds == ()
        assert "kind" in explain(query)

    def test_with_exclusions_alone_there_is_nothing_to_list(self) -> None:
        assert parse("-word kind:todo").problem == box_rules.ONLY_EXCLUSIONS


@laws
@given(boxes)
def test_no_box_raises_and_each_has_a_meaning_or_a_problem(box: str) -> None:
    query = parse(box)
    assert query.text == box
    assert (query.node is None) == (query.problem is not None or query.lists)
    assert not query.lists or query.kinds
    assert explain(query) or query.filters


@laws
@given(boxes)
def test_an_exclusion_stands_beside_something_to_find(box: str) -> None:
    node = parse(box).node
    for parent in nodes(node) if node else ():
        excluded = [isinstance(child, Not) for child in children(parent)]
        assert not any(excluded) or (isinstance(parent, And) and not all(excluded))


@laws
@given(boxes)
def test_joins_have_two_parts_and_none_of_their_own_kind(box: str) -> None:
    node = parse(box).node
    for join in (part for part in nodes(node) if isinstance(part, And | Or)) if node else ():
        assert len(join.parts) == len(set(join.parts)) > 1
        assert not any(type(part) is type(join) for part in join.parts)


@laws
@given(texts, texts, texts)
def test_any_text_is_found_literally_within_another(before: str, text: str, after: str) -> None:
    wanted = literal(text)
    assert wanted is None or matches(wanted, *document(f"{before} {text} {after}", ""))


@laws
@given(texts)
def test_a_prefix_finds_the_word(text: str) -> None:
    for word in text.split():
        wanted = literal(word, prefix=True)
        assert wanted is None or matches(wanted, *document(word, ""))


def test_a_part_of_an_unspaced_run_is_found() -> None:
    chance = random.Random(3)
    for _ in range(2000):
        run = "".join(chance.choices("東京都大阪府名古屋한국어ไทยភាសា", k=12))
        start = chance.randrange(12)
        wanted = literal(run[start : chance.randint(start + 1, 12)])
        assert wanted is not None
        assert matches(wanted, *document(run, ""))


def test_a_hundred_thousand_random_boxes() -> None:
    chance = random.Random(1)
    pool = [
        "AND",
        "OR",
        "NOT",
        '"',
        "(",
        ")",
        "-",
        "*",
        ":",
        " ",
        " ",
        "since:",
        "tool:",
        "é",
        "東",
        "\ud800",
        "\0",
        "a",
        "7d",
        "ก",
        "🚀",
    ]
    for _ in range(100_000):
        assert isinstance(parse("".join(chance.choices(pool, k=chance.randrange(12)))), Query)


@pytest.mark.parametrize(
    "box",
    [
        "(" * 100_000,
        ")" * 100_000,
        "(a OR (b " * 20_000,
        "-(" * 50_000 + "a",
        "NOT " * 50_000 + "a",
        '"' * 99_999,
        "x" * 100_000,
        "東" * 100_000,
    ],
    ids=lambda box: box[:8],
)
def test_absurd_boxes_stay_shallow(box: str) -> None:
    node = parse(box).node
    assert node is None or depth(node) < sys.getrecursionlimit() // 10


def test_an_endless_word_is_found_by_its_beginning() -> None:
    assert finds("x" * 100_000, "x" * 100_000)
    assert finds("x/" * 50_000, "x/" * 50_000)
    assert finds("ab12" * 50, "ab12" * 50)
    assert finds("ab12" * 15, "ab12" * 50)


def finds(box: str, text: str) -> bool:
    node = parse(box).node
    return node is not None and matches(node, *document(text, ""))


class TestTimes:
    @pytest.mark.parametrize(
        ("value", "moment"),
        [
            ("24h", NOW - 86400),
            ("7d", NOW - 7 * 86400),
            ("2w", NOW - 14 * 86400),
            ("today", datetime(2024, 5, 10).timestamp()),
            ("yesterday", datetime(2024, 5, 9).timestamp()),
            ("2024-05-01", datetime(2024, 5, 1).timestamp()),
            ("2024-05-01T10:30", datetime(2024, 5, 1, 10, 30).timestamp()),
            ("2024-05-01T00:00:00Z", 1714521600.0),
            ("2024-05-01 00:00+00:00", 1714521600.0),
        ],
    )
    def test_a_time_is_understood(self, value: str, moment: float) -> None:
        assert resolve_time(value, NOW) == moment

    @pytest.mark.parametrize("value", ["", "soon", "7x", "2024-13-01", "9" * 30 + "d", "٣d"])
    def test_anything_else_is_no_time(self, value: str) -> None:
        assert resolve_time(value, NOW) is None

    def test_until_a_day_includes_that_day(self) -> None:
        _, messages = narrow(parse("x until:2024-05-01"), Filter(), MessageFilter(), NOW)
        next_day = (datetime(2024, 5, 1) + timedelta(days=1)).timestamp()
        assert messages.until is not None
        assert next_day - 1 < messages.until < next_day

    @laws
    @given(texts)
    def test_no_text_raises(self, value: str) -> None:
        assert isinstance(resolve_time(value, NOW), float | None)


class TestNarrowing:
    def test_fields_go_where_they_belong(self) -> None:
        box = "x source:cli -source:cron role:user model:m session:s title:t tag:a tag:b cwd:/w since:1d"
        where, messages = narrow(parse(box), Filter(), MessageFilter(), NOW)
        assert where == Filter(
            ids=("s",),
            sources=("cli",),
            exclude_sources=("cron",),
            model="m",
            cwd="/w",
            tags=("a", "b"),
            title_contains="t",
        )
        assert messages == MessageFilter(roles=("user",), since=NOW - 86400)

    def test_the_callers_filter_still_holds(self) -> None:
        given = Filter(sources=("cli", "web"), user_id="u", tags=("a",))
        where, messages = narrow(parse("x source:web source:cron tag:b since:2d"), given, MessageFilter(since=NOW), NOW)
        assert (where.sources, where.user_id, where.tags, messages.since) == (("web",), "u", ("a", "b"), NOW)

    @pytest.mark.parametrize("box", ["x model:other", "x role:tool", "x title:other"])
    def test_filters_that_exclude_each_other_select_nothing(self, box: str) -> None:
        given = Filter(model="m", title_contains="t")
        where, _ = narrow(parse(box), given, MessageFilter(roles=("user",)), NOW)
        assert where.ids == ()

    def test_a_box_without_filters_changes_nothing(self) -> None:
        given = (Filter(sources=(), ids=("a",)), MessageFilter(roles=("user",), until=3.0))
        assert narrow(parse("x"), *given, NOW) == given


def test_trees_are_values() -> None:
    assert parse("a b") == parse("a b")
    assert {Term("a"), Phrase(("a", "b")), Term("a")} == {Phrase(("a", "b")), Term("a")}
