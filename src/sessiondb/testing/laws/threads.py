"""Many threads, one store: nothing lost, nothing doubled, one winner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from ...db import SessionDB
from ...errors import Conflict, TitleTaken
from .base import LawBase, NewSession, contents, positions, say, stored

THREADS = 8


def at_once(work: Callable[[int], object]) -> list[object]:
    """What each of several threads got that began together; an error of the store is an answer too."""
    start = Barrier(THREADS)

    def run(number: int) -> object:
        start.wait(timeout=30)
        try:
            return work(number)
        except Conflict as error:
            return type(error)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


class ThreadLaws(LawBase):
    def test_no_message_is_lost_or_doubled(self, db: SessionDB, session: NewSession) -> None:
        session()
        at_once(lambda number: [say(db, "s", f"{number}-{turn}") for turn in range(10)])
        assert sorted(contents(db, "s")) == sorted(
            f"{number}-{turn}" for number in range(THREADS) for turn in range(10)
        )
        assert positions(db, "s") == list(range(1, THREADS * 10 + 1))
        assert (stored(db, "s")["message_count"], db.verify().ok) == (THREADS * 10, True)

    def test_each_thread_keeps_its_order(self, db: SessionDB, session: NewSession) -> None:
        session()
        at_once(lambda number: [say(db, "s", (f"{number}-{turn}")) for turn in range(10)])
        mine = [text for text in contents(db, "s") if text.startswith("3-")]
        assert mine == [f"3-{turn}" for turn in range(10)]

    def test_a_batch_is_not_interleaved(self, db: SessionDB, session: NewSession) -> None:
        session()
        at_once(lambda number: say(db, "s", *(f"{number}-{turn}" for turn in range(5))))
        texts = contents(db, "s")
        batches = [texts[start : start + 5] for start in range(0, len(texts), 5)]
        assert sorted(batches) == [[f"{number}-{turn}" for turn in range(5)] for number in range(THREADS)]

    def test_a_retried_key_is_stored_once(self, db: SessionDB, session: NewSession) -> None:
        session()
        ids = at_once(lambda number: db.append_message("s", "user", "x", message_key="k"))
        assert (len(set(ids)), contents(db, "s")) == (1, ["x"])

    def test_of_writers_who_expect_the_same_one_wins(self, db: SessionDB, session: NewSession) -> None:
        session()
        answers = at_once(lambda number: db.append_message("s", "user", "x", expected_seq=0))
        assert (answers.count(Conflict), contents(db, "s")) == (THREADS - 1, ["x"])

    def test_a_title_has_one_winner(self, db: SessionDB, session: NewSession) -> None:
        for number in range(THREADS):
            session(str(number))
        answers = at_once(lambda number: db.set_session_title(str(number), "deploy"))
        assert Counter(answers) == {True: 1, TitleTaken: THREADS - 1}

    def test_a_session_is_created_once(self, db: SessionDB) -> None:
        at_once(lambda number: db.create_session("s", f"source {number}"))
        assert db.session_count() == 1

    def test_a_session_is_continued_once(self, db: SessionDB, session: NewSession) -> None:
        session()
        answers = at_once(lambda number: db.rotate_session("s", new_id=f"next {number}"))
        assert (len(set(answers)), db.session_count()) == (1, 2)

    def test_tokens_are_not_lost(self, db: SessionDB, session: NewSession) -> None:
        session()

        def spend(number: int) -> None:
            for _ in range(10):
                db.update_token_counts("s", 1, estimated_cost_usd=0.5)

        at_once(spend)
        assert (stored(db, "s")["input_tokens"], stored(db, "s")["estimated_cost_usd"]) == (80, 40.0)

    def test_a_session_is_deleted_once(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "x")
        answers = at_once(lambda number: db.delete_session("s"))
        assert (answers.count(True), len(db.list_trash())) == (1, 1)

    def test_readers_and_writers_do_not_disturb_each_other(self, db: SessionDB, session: NewSession) -> None:
        session()

        def work(number: int) -> object:
            if number % 2:
                return say(db, "s", "needle")
            return (db.get_messages("s"), db.list_sessions_rich(), db.search_messages("needle"))

        at_once(work)
        assert contents(db, "s") == ["needle"] * (THREADS // 2)
