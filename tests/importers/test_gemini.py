"""Gemini CLI: messages that are replaced and taken back, thoughts, and the directory that is not stored."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessiondb.importers import gemini

from .parsed import Parsed
from .places import GEMINI, heard, parsed

MAIN = "77777777-7777-4777-8777-777777777777"
SPAWNED = "88888888-8888-4888-8888-888888888888"
JSON = "99999999-9999-4999-8999-999999999999"


@pytest.fixture(scope="module")
def found() -> Parsed:
    return parsed("gemini-cli")


def test_the_conversation_in_order(found: Parsed) -> None:
    said = [(role, words if isinstance(words, str) else "…", note) for role, words, note in heard(found, MAIN)]
    assert said == [
        ("user", "This is the Gemini CLI. We are setting up the context for our chat.", True),
        ("user", "Read @cart.py\n\n--- cart.py ---\ntotal = 1", True),
        ("user", "Read @cart.py", False),
        ("assistant", "Reading.", False),
        ("tool", "total = 1", False),
        ("tool", "no shell", False),
        ("assistant", "One line.", False),
        ("user", "…", False),
        ("system", "Request cancelled.", True),
        ("user", "A receipt?", False),
        ("meta", "…", True),
    ]


def test_a_message_that_comes_again_replaces_and_counts_once(found: Parsed) -> None:
    answer = found.messages[MAIN]["g2"]
    assert (answer.reasoning, answer.model) == ("**Plan**\nRead first.", "gemini-3-pro")
    assert [call["function"]["name"] for call in answer.tool_calls] == ["read_file", "run", "ask"]
    assert (answer.input_tokens, answer.output_tokens) == (42, 22)


def test_tokens_of_what_was_taken_back_were_still_used(found: Parsed) -> None:
    usage = found.usage[MAIN]
    assert (usage.input_tokens, usage.output_tokens) == (42 + 130 + 10, 22 + 4 + 1)
    assert (usage.cache_read_tokens, usage.reasoning_tokens) == (60, 7)


def test_results_know_their_tool_and_whether_it_failed(found: Parsed) -> None:
    good, bad = [message for message in found.of(MAIN) if message.role == "tool"]
    assert (good.tool_call_id, good.tool_name, good.metadata) == ("t1", "read_file", None)
    assert (bad.tool_call_id, bad.metadata) == ("t2", {"is_error": True, "status": "error"})


def test_the_directory_is_found_by_name_and_by_hash(found: Parsed) -> None:
    assert found.sessions[MAIN]["cwd"] == "/home/ada/shop"
    assert found.sessions[JSON]["cwd"] == "/home/ada/shop"


def test_the_summary_is_the_title(found: Parsed) -> None:
    assert (found.sessions[MAIN]["title"], found.sessions[JSON]["title"]) == ("Reading the cart", "Ports")
    assert found.sessions[MAIN]["title_source"] == "agent"


def test_a_subagent_is_a_session_of_its_own(found: Parsed) -> None:
    session = found.sessions[SPAWNED]
    assert (session["parent_native_id"], session["relation"]) == (MAIN, "subagent")
    assert heard(found, SPAWNED) == [("user", "Look around", True), ("assistant", "Seen.", False)]


def test_the_older_form_is_one_document(found: Parsed) -> None:
    assert heard(found, JSON) == [
        ("user", "Which port?", False),
        ("assistant", "8080.", False),
        ("system", "quota", True),
    ]
    assert found.sessions[JSON]["started_at"] == 1764576000.0


def test_only_chats_are_sources() -> None:
    assert all("chats" in path.parts for path in gemini.find(GEMINI))


def test_roots_follow_the_environment() -> None:
    assert gemini.roots({}, Path("/home/ada")) == [Path("/home/ada/.gemini/tmp")]
    assert gemini.roots({"GEMINI_CLI_HOME": "/srv"}, Path("/home/ada")) == [Path("/srv/.gemini/tmp")]
