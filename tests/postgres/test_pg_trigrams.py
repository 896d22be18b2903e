"""The index of letters: nothing that a scan finds is left out, and stores without it answer the same."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from search.search_corpus import ROWS
from servers.postgres import PostgreSQL, server
from sessiondb.backends.postgres import PostgreSQLProvider
from sessiondb.backends.postgres.index import parts
from sessiondb.db import SessionDB
from sessiondb.errors import Invalid, Unavailable
from sessiondb.models import Filter, MessageFilter, MessageRow, Page, TextMode
from sessiondb.provider import SessionDBProvider
from sessiondb.search import analyze
from sessiondb.search.modes import finder, searched_text

DOCUMENT = Path(__file__).parents[2] / "docs" / "providers.md"
LATER = 1e12
CALL = {"id": "c", "function": {"name": "read_file", "arguments": '{"path": "\\u00e9tude", "limit": 1e5, "x": 0.30}'}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": text} for text in (
        *sorted({text for _, found, other in ROWS for text in (found, other) if text}),
        "kapı İstanbul ISPARTA Kelvin \u212aelvin \u017fecret", "мой дом, и\u0306од, ёлка ЁЛКА",
        "Straße STRASSE ﬁle office",
        "Ελληνικά ΟΔΥΣΣΕΥΣ", "naïve café cafe\u0301s", "a\x00bcdef \ud800surrogate",
        "日本語のテキスト検索とデータベース",
        "hash " + "0123456789abcdef" * 6, "x" * 64, "camelCaseIdentifier_with_snake", "it's 100% 'quoted' \\back_slash",
        "z" * 60 + "middlepart" + "z" * 20, "твои\u0306дом", "xplanet", "rocketq", "monkey's",
        " ".join(f"word{number}" for number in range(9000)),
    )
] + [
    {"role": "assistant", "content": [{"type": "text", "text": "structured ｆｕｌｌｗｉｄｔｈ"}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "content": "result", "tool_call_id": "c", "tool_name": "read_file"},
]  # fmt: skip


@pytest.fixture(scope="module")
def store() -> Iterator[SessionDB]:
    provider = PostgreSQLProvider()
    provider.initialize(dsn=server().dsn("laws"), schema="trigrams", trigrams="on")
    with SessionDB(provider=provider) as db:
        db.append_messages(db.create_session("s", "cli"), MESSAGES)
        yield db


@pytest.fixture(scope="module")
def stored(store: SessionDB) -> list[MessageRow]:
    return store.get_messages("s")


def pieces(texts: list[str], count: int) -> list[str]:
    """Parts of texts, some in another case."""
    chance, cases = random.Random(1), (str, str.upper, str.lower, str.swapcase)
    chosen = []
    for _ in range(count):
        text = chance.choice(texts)
        at, size = chance.randrange(len(text)), chance.randrange(2, 14)
        chosen.append(chance.choice(cases)(text[at : at + size]))
    return chosen


def slipped(words: list[str], count: int) -> list[str]:
    """Words with up to two slips."""
    chance, letters = random.Random(2), "abcxyz1éд"
    chosen = []
    for _ in range(count):
        word = [*chance.choice(words)]
        for _ in range(chance.randrange(3)):
            at = chance.randrange(len(word))
            word[at : at + chance.randrange(3)] = [*reversed(word[at : at + 2]), chance.choice(letters)][
                : chance.randrange(3)
            ]
            word = word or ["a"]
        chosen.append("".join(word))
    return chosen


def left_out(store: SessionDB, stored: list[MessageRow], pattern: str, mode: TextMode) -> set[int]:
    """Messages that match and that the index does not name."""
    condition = parts.condition(pattern, mode)
    if condition is None or not pattern.strip():
        return set()
    wanted = finder(pattern, mode)
    matching = {row["id"] for row in stored if wanted.places(searched_text(row), 5.0)}
    asked = parts.Wanted(Filter(), MessageFilter(), True, LATER)
    named = store.provider.driver.read(lambda tx: parts._ids(tx, condition, asked, 0))  # type: ignore[attr-defined]
    return matching - set(named)


def test_no_part_of_a_text_is_left_out(store: SessionDB, stored: list[MessageRow]) -> None:
    patterns = pieces([searched_text(row)[:500] for row in stored if searched_text(row)], 600)
    assert sum(parts.condition(pattern, "substring") is not None for pattern in patterns) > 200
    assert [pattern for pattern in patterns if left_out(store, stored, pattern, "substring")] == []


def test_no_word_with_slips_is_left_out(store: SessionDB, stored: list[MessageRow]) -> None:
    words = sorted({word for row in stored for word in analyze.tokens(searched_text(row)[:500]) if len(word) > 2})
    patterns = slipped(words, 80)
    assert sum(parts.condition(pattern, "fuzzy") is not None for pattern in patterns) > 20
    assert [pattern for pattern in patterns if left_out(store, stored, pattern, "fuzzy")] == []


@pytest.mark.parametrize(
    ("pattern", "mode"),
    [
        ("middlepart", "substring"),
        ("твои", "substring"),
        ("planet", "fuzzy"),
        ("mnokey", "fuzzy"),
        ("rocket", "fuzzy"),
    ],
)
def test_hard_cases_are_not_left_out(store: SessionDB, stored: list[MessageRow], pattern: str, mode: TextMode) -> None:
    wanted = finder(pattern, mode)
    assert any(wanted.places(searched_text(row), 5.0) for row in stored)
    assert parts.condition(pattern, mode) is not None
    assert left_out(store, stored, pattern, mode) == set()


@pytest.mark.parametrize("telling", [0.0, 1.0])
@pytest.mark.parametrize("oldest", [False, True])
@pytest.mark.parametrize(
    ("pattern", "mode"),
    [("file", "substring"), ("word8999", "substring"), ("WORD", "substring"), ("3456789abcdef0", "substring"),
     ("テキ", "substring"), ("identifeir", "fuzzy"), ("absent", "substring"), ("docker", "fuzzy")],
)  # fmt: skip
def test_answers_are_those_of_a_scan(
    store: SessionDB, monkeypatch: pytest.MonkeyPatch, pattern: str, mode: TextMode, oldest: bool, telling: float
) -> None:
    # Nearly all messages are left to the index.
    monkeypatch.setattr(parts, "HEAD", 1)
    monkeypatch.setattr(parts, "TELLING", telling)
    asked = (pattern, mode, Filter(), MessageFilter(), Page(5, 1))
    indexed = store.provider.search_text(*asked, oldest=oldest, deadline=30)
    assert indexed == SessionDBProvider.search_text(store.provider, *asked, oldest=oldest, deadline=30)


class Explained:
    """Tells how a statement would be run instead of running it."""

    def __init__(self, tx: Any) -> None:
        self.tx, self.row = tx, tx.row

    def rows(self, sql: str, params: dict[str, Any]) -> list[tuple[Any, ...]]:
        return [(line,) for (line,) in self.tx.rows(f"EXPLAIN {sql}", params)]


@pytest.mark.parametrize(("pattern", "mode"), [("absentword", "substring"), ("extraordinary", "fuzzy")])
def test_where_few_match_not_all_are_read(pattern: str, mode: TextMode) -> None:
    provider = PostgreSQLProvider()
    provider.initialize(dsn=server().dsn("laws"), schema="trigrams_many", trigrams="on")
    with SessionDB(provider=provider) as db:
        many = [f"message {number} tells {number * 7919} of the quick brown fox" for number in range(4000)]
        db.create_session("s", "cli")
        db.replace_messages("s", [{"role": "user", "content": text} for text in many])
        db.index()
        condition, wanted = parts.condition(pattern, mode), parts.Wanted(Filter(), MessageFilter(), False, LATER)
        assert condition is not None
        plan = provider.driver.read(lambda tx: parts._ids(Explained(tx), condition, wanted, parts.NO_ID))  # type: ignore[arg-type]
    assert "search_tokens_trigrams" in "".join(map(str, plan))
    assert [line for line in plan if "Seq Scan" in str(line)] == []


@pytest.mark.parametrize("share", [lambda *_: 0.0, parts._share])
def test_a_slow_index_stops_at_the_deadline(
    store: SessionDB, monkeypatch: pytest.MonkeyPatch, share: Callable[..., float]
) -> None:
    monkeypatch.setattr(parts, "HEAD", 1)
    monkeypatch.setattr(parts, "condition", lambda *_: (("(SELECT TRUE FROM pg_sleep(5))",), {}))
    monkeypatch.setattr(parts, "_share", share)
    begun = time.monotonic()
    found = store.provider.search_text(
        "absent", "substring", Filter(), MessageFilter(), Page(5), oldest=False, deadline=0.3
    )
    assert time.monotonic() - begun < 2
    assert (list(found.hits), "stopped after 0.3 s" in found.notices[0]) == ([], True)
    assert store.session_count() == 1


def test_few_messages_are_read_without_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "condition", lambda *_: (("(SELECT TRUE FROM pg_sleep(5))",), {}))
    provider = PostgreSQLProvider()
    provider.initialize(dsn=server().dsn("laws"), schema="trigrams_few", trigrams="on")
    with SessionDB(provider=provider) as db:
        db.append_message(db.create_session("s", "cli"), "user", "needlework")
        found = db.search_messages("edlewor", mode="substring", deadline=1.0)
    assert (len(found), found.notices) == (1, ())


@pytest.mark.parametrize(("pattern", "mode"), [("middlepart", "substring"), ("mnokey", "fuzzy")])
def test_the_index_is_asked_for_one_session(
    store: SessionDB, monkeypatch: pytest.MonkeyPatch, pattern: str, mode: str
) -> None:
    monkeypatch.setattr(parts, "_share", lambda *_: 0.0)
    found = [store.search_messages(pattern, mode=mode, session_id=each) for each in ("s", "other")]
    assert [[hit["session_id"] for hit in hits] for hits in found] == [["s"], []]


def test_what_the_filters_leave_out_is_not_looked_up_beyond_the_deadline(
    store: SessionDB, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "_share", lambda *_: 0.0)
    monkeypatch.setattr(parts, "_ids", lambda *_: range(10**7))
    begun = time.monotonic()
    found = store.provider.search_text(
        "absent", "substring", Filter(ids=("other",)), MessageFilter(), Page(5), deadline=0.3
    )
    assert time.monotonic() - begun < 2
    assert (list(found.hits), "stopped after 0.3 s" in found.notices[0]) == ([], True)


class TestRights:
    @pytest.fixture
    def place(self, postgres: PostgreSQL) -> tuple[str, str]:
        """A database without the extension, and a role that may make tables in its schema `own`."""
        name = f"bare_{uuid4().hex[:8]}"
        postgres.execute(f"CREATE DATABASE {name}", f"CREATE ROLE {name} LOGIN")
        postgres.execute("CREATE SCHEMA own", f"GRANT USAGE, CREATE ON SCHEMA own TO {name}", database=name)
        return name, postgres.dsn(name, name)

    def open(self, dsn: str, **options: Any) -> SessionDB:
        provider = PostgreSQLProvider()
        provider.initialize(dsn=dsn, schema="own", **options)
        return SessionDB(provider=provider)

    def test_who_may_not_create_extensions_does_without(self, place: tuple[str, str]) -> None:
        with self.open(place[1]) as db:
            db.append_message(db.create_session("s", "cli"), "user", "needlework")
            assert (db.features.indexed_text_search, db.health()["trigrams"]) == (False, False)
            assert len(db.search_messages("edlewor", mode="substring")) == 1

    def test_who_asks_for_what_he_may_not_create_is_told(self, place: tuple[str, str]) -> None:
        with pytest.raises(Unavailable, match=r"pg_trgm.* may not create.* administrator"):
            self.open(place[1], trigrams="on")

    def test_who_may_create_them_has_the_index(self, place: tuple[str, str], postgres: PostgreSQL) -> None:
        postgres.execute(f"GRANT CREATE ON DATABASE {place[0]} TO {place[0]}")
        with self.open(place[1]) as db:
            assert db.features.indexed_text_search

    def test_an_administrator_adds_it_later_for_all(self, place: tuple[str, str], postgres: PostgreSQL) -> None:
        self.open(place[1]).close()
        self.open(postgres.dsn(place[0]), trigrams="on").close()
        with self.open(place[1]) as db:
            assert db.features.indexed_text_search
        with self.open(place[1], trigrams="off") as db:
            assert not db.features.indexed_text_search

    def test_the_documented_statements_make_it_while_others_write(
        self, place: tuple[str, str], postgres: PostgreSQL
    ) -> None:
        self.open(place[1]).close()
        documented = re.search(r"```sql\n(CREATE EXTENSION.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
        assert documented is not None
        statements = documented[1].replace("agents.", "own.").strip().rstrip(";").split(";\n")
        postgres.execute(*statements, database=place[0])
        with self.open(place[1]) as db:
            assert db.features.indexed_text_search

    def test_a_wish_that_is_none_is_refused(self, place: tuple[str, str]) -> None:
        with pytest.raises(Invalid, match="auto, on, off"):
            self.open(place[1], trigrams="maybe")
