"""What was typed is found: 5,000 pieces of texts in many languages, against brute force that knows no words."""

from __future__ import annotations

import random
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from index_languages import KINDS, UNSPACED, cut, texts
from index_story import asked, ids, say, scanned

import sessiondb
from sessiondb import SessionDB
from sessiondb.backends.sqlite.index import files, fts5
from sessiondb.search.analyze import unspaced
from sessiondb.search.query import parse

QUERIES = 5000
LEAST = 0.995
EACH = 60
KEPT_MARKS = {chr(code) for code in (*range(0x0E00, 0x0E80), 0x3099, 0x309A)}


@pytest.fixture(scope="module")
def stories() -> dict[str, list[str]]:
    chance = random.Random(3)
    return {kind: texts(kind, chance, EACH) for kind in KINDS}


@pytest.fixture(scope="module")
def db(stories: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[SessionDB]:
    with sessiondb.open(tmp_path_factory.mktemp("recall") / "state.db", synchronous="NORMAL") as db:
        for kind, told in stories.items():
            say(db, db.create_session(kind, "cli"), *told)
        db.index()
        yield db


def queries(stories: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """(kind, piece); what the box takes for an exclusion or for no word at all is left out."""
    chance = random.Random(4)
    for number in range(QUERIES):
        kind = KINDS[number % len(KINDS)]
        piece = cut(chance.choice(stories[kind]), kind, chance)
        excluding = any(word[0] == "-" and word[1:3].isalpha() for word in piece.split())
        if plain(piece) and parse(piece).node is not None and not excluding:
            yield kind, piece


def plain(text: str) -> str:
    """Folded as a reader folds: case, and marks that may be left out; in Thai and Japanese none may."""
    decomposed = unicodedata.normalize("NFKD", text.casefold().strip())
    kept = (each for each in decomposed if not unicodedata.combining(each) or each in KEPT_MARKS)
    return unicodedata.normalize("NFC", "".join(kept))


def holds(text: str, piece: str) -> bool:
    """Whether the piece stands in the text, not in the middle of a word; knows no words."""
    at = text.find(piece)
    while at >= 0:
        if _apart(text[at - 1 : at], piece[0]) and _apart(text[at + len(piece) :][:1], piece[-1]):
            return True
        at = text.find(piece, at + 1)
    return False


def _apart(outside: str, inside: str) -> bool:
    return not (outside.isalnum() and inside.isalnum()) or unspaced(outside) or unspaced(inside)


def test_what_was_typed_is_found(db: SessionDB, stories: dict[str, list[str]]) -> None:
    rows = [(row["id"], plain(row["content"])) for kind in KINDS for row in db.get_messages(kind)]
    wanted: Counter[str] = Counter()
    found: Counter[str] = Counter()
    missed: list[tuple[str, str]] = []
    for kind, piece in queries(stories):
        folded = plain(piece)
        truth = {each for each, text in rows if folded in text and holds(text, folded)}
        answer = ids(asked(db, piece))
        wanted[kind] += len(truth)
        found[kind] += len(truth & answer)
        missed += [(kind, piece)] if truth - answer else []
    print("\n" + ", ".join(f"{kind} {found[kind] / wanted[kind]:.2%} of {wanted[kind]}" for kind in KINDS))
    print(f"missed: {missed[:20]}")
    assert found.total() / wanted.total() >= LEAST


def test_the_index_finds_what_a_scan_finds(db: SessionDB, stories: dict[str, list[str]]) -> None:
    pieces = [piece for _, piece in queries(stories)][::50]
    assert [piece for piece in pieces if ids(asked(db, piece)) != scanned(db, piece)] == []


PIECES = (
    *"abcxyz019 _-/.:'\"()*\n\t\0éßΣйё", *"أىـَ٣שָ", *"東京ガー々학교", *"ภาษาำ", *"🚀👍🏽❤™½①",
    *"\ud800\uffff\u200b\u00ad\ue000", "AND", "OR", "NOT", " -", "(", ")", "NEAR(a b)", "body:", "extra:",
    "source:cli", "tool:x", "since:7d", "^a", "a + b", "{a b}", 'a"b', "\ue000machine", "'; DROP TABLE messages; --",
)  # fmt: skip


def boxes(count: int, seed: int) -> Iterator[str]:
    chance = random.Random(seed)
    for _ in range(count):
        yield "".join(chance.choices(PIECES, k=chance.randint(0, 12)))


def test_no_string_breaks_the_index(tmp_path: Path) -> None:
    """A hundred thousand, parsed, compiled and matched."""
    files.created(path := str(tmp_path / "state-search-000001.db"), "", 1, 0)
    connection = files.opened(path)
    connection.execute("INSERT INTO messages_fts (rowid, body, extra) VALUES (1, 'a b c 東京 京', 'x')")
    matched = 0
    for box in boxes(100_000, 5):
        node = parse(box).node
        if node is not None:
            matched += _matches(connection, fts5.of_people(fts5.expression(node)))
    connection.close()
    assert matched > 1000


def _matches(connection: apsw.Connection, expression: str) -> int:
    sql = "SELECT COUNT(*) FROM messages_fts WHERE messages_fts MATCH ?"
    return int(str(connection.execute(sql, (expression,)).fetchall()[0][0]))


def test_no_string_breaks_a_search(db: SessionDB) -> None:
    for box in boxes(500, 6):
        assert isinstance(db.search_messages(box, limit=2), list)


def test_scripts_without_blanks_are_among_the_kinds() -> None:
    assert len(KINDS) == 16
    assert set(UNSPACED) == {"chinese", "japanese", "thai"}
