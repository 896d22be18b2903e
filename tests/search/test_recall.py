"""Questions find messages, messages are shown where they were said; the same with and without an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from search_texts import boxes, laws

from sessiondb import SessionDB
from sessiondb.backends.memory import MemoryProvider
from sessiondb.errors import Invalid
from sessiondb.models import Filter, MessageFilter
from sessiondb.provider import SessionDBProvider
from sessiondb.search.nodes import Node, Phrase
from sessiondb.search.question import understand
from sessiondb.search.recall import group, rank_messages, recall, recent
from sessiondb.search.relaxed import Candidates
from sessiondb.sql.driver import Row
from sessiondb.testing.clock import FakeClock

DAY = 86400.0
Tell = Callable[..., list[int]]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "sqlite"])
def db(request: pytest.FixtureRequest, clock: FakeClock, fast_path: Path) -> Iterator[SessionDB]:
    if request.param == "memory":
        provider = MemoryProvider()
        provider.initialize()
        store = SessionDB(provider=provider, clock=clock)
    else:
        store = SessionDB(fast_path / "recall.db", clock=clock, synchronous="NORMAL")
    with store:
        yield store


@pytest.fixture
def tell(db: SessionDB, clock: FakeClock) -> Tell:
    """A conversation, user and assistant in turn; answers the ids."""

    def told(session_id: str, *texts: str, source: str = "cli", age: float = 0.0, **fields: str) -> list[int]:
        db.create_session(session_id, source, started_at=clock.now - age, **fields)
        roles = ("user", "assistant")
        return db.append_messages(
            session_id,
            [
                {"role": roles[turn % 2], "content": text, "timestamp": clock.now - age + turn}
                for turn, text in enumerate(texts)
            ],
        )

    return told


def ids(hits: list[dict[str, object]] | object) -> list[int]:
    return [hit["id"] for hit in hits]  # type: ignore[attr-defined]


class TestRankMessages:
    def test_a_plain_question_finds_its_answer(self, db: SessionDB, tell: Tell) -> None:
        (answer,) = tell("a", "staging listens on port 8443 since Tuesday")
        tell("b", "the weather is nice", "indeed it is")
        (hit,) = rank_messages(db, "When did we move staging to port 8443?", 5)
        assert (hit["id"], hit["session_id"], hit["partial"]) == (answer, "a", True)
        assert ">>>port<<< >>>8443<<<" in hit["snippet"]

    def test_all_words_come_before_some(self, db: SessionDB, tell: Tell) -> None:
        (some,) = tell("some", "nginx nginx nginx timeout timeout")
        (every,) = tell("all", "an upstream timeout " + "was seen in a long story about many things " * 5 + "nginx")
        found = rank_messages(db, "what is the nginx upstream timeout?", 5)
        assert [(hit["id"], hit["partial"]) for hit in found] == [(every, False), (some, True)]

    def test_a_typed_path_is_filled_up_with_its_parts_where_too_few_have_it(self, db: SessionDB, tell: Tell) -> None:
        (apart,) = tell("apart", "nginx reads what is in etc, and its conf")
        (whole,) = tell("whole", "look into /etc/nginx.conf")
        found = rank_messages(db, "/etc/nginx.conf", 2)
        assert [(hit["id"], hit["partial"]) for hit in found] == [(whole, False), (apart, True)]

    def test_what_people_say_of_parts_of_a_path_comes_before_what_machines_say_of_it(
        self, db: SessionDB, tell: Tell
    ) -> None:
        machines = [tell(f"m{number}", f"number {number}: /etc/nginx.conf", source="cron")[0] for number in range(3)]
        (apart,) = tell("apart", "nginx reads what is in etc, and its conf")
        assert ids(rank_messages(db, "/etc/nginx.conf", 3)) == [apart, *machines[:0:-1]]

    def test_a_path_that_nobody_decided_on_is_filled_up_with_decisions_on_its_parts(
        self, db: SessionDB, tell: Tell
    ) -> None:
        for number in range(3):
            tell(f"s{number}", f"number {number}: /etc/nginx.conf")
        (decided,) = tell("decided", "We decided to keep nginx and its conf in etc.")
        assert ids(rank_messages(db, "kind:decision /etc/nginx.conf", 3)) == [decided]

    def test_nobody_looks_for_the_parts_of_a_path_that_enough_have(
        self, db: SessionDB, tell: Tell, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        said = [tell(f"s{number}", f"number {number}: /etc/nginx.conf")[0] for number in range(3)]
        tell("apart", "nginx reads what is in etc, and its conf")
        asked: list[int] = []
        candidates = db.provider.candidates
        monkeypatch.setattr(
            db.provider, "candidates", lambda parts, *more: asked.append(len(set(parts))) or candidates(parts, *more)
        )
        assert {hit["id"] for hit in rank_messages(db, "/etc/nginx.conf", 3)} == set(said)
        assert asked == [1]

    def test_one_known_word_is_enough(self, db: SessionDB, tell: Tell) -> None:
        (answer,) = tell("a", "wireguard needs an mtu of 1412")
        assert ids(rank_messages(db, "remind me about zzyzx quux frobnication of wireguard please", 3)) == [answer]

    def test_a_word_of_an_unknown_path_is_enough(self, db: SessionDB, tell: Tell) -> None:
        (answer,) = tell("a", "edit settings.py and reload")
        assert ids(rank_messages(db, "/opt/app/settings.py", 3)) == [answer]

    def test_inflections_are_found_and_marked_partial(self, db: SessionDB, tell: Tell) -> None:
        (answer,) = tell("a", "the migration was done on Sunday")
        (hit,) = rank_messages(db, "when did we migrate?", 3)
        assert (hit["id"], hit["partial"]) == (answer, True)

    def test_nothing_known_finds_nothing(self, db: SessionDB, tell: Tell) -> None:
        tell("a", "hello there")
        assert rank_messages(db, "zzyzx?", 3) == rank_messages(db, "", 3) == rank_messages(db, "???", 3) == []

    def test_a_message_near_other_hits_gains(self, db: SessionDB, tell: Tell) -> None:
        alone = tell("alone", "redis", "fine", "ok", "bye", "so long", "well")
        near = tell("near", "why does the cache vanish at peak time", "redis", "the cache was full at peak time")
        found = ids(rank_messages(db, "redis cache peak", 10))
        assert found.index(near[1]) < found.index(alone[0])

    def test_a_reply_is_found_by_the_words_of_its_prompt(self, db: SessionDB, tell: Tell) -> None:
        _, reply = tell("a", "which commit made the export slow?", "3fa9c17d, found by bisecting")
        assert reply in ids(rank_messages(db, "commit that made the export slow", 5))

    def test_the_newer_of_two_equal_messages_comes_first(self, db: SessionDB, tell: Tell) -> None:
        (old,) = tell("old", "deploy finished", age=200 * DAY)
        (new,) = tell("new", "deploy finished", age=DAY)
        assert ids(rank_messages(db, "deploy finished", 5)) == [new, old]

    def test_people_come_before_machines(self, db: SessionDB, tell: Tell) -> None:
        (machine,) = tell("nightly", "backup deploy certificate", source="cron")
        (person,) = tell("me", "the backup")
        assert ids(rank_messages(db, "backup deploy certificate", 5)) == [person, machine]

    def test_a_title_raises_its_conversation(self, db: SessionDB, tell: Tell) -> None:
        (plain,) = tell("plain", "it was the resolver")
        (titled,) = tell("titled", "it was the resolver", age=DAY)
        db.set_session_title("titled", "Slow logins")
        assert ids(rank_messages(db, "slow logins resolver", 5)) == [titled, plain]

    def test_rewound_messages_are_not_found(self, db: SessionDB, tell: Tell) -> None:
        kept, _ = tell("a", "start here", "zebra")
        db.rewind_to_message("a", kept)
        assert rank_messages(db, "zebra", 5) == []

    def test_deleted_messages_are_not_found(self, db: SessionDB, tell: Tell) -> None:
        tell("a", "zebra")
        assert rank_messages(db, "zebra", 5)
        db.delete_session("a")
        assert rank_messages(db, "zebra", 5) == []

    def test_commands_paths_and_urls_come_back_unmangled(self, db: SessionDB, tell: Tell) -> None:
        text = "run `docker compose -f /srv/app/dev.yml up -d` and open https://x.example:8443/a?b=1#c"
        tell("a", text)
        (hit,) = rank_messages(db, "which docker compose command?", 5)
        assert hit["snippet"].replace(">>>", "").replace("<<<", "") == text

    def test_a_word_far_inside_a_long_text_counts(self, db: SessionDB, tell: Tell) -> None:
        (answer,) = tell("a", "log line 200 ok\n" * 4000 + "zebra")
        assert ids(rank_messages(db, "zebra", 5)) == [answer]

    def test_the_limit_holds_and_the_order_does_not_change(self, db: SessionDB, tell: Tell) -> None:
        for number in range(30):
            tell(f"s{number}", f"deploy number {number}", "done")
        some, more = (ids(rank_messages(db, "deploy", limit)) for limit in (5, 20))
        assert len(some) == 5
        assert more[:5] == some == ids(rank_messages(db, "deploy", 5))

    def test_a_bad_limit_is_refused(self, db: SessionDB) -> None:
        with pytest.raises(Invalid, match="limit"):
            rank_messages(db, "deploy", -1)

    @laws
    @given(box=boxes)
    def test_no_question_raises(self, box: str) -> None:
        provider = MemoryProvider()
        provider.initialize()
        with SessionDB(provider=provider) as store:
            store.create_session("a", "cli")
            store.append_message("a", "user", "foo bar 東京都 /etc/hosts")
            rank_messages(store, box, 3)


class TestSyntax:
    def test_a_quoted_phrase_holds_in_every_hit(self, db: SessionDB, tell: Tell) -> None:
        (wanted, _) = tell("a", "connection reset by peer during the deploy", "the peer did reset a connection")
        tell("b", "reset the connection and deploy")
        assert ids(rank_messages(db, 'deploy "connection reset"', 5)) == [wanted]

    def test_an_excluded_word_is_in_no_hit(self, db: SessionDB, tell: Tell) -> None:
        (wanted,) = tell("a", "deploy to production")
        tell("b", "deploy to staging", "deploy again")
        found = rank_messages(db, "deploy -staging -again", 5)
        assert ids(found) == [wanted]

    def test_one_alternative_is_enough_and_whole(self, db: SessionDB, tell: Tell) -> None:
        (redis,) = tell("a", "redis it is")
        tell("b", "postgres it is")
        assert [(hit["id"], hit["partial"]) for hit in rank_messages(db, "redis OR memcached", 5)] == [(redis, False)]

    def test_filters_narrow(self, db: SessionDB, tell: Tell) -> None:
        tell("a", "deploy from the shell", "deployed")
        (prompt, _) = tell("b", "deploy from the phone", "deployed", source="telegram")
        assert ids(rank_messages(db, "source:telegram role:user when was the deploy", 5)) == [prompt]

    def test_the_caller_s_filters_narrow_too(self, db: SessionDB, tell: Tell) -> None:
        tell("a", "deploy", "deployed", source="tool")
        (_, answer) = tell("b", "deploy", "deployed well")
        found = rank_messages(
            db, "deploy", 5, where=Filter(exclude_sources=("tool",)), messages=MessageFilter(roles=("assistant",))
        )
        assert ids(found) == [answer]

    def test_a_tool_filter_asks_for_the_tool(self, db: SessionDB, tell: Tell) -> None:
        tell("a", "read_file is a tool for logs")
        call = {"id": "c", "function": {"name": "read_file", "arguments": '{"path": "/var/log/app.log"}'}}
        used = db.append_message("a", "assistant", "looking at logs", tool_calls=[call])
        assert ids(rank_messages(db, "tool:read_file logs", 5)) == [used]


class TestGroup:
    def test_hits_of_one_lineage_are_one_conversation(self, db: SessionDB, tell: Tell) -> None:
        tell("root", "zebra one")
        child = db.rotate_session("root", new_id="child")
        db.append_message(child, "user", "zebra two")
        tell("other", "zebra three")
        found = group(db, rank_messages(db, "zebra", 10))
        assert sorted(each["session_id"] for each in found) == ["other", "root"]
        root = next(each for each in found if each["session_id"] == "root")
        assert {hit["session_id"] for hit in root["hits"]} == {"root", "child"}
        assert {window["session_id"] for window in root["windows"]} == {"root", "child"}

    def test_a_window_shows_the_neighbours(self, db: SessionDB, tell: Tell) -> None:
        told = tell("a", "one", "two", "three", "zebra", "five", "six", "seven")
        hits = [{"id": told[3], "session_id": "a"}]
        (found,) = group(db, hits, window=2)
        (window,) = found["windows"]
        assert [row["content"] for row in window["messages"]] == ["two", "three", "zebra", "five", "six"]
        assert window["hit_ids"] == [told[3]]

    def test_windows_that_touch_are_one(self, db: SessionDB, tell: Tell) -> None:
        told = tell("a", *(f"line {number}" for number in range(20)))
        hits = [{"id": told[place], "session_id": "a"} for place in (16, 2, 5)]
        (found,) = group(db, hits, window=1)
        shown = [ids(window["messages"]) for window in found["windows"]]
        assert shown == [told[15:18], told[1:7]]
        assert [window["hit_ids"] for window in found["windows"]] == [[told[16]], [told[2], told[5]]]

    def test_a_hit_between_two_windows_joins_them(self, db: SessionDB, tell: Tell) -> None:
        told = tell("a", *(f"line {number}" for number in range(12)))
        hits = [{"id": told[place], "session_id": "a"} for place in (2, 8, 5)]
        (found,) = group(db, hits, window=1)
        assert [ids(window["messages"]) for window in found["windows"]] == [told[1:10]]

    def test_the_order_is_that_of_the_hits(self, db: SessionDB, tell: Tell) -> None:
        told = {name: tell(name, "zebra")[0] for name in ("a", "b", "c")}
        hits = [{"id": told[name], "session_id": name} for name in ("c", "a", "b")]
        assert [each["session_id"] for each in group(db, hits)] == ["c", "a", "b"]
        assert [each["session_id"] for each in group(db, hits, limit=1)] == ["c"]

    def test_the_lineage_of_a_session_is_excluded(self, db: SessionDB, tell: Tell) -> None:
        tell("root", "zebra")
        child = db.rotate_session("root", new_id="child")
        tell("other", "zebra")
        hits = rank_messages(db, "zebra", 10)
        assert [each["session_id"] for each in group(db, hits, exclude_session=child)] == ["other"]

    def test_hits_of_search_messages_are_taken(self, db: SessionDB, tell: Tell) -> None:
        tell("a", "zebra")
        assert [each["session_id"] for each in group(db, db.search_messages("zebra"))] == ["a"]

    def test_what_was_deleted_meanwhile_is_left_out(self, db: SessionDB, tell: Tell) -> None:
        tell("a", "zebra")
        tell("b", "zebra")
        hits = rank_messages(db, "zebra", 10)
        db.delete_session("a")
        assert [each["session_id"] for each in group(db, hits)] == ["b"]


class TestRecall:
    def test_the_asking_conversation_does_not_answer(self, db: SessionDB, tell: Tell) -> None:
        tell("now", *["which port has staging?"] * 300)
        tell("then", "staging has port 8443", age=9 * DAY)
        found = recall(db, "which port has staging?", exclude_session="now")
        assert [each["session_id"] for each in found] == ["then"]

    def test_an_empty_question_gives_the_recent_conversations(self, db: SessionDB, tell: Tell) -> None:
        for name in ("a", "b", "c"):
            tell(name, "hello")
        db.append_message("a", "user", "again")
        assert [each["session_id"] for each in recall(db, " ", 2)] == ["a", "c"]

    def test_a_conversation_is_as_recent_as_its_continuation(self, db: SessionDB, tell: Tell) -> None:
        tell("root", "hello")
        tell("later", "hello")
        db.append_message(db.rotate_session("root", new_id="child"), "user", "on we go")
        first, second = recent(db, 5)
        assert (first["session_id"], first["latest_session_id"]) == ("root", "child")
        assert second["session_id"] == "later"

    def test_recent_leaves_out_the_lineage_of_a_session(self, db: SessionDB, tell: Tell) -> None:
        tell("root", "hello")
        child = db.rotate_session("root", new_id="child")
        tell("other", "hello")
        assert [each["session_id"] for each in recent(db, 5, exclude_session=child)] == ["other"]

    def test_recent_shows_people_before_machines(self, db: SessionDB, tell: Tell) -> None:
        tell("me", "hello")
        tell("nightly", "check", source="cron")
        assert [each["session_id"] for each in recent(db, 5)] == ["me", "nightly"]
        assert [each["session_id"] for each in recent(db, 1)] == ["me"]


DEPLOYED = {"role": "user", "content": "deploy/nginx"}


class TestCandidates:
    """The first cut is the same from an index and from the rows."""

    QUESTIONS = (
        "deploy", "why did the deploy of nginx fail", "deploy -nginx", "nginx OR redis", '"redis cache" slow',
        "slowest caches", "role:user redis", "source:cron deploy slow", "数据库慢", "zebra",
    )  # fmt: skip

    @pytest.fixture
    def store(self, fast_path: Path) -> Iterator[SessionDB]:
        words = ("deploy", "deploys", "nginx", "redis cache", "slow", "slower", "failed", "数据库很慢", "ok")
        with SessionDB(fast_path / "cut.db", synchronous="NORMAL") as db:
            for number in range(120):
                name = f"s{number // 4}"
                db.create_session(name, ("cli", "cron", "telegram")[number // 4 % 3])
                said = " ".join(word for place, word in enumerate(words) if (number * 37 + place * 11) % 7 < 2)
                db.append_message(name, ("user", "assistant")[number % 2], said)
            yield db

    def both(self, db: SessionDB, box: str, limit: int) -> tuple[Candidates, Candidates]:
        from sessiondb.search.query import narrow

        asked = understand(box)
        where, messages = narrow(asked.query, Filter(), MessageFilter(), 0.0)
        return (
            db.provider.candidates(asked.parts, where, messages, limit),
            SessionDBProvider.candidates(db.provider, asked.parts, where, messages, limit),
        )

    BEGINNINGS = ("deploy sl*", "de* sl*", '"redis c"*', "zebra de*", "source:telegram de* slow", "/redis/c*", "de*")

    @pytest.fixture
    def large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """As in a store where it pays to ask the index for less."""
        from sessiondb.backends.sqlite.index import beginnings, few

        for name, value in {"LARGE": 0, "COSTLY": 0, "SAMPLED": 100}.items():
            monkeypatch.setattr(beginnings, name, value)
        monkeypatch.setattr(few, "LARGE", 0)

    @pytest.mark.parametrize("box", [*QUESTIONS, *BEGINNINGS])
    def test_index_and_rows_agree(self, store: SessionDB, box: str) -> None:
        indexed, scanned = self.both(store, box, 1000)
        assert {(hit.id, hit.held) for hit in indexed.hits} == {(hit.id, hit.held) for hit in scanned.hits}

    @pytest.mark.usefixtures("large")
    @pytest.mark.parametrize("box", [*QUESTIONS, *BEGINNINGS])
    def test_in_a_large_store_they_agree_as_well(self, store: SessionDB, box: str) -> None:
        store.index()
        store.append_message("s1", "user", "deploy redis cache, slowly")
        store.replace_messages("s2", [{"role": "user", "content": "slow deploys of redis"}])
        indexed, scanned = self.both(store, box, 1000)
        assert {(hit.id, hit.held) for hit in indexed.hits} == {(hit.id, hit.held) for hit in scanned.hits}

    @pytest.mark.parametrize("read", [0, 1000])
    @pytest.mark.parametrize(
        "box", [*QUESTIONS, *BEGINNINGS, "deploy slow failed nginx", "deploy nginx zebra", "slow -redis deploy"]
    )
    @pytest.mark.parametrize("size", ["small", "large"])
    def test_of_common_words_nothing_is_made_up_and_the_whole_is_known(
        self,
        store: SessionDB,
        box: str,
        read: int,
        size: str,
        monkeypatch: pytest.MonkeyPatch,
        request: pytest.FixtureRequest,
    ) -> None:
        if size == "large":
            request.getfixturevalue("large")
        from sessiondb.backends.sqlite.index import partial

        for said in ("deploy nginx zebra", "deploy slow failed nginx"):
            store.append_message("s0", "user", said)
        monkeypatch.setattr(partial, "TAKEN", 10)
        monkeypatch.setattr(partial, "READ", read)
        indexed, scanned = self.both(store, box, 1000)
        really = {hit.id: hit.held for hit in scanned.hits}
        assert all(hit.held & ~really[hit.id] == 0 for hit in indexed.hits)
        rare = [bit for bit, count in enumerate(scanned.containing) if count < 10]
        beside = {each for each, held in really.items() if any(held >> bit & 1 for bit in rare)}
        assert {hit.id: hit.held for hit in indexed.hits if hit.id in beside} == {each: really[each] for each in beside}

    def test_in_a_large_store_common_words_of_a_path_are_found_as_typed(
        self, store: SessionDB, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from sessiondb.backends.sqlite.index import partial

        store.append_messages("s0", [{"role": "user", "content": "deploying nginx"}, *[DEPLOYED] * 20])
        monkeypatch.setattr(partial, "NARROWED_FROM", 10)
        indexed, scanned = self.both(store, "deploy/nginx", 1000)
        inflected = {hit.id for hit in scanned.hits} - {hit.id for hit in indexed.hits}
        assert {row["content"] for row in map(store.provider.get_message, inflected) if row} == {"deploying nginx"}

    def test_a_beginning_that_was_typed_stays_one_in_a_large_store(
        self, store: SessionDB, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from sessiondb.backends.sqlite.index import partial

        store.append_messages("s0", [{"role": "user", "content": "deploying nginx"}, *[DEPLOYED] * 20])
        monkeypatch.setattr(partial, "NARROWED_FROM", 10)
        indexed, scanned = self.both(store, "deploy* nginx", 1000)
        whole = {hit.id for hit in scanned.hits if hit.held & 1}
        assert {hit.id for hit in indexed.hits if hit.held & 1} == whole

    @pytest.mark.parametrize("machines", [0, 3, 60])
    @pytest.mark.parametrize(
        "box", ["deploy nginx", "deploy", "nginx slow", "deploy -redis", "role:user deploy", "zebra"]
    )
    def test_when_many_hold_the_whole_the_same_come_first_whether_parts_are_asked_or_not(
        self, store: SessionDB, box: str, machines: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from sessiondb.backends.sqlite.index import answer, partial

        store.create_session("night", "cron")
        store.append_messages("night", [{"role": "user", "content": "deploy nginx slow"}] * machines)
        monkeypatch.setattr(partial, "TAKEN", 10)
        asked, _ = self.both(store, box, 5)
        monkeypatch.setattr(partial, "FILLED_FROM", 0)
        monkeypatch.setattr(answer, "PROBED_FROM", 20)
        filled, _ = self.both(store, box, 5)
        assert [(hit.id, hit.held) for hit in filled.hits] == [(hit.id, hit.held) for hit in asked.hits]

    def test_when_many_hold_the_whole_nobody_asks_for_the_parts(
        self, store: SessionDB, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from sessiondb.backends.sqlite.index import partial

        monkeypatch.setattr(partial, "FILLED_FROM", 0)
        monkeypatch.setattr(partial, "TAKEN", 10)
        monkeypatch.setattr(partial.Partial, "_held", None)
        filled, scanned = self.both(store, "deploy", 5)
        assert [hit.id for hit in filled.hits] == [hit.id for hit in scanned.hits]

    @pytest.mark.parametrize("read", [0, 1, 1000])
    @pytest.mark.parametrize("box", ["/etc/app/rare.conf", '"etc app rare conf"', '"app rare conf"', '"etc rare"'])
    def test_phrases_of_words_that_seldom_meet_are_found_whichever_way_they_are_asked(
        self, store: SessionDB, box: str, read: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from sessiondb.backends.sqlite.index import answer, partial

        said = ["/etc/app/rare.conf", *["the conf of etc is an app"] * 40, "its app/rare.conf", "/etc/app/rare", "rare"]
        store.append_messages("s0", [{"role": "user", "content": content} for content in said])
        store.append_messages("s0", [{"role": "user", "content": "etc, conf"}] * 400)
        monkeypatch.setattr(answer, "PROBED_FROM", 20)
        monkeypatch.setattr(partial, "READ_OF_SHORTENED", read)
        indexed, scanned = self.both(store, box, 1000)
        assert {(hit.id, hit.held) for hit in indexed.hits} == {(hit.id, hit.held) for hit in scanned.hits}

    def test_a_common_word_of_a_phrase_is_left_to_those_who_read(
        self, store: SessionDB, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from sessiondb.backends.sqlite.index import answer, partial

        store.append_messages("s0", [{"role": "user", "content": "see /etc/app/rare.conf"}])
        store.append_messages("s0", [{"role": "user", "content": "etc, conf"}] * 400)
        monkeypatch.setattr(answer, "PROBED_FROM", 20)
        read: list[int] = []
        that_hold = partial.Partial._that_hold

        def counting(self: partial.Partial, part: Node, found: list[Row]) -> list[Row]:
            read.append(len(found))
            return that_hold(self, part, found)

        monkeypatch.setattr(partial.Partial, "_that_hold", counting)
        assert store.provider.candidates([Phrase(("etc", "app", "rare", "conf"))], Filter(), MessageFilter(), 5).hits
        assert read == [1]

    def test_people_s_are_not_crowded_out_by_machines(self, store: SessionDB) -> None:
        store.create_session("night", "cron")
        store.append_messages("night", [{"role": "user", "content": "deploy nginx redis cache slow failed"}] * 700)
        indexed, scanned = self.both(store, "deploy nginx redis slow failed", 20)
        assert {hit.source for hit in indexed.hits} == {hit.source for hit in scanned.hits} == {"cli", "telegram"}
