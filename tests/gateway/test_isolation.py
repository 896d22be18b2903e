"""Nobody sees what is not theirs: not in lists, searches, titles, errors or suggestions."""

from __future__ import annotations

import pytest
from gateway_helpers import ANN, BOB, said

from sessiondb import Invalid, NotFound, SessionDB, TitleTaken
from sessiondb.gateway.keys import Rules, Source
from sessiondb.gateway.router import Router
from sessiondb.testing import FakeClock

ELSEWHERE = {
    "another user": BOB,
    "another chat": Source("telegram", chat_id="3", user_id="carl"),
    "a group of the same user": Source("telegram", "group", "-1", user_id="ann"),
    "another platform": Source("discord", chat_id="1", user_id="ann"),
    "another profile": Source("telegram", chat_id="1", user_id="ann", profile="work"),
    "another thread": Source("telegram", chat_id="1", thread_id="9", user_id="ann"),
    "a chat given to another": Source("telegram", chat_id="1", user_id="dave"),
}


def talk(router: Router, source: Source, text: str = "the needle is here") -> str:
    arrival = router.receive(source, text)
    assert arrival.turn is not None
    with arrival.turn as turn:
        turn.append([said("understood")])
    return arrival.session_id


@pytest.mark.parametrize("stranger", ELSEWHERE.values(), ids=ELSEWHERE)
class TestLeaks:
    def test_lists_show_only_their_own(self, router, stranger: Source) -> None:
        talk(router(), ANN)
        assert router().scope(stranger).sessions() == []

    def test_searches_find_only_their_own(self, db: SessionDB, router, stranger: Source) -> None:
        session_id = talk(router(), ANN)
        scope = router().scope(stranger)
        for query in ("needle", f"session:{session_id} needle", "needle OR understood", "source:telegram needle"):
            assert scope.search(query) == []
        for mode in ("substring", "fuzzy", "regex"):
            assert scope.search("needle", mode=mode) == []

    def test_ids_prefixes_and_titles_find_only_their_own(self, db: SessionDB, router, stranger: Source) -> None:
        session_id = talk(router(), ANN)
        db.set_session_title(session_id, "secret plan")
        scope = router().scope(stranger)
        for name in (session_id, session_id[:8], "secret plan", "secret", ""):
            with pytest.raises(NotFound):
                scope.find(name)
        for call in (scope.get, scope.messages):
            with pytest.raises(NotFound):
                call(session_id)

    def test_nobody_goes_on_in_a_session_of_others(self, router, stranger: Source) -> None:
        session_id = talk(router(), ANN)
        with pytest.raises(NotFound):
            router().switch(stranger, session_id)

    def test_a_taken_title_tells_nothing(self, db: SessionDB, router, stranger: Source) -> None:
        of_ann = talk(router(), ANN)
        db.set_session_title(of_ann, "plan")
        if stranger.user_id == "dave":
            router().reset(stranger)
        mine = talk(router(), stranger, "hello")
        with pytest.raises(TitleTaken) as taken:
            router().scope(stranger).rename(mine, "plan")
        assert of_ann not in str(taken.value)
        assert taken.value.__cause__ is None


class TestScope:
    def test_people_see_their_own(self, everywhere: SessionDB, clock: FakeClock) -> None:
        router = Router(everywhere, clock=clock)
        mine = talk(router, ANN)
        talk(router, BOB)
        scope = router.scope(ANN)
        scope.rename(mine, "plan")
        assert [row["id"] for row in scope.sessions()] == [mine]
        assert {hit["session_id"] for hit in scope.search("needle")} == {mine}
        assert (scope.find("plan")["id"], scope.find(mine[:12])["id"], scope.get(mine)["id"]) == (mine, mine, mine)
        assert len(scope.messages(mine)) == 2

    def test_in_a_direct_message_one_may_be_allowed_to_see_all_of_oneself(
        self, everywhere: SessionDB, clock: FakeClock
    ) -> None:
        router = Router(everywhere, clock=clock, visibility="user")
        mine = {
            talk(router, each) for each in (ANN, ELSEWHERE["another thread"], ELSEWHERE["a group of the same user"])
        }
        for each in (BOB, ELSEWHERE["another platform"], ELSEWHERE["another profile"]):
            talk(router, each)
        assert {row["id"] for row in router.scope(ANN).sessions()} == mine
        assert {hit["session_id"] for hit in router.scope(ANN).search("needle")} == mine

    def test_where_others_read_along_only_the_chat_is_seen(self, router) -> None:
        router = router(visibility="user")
        talk(router, ANN)
        group = ELSEWHERE["a group of the same user"]
        mine = talk(router, group)
        assert [row["id"] for row in router.scope(group).sessions()] == [mine]

    def test_a_shared_room_sees_what_was_said_in_it(self, router) -> None:
        shared = router(visibility="user", rules=Rules(group_sessions_per_user=False))
        talk(shared, ANN)
        room = talk(shared, Source("telegram", "group", "-1", user_id="ann"))
        assert [row["id"] for row in shared.scope(Source("telegram", "group", "-1", user_id="bob")).sessions()] == [
            room
        ]

    def test_whoever_is_not_known_sees_nothing(self, router) -> None:
        router = router(visibility="user")
        talk(router, ANN)
        nobody = router.scope(Source("telegram", chat_id="1"))
        assert (nobody.sessions(), nobody.search("needle")) == ([], [])
        with pytest.raises(NotFound):
            nobody.get(router.resolve(ANN).session_id)

    def test_an_operator_may_allow_all(self, router) -> None:
        allowed = router(visibility="all")
        both = {talk(allowed, ANN), talk(allowed, BOB)}
        assert {row["id"] for row in allowed.scope(ANN).sessions()} == both

    def test_a_search_cannot_bring_its_own_filter(self, router) -> None:
        from sessiondb.models import Filter

        with pytest.raises(Invalid, match="filter"):
            router().scope(ANN).search("needle", where=Filter())

    def test_suggestions_are_not_made_of_the_words_of_others(self, router) -> None:
        talk(router(), BOB, "zanzibar")
        assert not hasattr(router().scope(ANN).search("zanzibaar"), "did_you_mean")

    def test_of_a_numbered_title_the_newest_is_found(self, db: SessionDB, router, clock: FakeClock) -> None:
        first = talk(router(), ANN)
        db.set_session_title(first, "plan")
        clock.move(5)
        second = db.rotate_session(first)
        assert router().scope(ANN).find("plan")["id"] == second
