"""The tool that agents call: four modes, exact words, ids to cite, and an answer that fits."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recall_names import Tell

from sessiondb import Invalid, NotFound, SessionDB
from sessiondb.testing.clock import FakeClock
from sessiondb.tools.request import LEAST_CHARACTERS
from sessiondb.tools.seed_shape import NO_SUMMARY, seed_shape
from sessiondb.tools.session_search import FUNCTION, HEAD, SCHEMA, TAIL, WHOLE, handle, session_search

DAY = 86400.0
LONG = [f"turn {number} of a long story" for number in range(40)]


def sessions(answer: dict[str, Any]) -> list[str]:
    return [each["session_id"] for each in answer["results"]]


def ids(entries: list[dict[str, Any]]) -> list[int]:
    return [each["message_id"] for each in entries]


class TestDiscover:
    def test_a_question_finds_its_answer_in_its_place(self, db: SessionDB, tell: Tell) -> None:
        told = tell("a", *LONG[:20], "staging listens on port 8443", *LONG[20:])
        tell("b", "nice weather today")
        answer = session_search(db, {"query": "Which port does staging listen on?"})
        (found,) = answer["results"]
        assert (answer["mode"], answer["count"], found["session_id"]) == ("discover", 1, "a")
        assert found["hit"]["message_id"] == told[20]
        assert ">>>port<<<" in found["hit"]["snippet"]
        assert ids(found["messages"]) == told[15:26]
        assert [each["message_id"] for each in found["messages"] if each.get("anchor")] == [told[20]]

    def test_it_tells_how_the_session_began_and_ended(self, db: SessionDB, tell: Tell) -> None:
        told = tell("a", *LONG[:20], "staging listens on port 8443", *LONG[20:])
        (found,) = session_search(db, {"query": "port 8443"})["results"]
        assert (ids(found["begins"]), ids(found["ends"])) == (told[:3], told[-3:])

    def test_nothing_is_shown_twice(self, db: SessionDB, tell: Tell) -> None:
        told = tell("a", "one", "port 8443", "three", "four")
        (found,) = session_search(db, {"query": "8443"})["results"]
        assert ids(found["messages"]) == told
        assert "begins" not in found
        assert "ends" not in found

    def test_a_lineage_is_one_result_named_by_its_root(self, db: SessionDB, tell: Tell) -> None:
        tell("root", "the port is 8443")
        child = db.rotate_session("root", new_id="child")
        (hit,) = db.append_messages(child, [{"role": "user", "content": "the port of staging is 8443"}])
        answer = session_search(db, {"query": "port 8443 staging"})
        assert sessions(answer) == ["root"]
        assert answer["results"][0]["hit"]["session_id"] == "child"
        assert answer["results"][0]["hit"]["message_id"] == hit

    def test_the_present_conversation_is_left_out_with_its_lineage(self, db: SessionDB, tell: Tell) -> None:
        tell("old", "the port is 8443")
        tell("now", "the port is 8443")
        following = db.rotate_session("now", new_id="now-2")
        db.append_message(following, "user", "which port, 8443?")
        assert sessions(session_search(db, {"query": "8443"}, current_session_id="now-2")) == ["old"]

    def test_automation_comes_last(self, db: SessionDB, tell: Tell) -> None:
        tell("cron", "backup backup backup", source="cron")
        tell("cli", "the backup of last year, which ran long before all this", age=300 * DAY)
        assert sessions(session_search(db, {"query": "backup"})) == ["cli", "cron"]

    def test_a_title_is_found_and_marked(self, db: SessionDB, tell: Tell) -> None:
        told = tell("a", "hello", "hi")
        db.set_session_title("a", "wireguard tunnel")
        (found,) = session_search(db, {"query": "wireguard"})["results"]
        assert (found["hit"]["matched"], found["hit"]["message_id"]) == ("title", told[0])

    def test_a_title_is_marked_where_a_message_has_the_words_too(self, db: SessionDB, tell: Tell) -> None:
        tell("a", "the wireguard tunnel is slow")
        tell("b", "wireguard again")
        db.set_session_title("a", "wireguard tunnel")
        found = session_search(db, {"query": "wireguard"})["results"]
        marked = {each["session_id"]: each.get("title_matched", False) for each in found}
        assert marked == {"a": True, "b": False}

    def test_a_conversation_was_last_active_in_its_newest_part(self, db: SessionDB, tell: Tell) -> None:
        tell("a", "the port is 8443", age=20 * DAY)
        following = db.rotate_session("a", new_id="a-2")
        db.append_message(following, "user", "is it 8443 still?", timestamp=db._clock())
        for arguments in ({"query": "still 8443"}, {}):
            (found,) = session_search(db, arguments)["results"]
            assert (found["session_id"], found["latest_session_id"]) == ("a", "a-2")
            assert found["last_active"] > found["when"]

    def test_partial_matches_are_marked(self, db: SessionDB, tell: Tell) -> None:
        tell("a", "wireguard needs an mtu")
        (found,) = session_search(db, {"query": "wireguard zebra"})["results"]
        assert found["hit"]["partial"] is True

    def test_roles_sources_tags_and_times_narrow(self, db: SessionDB, tell: Tell) -> None:
        tell("cli", "port 8443", "port 8443 it is")
        tell("chat", "port 8443", source="telegram", age=20 * DAY)
        db.tag_session("chat", "ops")
        found = {
            "source": session_search(db, {"query": "8443", "source": "telegram"}),
            "tags": session_search(db, {"query": "8443", "tags": ["ops"]}),
            "since": session_search(db, {"query": "8443", "since": "7d"}),
            "until": session_search(db, {"query": "8443", "until": "7d"}),
        }
        assert {name: sessions(answer) for name, answer in found.items()} == {
            "source": ["chat"], "tags": ["chat"], "since": ["cli"], "until": ["chat"],
        }  # fmt: skip
        (of_role,) = session_search(db, {"query": "8443", "role_filter": "assistant"})["results"]
        assert of_role["hit"]["role"] == "assistant"

    @pytest.mark.parametrize(("sort", "first"), [("newest", "new"), ("oldest", "old")])
    def test_it_can_go_by_time(self, db: SessionDB, tell: Tell, sort: str, first: str) -> None:
        tell("old", "8443 " * 5, age=DAY)
        tell("new", "8443 and many other words that make it matter less")
        assert sessions(session_search(db, {"query": "8443", "sort": sort}))[0] == first

    def test_nothing_found_says_so_and_what_may_be_meant(self, db: SessionDB, tell: Tell) -> None:
        tell("a", "wireguard needs an mtu")
        answer = session_search(db, {"query": "wiregaurd"})
        assert (answer["success"], answer["results"]) == (True, [])
        assert "wireguard" in answer["message"]

    def test_the_same_question_has_the_same_answer(self, db: SessionDB, tell: Tell) -> None:
        for number in range(6):
            tell(f"s{number}", "port 8443", "yes", age=number * DAY)
        assert handle(db, {"query": "port"}) == handle(db, {"query": "port"})


class TestRecent:
    def test_without_arguments_the_recent_conversations_come(self, db: SessionDB, tell: Tell) -> None:
        tell("old", "first words", age=3 * DAY)
        tell("new", "other words", age=DAY)
        tell("now", "present words")
        answer = session_search(db, {}, current_session_id="now")
        assert (answer["mode"], sessions(answer)) == ("recent", ["new", "old"])
        assert answer["results"][0]["preview"] == "other words"

    def test_filters_hold(self, db: SessionDB, tell: Tell) -> None:
        tell("old", "words", age=30 * DAY)
        tell("chat", "words", source="telegram")
        assert sessions(session_search(db, {"since": "7d"})) == ["chat"]
        assert sessions(session_search(db, {"source": "cli"})) == ["old"]

    def test_machines_come_last(self, db: SessionDB, tell: Tell) -> None:
        tell("cron", "ran", source="cron")
        tell("cli", "words", age=DAY)
        assert sessions(session_search(db, None)) == ["cli", "cron"]


class TestScroll:
    def test_the_messages_around_one(self, db: SessionDB, tell: Tell) -> None:
        told = tell("a", *LONG)
        answer = session_search(db, {"session_id": "a", "around_message_id": told[10], "window": 2})
        assert (answer["mode"], ids(answer["messages"])) == ("scroll", told[8:13])
        assert answer["messages"][2]["anchor"] is True

    def test_a_message_of_the_lineage_is_shown_where_it_is(self, db: SessionDB, tell: Tell) -> None:
        tell("root", "words")
        child = db.rotate_session("root", new_id="child")
        message = db.append_message(child, "user", "more words")
        answer = session_search(db, {"session_id": "root", "around_message_id": message})
        assert answer["session_id"] == "child"
        assert "'child'" in answer["notice"]

    def test_a_message_of_another_conversation_is_not_found(self, db: SessionDB, tell: Tell) -> None:
        tell("a", "words")
        (elsewhere,) = tell("b", "words")
        with pytest.raises(NotFound, match=f"no message {elsewhere} in session 'a'"):
            session_search(db, {"session_id": "a", "around_message_id": elsewhere})

    def test_the_present_conversation_is_refused(self, db: SessionDB, tell: Tell) -> None:
        (message,) = tell("now", "words")
        with pytest.raises(Invalid, match="present conversation"):
            session_search(db, {"session_id": "now", "around_message_id": message}, current_session_id="now")

    def test_what_compaction_took_out_of_it_is_shown(self, db: SessionDB, tell: Tell) -> None:
        (before,) = tell("root", "words before")
        db.rotate_session("root", new_id="now")
        answer = session_search(db, {"session_id": "root", "around_message_id": before}, current_session_id="now")
        assert ids(answer["messages"]) == [before]

    def test_messages_that_are_hidden_in_it_are_shown(self, db: SessionDB, tell: Tell) -> None:
        kept, hidden = tell("now", "one", "two")
        db.rewind_to_message("now", kept)
        answer = session_search(db, {"session_id": "now", "around_message_id": hidden}, current_session_id="now")
        assert ids(answer["messages"]) == [kept, hidden]


class TestRead:
    def test_a_short_session_comes_whole(self, db: SessionDB, tell: Tell) -> None:
        told = tell("a", *LONG[:WHOLE])
        answer = session_search(db, {"session_id": "a"})
        assert (answer["mode"], ids(answer["messages"])) == ("read", told)
        assert "omitted" not in answer

    def test_of_a_long_one_its_beginning_and_end(self, db: SessionDB, tell: Tell) -> None:
        told = tell("a", *LONG)
        answer = session_search(db, {"session_id": "a"})
        assert ids(answer["messages"]) == told[:HEAD] + told[-TAIL:]
        assert answer["omitted"] == len(told) - HEAD - TAIL

    def test_one_message_more_than_whole_shows_none_twice(self, db: SessionDB, tell: Tell) -> None:
        told = tell("a", *LONG[: WHOLE + 1])
        answer = session_search(db, {"session_id": "a"})
        assert len(set(ids(answer["messages"]))) == len(answer["messages"]) == WHOLE
        assert answer["omitted"] == len(told) - WHOLE

    @pytest.mark.parametrize("name", ["20260101_a", "20260101", "nginx 502"])
    def test_id_prefix_and_title_name_it(self, db: SessionDB, tell: Tell, name: str) -> None:
        tell("20260101_a", "words")
        db.set_session_title("20260101_a", "nginx 502")
        assert session_search(db, {"session_id": name})["session_id"] == "20260101_a"

    def test_the_present_one_shows_what_was_compacted_only(self, db: SessionDB, tell: Tell) -> None:
        kept, hidden = tell("now", "one", "two")
        with pytest.raises(Invalid, match="nothing of it was compacted"):
            session_search(db, {"session_id": "now"}, current_session_id="now")
        db.rewind_to_message("now", kept)
        assert ids(session_search(db, {"session_id": "now"}, current_session_id="now")["messages"]) == [hidden]


class TestBudget:
    @pytest.mark.parametrize("max_chars", [LEAST_CHARACTERS, 5_000, 20_000, 100_000])
    @pytest.mark.parametrize("wanted", [{"query": "port"}, {"session_id": "s1"}])
    def test_the_answer_fits(self, db: SessionDB, tell: Tell, max_chars: int, wanted: dict[str, str]) -> None:
        for number in range(8):
            tell(f"s{number}", *(f"port {turn} " + "lorem ipsum " * 300 for turn in range(30)))
        answer = handle(db, {**wanted, "limit": 8, "max_chars": max_chars})
        assert len(answer) <= max_chars
        assert json.loads(answer)["success"] is True

    def test_what_was_found_stays_in_sight(self, db: SessionDB, tell: Tell) -> None:
        tell("a", "lorem ipsum " * 3000 + "the needle is here " + "dolor sit " * 3000)
        answer = session_search(db, {"query": "needle", "max_chars": LEAST_CHARACTERS})
        assert "needle" in answer["results"][0]["messages"][0]["content"]


class TestArguments:
    @pytest.mark.parametrize(
        ("arguments", "complaint"),
        [
            ({"limits": 3}, "unknown argument 'limits'"),
            ({"limit": "many"}, "limit must be a whole number"),
            ({"sort": "best"}, "sort must be one of relevance, newest, oldest"),
            ({"role_filter": "human"}, "no role 'human'"),
            ({"since": "soon"}, "since takes an ISO date"),
            ({"around_message_id": 3}, "around_message_id needs session_id"),
            ({"query": 5}, "query must be text"),
            ({"summarize": "perhaps"}, "summarize must be true or false"),
        ],
    )
    def test_what_cannot_be_taken_is_named(self, db: SessionDB, arguments: dict[str, Any], complaint: str) -> None:
        with pytest.raises(Invalid, match=complaint):
            session_search(db, arguments)
        answer = json.loads(handle(db, arguments))
        assert answer["success"] is False
        assert complaint in answer["error"]

    def test_an_unknown_session_is_named(self, db: SessionDB) -> None:
        with pytest.raises(NotFound, match="no session 'nobody'"):
            session_search(db, {"session_id": "nobody"})

    def test_numbers_may_be_text_and_are_moved_into_their_bounds(self, db: SessionDB, tell: Tell) -> None:
        for number in range(12):
            tell(f"s{number}", "port")
        assert session_search(db, {"query": "port", "limit": "99"})["count"] == 10
        assert session_search(db, {"query": "port", "limit": 0})["count"] == 1

    def test_every_argument_is_in_the_schema(self) -> None:
        from sessiondb.tools.request import _READERS

        assert SCHEMA["parameters"]["properties"].keys() == _READERS.keys()
        assert json.loads(json.dumps(FUNCTION))["function"]["name"] == "session_search"

    def test_summaries_without_a_model_say_so_and_the_rest_arrives(self, db: SessionDB, tell: Tell) -> None:
        tell("a", "port 8443")
        answer = session_search(db, {"query": "8443", "summarize": True})
        assert "llm.base_url" in answer["summaries"]
        assert sessions(answer) == ["a"]


class TestSeedShape:
    def test_results_have_the_fields_of_the_first_tool(self, db: SessionDB, tell: Tell, clock: FakeClock) -> None:
        tell("a", "port 8443", model="large-model")
        shaped = seed_shape(session_search(db, {"query": "8443"}))
        assert shaped.keys() == {"success", "query", "results", "count", "sessions_searched"}
        (found,) = shaped["results"]
        assert found.keys() == {"session_id", "when", "source", "model", "summary"}
        assert found["summary"] == f"{NO_SUMMARY}\n[USER]: port 8443"
        assert " at " in found["when"]

    def test_recent_sessions_are_told_as_they_were(self, db: SessionDB, tell: Tell) -> None:
        tell("a", "words")
        shaped = seed_shape(session_search(db))
        assert (shaped["mode"], shaped["success"], shaped["count"]) == ("recent", True, 1)
        assert shaped["results"][0].keys() == {
            "session_id", "title", "source", "started_at", "last_active", "message_count", "preview"
        }  # fmt: skip

    def test_what_it_did_not_know_stays_as_it_is(self, db: SessionDB, tell: Tell) -> None:
        tell("a", "words")
        for answer in (session_search(db, {"session_id": "a"}), {"success": False, "error": "no"}):
            assert seed_shape(answer) == answer

    def test_nothing_found_has_a_message(self, db: SessionDB) -> None:
        assert seed_shape(session_search(db, {"query": "nothing"}))["message"]


class TestKinds:
    def test_a_kind_alone_lists_conversations_with_such_a_thing(self, db: SessionDB, tell: Tell) -> None:
        tell("a", "Which host?", "We decided to keep the old host.")
        tell("b", "nothing of note")
        (found,) = session_search(db, {"kind": "decision"})["results"]
        assert found["session_id"] == "a"
        assert found["hit"]["snippet"] == ">>>We decided to keep the old host.<<<"

    def test_people_have_it_before_machines(self, db: SessionDB, tell: Tell) -> None:
        tell("cli", "We decided to keep the old host.", age=300 * DAY)
        for number in range(60):
            tell(f"cron{number}", "We decided to keep the old host.", source="cron")
        assert sessions(session_search(db, {"kind": "decision"}))[0] == "cli"
        assert sessions(session_search(db, {"kind": "decision", "sort": "newest"}))[0] == "cron59"
        assert sessions(session_search(db, {"kind": "decision", "source": "cron"}))[0] == "cron59"

    def test_with_a_query_both_must_hold(self, db: SessionDB, tell: Tell) -> None:
        tell("a", "We decided to keep the old host.")
        tell("b", "The old host is slow.")
        assert sessions(session_search(db, {"query": "old host", "kind": "decision"})) == ["a"]

    def test_the_answer_to_a_question_may_be_the_decision(self, db: SessionDB, tell: Tell) -> None:
        told = tell("a", "Which database for staging?", "We decided to use PostgreSQL.")
        (found,) = session_search(db, {"query": "database staging", "kind": "decision"})["results"]
        assert found["hit"]["message_id"] == told[1]

    def test_the_present_conversation_does_not_hide_the_others(self, db: SessionDB, tell: Tell) -> None:
        tell("a", "TODO: paint the fence")
        tell("now", *["TODO: something else"] * 60)
        answer = session_search(db, {"kind": "todo"}, current_session_id="now")
        assert sessions(answer) == ["a"]
