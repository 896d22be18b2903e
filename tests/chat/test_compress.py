"""Compression: the old session keeps every word, the new one begins with a summary; one transaction, one family."""

from __future__ import annotations

import threading
import time

import pytest
from chat_helpers import Ear, exchange, stored

from chat_endpoint import ChatEndpoint
from sessiondb import Invalid, SessionDB
from sessiondb.chat.compress import compress, is_long, quotes
from sessiondb.chat.loop import Agent
from sessiondb.chat.own import OwnDesk
from sessiondb.chat.settings import Settings
from sessiondb.gateway.keys import Source
from sessiondb.gateway.router import Router
from sessiondb.insights import gather, insights, window


def talked(db: SessionDB, session_id: str, *texts: str) -> str:
    db.create_session(session_id, "cli")
    roles = ("user", "assistant")
    db.append_messages(session_id, [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)])
    return session_id


class TestCompress:
    def test_the_child_begins_with_the_summary_of_the_model(self, db: SessionDB, endpoint: ChatEndpoint) -> None:
        talked(db, "s", "deploy to web-3", "done")
        endpoint.reply = lambda request: "web-3 was deployed"
        made = compress(db, "s", endpoint=endpoint.endpoint())
        first = db.get_messages(made.session_id)[0]
        assert (made.by, first["role"], first["injected"]) == ("model", "system", 1)
        assert "web-3 was deployed" in first["content"]
        assert "session s" in first["content"]
        assert "deploy to web-3" in endpoint.requests[0]["messages"][1]["content"]

    def test_without_a_model_it_is_made_of_quotes(self, db: SessionDB) -> None:
        talked(db, "s", "where is the config?", "In /etc/nginx/nginx.conf. We decided to use port 8080.")
        made = compress(db, "s")
        assert made.by == "quotes"
        assert "where is the config?" in made.summary
        assert "- /etc/nginx/nginx.conf" in made.summary
        assert "decided to use port 8080" in made.summary

    def test_a_model_that_fails_costs_nothing(self, db: SessionDB, endpoint: ChatEndpoint) -> None:
        endpoint.status, endpoint.body = 500, b"{}"
        talked(db, "s", "one", "two")
        assert compress(db, "s", endpoint=endpoint.endpoint()).by == "quotes"

    def test_the_parent_keeps_every_word_and_its_end(self, db: SessionDB) -> None:
        talked(db, "s", "one", "two")
        child = compress(db, "s").session_id
        parent, heir = db.get_session("s"), db.get_session(child)
        assert parent is not None
        assert heir is not None
        assert stored(db, "s") == [("user", "one"), ("assistant", "two")]
        assert (parent["end_reason"], heir["relation"], heir["parent_session_id"]) == (
            "compression",
            "compression",
            "s",
        )
        assert db.verify().ok

    def test_the_title_is_counted_on(self, db: SessionDB) -> None:
        db.set_session_title(talked(db, "s", "one", "two"), "my project")
        child = compress(db, "s").session_id
        assert db.get_session_title(child) == "my project #2"
        assert db.resolve_session_by_title("my project") == child

    def test_an_earlier_summary_lives_on(self, db: SessionDB) -> None:
        talked(db, "s", "the code word is rosebud", "noted")
        second = compress(db, "s").session_id
        db.append_messages(second, [{"role": "user", "content": "go on"}, {"role": "assistant", "content": "yes"}])
        assert "rosebud" in compress(db, second).summary

    def test_what_waits_for_an_answer_goes_along(self, db: SessionDB) -> None:
        talked(db, "s", "one", "two")
        db.append_message("s", "user", "and three?", message_key="update:3")
        child = compress(db, "s").session_id
        last = db.get_messages(child)[-1]
        assert (last["role"], last["content"], last["message_key"]) == ("user", "and three?", "update:3")

    def test_nothing_said_is_nothing_to_compress(self, db: SessionDB) -> None:
        db.create_session("s", "cli")
        with pytest.raises(Invalid, match="nothing to compress"):
            compress(db, "s")

    def test_called_twice_it_goes_on_in_the_same_child(self, db: SessionDB) -> None:
        talked(db, "s", "one", "two")
        first = compress(db, "s").session_id
        assert compress(db, "s").session_id == first
        assert len(db.get_messages(first)) == 1

    def test_what_waits_goes_along_even_when_somebody_else_was_first(self, db: SessionDB) -> None:
        talked(db, "s", "one", "two")
        first = compress(db, "s").session_id
        db.append_message("s", "user", "said meanwhile")
        assert compress(db, "s").session_id == first
        assert [text for role, text in stored(db, first) if role == "user"] == ["said meanwhile"]

    def test_a_long_story_makes_a_short_summary(self, db: SessionDB) -> None:
        talked(db, "s", *(f"{at} " + "blah " * 500 for at in range(200)))
        assert len(quotes(db.get_messages("s"))) < 10_000


class TestByItself:
    def test_a_long_conversation_goes_on_with_a_summary(
        self, db: SessionDB, desk: OwnDesk, endpoint: ChatEndpoint
    ) -> None:
        agent = Agent(db, endpoint.endpoint(), Settings(compress_at=300, tools=False))
        endpoint.reply = lambda request: "in short" if "max_tokens" in request else "word " * 100
        ear = Ear()
        first = None
        for number in range(6):
            exchange(agent, desk, f"question {number}", ear)
            first = first or desk.session_id
        assert desk.session_id != first
        assert any("goes on in" in notice for notice in ear.notices)
        family = [row["id"] for row in db.family(first or "")]
        assert desk.session_id in family
        asked = [text for each in family for role, text in stored(db, each) if role == "user"]
        assert {f"question {number}" for number in range(6)} == set(asked)
        lead = endpoint.requests[-1]["messages"][0]
        assert "in short" in lead["content"]
        assert db.verify().ok

    def test_zero_means_never(self, db: SessionDB, desk: OwnDesk, endpoint: ChatEndpoint) -> None:
        agent = Agent(db, endpoint.endpoint(), Settings(compress_at=0))
        endpoint.reply = lambda request: "word " * 2000
        for number in range(5):
            exchange(agent, desk, f"question {number}")
        assert db.session_count() == 1

    def test_a_single_long_message_is_no_reason(self) -> None:
        assert not is_long([{"role": "user", "content": "x" * 100_000}], 100)

    def test_a_chat_goes_on_in_the_child_and_a_redelivery_is_known(self, db: SessionDB, endpoint: ChatEndpoint) -> None:
        agent = Agent(db, endpoint.endpoint(), Settings(compress_at=50, tools=False))
        router, ann = Router(db), Source("telegram", chat_id="1", user_id="ann")
        endpoint.reply = lambda request: "in short" if "max_tokens" in request else "word " * 100
        for number in range(3):
            turn = router.receive(ann, f"question {number}", message_key=f"update:{number}").turn
            assert turn is not None
            turn.end(agent.answer(turn, Ear(), threading.Event()).last_words)
        now = router.resolve(ann).session_id
        assert (db.get_session(now) or {})["relation"] == "compression"
        assert stored(db, now)[-1] == ("assistant", "word " * 100)
        assert [router.receive(ann, "x", message_key=f"update:{at}").status for at in (2,)] == ["duplicate"]


class TestTheFamily:
    def test_search_and_insights_follow_it(self, db: SessionDB, desk: OwnDesk, agent: Agent) -> None:
        exchange(agent, desk, "the frobnicator is in /opt/frob")
        first = desk.session_id
        child = compress(db, first or "").session_id
        desk.switch(child)
        exchange(agent, desk, "what now?")
        assert {hit["session_id"] for hit in db.search_messages("frobnicator")} >= {first}
        listed = db.list_sessions_rich(order_by="activity")
        assert [row["id"] for row in listed] == [child]
        told = insights(gather(db.provider, window(1, time.time())))
        assert (told.total.tokens.total, told.continuations) == (28, 1)
