"""Codex: nothing counts twice, whatever the age of the file, compressed or not."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from sessiondb import SessionDB
from sessiondb.errors import MissingExtra
from sessiondb.importers import codex
from sessiondb.importers.source import Source

from .conftest import Bring
from .counts import codex as counts
from .counts.codex import zstd
from .parsed import Parsed
from .places import CODEX, heard, parsed

MAIN = "019fc710-e100-7000-8000-000000000001"
FORK = "019fc712-b5c0-7000-8000-000000000005"
SPAWNED = "019fc713-a020-7000-8000-000000000007"
EVENTS = "019fc714-8a80-7000-8000-000000000009"
EMPTY = "019fc715-74e0-7000-8000-00000000000a"
OLDEST = "019600aa-0000-7000-8000-0000000000aa"
OLD = "019600bb-0000-7000-8000-0000000000bb"


@pytest.fixture(scope="module")
def found() -> Parsed:
    return parsed("codex")


def test_the_conversation_in_order(found: Parsed) -> None:
    said = [(role, words if isinstance(words, str) else "…", note) for role, words, note in heard(found, MAIN)]
    assert said == [
        ("developer", "<permissions instructions>read only</permissions instructions>", True),
        ("user", "# AGENTS.md instructions for /home/ada/shop\n\nBe kind.", True),
        ("user", "<environment_context>\n  <cwd>/home/ada/shop</cwd>\n</environment_context>", True),
        ("user", "Why is the build red?", False),
        ("assistant", "I read the log.", False),
        ("tool", "red\n", False),
        ("tool", "…", False),
        ("assistant", "…", False),
        ("assistant", "A test fails.", False),
        ("user", "…", False),
        ("assistant", "Fixed.", False),
        ("user", "<turn_aborted>interrupted</turn_aborted>", True),
        ("user", "They fixed a test.", True),
        ("meta", "…", True),
        ("meta", "…", True),
    ]


def test_reasoning_words_and_calls_of_a_response_are_one_message(found: Parsed) -> None:
    answer = next(message for message in found.of(MAIN) if message.content == "I read the log.")
    assert answer.reasoning == "**Looking at the log**"
    assert [(call["id"], call["function"]["name"]) for call in answer.tool_calls] == [
        ("call-1", "shell"),
        ("call-2", "apply_patch"),
    ]
    assert answer.tool_calls[0]["function"]["arguments"] == '{"command":["cat","log"]}'
    assert (answer.model, answer.provider) == ("gpt-5.6", "openai")
    assert (answer.input_tokens, answer.output_tokens) == (60, 10)


def test_outputs_know_their_tool_and_exit_code(found: Parsed) -> None:
    red, patched = [message for message in found.of(MAIN) if message.role == "tool"]
    assert (red.tool_call_id, red.tool_name) == ("call-1", "shell")
    assert red.metadata == {"exit_code": 1, "is_error": True}
    assert [part["type"] for part in patched.content] == ["input_text", "input_image"]


def test_cumulative_counts_that_come_twice_count_once(found: Parsed) -> None:
    usage = found.usage[MAIN]
    assert (usage.input_tokens, usage.cache_read_tokens) == (60 + 40 + 10, 40 + 80 + 30)
    assert (usage.output_tokens, usage.reasoning_tokens) == (10 + 15 + 5, 4 + 5)


def test_the_session_of_a_rollout(found: Parsed) -> None:
    session = found.sessions[MAIN]
    assert (session["title"], session["title_source"]) == ("Red build", "user")
    assert (session["cwd"], session["git_branch"], session["model"]) == ("/home/ada/shop", "main", "gpt-5.6")
    assert (session["started_at"], session["system_prompt"]) == (1785751200.0, "You are Codex.")
    assert session["metadata"] == {
        "version": "0.146.0",
        "originator": "codex_cli_rs",
        "commit": "abc",
        "repository": "https://example.org/shop.git",
    }


def test_turns_that_were_rolled_back_are_retracted(found: Parsed) -> None:
    assert not any("Delete everything" in str(message.content) for message in found.of(MAIN))
    assert not any("Are you sure?" in str(message.content) for message in found.of(MAIN))


def test_a_fork_counts_what_follows_the_copy(found: Parsed) -> None:
    session, usage = found.sessions[FORK], found.usage[FORK]
    assert (session["parent_native_id"], session["relation"]) == (MAIN, "fork")
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (30, 20, 4)
    copied = [message for message in found.of(FORK) if message.metadata == {"copied_from": MAIN}]
    assert [message.content for message in copied][1:] == ["Why is the build red?", "I read the log."]
    assert [words for role, words, note in heard(found, FORK) if role == "user" and not note] == ["Take another way"]


def test_the_index_beside_the_sessions_names_them(found: Parsed) -> None:
    assert found.sessions[FORK]["title"] == "Another way"


def test_a_subagent_does_not_repeat_its_parent(found: Parsed) -> None:
    session = found.sessions[SPAWNED]
    assert (session["parent_native_id"], session["relation"], session["source"]) == (MAIN, "subagent", "subagent")
    assert session["metadata"]["agent_type"] == "explorer"
    assert heard(found, SPAWNED) == [
        ("user", "Count the tests", True),
        ("assistant", None, False),
        ("tool", "12", False),
        ("assistant", "Twelve.", False),
    ]
    assert found.usage[SPAWNED].output_tokens == 3


def test_an_archived_rollout_is_an_archived_session(found: Parsed) -> None:
    assert "archived_at" in found.sessions[SPAWNED]
    assert "archived_at" not in found.sessions[MAIN]


def test_where_there_are_no_items_events_are_the_transcript(found: Parsed) -> None:
    prompt, answer = found.of(EVENTS)
    assert (prompt.content, prompt.injected) == ("Only events here", False)
    assert (answer.content, answer.reasoning) == ("Only events there", "Thinking")
    assert (found.usage[EVENTS].input_tokens, found.usage[EVENTS].output_tokens) == (9, 3)


def test_a_rollout_of_nothing_but_its_header_is_no_session(found: Parsed) -> None:
    assert EMPTY not in found.sessions


def test_the_oldest_form_is_one_document(found: Parsed) -> None:
    assert [message.role for message in found.of(OLDEST)] == ["user", "assistant", "tool", "assistant"]
    assert found.sessions[OLDEST]["system_prompt"] == "Be brief."
    assert found.of(OLDEST)[1].reasoning == "Greeting"
    assert found.of(OLDEST)[2].metadata == {"exit_code": 0}


def test_the_form_after_it_had_no_envelopes(found: Parsed) -> None:
    assert [words for role, words, note in heard(found, OLD) if role == "user" and not note] == ["what is here?"]
    assert found.of(OLD)[2].tool_calls[0]["function"]["name"] == "local_shell"
    assert found.sessions[OLD]["git_branch"] == "old"


@pytest.fixture
def compressed(tmp_path: Path) -> Path:
    plain = next(CODEX.rglob(f"*{MAIN}.jsonl"))
    target = tmp_path / f"{plain.name}.zst"
    target.write_bytes(zstd.compress(plain.read_bytes(), 3))
    return target


def test_a_compressed_rollout_is_the_same_conversation(compressed: Path, found: Parsed) -> None:
    assert codex.detect(compressed, zstd.decompress(compressed.read_bytes())[:65536])
    again = Parsed().read(codex, compressed)
    assert again.messages[MAIN] == found.messages[MAIN]
    assert again.tallies() == counts.count([compressed])


def test_a_compressed_twin_of_a_plain_file_is_passed_by(compressed: Path) -> None:
    shutil.copy(next(CODEX.rglob(f"*{MAIN}.jsonl")), compressed.parent)
    assert [path.suffix for path in codex.find(compressed.parent)] == [".jsonl"]


def test_without_the_extra_a_compressed_file_says_what_to_install(
    compressed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("compression", "compression.zstd", "backports", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=r"pip install 'sessiondb\[import\]'"):
        list(codex.read(Source(compressed)))


def test_without_the_extra_the_other_files_are_imported(
    compressed: Path, monkeypatch: pytest.MonkeyPatch, db: SessionDB, bring: Bring
) -> None:
    shutil.copy(next(CODEX.rglob(f"*{EVENTS}.jsonl")), compressed.parent)
    for name in ("compression", "compression.zstd", "backports", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    report = bring(compressed.parent)
    assert [(skipped.path, "pip install" in skipped.why) for skipped in report.errors] == [(compressed, True)]
    monkeypatch.undo()
    assert db.get_session(EVENTS) is not None
    bring(compressed.parent)
    assert db.get_session(MAIN) is not None


def test_roots_follow_the_environment() -> None:
    assert codex.roots({}, Path("/home/ada")) == [Path("/home/ada/.codex")]
    assert codex.roots({"CODEX_HOME": "/srv/codex"}, Path("/home/ada")) == [Path("/srv/codex")]
