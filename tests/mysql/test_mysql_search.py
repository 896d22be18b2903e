"""The index answers as a scan of all rows does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from search.search_corpus import ROWS
from search.search_many import CASES, Holds, expected, messages
from servers.mysql_stores import Open, Stores
from sessiondb.backends.mysql import MySQLProvider, encoding
from sessiondb.db import SessionDB
from sessiondb.models import Filter, MessageFilter, Page
from sessiondb.provider import SessionDBProvider
from sessiondb.search.nodes import Phrase, Term, leaves
from sessiondb.search.query import parse

LONG = "the first word " + "filler " * 40_000 + "needle in between " + "stuffing " * 40_000 + "the last word"
QUERIES = sorted({box for box, _, _ in ROWS} | {
    "the", "a", "www", "is", "what OR where", '"the of"', "z*", "zz", "yy", "xxxbar", "in*",
    "(nginx apache) OR caddy", "deploy -friday", 'deploy -"on friday"', "nginx -(apache caddy)", "dep* -deployed",
    "электроэнергетическ*", "a a", '"a a"', "x" * 70, "x" * 40 + "*",
})  # fmt: skip
# A phrase that overlaps itself is counted once here; an overlong prefix is counted with its like.
TOLERANCE = {'"a a"': 0.3, "электроэнергетическ*": 0.3}
EXTRA_TEXTS = [
    "электроэнергетический", "электроэнергетическими", "электроэнергетика", "what is the www", "a a a", "the", "zz yy",
    "x" * 70, "x" * 41, "apache with nginx", "caddy", "getUserName HTTPServer",
]  # fmt: skip


@pytest.fixture(scope="module")
def corpus(all_stores: Stores) -> Iterator[SessionDB]:
    provider = MySQLProvider()
    provider.initialize(**all_stores.server.options(database=all_stores.empty_database()))
    with SessionDB(provider=provider) as db:
        db.create_session("s", "cli")
        texts = dict.fromkeys(text for _, found, other in ROWS for text in (found, other) if text)
        db.append_messages("s", [{"role": "user", "content": text} for text in [*texts, *EXTRA_TEXTS]])
        yield db


def answers(db: SessionDB, box: str) -> tuple[list[int], list[int]]:
    """What the index finds, and what a scan finds, oldest first."""
    asked = (parse(box), Filter(), MessageFilter(), Page(None), "oldest", 1e9)
    indexed = db.provider.search(*asked)  # type: ignore[arg-type]
    scanned = SessionDBProvider.search(db.provider, *asked)  # type: ignore[arg-type]
    assert indexed.total == scanned.total
    return [hit.message["id"] for hit in indexed.hits], [hit.message["id"] for hit in scanned.hits]


@pytest.mark.parametrize("box", QUERIES)
def test_the_index_finds_what_a_scan_finds(corpus: SessionDB, box: str) -> None:
    indexed, scanned = answers(corpus, box)
    assert indexed == scanned


@pytest.mark.parametrize("box", QUERIES)
def test_relevance_agrees_with_a_scan(corpus: SessionDB, box: str) -> None:
    asked = (parse(box), Filter(), MessageFilter(), Page(20), "relevance", 1e9)
    indexed = corpus.provider.search(*asked).hits  # type: ignore[arg-type]
    scanned = SessionDBProvider.search(corpus.provider, *asked).hits  # type: ignore[arg-type]
    assert [hit.message["id"] for hit in indexed] == [hit.message["id"] for hit in scanned]
    assert [hit.score for hit in indexed] == pytest.approx([hit.score for hit in scanned], rel=TOLERANCE.get(box, 1e-6))


@pytest.mark.parametrize("box", ["nginx apache caddy", "deploy friday prod", '"exact phrase" hello', "数据 deploy*"])
def test_candidates_are_those_of_a_scan(corpus: SessionDB, box: str) -> None:
    parts = tuple(leaves(parse(box).node))  # type: ignore[arg-type]
    asked = (parts, Filter(), MessageFilter(), 1000)
    assert corpus.provider.candidates(*asked) == SessionDBProvider.candidates(corpus.provider, *asked)


@pytest.fixture
def long_message(db: SessionDB) -> SessionDB:
    db.create_session("long", "cli")
    db.append_message("long", "user", LONG)
    db.append_message("long", "user", "the first word and the needle")
    return db


@pytest.mark.parametrize(
    "box",
    ["needle", "first last", '"first word"', '"last word"', "needle NOT last", "absent OR last", '"needle in bet"*',
     "first needle last -absent", "fill*", "stuffing filler", '"word filler"'],
)  # fmt: skip
def test_a_long_message_is_found_as_a_whole(long_message: SessionDB, box: str) -> None:
    indexed, scanned = answers(long_message, box)
    assert indexed == scanned


def test_a_long_message_is_a_candidate(long_message: SessionDB) -> None:
    parts = (Term("needle"), Term("last"), Phrase(("first", "word")))
    asked = (parts, Filter(), MessageFilter(), 1000)
    indexed = long_message.provider.candidates(*asked).hits
    assert indexed == SessionDBProvider.candidates(long_message.provider, *asked).hits


def test_a_phrase_is_found_where_two_pieces_meet(db: SessionDB) -> None:
    db.create_session("s", "cli")
    words = [f"w{number}" for number in range(encoding.CHUNK_WORDS * 2)]
    db.append_message("s", "user", " ".join(words))
    for start in range(encoding.CHUNK_WORDS - encoding.OVERLAP - 3, encoding.CHUNK_WORDS + 3, 40):
        assert len(db.search_messages('"' + " ".join(words[start : start + 4]) + '"')) == 1


@pytest.fixture(scope="module")
def many(all_stores: Stores) -> Iterator[SessionDB]:
    provider = MySQLProvider()
    provider.initialize(**all_stores.server.options(database=all_stores.empty_database()))
    with SessionDB(provider=provider) as db:
        db.append_messages(db.create_session("s", "cli"), messages())
        yield db


@pytest.mark.parametrize("order", ["newest", "oldest"])
@pytest.mark.parametrize("role", [None, "user", "tool"])
@pytest.mark.parametrize(("box", "holds"), CASES, ids=[box for box, _ in CASES])
def test_pages_are_exact(many: SessionDB, box: str, holds: Holds, role: str | None, order: Any) -> None:
    wanted = MessageFilter((role,) if role else ())
    hits = many.provider.search(parse(box), Filter(ids=("s",)), wanted, Page(25, 5), order, 1.0).hits
    assert [hit.message["seq"] for hit in hits] == expected(holds, role, order)[5:30]


def test_deleted_messages_are_not_found_and_restored_ones_are(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.append_message("s", "user", "needle")
    db.delete_session("s")
    assert db.search_messages("needle") == []
    db.restore_deleted("s")
    assert len(db.search_messages("needle")) == 1
    db.clear_messages("s")
    assert db.search_messages("needle") == []


def test_words_of_another_version_are_not_trusted_until_made_again(stores: Stores, open_db: Open) -> None:
    options = stores.new()
    db = open_db(options)
    db.append_messages(db.create_session("s", "cli"), [{"role": "user", "content": "needle"}] * 3)
    stores.execute(f"DELETE FROM {options['database']}.search_words")
    stores.execute(f"UPDATE {options['database']}.schema_version SET analyser = 0")
    later = open_db(options)
    asked = (parse("needle"), Filter(), MessageFilter(), Page(20), "newest", 1e9)
    scanned = later.provider.search(*asked)  # type: ignore[arg-type]
    assert (len(scanned.hits), "db.index()" in scanned.notices[-1]) == (3, True)
    ticks: list[tuple[int, int]] = []
    later.index(lambda done, total: ticks.append((done, total)))
    assert ticks[-1][0] == ticks[-1][1] > 0
    for handle in (later, open_db(options)):
        indexed = handle.provider.search(*asked)  # type: ignore[arg-type]
        assert (len(indexed.hits), indexed.notices) == (3, ())


@pytest.mark.parametrize("word", ["a", "the", "x" * 64, "漢字", "д" * 64, "🚀", "हिन्दी"])
def test_an_encoded_word_is_plain_and_short(word: str) -> None:
    written = encoding.encoded(word)
    assert written.isascii()
    assert written.isalnum()
    assert 3 <= len(written) <= encoding.LONGEST


@pytest.mark.parametrize(("word", "start"), [("docker", "dock"), ("д" * 60, "ддд"), ("漢字", "漢"), ("cafeя", "cafe")])
def test_an_encoded_word_begins_like_its_prefix(word: str, start: str) -> None:
    assert encoding.encoded(word).startswith(tuple(encoding.prefixes(start)))
