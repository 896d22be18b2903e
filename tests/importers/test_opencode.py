"""OpenCode: the same conversation from the tree, the database, an export or the events of a run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import apsw
import pytest

from sessiondb.importers import opencode

from .counts import opencode as counts
from .parsed import Parsed
from .places import OPENCODE, heard, parsed

MAIN, CHILD = "ses_01main", "ses_02child"


@pytest.fixture(scope="module")
def found() -> Parsed:
    return parsed("opencode")


def test_the_conversation_in_order(found: Parsed) -> None:
    picture, compaction = found.of(MAIN)[0].content, found.of(MAIN)[5].content
    assert heard(found, MAIN) == [
        ("user", picture, False),
        ("user", "Called the Read tool with shelf.txt", True),
        ("assistant", "Sorting.", False),
        ("tool", "done\n", False),
        ("tool", "aborted", False),
        ("meta", compaction, True),
        ("assistant", "Sorted.", False),
        ("user", "Thanks", False),
    ]
    assert [part["type"] for part in picture] == ["text", "image"]
    assert compaction["type"] == "compaction"


def test_what_was_undone_is_kept_aside(found: Parsed) -> None:
    aside = [message.content for message in found.messages[MAIN].values() if not message.active]
    assert aside == ["Undo that", "Undone."]


def test_files_are_references(found: Parsed) -> None:
    reference = {"kind": "file", "path": "/home/ada/shop/shelf.txt", "mime_type": "text/plain"}
    assert found.messages[MAIN]["msg_01"].media == [reference]


def test_an_answer_with_its_calls(found: Parsed) -> None:
    answer = found.messages[MAIN]["msg_02"]
    assert (answer.reasoning, answer.model, answer.provider) == ("By size.", "claude-opus-5", "anthropic")
    assert [call["id"] for call in answer.tool_calls] == ["oc-1", "oc-2", "oc-3"]
    assert (answer.input_tokens, answer.output_tokens, answer.finish_reason) == (20, 8, "tool-calls")


def test_results_know_their_tool_and_whether_it_failed(found: Parsed) -> None:
    good, bad = found.messages[MAIN]["prt_024"], found.messages[MAIN]["prt_025"]
    assert (good.tool_name, good.tool_call_id, good.metadata) == ("bash", "oc-1", None)
    assert bad.metadata == {"is_error": True, "session": CHILD}
    assert found.messages["ses_05run"]["p2"].metadata == {"is_error": True, "exit_code": 1}


def test_tokens_and_costs_are_those_of_messages_not_of_steps(found: Parsed) -> None:
    usage = found.usage[MAIN]
    assert (usage.input_tokens, usage.output_tokens) == (20 + 30 + 1, 8 + 3 + 1)
    assert (usage.cache_read_tokens, usage.cache_write_tokens, usage.reasoning_tokens) == (90, 10, 3)
    assert (usage.estimated_cost_usd, usage.cost_status) == (0.5 + 0.25 + 0.125, "estimated")


def test_the_session(found: Parsed) -> None:
    session = found.sessions[MAIN]
    assert (session["title"], session["cwd"], session["model"]) == ("Tidy the shelf", "/home/ada/shop", "claude-opus-5")
    assert (session["started_at"], session["metadata"]) == (1785751200.0, {"version": "1.1.0"})


def test_a_subagent_names_its_parent_and_has_no_made_up_title(found: Parsed) -> None:
    session = found.sessions[CHILD]
    assert (session["parent_native_id"], session["relation"], session["source"]) == (MAIN, "subagent", "subagent")
    assert "title" not in session
    assert heard(found, CHILD)[0] == ("user", "count", True)


def test_a_session_without_messages_is_none(found: Parsed) -> None:
    assert "ses_03none" not in found.sessions


def test_an_export_and_the_events_of_a_run(found: Parsed) -> None:
    assert heard(found, "ses_04exported") == [("user", "Export me", False), ("assistant", "Exported.", False)]
    assert [message.content for message in found.of("ses_05run")] == [None, "", "It failed."]
    assert found.usage["ses_05run"].estimated_cost_usd == 0.75


TABLES = """
    CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT,
        version TEXT, revert TEXT, model TEXT, time_created INTEGER, time_updated INTEGER, time_archived INTEGER);
    CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
    CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT);
"""


def objects(pattern: str) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for path in sorted((OPENCODE / "storage").glob(pattern))]


def without(value: dict[str, Any], *names: str) -> str:
    return json.dumps({name: each for name, each in value.items() if name not in names})


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """The sessions of the tree, as they are after they moved into the database."""
    path = tmp_path / "opencode.db"
    connection = apsw.Connection(str(path))
    connection.execute(TABLES)
    for row in objects("session/*/*.json"):
        revert = json.dumps(row["revert"]) if "revert" in row else None
        values = [row.get(name) for name in ("id", "projectID", "parentID", "directory", "title", "version")]
        times = (row["time"]["created"], row["time"]["updated"], None)
        connection.execute(
            "INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*values, revert, None, *times)
        )
    for row in objects("message/*/*.json"):
        values = [row["id"], row["sessionID"], row["time"]["created"], 0, without(row, "id", "sessionID")]
        connection.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", values)
    for row in objects("part/*/*.json"):
        data = without(row, "id", "sessionID", "messageID")
        values = [row["id"], row["messageID"], row["sessionID"], 0, data]
        connection.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", values)
    connection.close()
    return path


def test_the_database_holds_the_same_conversations_as_the_tree(database: Path, found: Parsed) -> None:
    assert opencode.detect(database, database.read_bytes()[:65536])
    moved = Parsed().read(opencode, database)
    for session in (MAIN, CHILD):
        assert heard(moved, session)[0] == heard(found, session)[0]
        assert [message.native_id for message in moved.of(session)] == [each.native_id for each in found.of(session)]
    assert moved.tallies() == counts.count([database])
    assert moved.usage[MAIN] == found.usage[MAIN]


def test_the_database_is_found_after_the_tree_that_it_replaced(database: Path) -> None:
    (database.parent / "storage").symlink_to(OPENCODE / "storage")
    assert next(reversed(list(opencode.find(database.parent)))) == database


def test_reading_leaves_nothing_beside_the_database(database: Path) -> None:
    before = sorted(os.listdir(database.parent))
    Parsed().read(opencode, database)
    assert sorted(os.listdir(database.parent)) == before


def test_the_stamp_of_a_session_changes_with_its_messages(tmp_path: Path) -> None:
    session = tmp_path / "session" / "proj" / "ses_x.json"
    message = tmp_path / "message" / "ses_x" / "msg_1.json"
    for path in (session, message):
        path.parent.mkdir(parents=True)
        path.write_text("{}")
    before = opencode.stamp(session)
    message.write_text('{"id": "msg_1"}')
    assert opencode.stamp(session) != before


def test_roots_follow_the_environment() -> None:
    home = Path("/home/ada")
    assert opencode.roots({}, home) == [home / ".local/share/opencode"]
    named = {"XDG_DATA_HOME": "/data", "OPENCODE_DB": "/data/my.db"}
    assert opencode.roots(named, home) == [Path("/data/opencode"), Path("/data/my.db")]
