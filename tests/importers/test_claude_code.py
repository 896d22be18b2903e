"""Claude Code: answers over several lines, subagents, forks, compaction, titles, what a person typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sessiondb.importers import claude_code

from .counts import claude_code as counts
from .parsed import Parsed
from .places import CLAUDE, heard, parsed

MAIN = "11111111-1111-4111-8111-111111111111"
FORK = "22222222-2222-4222-8222-222222222222"
OLD = "33333333-3333-4333-8333-333333333333"
COMPACTED = "44444444-4444-4444-8444-444444444444"
EDITED = "99999999-9999-4999-8999-999999999999"


@pytest.fixture(scope="module")
def found() -> Parsed:
    return parsed("claude-code")


def test_the_conversation_in_order(found: Parsed) -> None:
    picture, unknown = found.of(MAIN)[10].content, found.of(MAIN)[15].content
    assert heard(found, MAIN) == [
        ("system", "<command-name>/model</command-name>", True),
        ("user", "The cart total is wrong, find out why", False),
        ("assistant", "I look at the cart.", False),
        ("tool", "total = sum(prices)\n\n<system-reminder>be careful</system-reminder>", False),
        ("tool", "1 failed", False),
        ("assistant", None, False),
        ("tool", "two callers", False),
        ("assistant", "Money is a float; use Decimal.", False),
        ("user", "<system-reminder>\nTodo list is empty.\n</system-reminder>", True),
        ("user", "<ide_opened_file>cart.py</ide_opened_file>", True),
        ("user", picture, False),
        ("user", "and mind the tests", False),
        ("system", "ruff is clean", True),
        ("assistant", "API Error: overloaded", True),
        ("user", "[Request interrupted by user]", True),
        ("meta", unknown, True),
        ("system", "Conversation compacted", True),
        ("user", "This session is being continued from a previous conversation: the cart used floats.", True),
        ("user", "Go on", False),
        ("assistant", "Done.", False),
    ]


def test_lines_of_one_response_are_one_message_even_around_a_result(found: Parsed) -> None:
    answer = found.messages[MAIN]["msg-1"]
    assert answer.reasoning == "The rounding, perhaps."
    assert [call["function"]["name"] for call in answer.tool_calls] == ["Read", "Bash"]
    assert answer.tool_calls[0]["function"]["arguments"] == '{"file_path": "/home/ada/shop/cart.py"}'
    assert (answer.input_tokens, answer.output_tokens, answer.finish_reason) == (10, 60, "tool_use")
    assert (answer.model, answer.provider) == ("claude-opus-5", "anthropic")


def test_usage_counts_once_per_response(found: Parsed) -> None:
    usage = found.usage[MAIN]
    assert (usage.input_tokens, usage.output_tokens) == (10 + 5 + 3 + 2, 60 + 20 + 12 + 3)
    assert (usage.cache_read_tokens, usage.cache_write_tokens, usage.reasoning_tokens) == (420, 89, 7)
    assert found.usage[OLD].estimated_cost_usd == 0.25


def test_results_know_their_tool_and_whether_it_failed(found: Parsed) -> None:
    failed, spawned = found.messages[MAIN]["u3"], found.messages[MAIN]["u4"]
    assert (failed.tool_call_id, failed.tool_name, failed.metadata) == ("toolu-2", "Bash", {"is_error": True})
    assert (spawned.tool_name, spawned.metadata) == ("Task", {"agent_id": "c0ffee"})


def test_a_picture_is_a_part_of_its_message(found: Parsed) -> None:
    text, picture = found.messages[MAIN]["u6"].content
    assert text == {"type": "text", "text": "Do it, and look at this picture"}
    assert (picture["type"], picture["source"]["media_type"]) == ("image", "image/png")


def test_what_is_not_known_is_kept_as_it_is(found: Parsed) -> None:
    assert found.messages[MAIN]["f1"].content["payload"] == {"anything": 1}
    assert found.messages[MAIN]["msg-4"].metadata == {"blocks": [{"type": "new_block", "x": 1}]}


def test_a_session_knows_its_place(found: Parsed) -> None:
    session = found.sessions[MAIN]
    assert (session["cwd"], session["git_branch"], session["model"]) == ("/home/ada/shop", "main", "claude-opus-5")
    assert session["started_at"] == 1785751200.0
    assert session["metadata"] == {"version": "2.1.200", "pull_requests": ["https://example.org/shop/pull/7"]}


def test_the_title_a_person_gave_wins(found: Parsed) -> None:
    assert (found.sessions[MAIN]["title"], found.sessions[MAIN]["title_source"]) == ("Cart totals as Decimal", "user")


def test_a_summary_in_another_file_names_the_session_of_its_leaf(found: Parsed) -> None:
    titled = found.sessions["55555555-5555-4555-8555-555555555555"]
    assert (titled["title"], titled["title_source"]) == ("Old talk about taxes", "agent")
    assert "title" not in found.sessions[OLD]


def test_a_subagent_is_a_session_of_its_own(found: Parsed) -> None:
    session = found.sessions[f"agent-c0ffee:{MAIN}"]
    assert (session["parent_native_id"], session["relation"], session["source"]) == (MAIN, "subagent", "subagent")
    assert session["title"] == "Find the callers"
    assert session["metadata"] == {"version": "2.1.200", "agent_type": "Explore", "tool_call_id": "toolu-3"}
    assert heard(found, f"agent-c0ffee:{MAIN}")[0] == ("user", "List the callers", True)


def test_a_sidechain_inside_the_file_is_one_too(found: Parsed) -> None:
    assert heard(found, f"side-n1:{OLD}") == [("user", "Think", True), ("assistant", "Thought.", False)]
    assert found.sessions[f"side-n1:{OLD}"]["parent_native_id"] == OLD


def test_a_fork_keeps_what_it_copied_but_does_not_count_it(found: Parsed) -> None:
    assert [message.metadata for message in found.of(FORK)][:2] == [{"copied_from": MAIN}] * 2
    assert [message.injected for message in found.of(FORK)] == [True, False, False, False]
    assert (found.sessions[FORK]["parent_native_id"], found.sessions[FORK]["relation"]) == (MAIN, "fork")
    assert found.usage[FORK].output_tokens == 4


@pytest.fixture
def resumed(tmp_path: Path) -> list[Path]:
    """A session that was continued twice by a version that begins a new file with a copy of the old one."""
    talk = [
        {"uuid": "r1", "type": "user", "message": {"role": "user", "content": "How tall is the shelf?"}},
        {"uuid": "r2", "type": "assistant", "message": answer("m1", "Two metres.", 11)},
        {"uuid": "r3", "type": "user", "message": {"role": "user", "content": "And how wide?"}},
        {"uuid": "r4", "type": "assistant", "message": answer("m2", "One metre.", 13)},
        {"uuid": "r5", "type": "user", "message": {"role": "user", "content": "And how deep?"}},
    ]
    paths = []
    for name, count in (("first", 2), ("second", 4), ("third", 5)):
        paths.append(tmp_path / f"{name}.jsonl")
        times = [{"timestamp": f"2025-08-03T10:00:0{number}.000Z", "sessionId": name} for number in range(count)]
        lines = [json.dumps(each | talk[number], separators=(",", ":")) for number, each in enumerate(times)]
        paths[-1].write_text("\n".join(lines) + "\n")
    return paths


def answer(name: str, words: str, used: int) -> dict[str, object]:
    usage = {"input_tokens": used, "output_tokens": 1}
    return {"id": name, "role": "assistant", "content": [{"type": "text", "text": words}], "usage": usage}


def test_a_session_resumed_by_an_older_version_is_a_fork_that_counts_nothing_twice(resumed: list[Path]) -> None:
    found = parsed("claude-code", *resumed)
    parents = {
        name: (session.get("parent_native_id"), session.get("relation")) for name, session in found.sessions.items()
    }
    assert parents == {"first": (None, None), "second": ("first", "fork"), "third": ("second", "fork")}
    assert [message.injected for message in found.of("second")] == [True, False, False, False]
    assert [found.usage[name].input_tokens for name in ("first", "second")] == [11, 13]
    assert found.tallies() == counts.count(resumed)


def test_a_prompt_that_was_edited_takes_what_followed_it_along(found: Parsed) -> None:
    assert heard(found, EDITED) == [
        ("user", "/plan a shelf for the\ngarden books", False),
        ("assistant", "Of oak?", False),
        ("user", "No, of beech", False),
        ("assistant", "Beech it is.", False),
        ("user", "<command-name>/exit</command-name>\n<command-message>exit</command-message>\n"
         "<command-args></command-args>", True),
    ]  # fmt: skip
    assert found.usage[EDITED].output_tokens == 5 + 6 + 7 + 8


def test_a_session_that_begins_with_a_compaction_continues_another(found: Parsed) -> None:
    session = found.sessions[COMPACTED]
    assert (session["parent_native_id"], session["relation"]) == (OLD, "compression")


def test_a_file_without_conversation_is_no_session(found: Parsed) -> None:
    assert "66666666-6666-4666-8666-666666666666" not in found.sessions


def test_a_broken_line_is_named(found: Parsed) -> None:
    assert [(skipped.path.stem, skipped.line) for skipped in found.skipped] == [(OLD, 10)]


def test_the_log_of_a_workflow_is_no_transcript() -> None:
    assert [path.name for path in claude_code.find(CLAUDE) if path.name == "journal.jsonl"] == []


def test_roots_follow_the_environment() -> None:
    home = Path("/home/ada")
    assert claude_code.roots({}, home)[0] == home / ".claude" / "projects"
    assert claude_code.roots({"CLAUDE_CONFIG_DIR": "/a"}, home) == [Path("/a/projects")]
    assert claude_code.roots({"CLAUDE_CONFIG_DIRS": "/a, /b"}, home) == [Path("/a/projects"), Path("/b/projects")]
