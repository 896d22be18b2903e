"""The corpus holds: every query finds its text, and not the other one, on every provider."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from search_corpus import CORPUS, ROWS

import sessiondb
from sessiondb import SessionDB
from sessiondb.search.match import matches
from sessiondb.search.query import parse
from sessiondb.search.text import document


def finds(box: str, text: str) -> bool:
    query = parse(box)
    if query.problem or not query.admits({"role": "user", "content": text}):
        return False
    return query.node is None or matches(query.node, *document(text, ""))


@pytest.mark.parametrize(("box", "text"), [(box, found) for box, found, _ in ROWS if found])
def test_it_finds(box: str, text: str) -> None:
    assert finds(box, text)


@pytest.mark.parametrize(("box", "text"), [(box, other) for box, _, other in ROWS])
def test_it_does_not_find(box: str, text: str) -> None:
    assert not finds(box, text)


@pytest.mark.parametrize("text", [found for _, found, _ in ROWS if parse(found).node and "NOT" not in found])
def test_every_text_pasted_into_the_box_finds_itself(text: str) -> None:
    assert finds(text, text)


@pytest.fixture(scope="module", params=["memory", "sqlite"])
def db(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SessionDB]:
    """Both texts of each row, in a session named by its place."""
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path_factory.mktemp('corpus')}/state.db"
    with sessiondb.open(url) as db:
        for place, (_, *texts) in enumerate(ROWS):
            db.create_session(str(place), "cli")
            db.append_messages(str(place), [{"role": "user", "content": text} for text in texts])
        db.index()
        yield db


@pytest.mark.parametrize("place", range(len(ROWS)), ids=[box for box, _, _ in ROWS])
def test_a_provider_finds_the_one_and_not_the_other(db: SessionDB, place: int) -> None:
    box, found, _ = ROWS[place]
    hits = db.search_messages(box, session_id=str(place))
    assert [hit["context"][0]["content"] for hit in hits] == ([found] if found else [])


def test_the_corpus_is_large_and_has_no_doubles() -> None:
    assert len(ROWS) == len(set(ROWS)) >= 200


@pytest.mark.parametrize("kind", CORPUS)
def test_every_kind_has_ten_rows(kind: str) -> None:
    assert len(CORPUS[kind]) >= 10
