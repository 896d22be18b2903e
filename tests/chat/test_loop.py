"""The loop answers, runs tools for real, stores each step before the next; an endpoint that fails costs nothing."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chat_helpers import Ear, exchange, stored

from chat_endpoint import BREAK, ChatEndpoint, tool_call
from sessiondb import Invalid, SessionDB
from sessiondb.chat.loop import Agent
from sessiondb.chat.own import OwnDesk, OwnTalk
from sessiondb.chat.settings import Settings
from sessiondb.llm import Endpoint


def asked(agent: Agent, talk: OwnTalk, ear: Ear, stop: threading.Event | None = None) -> Any:
    return agent.answer(talk, ear, stop or threading.Event())


def calling_once(name: str, arguments: str, then: str = "nginx does") -> Any:
    """A model that calls a tool, and answers when it has the result."""
    return lambda request: then if request["messages"][-1]["role"] == "tool" else [tool_call(name, arguments)]


class TestAnAnswer:
    def test_comes_in_pieces_and_is_left_to_the_caller_to_store(
        self, agent: Agent, talk: OwnTalk, ear: Ear, endpoint: ChatEndpoint, db: SessionDB
    ) -> None:
        endpoint.reply = lambda request: ["nginx ", "does"]
        reply = asked(agent, talk, ear)
        assert (reply.text, reply.finish, reply.problem) == ("nginx does", "stop", None)
        assert [each[1] for each in ear.heard] == ["nginx ", "does"]
        assert stored(db, talk.session_id) == [("user", "what runs on port 80?")]
        assert reply.last_words[0]["content"] == "nginx does"

    def test_the_conversation_so_far_is_asked_with(self, agent: Agent, desk: OwnDesk, endpoint: ChatEndpoint) -> None:
        exchange(agent, desk, "one")
        exchange(agent, desk, "two")
        sent = [(turn["role"], turn["content"]) for turn in endpoint.requests[-1]["messages"][1:]]
        assert sent == [("user", "one"), ("assistant", "An answer"), ("user", "two")]

    def test_tokens_are_counted_for_the_session_and_the_message(
        self, agent: Agent, desk: OwnDesk, endpoint: ChatEndpoint, db: SessionDB
    ) -> None:
        details = {"cached_tokens": 4}
        endpoint.usage = {"prompt_tokens": 11, "completion_tokens": 3, "prompt_tokens_details": details, "cost": 0.5}
        exchange(agent, desk, "one")
        exchange(agent, desk, "two")
        session = db.get_session(desk.session_id or "")
        assert session is not None
        counted = [session[name] for name in ("input_tokens", "cache_read_tokens", "output_tokens", "actual_cost_usd")]  # type: ignore[literal-required]
        assert counted == [14, 8, 6, 1.0]
        assert session["model"] == "small"
        last = db.get_messages(session["id"])[-1]
        assert (last["input_tokens"], last["output_tokens"], last["model"]) == (11, 3, "small")

    def test_an_endpoint_that_cannot_count_while_it_streams_is_asked_without(
        self, agent: Agent, desk: OwnDesk, endpoint: ChatEndpoint
    ) -> None:
        endpoint.unknown = "stream_options"
        assert exchange(agent, desk, "one").text == "An answer"
        assert "stream_options" not in endpoint.requests[-1]

    def test_an_endpoint_that_counts_nothing_is_believed(
        self, agent: Agent, desk: OwnDesk, endpoint: ChatEndpoint, db: SessionDB
    ) -> None:
        endpoint.usage = {"prompt_tokens": "many"}
        assert exchange(agent, desk, "one").finish == "stop"
        assert (db.get_session(desk.session_id or "") or {})["input_tokens"] == 0


class TestTools:
    def test_a_call_is_stored_before_it_runs_and_its_result_after(
        self, db: SessionDB, talk: OwnTalk, ear: Ear, endpoint: ChatEndpoint
    ) -> None:
        seen: list[Any] = []

        def look(arguments: dict[str, Any], talk: Any) -> str:
            seen.extend(db.get_tool_calls(talk.session_id))
            return f"{arguments['port']}: nginx"

        agent = Agent(db, endpoint.endpoint(), tools={"look": ({"name": "look", "parameters": {}}, look)})
        endpoint.reply = calling_once("look", '{"port": 80}')
        assert asked(agent, talk, ear).text == "nginx does"
        assert [(each["tool_name"], each["status"]) for each in seen] == [("look", "pending")]
        assert [each["status"] for each in db.get_tool_calls(talk.session_id)] == ["completed"]
        assert stored(db, talk.session_id)[1:] == [("assistant", ""), ("tool", "80: nginx")]
        assert ear.heard[:2] == [("begins", "look", '{"port": 80}'), ("ends", "look", "80: nginx")]

    def test_session_search_is_built_in(
        self, agent: Agent, talk: OwnTalk, ear: Ear, endpoint: ChatEndpoint, db: SessionDB
    ) -> None:
        db.create_session("before", "cli")
        db.append_message("before", "user", "the frobnicator is in /opt/frob")
        endpoint.reply = calling_once("session_search", '{"query": "frobnicator"}')
        asked(agent, talk, ear)
        assert "/opt/frob" in stored(db, talk.session_id)[-1][1]

    @pytest.mark.parametrize(
        ("name", "arguments", "told"),
        [
            ("teleport", "{}", "there is no tool 'teleport'"),
            ("session_search", "{half", "cannot be read"),
            ("session_search", "[1]", "must be a JSON object"),
            ("session_search", '{"session_id": "ghost"}', "no session 'ghost'"),
            ("broken", "{}", "ZeroDivisionError"),
            ("slow", "{}", "no result within 0.2 seconds"),
        ],
    )
    def test_what_goes_wrong_is_told_to_the_model(
        self, db: SessionDB, talk: OwnTalk, ear: Ear, endpoint: ChatEndpoint, name: str, arguments: str, told: str
    ) -> None:
        tools: dict[str, Any] = {
            "broken": ({"name": "broken"}, lambda arguments, talk: str(1 // 0)),
            "slow": ({"name": "slow"}, lambda arguments, talk: time.sleep(1)),
        }
        agent = Agent(db, endpoint.endpoint(), Settings(tool_timeout=0.2), tools)
        endpoint.reply = calling_once(name, arguments)
        assert asked(agent, talk, ear).finish == "stop"
        assert told in stored(db, talk.session_id)[-1][1]

    def test_calls_without_numbers_and_ids_are_understood(
        self, agent: Agent, talk: OwnTalk, ear: Ear, endpoint: ChatEndpoint, db: SessionDB
    ) -> None:
        def call(**function: str) -> dict[str, Any]:
            return {"tool_calls": [{"type": "function", "function": function}]}

        pieces = [call(name="session_search", arguments="{"), call(arguments="}"), call(name="other", arguments="{}")]
        endpoint.reply = lambda request: "done" if request["messages"][-1]["role"] == "tool" else pieces
        asked(agent, talk, ear)
        assert [each["tool_name"] for each in db.get_tool_calls(talk.session_id)] == ["session_search", "other"]
        results = [turn["tool_call_id"] for turn in endpoint.requests[-1]["messages"] if turn["role"] == "tool"]
        assert len(set(results)) == 2

    def test_arguments_told_as_an_object_are_understood(
        self, agent: Agent, talk: OwnTalk, ear: Ear, endpoint: ChatEndpoint, db: SessionDB
    ) -> None:
        call: dict[str, Any] = {"function": {"name": "session_search", "arguments": {"session_id": "ghost"}}}
        endpoint.reply = lambda request: (
            "done" if request["messages"][-1]["role"] == "tool" else [{"tool_calls": [call]}]
        )
        assert asked(agent, talk, ear).text == "done"
        assert "no session 'ghost'" in stored(db, talk.session_id)[-1][1]

    def test_a_model_that_never_stops_calling_is_stopped(
        self, db: SessionDB, talk: OwnTalk, ear: Ear, endpoint: ChatEndpoint
    ) -> None:
        endpoint.reply = lambda request: [tool_call("session_search", "{}")]
        reply = asked(Agent(db, endpoint.endpoint(), Settings(max_turns=3)), talk, ear)
        assert (reply.finish, len(endpoint.requests)) == ("max_turns", 3)
        assert "3 requests" in reply.last_words[0]["content"]


class TestTrouble:
    """Whatever an endpoint does, the question is kept, the trouble is told and stored, and the next answer works."""

    @pytest.mark.parametrize(
        ("trouble", "told"),
        [
            ({"status": 500, "body": b"{}"}, "status 500"),
            ({"status": 401, "body": b"{}"}, "status 401 (is llm.api_key right?)"),
            ({"status": 404, "body": b"{}"}, "status 404 (are llm.base_url and llm.model right?)"),
            ({"status": 400, "body": b"{}"}, "status 400 (if the model knows no tools, set chat.tools: false)"),
            ({"body": b"<html>hello</html>"}, "no stream of an answer"),
            ({"body": b"data: {nonsense\n\n"}, "did not answer"),
            ({"delay": 2.0}, "APITimeoutError"),
            ({"reply": lambda request: ["half of ", BREAK]}, "broke off"),
            ({"reply": lambda request: ["half of ", 2.0, "it"]}, "Timeout"),
            ({"reply": lambda request: ""}, "without text"),
            ({"reply": lambda request: [tool_call("session_search", '{"que'), BREAK]}, "broke off"),
        ],
    )
    def test_is_told_and_stored_and_nothing_is_lost(
        self, db: SessionDB, desk: OwnDesk, endpoint: ChatEndpoint, trouble: dict[str, Any], told: str
    ) -> None:
        agent = Agent(db, endpoint.endpoint(timeout=0.5))
        for name, value in trouble.items():
            setattr(endpoint, name, value)
        reply = exchange(agent, desk, "what runs on port 80?")
        assert reply.finish == "error"
        assert told in (reply.problem or "")
        rows = db.get_messages(desk.session_id or "")
        assert [row["role"] for row in rows] == ["user", "assistant"]
        assert rows[1]["finish_reason"] == "error"
        assert rows[1]["metadata"] == {"error": reply.problem}
        assert rows[1]["content"].startswith("half of " if reply.text else "[no answer: ")
        endpoint.status, endpoint.body, endpoint.delay, endpoint.reply = 200, None, 0.0, lambda request: "back"
        assert exchange(agent, desk, "and now?").text == "back"

    @pytest.mark.parametrize(
        "delta",
        [
            {"content": 5},
            {"content": ["text"]},
            {"tool_calls": 5},
            {"tool_calls": "abc"},
            {"tool_calls": [None, 5, {}]},
            {"tool_calls": [{"index": [], "id": 7, "function": {"name": 5, "arguments": [1]}}]},
            {"reasoning_content": {}},
        ],
    )
    def test_pieces_of_the_wrong_kind_are_told(
        self, agent: Agent, desk: OwnDesk, endpoint: ChatEndpoint, delta: dict[str, Any]
    ) -> None:
        endpoint.reply = lambda request: [delta]
        assert exchange(agent, desk, "what runs on port 80?").finish in ("error", "max_turns")
        endpoint.reply = lambda request: "back"
        assert exchange(agent, desk, "and now?").text == "back"

    def test_a_refusal_is_an_answer(self, agent: Agent, desk: OwnDesk, endpoint: ChatEndpoint) -> None:
        endpoint.reply = lambda request: [{"content": None, "refusal": "I will "}, {"refusal": "not"}]
        assert exchange(agent, desk, "do it").text == "I will not"

    def test_a_character_cut_in_two_is_put_together_and_half_of_one_is_sent_as_unreadable(
        self, agent: Agent, desk: OwnDesk, endpoint: ChatEndpoint
    ) -> None:
        endpoint.reply = lambda request: ["well \ud83d", "\ude00 done"]
        assert exchange(agent, desk, "caf\udce9").text == "well \N{GRINNING FACE} done"
        assert endpoint.requests[-1]["messages"][-1]["content"] == "caf\N{REPLACEMENT CHARACTER}"

    def test_nobody_there_is_told(self, db: SessionDB, desk: OwnDesk) -> None:
        agent = Agent(db, Endpoint("http://127.0.0.1:9/v1", "small", retries=0))
        assert "did not answer" in (exchange(agent, desk, "hello?").problem or "")

    def test_an_answer_without_end_is_cut(self, db: SessionDB, talk: OwnTalk, ear: Ear, endpoint: ChatEndpoint) -> None:
        endpoint.reply = lambda request: ["word ", 0.1] * 50
        reply = asked(Agent(db, endpoint.endpoint(), Settings(timeout=0.3)), talk, ear)
        assert (reply.finish, reply.problem) == ("error", "no end of the answer within 0.3 seconds")
        assert reply.text.startswith("word ")


class TestStopping:
    def test_keeps_what_was_said(self, agent: Agent, talk: OwnTalk, ear: Ear, endpoint: ChatEndpoint) -> None:
        stop = threading.Event()
        ear.on_text = lambda piece: stop.set()
        endpoint.reply = lambda request: ["so far", 3.0, " and on"]
        begun = time.monotonic()
        reply = asked(agent, talk, ear, stop)
        assert time.monotonic() - begun < 2
        assert (reply.finish, reply.text) == ("interrupted", "so far")
        assert (reply.last_words[0]["content"], reply.last_words[0]["finish_reason"]) == ("so far", "interrupted")

    def test_during_a_tool_leaves_no_call_open(
        self, db: SessionDB, talk: OwnTalk, ear: Ear, endpoint: ChatEndpoint
    ) -> None:
        stop = threading.Event()

        def slow(arguments: dict[str, Any], talk: Any) -> str:
            stop.set()
            time.sleep(1)
            return "late"

        agent = Agent(db, endpoint.endpoint(), tools={"slow": ({"name": "slow"}, slow)})
        endpoint.reply = lambda request: [tool_call("slow", "{}", "a"), tool_call("slow", "{}", "b", 1)]
        assert asked(agent, talk, ear, stop).finish == "interrupted"
        assert [each["status"] for each in db.get_tool_calls(talk.session_id)] == ["completed", "completed"]


class TestConfiguration:
    def test_without_a_model_it_says_what_to_set(self, db: SessionDB, tmp_path: Path) -> None:
        with pytest.raises(Invalid, match=r"set llm.base_url and llm.model in config.yaml"):
            Agent.from_config(db, env={"SESSIONDB_HOME": str(tmp_path)})

    def test_it_is_read(self, db: SessionDB, tmp_path: Path, endpoint: ChatEndpoint) -> None:
        endpoint.configure(tmp_path, "chat: {max_turns: 3, system_prompt: Be brief., tools: false}\n")
        agent = Agent.from_config(db, env={"SESSIONDB_HOME": str(tmp_path)})
        assert agent.settings == replace(Settings(), max_turns=3, system_prompt="Be brief.", tools=False)
        assert (agent.endpoint.base_url, agent.tools) == (endpoint.url, {})
