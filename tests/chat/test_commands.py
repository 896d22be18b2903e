"""Slash commands: one registry, for the terminal and for chats, within what the person may see."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from chat_helpers import Ear, exchange, stored

from chat_endpoint import ChatEndpoint, tool_call
from sessiondb import SessionDB
from sessiondb.chat.commands import COMMANDS, names, obey
from sessiondb.chat.desk import Desk, Outcome
from sessiondb.chat.loop import Agent
from sessiondb.chat.own import OwnDesk
from sessiondb.chat.settings import Settings
from sessiondb.gateway.desk import ChatDesk
from sessiondb.gateway.keys import Source
from sessiondb.gateway.router import Router
from sessiondb.gateway.scope import Scope
from sessiondb.gateway.transcripts import Transcripts


def told(line: str, desk: Desk, agent: Agent | None = None) -> str:
    return done(line, desk, agent).text


def done(line: str, desk: Desk, agent: Agent | None = None) -> Outcome:
    outcome = obey(line, desk, agent)
    assert outcome is not None
    return outcome


def spoken(desk: OwnDesk, *texts: str) -> str:
    """A conversation, by turns; its session."""
    for number, text in enumerate(texts):
        if number % 2 == 0:
            desk.say(text, print)
        else:
            desk.db.append_message(desk.session_id or "", "assistant", text)
    return desk.session_id or ""


class TestWhatIsACommand:
    @pytest.mark.parametrize("line", ["hello", "/etc/nginx/nginx.conf is wrong", "/ what", "//", "1/2", "", "/2"])
    def test_other_lines_are_not(self, desk: OwnDesk, line: str) -> None:
        assert obey(line, desk) is None

    def test_an_unknown_one_is_answered_with_a_near_one(self, desk: OwnDesk) -> None:
        assert told("/titel x", desk) == "There is no command /titel. Did you mean /title? /help lists them all."
        assert told("/xyzzy", desk) == "There is no command /xyzzy. /help lists them all."

    def test_case_and_the_name_of_a_bot_do_not_matter(self, desk: OwnDesk) -> None:
        assert "deploy" in told("/Title@our_bot deploy", desk)

    def test_search_is_not_ours_unless_config_says_so(self, db: SessionDB, desk: OwnDesk, agent: Agent) -> None:
        spoken(desk, "the frobnicator", "is here")
        assert obey("/search frobnicator", desk, agent) is None
        agent.settings = Settings(search_command="history")
        assert told("/search frobnicator", desk, agent) == told("/history frobnicator", desk, agent)

    def test_search_is_configured_for_hosts_without_an_agent_too(
        self, desk: OwnDesk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SESSIONDB_HOME", str(tmp_path))
        assert obey("/search x", desk) is None
        (tmp_path / "config.yaml").write_text("chat: {search_command: history}\n")
        assert obey("/search x", desk) is not None

    def test_help_names_every_command(self, desk: OwnDesk) -> None:
        shown = told("/help", desk)
        assert all(f"/{command.name}" in shown and command.help in shown for command in COMMANDS)
        assert all(name in shown for name in names())


class TestBeginningAnew:
    def test_new_archives_the_session_and_keeps_every_word(self, db: SessionDB, desk: OwnDesk) -> None:
        old = spoken(desk, "one", "two")
        assert old in told("/new", desk)
        assert desk.session_id is None
        fresh = spoken(desk, "three")
        assert fresh != old
        session, after = db.get_session(old), db.get_session(fresh)
        assert session is not None
        assert after is not None
        assert session["archived_at"] is not None
        assert session["end_reason"] == "session_reset"
        assert (after["parent_session_id"], after["relation"]) == (old, "reset")
        assert stored(db, old) == [("user", "one"), ("assistant", "two")]
        assert old not in told("/sessions", desk)
        assert "two" in told("/history two", desk)
        assert db.verify().ok

    def test_reset_leaves_the_session_in_the_list(self, db: SessionDB, desk: OwnDesk) -> None:
        old = spoken(desk, "one", "two")
        told("/reset", desk)
        spoken(desk, "three")
        assert old in told("/sessions", desk)

    def test_before_anything_was_said_nothing_is_left_behind(self, db: SessionDB, desk: OwnDesk) -> None:
        told("/new", desk)
        told("/reset", desk)
        assert db.session_count() == 0


class TestTitles:
    def test_set_and_shown(self, db: SessionDB, desk: OwnDesk) -> None:
        session = spoken(desk, "one")
        assert "no title" in told("/title", desk)
        assert told("/title  my   project ", desk) == "This session is called 'my project' now."
        assert told("/title", desk) == "This session is called 'my project'."
        assert db.get_session_title(session) == "my project"

    def test_kept_for_a_session_that_has_not_begun(self, db: SessionDB, desk: OwnDesk) -> None:
        assert "when it begins" in told("/title my project", desk)
        assert db.get_session_title(spoken(desk, "one")) == "my project"

    def test_a_taken_one_is_answered(self, db: SessionDB, desk: OwnDesk) -> None:
        db.create_session("other", "cli")
        db.set_session_title("other", "deploy")
        spoken(desk, "one")
        assert told("/title deploy", desk) == "The title 'deploy' is taken; choose another."

    def test_too_long_a_one_is_answered(self, desk: OwnDesk) -> None:
        assert "at most 100" in told("/title " + "x" * 101, desk)


class TestGoingBack:
    def test_resume_by_name_takes_the_latest_part(self, db: SessionDB, desk: OwnDesk) -> None:
        spoken(desk, "one", "two")
        told("/title my project", desk)
        told("/compress", desk)
        latest = desk.session_id
        told("/reset", desk)
        spoken(desk, "elsewhere")
        assert told("/resume my project", desk).startswith("Going on in my project #2")
        assert desk.session_id == latest

    def test_resume_by_the_id_of_an_early_part_goes_where_it_went_on(self, db: SessionDB, desk: OwnDesk) -> None:
        first = spoken(desk, "one", "two")
        told("/compress", desk)
        latest = desk.session_id
        told("/reset", desk)
        told(f"/resume {first}", desk)
        assert desk.session_id == latest

    def test_resume_brings_a_session_back_from_the_archive(self, db: SessionDB, desk: OwnDesk) -> None:
        old = spoken(desk, "one", "two")
        told("/new", desk)
        told(f"/resume {old}", desk)
        session = db.get_session(old)
        assert session is not None
        assert (session["archived_at"], session["ended_at"]) == (None, None)

    def test_resume_without_a_name_lists(self, desk: OwnDesk) -> None:
        session = spoken(desk, "one")
        assert session in told("/resume", desk)

    def test_an_unknown_name_is_answered(self, desk: OwnDesk) -> None:
        assert told("/resume ghost", desk) == "No session 'ghost' in this chat."


class TestTakingBack:
    def test_undo_takes_back_the_last_exchange(self, db: SessionDB, desk: OwnDesk) -> None:
        session = spoken(desk, "one", "two", "three", "four")
        assert told("/undo", desk) == "Taken back: 2 messages."
        assert stored(db, session) == [("user", "one"), ("assistant", "two")]
        told("/undo", desk)
        assert stored(db, session) == []
        assert told("/undo", desk) == "Nothing was said yet."
        assert db.verify().ok

    def test_what_a_host_noted_is_not_counted(self, db: SessionDB, desk: OwnDesk) -> None:
        session = spoken(desk, "one", "two", "three", "four")
        db.append_message(session, "session_meta", "/title plan", injected=True)
        assert told("/undo", desk) == "Taken back: 2 messages."

    def test_retry_asks_the_same_again(self, db: SessionDB, desk: OwnDesk) -> None:
        session = spoken(desk, "one", "two", "three", "four")
        assert done("/retry", desk).prompt == "three"
        assert stored(db, session) == [("user", "one"), ("assistant", "two")]

    def test_fork_goes_on_in_a_copy(self, db: SessionDB, desk: OwnDesk) -> None:
        session = spoken(desk, "one", "two")
        told("/title plan", desk)
        told("/fork", desk)
        copy = spoken(desk, "three")
        assert copy != session
        assert stored(db, copy) == [("user", "one"), ("assistant", "two"), ("user", "three")]
        assert len(stored(db, session)) == 2
        assert db.get_session_title(copy) == "plan #2"

    def test_a_copy_whose_name_is_taken_is_gone_on_in_all_the_same(self, db: SessionDB, desk: OwnDesk) -> None:
        session = spoken(desk, "one", "two")
        told("/title plan", desk)
        shown = told("/fork plan", desk)
        assert desk.session_id != session
        assert f"Going on in a copy, {desk.session_id}" in shown
        assert "'plan' is taken" in shown
        assert db.session_count() == 2


class TestLooking:
    def test_history_groups_hits_by_session(self, db: SessionDB, desk: OwnDesk) -> None:
        first = spoken(desk, "the frobnicator is broken", "the frobnicator needs oil")
        told("/title oil", desk)
        shown = told("/history frobnicator", desk)
        assert shown.count(first) == 1
        assert "user: the frobnicator is broken" in shown
        assert "assistant: the frobnicator needs oil" in shown
        assert shown.startswith("oil · ")

    def test_history_follows_the_family(self, db: SessionDB, desk: OwnDesk) -> None:
        first = spoken(desk, "the frobnicator is in /opt/frob", "noted")
        told("/compress", desk)
        spoken(desk, "what now?")
        assert first in told("/history frobnicator", desk)

    def test_usage_adds_up_the_parts(self, db: SessionDB, desk: OwnDesk, agent: Agent) -> None:
        exchange(agent, desk, "one")
        told("/compress", desk, agent)
        exchange(agent, desk, "two")
        shown = told("/usage", desk)
        assert "in 2 sessions" in shown
        assert "22 tokens in, 6 out" in shown

    def test_recap_is_the_end_of_the_conversation(self, desk: OwnDesk) -> None:
        spoken(desk, "one", "two")
        assert told("/recap", desk) == "You: one\nI: two"

    @pytest.mark.parametrize(("words", "suffix"), [("", ".md"), ("jsonl", ".jsonl"), ("html", ".html")])
    def test_export_is_a_file_of_the_whole_family(self, desk: OwnDesk, words: str, suffix: str) -> None:
        spoken(desk, "one upon", "a time")
        told("/compress", desk)
        spoken(desk, "and then?")
        file = done(f"/export {words}", desk).file
        assert file is not None
        assert file.name.endswith(suffix)
        text = file.read_text()
        assert "one upon" in text
        assert "and then?" in text
        file.unlink()
        file.parent.rmdir()

    def test_export_writes_where_nobody_says(self, desk: OwnDesk, tmp_path: Path) -> None:
        spoken(desk, "one")
        assert "no format" in told(f"/export {tmp_path}/x.md", desk)

    @pytest.mark.parametrize("line", ["/usage", "/recap", "/undo", "/retry", "/fork", "/compress", "/export"])
    def test_before_anything_was_said_they_say_so(self, desk: OwnDesk, line: str) -> None:
        assert told(line, desk) == "Nothing was said yet."


@pytest.fixture
def router(db: SessionDB, tmp_path: Path) -> Router:
    return Router(db, transcripts=Transcripts(tmp_path / "sessions"))


def chat(router: Router, chat_id: str, *texts: str) -> ChatDesk:
    source = Source("telegram", chat_id=chat_id, user_id=f"user{chat_id}")
    for text in texts:
        with router.receive(source, text).turn as turn:  # type: ignore[union-attr]
            turn.append([{"role": "assistant", "content": f"{text}, yes"}])
    return ChatDesk(router, source)


def answered(router: Router, agent: Agent, endpoint: ChatEndpoint, arguments: dict[str, Any]) -> Any:
    """What session_search tells the model that works for the person in chat 1."""
    call = [tool_call("session_search", json.dumps(arguments))]
    endpoint.reply = lambda request: "done" if request["messages"][-1]["role"] == "tool" else call
    turn = router.receive(Source("telegram", chat_id="1", user_id="user1"), "look it up").turn
    assert turn is not None
    session_id = turn.session_id
    turn.end(agent.answer(turn, Ear(), threading.Event()).last_words)
    results = [text for role, text in stored(router.db, session_id) if role == "tool"]
    return json.loads(results[-1])


class TestInChats:
    def test_nobody_sees_what_is_said_elsewhere(self, router: Router) -> None:
        ann, bob = chat(router, "1", "my secret frobnicator"), chat(router, "2", "hello")
        told("/title secrets", ann)
        for line in ("/history frobnicator", "/sessions", "/resume secrets", f"/resume {ann.session_id}", "/usage"):
            answer = told(line, bob)
            assert "secret" not in answer.replace(line.partition(" ")[2], "")
        assert "yes" in told("/history frobnicator", ann)

    def test_the_model_sees_no_more_than_the_person(
        self, router: Router, agent: Agent, endpoint: ChatEndpoint, db: SessionDB
    ) -> None:
        hidden = chat(router, "1", "my secret frobnicator").session_id
        arrival = router.receive(Source("telegram", chat_id="2", user_id="user2"), "what frobnicator?")
        questions = ['{"query": "secret"}', "{}", f'{{"session_id": "{hidden}"}}']
        calls = [tool_call("session_search", each, f"c{at}", at) for at, each in enumerate(questions)]
        endpoint.reply = lambda request: "none" if request["messages"][-1]["role"] == "tool" else calls
        assert arrival.turn is not None
        assert arrival.turn.scope.is_everything is False
        with arrival.turn as turn:
            turn.end(agent.answer(turn, Ear(), threading.Event()).last_words)
        results = [text for role, text in stored(db, arrival.session_id) if role == "tool"]
        assert len(results) == 3
        assert not any("secret" in text for text in results)
        assert stored(db, arrival.session_id)[-1] == ("assistant", "none")

    def test_the_model_asks_as_finely_as_of_the_whole_store(
        self, router: Router, db: SessionDB, agent: Agent, endpoint: ChatEndpoint
    ) -> None:
        ann = chat(router, "1", "the frobnicator squeaks", "oil the frobnicator", "it is quiet now")
        old = ann.session_id or ""
        told("/new", ann)
        chat(router, "2", "another frobnicator")
        hits = answered(router, agent, endpoint, {"query": "which frobnicator makes noise?", "role_filter": "user"})
        assert [each["session_id"] for each in hits["results"]] == [old]
        assert hits["results"][0]["role"] == "user"
        assert "it is quiet now" in str(hits["results"][0]["messages"])
        middle = db.get_messages(old)[2]["id"]
        around = answered(router, agent, endpoint, {"session_id": old, "around_message_id": middle, "window": 1})
        assert [each["content"] for each in around["messages"]] == [
            "the frobnicator squeaks, yes", "oil the frobnicator", "oil the frobnicator, yes",
        ]  # fmt: skip
        assert answered(router, agent, endpoint, {"query": "frobnicator", "source": "cli"})["results"] == []
        assert answered(router, agent, endpoint, {"query": "frobnicator", "until": "2001-01-01"})["results"] == []
        assert "unknown argument 'colour'" in answered(router, agent, endpoint, {"colour": "red"})["error"]

    @pytest.mark.parametrize(
        "asked",
        [
            {"query": "frobnicator"},
            {"query": "source:telegram frobnicator"},
            {"query": "who has a secret?", "sort": "newest", "limit": 10},
            {"query": "secret", "source": "telegram", "role_filter": "user,assistant"},
            {"kind": "path"},
            {"query": "chat:1 secret"},
            {"limit": 10},
        ],
    )
    def test_no_wish_shows_another_chat(
        self, router: Router, agent: Agent, endpoint: ChatEndpoint, asked: dict[str, Any]
    ) -> None:
        chat(router, "2", "my secret frobnicator is in /opt/secret")
        found = answered(router, agent, endpoint, asked)
        assert found["success"]
        assert "secret" not in str(found["results"])

    def test_no_message_of_another_chat_is_read_around(
        self, router: Router, db: SessionDB, agent: Agent, endpoint: ChatEndpoint
    ) -> None:
        theirs = chat(router, "2", "my secret").session_id or ""
        ours = chat(router, "1", "hello").session_id or ""
        message = db.get_messages(theirs)[0]["id"]
        for session_id in (theirs, ours):
            found = answered(router, agent, endpoint, {"session_id": session_id, "around_message_id": message})
            assert (found["success"], "secret" in str(found)) == (False, False)

    def test_new_archives_the_transcript_too(self, router: Router, db: SessionDB, tmp_path: Path) -> None:
        ann = chat(router, "1", "one")
        old = ann.session_id or ""
        told("/new", ann)
        assert ann.session_id != old
        assert (db.get_session(old) or {})["archived_at"] is not None
        kept = tmp_path / "sessions" / "archive" / f"{old}.jsonl"
        assert "one, yes" in kept.read_text()
        assert not (tmp_path / "sessions" / f"{old}.jsonl").exists()
        assert db.verify().ok

    @pytest.mark.parametrize("line", ["/compress", "/fork", "/fork mine"])
    def test_going_on_elsewhere_stays_in_the_chat(self, router: Router, line: str) -> None:
        ann = chat(router, "1", "one")
        old = ann.session_id
        told(line, ann)
        assert ann.session_id != old
        assert isinstance(ann.scope, Scope)
        assert ann.scope.get(ann.session_id or "")["id"] == ann.session_id
