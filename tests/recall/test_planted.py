"""Facts planted in conversations are found again by the tool: in the first result, in their own words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from recall_planted import CHATTER, PLANTED, Planted

import sessiondb
from sessiondb import SessionDB
from sessiondb.search import analyze
from sessiondb.search.stopwords import among
from sessiondb.tools.guidance import INSTRUCTIONS
from sessiondb.tools.session_search import session_search

SHARE = 0.95


def tell(db: SessionDB, name: str, turns: tuple[str, ...]) -> None:
    db.create_session(name, "cli")
    roles = ("user", "assistant")
    db.append_messages(name, [{"role": roles[turn % 2], "content": text} for turn, text in enumerate(turns)])


@pytest.fixture(scope="module", params=["memory", "sqlite"])
def db(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SessionDB]:
    """The planted conversations, each followed by chatter; some of the chatter comes again and again."""
    url = "memory://" if request.param == "memory" else str(tmp_path_factory.mktemp("planted") / "state.db")
    with sessiondb.open(url) as db:
        for number, (planted, chatter) in enumerate(zip(PLANTED, CHATTER, strict=True)):
            tell(db, planted.name, planted.turns)
            for again in range(3):
                tell(db, f"chatter-{number}-{again}", chatter)
        db.index()
        yield db


def holds_the_fact(db: SessionDB, question: str, planted: Planted) -> bool:
    results = session_search(db, {"query": question})["results"]
    return bool(results) and any(planted.fact in each["content"] for each in results[0]["messages"])


def test_what_is_asked_in_its_words_is_in_the_first_result(db: SessionDB, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [(question, planted) for planted in PLANTED for question in planted.exact]
    missed = [question for question, planted in asked if not holds_the_fact(db, question, planted)]
    with capsys.disabled():
        print(f"\nasked in its words: {len(asked) - len(missed)} of {len(asked)}; missed: {missed}")
    assert len(asked) == 40
    assert len(missed) <= (1 - SHARE) * len(asked)


def test_what_is_asked_in_other_words_is_counted(db: SessionDB, capsys: pytest.CaptureFixture[str]) -> None:
    found = [planted.name for planted in PLANTED if holds_the_fact(db, planted.paraphrased, planted)]
    with capsys.disabled():
        print(f"\nasked in other words: {len(found)} of {len(PLANTED)}: {found}")
    assert len(PLANTED) == 20


@pytest.mark.parametrize("planted", PLANTED, ids=[planted.name for planted in PLANTED])
def test_a_paraphrase_has_no_word_of_the_fact(planted: Planted) -> None:
    said = {token for text in planted.turns if planted.fact in text for token in analyze.tokens(text)}
    asked = analyze.tokens(planted.paraphrased)
    shared = (said & set(asked)) - set(among(asked))
    assert shared == set()


def test_the_documentation_tells_what_a_model_is_told() -> None:
    page = (Path(__file__).parents[2] / "docs" / "recall.md").read_text(encoding="utf-8")
    assert INSTRUCTIONS in " ".join(page.replace("\n> ", "\n").split())
