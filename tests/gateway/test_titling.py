"""Titles unique per person: two people may have one name, one person may not, and nobody hears of the other."""

from __future__ import annotations

from threading import Barrier, Thread

import pytest
from gateway_helpers import ANN, BOB

from sessiondb import SessionDB, TitleTaken
from sessiondb.gateway.keys import Source
from sessiondb.gateway.router import Router
from sessiondb.testing import FakeClock

SEVERAL = Source("telegram", chat_id="1", thread_id="9", user_id="ann")


def test_two_people_may_have_one_title(everywhere: SessionDB, clock: FakeClock) -> None:
    router = Router(everywhere, clock=clock, titles="user")
    sessions = {}
    for source in (ANN, BOB):
        sessions[source] = router.resolve(source).session_id
        router.scope(source).rename(sessions[source], " plan ")
    for source, session_id in sessions.items():
        scope = router.scope(source)
        assert (scope.find("plan")["id"], scope.sessions()[0]["title"], scope.get(session_id)["title"]) == (
            session_id, "plan", "plan",
        )  # fmt: skip
    assert sorted(row["title"] for row in everywhere.provider.find_titles("plan")) == ["plan", "plan #2"]
    assert everywhere.verify().ok


def test_one_person_may_not_have_it_twice(everywhere: SessionDB, clock: FakeClock) -> None:
    router = Router(everywhere, clock=clock, titles="user")
    first, second = router.resolve(ANN).session_id, router.resolve(SEVERAL).session_id
    router.scope(ANN).rename(first, "plan")
    with pytest.raises(TitleTaken) as taken:
        router.scope(SEVERAL).rename(second, "plan")
    assert first not in str(taken.value)
    assert everywhere.get_session_title(second) is None


def test_a_title_given_up_is_free(db: SessionDB, router) -> None:
    mine = router(titles="user")
    first, second = mine.resolve(ANN).session_id, mine.resolve(SEVERAL).session_id
    mine.scope(ANN).rename(first, "plan")
    mine.scope(ANN).rename(first, "other")
    mine.scope(SEVERAL).rename(second, "plan")
    mine.scope(ANN).rename(first, None)
    mine.scope(SEVERAL).rename(second, "other")
    assert (mine.scope(ANN).get(first)["title"], mine.scope(SEVERAL).get(second)["title"]) == (None, "other")


def test_a_title_of_a_deleted_session_is_free(db: SessionDB, router) -> None:
    mine = router(titles="user")
    first, second = mine.resolve(ANN).session_id, mine.resolve(SEVERAL).session_id
    mine.scope(ANN).rename(first, "plan")
    db.delete_session(first)
    mine.scope(SEVERAL).rename(second, "plan")
    assert mine.scope(SEVERAL).find("plan")["id"] == second


def test_of_several_at_once_one_has_it(everywhere: SessionDB, clock: FakeClock) -> None:
    router = Router(everywhere, clock=clock, titles="user")
    sources = [Source("telegram", chat_id="1", thread_id=str(number), user_id="ann") for number in range(4)]
    sessions = [router.resolve(source).session_id for source in sources]
    barrier, taken = Barrier(4), []

    def rename(number: int) -> None:
        barrier.wait()
        try:
            router.scope(sources[number]).rename(sessions[number], "plan")
        except TitleTaken:
            taken.append(number)

    threads = [Thread(target=rename, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 3


def test_titles_are_no_conversations(router) -> None:
    mine = router(titles="user")
    mine.scope(ANN).rename(mine.resolve(ANN).session_id, "plan")
    assert [each.session_key for each in mine.bindings()] == [mine.key(ANN).text]
    assert mine.recover() == []


def test_hits_show_the_name_that_was_given(router) -> None:
    mine = router(titles="user")
    for source in (ANN, BOB):
        session_id = mine.receive(source, "needle").session_id
        mine.scope(source).rename(session_id, "plan")
    assert [hit["title"] for hit in mine.scope(BOB).search("needle")] == ["plan"]
