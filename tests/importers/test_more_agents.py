"""The formats with one small fixture each: what is in the files is what arrives, to the word."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from sessiondb import SessionDB
from sessiondb.importers import aider, chatgpt, claude_ai, cursor, known, open_webui, roo
from sessiondb.importers.texts import count_of, when

from . import stores
from .conftest import Bring
from .counts import chatgpt as count_chatgpt
from .counts import cursor as count_cursor
from .counts import llm as count_llm
from .counts import open_webui as count_open_webui
from .counts import openai_agents as count_agents
from .parsed import Parsed
from .places import FIXTURES, heard, parsed
from .told import contents, stored

COPILOT = "aaaa1111-0000-4000-8000-000000000001"
CURSOR = "c0000000-0000-4000-8000-00000000000c"


def calls(found: Parsed, session: str) -> list[tuple[str, str, str]]:
    """Every call: its id, tool and arguments."""
    return [
        (call["id"], call["function"]["name"], call["function"]["arguments"])
        for message in found.of(session)
        for call in message.tool_calls or ()
    ]


def results(found: Parsed, session: str) -> list[tuple[Any, Any, Any, bool]]:
    return [
        (each.tool_call_id, each.tool_name, each.content, bool((each.metadata or {}).get("is_error")))
        for each in found.of(session)
        if each.role == "tool"
    ]


def thoughts(found: Parsed, session: str) -> list[str]:
    return [each.reasoning for each in found.of(session) if each.reasoning]


def facts(found: Parsed, session: str, *names: str) -> tuple[Any, ...]:
    return tuple(found.sessions[session].get(name) for name in names)


class TestChatGPT:
    def test_the_shown_branch_in_order(self) -> None:
        found = parsed("chatgpt")
        picture = {"type": "image", "content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1"}
        assert heard(found, "gpt-1") == [
            ("user", "Be short.", True),
            ("user", "Plot the sales", False),
            ("assistant", None, False),
            ("assistant", None, False),
            ("tool", "<plot>", False),
            ("meta", "Thought for 4 seconds", True),
            ("assistant", "Here is the plot.", False),
            ("user", [{**picture, "width": 1}, {"type": "text", "text": "And this one?"}], False),
        ]
        assert [each.content for each in found.messages["gpt-1"].values() if not each.active] == ["No."]

    def test_calls_results_and_thoughts(self) -> None:
        found = parsed("chatgpt")
        assert calls(found, "gpt-1") == [("call", "python", "plot(sales)")]
        assert results(found, "gpt-1") == [("call", "python", "<plot>", False)]
        assert thoughts(found, "gpt-1") == ["Plan\nUse Python."]

    def test_facts(self) -> None:
        found = parsed("chatgpt")
        assert facts(found, "gpt-1", "title", "model", "started_at", "archived_at") == (
            "Plot the sales", "model-seven", 1760000000.0, 1760000009.0,
        )  # fmt: skip
        assert heard(found, "gpt-2") == [("user", "hello", False), ("assistant", "hi", False)]

    def test_the_archive_as_it_is_downloaded(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        archive = stores.chatgpt_archive(tmp_path / "in" / "export.zip")
        report = bring(tmp_path / "in")
        assert [report.total(name) for name in ("new", "errors", "skipped")] == [2, 0, 0]
        assert (stored(db, "gpt-1")["title"], stored(db, "gpt-3")["title"]) == ("Plot the sales", "Another")
        assert Parsed().read(chatgpt, archive).tallies() == count_chatgpt.count([archive])

    def test_an_export_that_was_cut_off_is_read_as_far_as_it_goes(self, bring: Bring, tmp_path: Path) -> None:
        whole = (FIXTURES / "chatgpt" / "conversations.json").read_bytes()
        (tmp_path / "conversations.json").write_bytes(whole[: whole.rindex(b'"gpt-3"')])
        report = bring(tmp_path / "conversations.json")
        assert report.total("new") == 1
        assert "not JSON after 1 elements" in report.skipped[0].why

    def test_a_conversation_with_its_parents_in_a_circle_ends(self, tmp_path: Path) -> None:
        [whole, _] = json.loads((FIXTURES / "chatgpt" / "conversations.json").read_text())
        whole["mapping"]["root"]["parent"] = "u2"
        (tmp_path / "c.json").write_text(json.dumps(whole))
        assert len(Parsed().read(chatgpt, tmp_path / "c.json").messages["gpt-1"]) == 9


class TestClaudeAi:
    def test_the_shown_branch_in_order(self) -> None:
        found = parsed("claude-ai")
        assert heard(found, "cl-1") == [
            ("user", "a.txt\n\nabc", True),
            ("user", "Look at this", False),
            ("assistant", "Searching.", False),
            ("tool", "found", False),
            ("assistant", "It is the alphabet.", False),
            ("user", "Thanks", False),
        ]
        assert found.messages["cl-1"]["h1"].metadata == {"files": ["a.txt", "b.png"]}
        assert calls(found, "cl-1") == [("ct1", "web_search", '{"query": "abc"}')]
        assert results(found, "cl-1") == [("ct1", "web_search", "found", False)]
        assert thoughts(found, "cl-1") == ["Search."]

    def test_without_blocks_the_text_counts_and_empty_ones_are_none(self) -> None:
        found = parsed("claude-ai")
        assert heard(found, "cl-2") == [("user", "only text", False)]
        assert {*found.sessions} == {"cl-1", "cl-2"}

    def test_the_two_exports_are_told_apart(self) -> None:
        for agent, own, other in (("chatgpt", chatgpt, claude_ai), ("claude-ai", claude_ai, chatgpt)):
            path = FIXTURES / agent / "conversations.json"
            assert (own.detect(path, path.read_bytes()), other.detect(path, path.read_bytes())) == (True, False)


class TestGrok:
    def test_the_last_answer_is_shown(self) -> None:
        found = parsed("grok")
        assert heard(found, "gk-1") == [("user", "Why green?", False), ("assistant", "Chlorophyll.", False)]
        assert facts(found, "gk-1", "title", "model") == ("Leaves", "model-eight")
        assert thoughts(found, "gk-1") == ["Name it."]


class TestOpenWebUI:
    def test_details_are_taken_out_of_the_answer(self) -> None:
        found = parsed("open-webui")
        assert heard(found, "ow-1") == [
            ("user", "Weather in Bonn?", False), ("assistant", "It rains.", False), ("tool", "rain", False),
        ]  # fmt: skip
        assert calls(found, "ow-1") == [("w1", "weather", '{"city": "Bonn"}')]
        assert results(found, "ow-1") == [("w1", "weather", "rain", False)]
        assert thoughts(found, "ow-1") == ["Ask the tool."]

    def test_facts_and_tokens_of_every_answer(self) -> None:
        found = parsed("open-webui")
        assert facts(found, "ow-1", "title", "model", "archived_at") == ("Weather", "m-b", 1744577600.0)
        assert list(facts(found, "ow-1", "tags")[0]) == ["rain"]
        assert (found.usage["ow-1"].input_tokens, found.usage["ow-1"].output_tokens) == (36, 33)

    def test_a_chat_without_an_id_has_that_of_its_first_message(self) -> None:
        assert "l1" in parsed("open-webui").sessions

    def test_the_database(self, tmp_path: Path) -> None:
        path = stores.open_webui(tmp_path / "webui.db")
        found = Parsed().read(open_webui, path)
        assert found.tallies() == count_open_webui.count([path])
        assert facts(found, "ow-9", "title") == ("Kept in a database",)


class TestCopilot:
    def test_the_conversation_in_order(self) -> None:
        said = heard(parsed("copilot-cli"), COPILOT)
        assert [(role, words if isinstance(words, str | None) else "…", note) for role, words, note in said] == [
            ("system", "You help.", True),
            ("user", "Which tests fail?", False),
            ("assistant", None, False),
            ("tool", "1 failed", False),
            ("tool", "no such file", False),
            ("assistant", "One: the cart.", False),
            ("user", "You have not yet finished.", True),
            ("meta", "…", True),
        ]

    def test_calls_facts_and_tokens(self) -> None:
        found = parsed("copilot-cli")
        assert [name for _, name, _ in calls(found, COPILOT)] == ["bash", "view"]
        assert [(name, bad) for _, name, _, bad in results(found, COPILOT)] == [("bash", False), ("view", True)]
        assert facts(found, COPILOT, "title", "cwd", "git_branch", "model") == (
            "Failing tests", "/home/ada/shop", "main", "model-one",
        )  # fmt: skip
        used = found.usage[COPILOT]
        assert (used.input_tokens, used.output_tokens, used.cache_read_tokens, used.reasoning_tokens) == (30, 25, 60, 7)


class TestCursor:
    def test_a_transcript(self) -> None:
        found = parsed("cursor")
        assert heard(found, CURSOR) == [
            ("user", "list the files", False),
            ("assistant", "Listing.", False),
            ("assistant", "Two files.", False),
            ("user", "and hidden ones?\nall", False),
        ]
        assert calls(found, CURSOR) == [("2:0", "Shell", '{"command": "ls"}')]

    def test_title_and_model_are_in_the_store_beside_it(self, tmp_path: Path) -> None:
        shutil.copytree(FIXTURES / "cursor" / ".cursor", tmp_path / ".cursor")
        told = {"agentId": CURSOR, "name": "Files", "createdAt": 1775522590321, "lastUsedModel": "model-x"}
        stores.cursor_store(tmp_path / ".cursor" / "chats" / "abc" / CURSOR / "store.db", **told)
        [path] = tmp_path.rglob(f"{CURSOR}.jsonl")
        found = Parsed().read(cursor, path)
        assert facts(found, CURSOR, "title", "model", "started_at") == ("Files", "model-x", 1775522590.321)
        assert found.tallies() == count_cursor.count([path])

    def test_a_field_that_is_new_changes_nothing(self, tmp_path: Path) -> None:
        fixture = next((FIXTURES / "cursor").rglob(f"{CURSOR}.jsonl"))
        path = tmp_path / fixture.name
        lines = [json.loads(line) for line in fixture.read_text().splitlines()]
        path.write_text("".join(json.dumps({**line, "requestId": "new"}) + "\n" for line in lines))
        assert known.detect(path, known.chosen([])) is cursor
        assert heard(Parsed().read(cursor, path), CURSOR) == heard(Parsed().read(cursor, fixture), CURSOR)

    def test_the_editor(self, tmp_path: Path) -> None:
        path = stores.cursor_editor(tmp_path / "state.vscdb")
        found = Parsed().read(cursor, path)
        assert found.tallies() == count_cursor.count([path])
        assert heard(found, "e1") == [
            ("user", "fix it", False), ("assistant", "Fixing.", False), ("tool", "total", False),
        ]  # fmt: skip
        assert calls(found, "e1") == [("ec1", "read_file", '{"path":"a"}')]
        assert thoughts(found, "e1") == ["Look first."]
        assert heard(found, "e2") == [("user", "old form", False), ("assistant", "yes", False)]


class TestCline:
    def test_what_was_typed_is_told_from_what_the_program_added(self) -> None:
        assert heard(parsed("cline"), "1770000000000") == [
            ("user", "Fix the cart", False),
            ("user", "<environment_details>\nopen tabs\n</environment_details>", True),
            ("assistant", "Reading.", False),
            ("tool", "total = 1", False),
            ("user", "<environment_details>\nsame\n</environment_details>", True),
            ("assistant", "<read_file><path>tax.py</path></read_file>", False),
            ("user", "Also the tax", False),
            ("user", "[read_file for 'tax.py'] Result:\nrate = 2", True),
            ("assistant", "Done.", False),
        ]

    def test_facts_and_costs(self) -> None:
        found = parsed("cline")
        assert facts(found, "1770000000000", "title", "cwd", "model", "started_at") == (
            "Fix the cart", "/home/ada/shop", "model-two", 1770000000.0,
        )  # fmt: skip
        assert found.usage["1770000000000"].estimated_cost_usd == pytest.approx(0.012)
        assert (found.usage["1770000000000"].cache_read_tokens, thoughts(found, "1770000000000")) == (50, ["Read it."])

    def test_a_change_of_the_costs_alone_is_a_change_of_the_task(self, bring: Bring, tmp_path: Path) -> None:
        shutil.copytree(FIXTURES / "roo-code", tmp_path / "in")
        bring(tmp_path / "in")
        screen = next((tmp_path / "in").rglob("0001/ui_messages.json"))
        before = roo.stamp(screen.with_name("api_conversation_history.json"))
        screen.write_text(screen.read_text().replace("7", "70"))
        assert roo.stamp(screen.with_name("api_conversation_history.json")) != before
        assert bring(tmp_path / "in").total("updated") == 1


class TestAider:
    def test_prompts_answers_and_notes(self) -> None:
        found = parsed("aider")
        first, last = found.sessions
        assert [(role, words.split("\n")[0]) for role, words, _ in heard(found, first)] == [
            ("system", "You can skip this check with --no-gitignore"),
            ("user", "add a total"),
            ("assistant", "Here it is:"),
            ("system", "Tokens: 2.5k sent, 120 received. Cost: $0.01 message, $0.01 session."),
            ("user", "/commit"),
            ("system", "Commit abc1234 Add a total"),
        ]
        assert heard(found, first)[1][1] == "add a total\nto the cart"
        assert "#### not a prompt\n> not a note" in heard(found, first)[2][1]
        assert heard(found, last) == [("user", "thanks", False), ("assistant", "You are welcome.", False)]

    def test_model_tokens_and_cost_are_in_the_notes(self) -> None:
        found = parsed("aider")
        first = next(iter(found.sessions))
        assert facts(found, first, "model") == ("model-three",)
        assert (found.usage[first].input_tokens, found.usage[first].estimated_cost_usd) == (2500, 0.01)

    def test_the_directory_is_that_of_the_repository(self, tmp_path: Path) -> None:
        path = Path(shutil.copy(FIXTURES / "aider" / "shop" / ".aider.chat.history.md", tmp_path))
        (tmp_path / ".git").mkdir()
        assert {each["cwd"] for each in Parsed().read(aider, path).sessions.values()} == {str(tmp_path)}

    def test_lines_may_end_as_on_windows(self, tmp_path: Path) -> None:
        fixture = FIXTURES / "aider" / "shop" / ".aider.chat.history.md"
        path = tmp_path / fixture.name
        path.write_bytes(fixture.read_bytes().replace(b"\n", b"\r\n"))
        found, plain = Parsed().read(aider, path), Parsed().read(aider, fixture)
        assert {each: heard(found, each) for each in found.sessions} == {
            each: heard(plain, each) for each in plain.sessions
        }

    @pytest.mark.parametrize("last", ["It is", "> Tokens: 1k sent, 20 received."])
    def test_a_last_line_without_an_end_is_read(self, last: str, tmp_path: Path) -> None:
        path = tmp_path / ".aider.chat.history.md"
        path.write_text(f"# aider chat started at 2026-03-01 09:00:00\n\n#### hello  \n\n{last}")
        (session,) = Parsed().read(aider, path).messages.values()
        assert [each.content for each in session.values()][-1] == last.removeprefix("> ")

    def test_a_prompt_that_is_being_written_waits(self, tmp_path: Path) -> None:
        path = tmp_path / ".aider.chat.history.md"
        path.write_text("# aider chat started at 2026-03-01 09:00:00\n\n#### hel")
        assert Parsed().read(aider, path).sessions == {}

    def test_an_answer_that_goes_on_replaces_its_beginning(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        path = tmp_path / ".aider.chat.history.md"
        path.write_text("# aider chat started at 2026-03-01 09:00:00\n\n#### hello  \n\nIt is\n")
        bring(path)
        path.write_text(path.read_text() + "a long answer.\n")
        bring(path)
        [session] = db.list_sessions_rich()
        assert contents(db, session["id"]) == ["hello", "It is\na long answer."]


class TestQwen:
    def test_the_conversation_in_order(self) -> None:
        found = parsed("qwen-code")
        [session] = found.sessions
        assert heard(found, session) == [
            ("user", "<qwen:user-prompt-submit-context>\nhook\n</qwen:user-prompt-submit-context>", True),
            ("user", "What is in README?", False),
            ("assistant", None, False),
            ("tool", "A shop.", False),
            ("assistant", "It says: a shop.", False),
            ("user", "A job ended.", True),
        ]
        assert results(found, session) == [("f1", "read_file", "A shop.", True)]
        assert thoughts(found, session) == ["Read it."]
        assert facts(found, session, "cwd", "git_branch", "model") == ("/home/ada/shop", "main", "model-four")


class TestKimi:
    def test_a_step_is_an_answer(self) -> None:
        found = parsed("kimi-code")
        said = [(role, words if isinstance(words, str) else "…", note) for role, words, note in heard(found, "k1")]
        assert said == [
            ("user", "List the files", False),
            ("user", "<system-reminder>be brief</system-reminder>", True),
            ("assistant", "Listing\nnow.", False),
            ("tool", "a.py", False),
            ("assistant", "One file.", False),
            ("meta", "…", True),
        ]
        assert calls(found, "k1") == [("k-1", "Shell", '{"command": "ls"}')]
        assert thoughts(found, "k1") == ["Use the shell."]
        assert facts(found, "k1", "title", "cwd", "model", "system_prompt") == (
            "Files of the shop", "/home/ada/shop", "model-five", "You are Kimi.",
        )  # fmt: skip
        assert heard(found, "scout:k1") == [("user", "Search", True), ("assistant", "Found.", False)]


class TestPi:
    def test_an_answer_made_anew_takes_the_place_of_the_first(self) -> None:
        found = parsed("pi")
        said = [(role, words if isinstance(words, str) else "…", note) for role, words, note in heard(found, "p1")]
        assert said == [
            ("user", "Read hello.py", False),
            ("assistant", "Reading.", False),
            ("tool", "print(1)", False),
            ("assistant", "It prints 1.", False),
            ("system", "hello.py prints 1", True),
            ("meta", "…", True),
            ("user", "Thanks", False),
        ]
        assert facts(found, "p1", "title", "cwd", "model") == ("Hello", "/home/ada/shop", "model-six")
        assert (found.usage["p1"].input_tokens, found.usage["p1"].estimated_cost_usd) == (36, 0.75)

    def test_openclaw_has_the_same_lines(self) -> None:
        found = parsed("openclaw")
        assert heard(found, "o1") == [
            ("user", "List files", False), ("assistant", "Running ls.", False), ("tool", "a.py", False),
        ]  # fmt: skip
        assert results(found, "o1") == [("tc1", "shell", "a.py", True)]


class TestLlm:
    def test_threads(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        path = stores.llm_threads(tmp_path / "in" / "logs.db")
        bring(path)
        assert contents(db, "t1") == ["Explain: the letter x", "Looking.", "a letter", "A letter."]
        assert contents(db, "t2")[4:] == ["And y?", "Another."]
        assert (stored(db, "t2")["parent_session_id"], stored(db, "t2")["relation"]) == ("t1", "fork")
        assert (stored(db, "t1")["title"], stored(db, "t1")["input_tokens"]) == ("Letters", 31)
        assert [each["reasoning"] for each in db.get_messages("t1")][1] == "Look it up."
        assert db.get_tool_calls("t1")[0]["status"] == "completed"
        assert contents(db, "r9") == ["old", "one"]

    @pytest.mark.parametrize("make", [stores.llm_threads, stores.llm_responses])
    def test_counts(self, make: Any, tmp_path: Path) -> None:
        path = make(tmp_path / "logs.db")
        [found] = known.at_paths([path], known.chosen(()))
        assert found.parser is not None
        assert found.parser.NAME == "llm"
        assert Parsed().read(found.parser, path).tallies() == count_llm.count([path])

    def test_responses_of_older_versions(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        bring(stores.llm_responses(tmp_path / "in" / "logs.db"))
        assert contents(db, "c1") == ["rain?", None, "rain", "Yes."]
        row = stored(db, "c1")
        assert (row["title"], row["system_prompt"], row["started_at"]) == ("Weather", "Be short.", 1767261600.0)
        assert contents(db, "r3") == ["alone", "So am I."]


class TestAgentsSdk:
    NAME = "user_42@2026-04-01T08:00:00"

    def test_items_become_messages(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        path = stores.agents_sdk(tmp_path / "in" / "sessions.db")
        bring(path)
        assert contents(db, self.NAME)[:5] == ["Rain in Oslo?", None, None, "4C, rain", "Yes, and 4C."]
        assert (stored(db, self.NAME)["session_key"], stored(db, self.NAME)["started_at"]) == ("user_42", 1775030400.0)
        assert db.get_tool_calls(self.NAME)[0]["tool_name"] == "weather"
        assert len(db.list_sessions_rich()) == 2

    def test_counts(self, tmp_path: Path) -> None:
        path = stores.agents_sdk(tmp_path / "sessions.db")
        [found] = known.at_paths([path], known.chosen(()))
        assert found.parser is not None
        assert Parsed().read(found.parser, path).tallies() == count_agents.count([path])

    def test_the_same_name_in_another_program_is_another_session(
        self, db: SessionDB, bring: Bring, tmp_path: Path
    ) -> None:
        bring(stores.agents_sdk(tmp_path / "in" / "one.db"))
        other = stores.agents_sdk(tmp_path / "in" / "two.db")
        stores.changed(other, "UPDATE agent_sessions SET created_at = '2026-04-02 08:00:00'")
        bring(other)
        assert len(db.list_sessions_rich()) == 4


def test_a_foreign_object_in_an_export_is_named(bring: Bring, tmp_path: Path) -> None:
    whole = json.loads((FIXTURES / "claude-ai" / "conversations.json").read_text())
    (tmp_path / "conversations.json").write_text(json.dumps([whole[0], 7, {"uuid": "x"}]))
    report = bring(tmp_path / "conversations.json")
    assert report.total("new") == 1
    assert [each.why for each in report.skipped] == [
        "element 2 is a JSON int where an object belongs",
        "an object without 'chat_messages' is no conversation",
    ]


class TestArchives:
    """Exports are ZIP files; not all call what is in them `conversations.json`."""

    @pytest.mark.parametrize(
        ("agent", "name", "beside"),
        [
            (
                "grok",
                "ttl/30d/export_data/u/prod-grok-backend.json",
                "ttl/30d/export_data/u/prod-mc-auth-mgmt-api.json",
            ),
            ("open-webui", "chat-export.json", "users.json"),
            ("chatgpt", "one/talk.json", "one/message_feedback.json"),
        ],
    )
    def test_a_file_of_another_name_is_found(self, agent: str, name: str, beside: str, tmp_path: Path) -> None:
        export = next(path for path in sorted((FIXTURES / agent).rglob("*.json")))
        archive = tmp_path / "export.zip"
        with zipfile.ZipFile(archive, "w") as file:
            file.write(export, name)
            file.writestr(beside, "{}")
        parser = known.parser(agent)
        assert known.detect(archive, known.chosen([])) is parser
        found, plain = Parsed().read(parser, archive), Parsed().read(parser, export)
        assert found.sessions == plain.sessions
        assert found.skipped == plain.skipped


@pytest.mark.parametrize("number", [10**400, -(10**400), 10**40, float("inf"), float("nan")])
def test_a_number_that_is_no_time_and_no_count_stops_nothing(number: float) -> None:
    assert when(number) is None
    assert count_of(number) == 0
