"""list, show, search, stats, verify: what they print."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from sessiondb.cli import output

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-5, "just now"),
        (0, "just now"),
        (59, "just now"),
        (60, "1m ago"),
        (HOUR - 1, "59m ago"),
        (HOUR, "1h ago"),
        (DAY - 1, "23h ago"),
        (DAY, "yesterday"),
        (2 * DAY - 1, "yesterday"),
        (2 * DAY, "2d ago"),
        (7 * DAY - 1, "6d ago"),
    ],
)
def test_times_are_told_as_people_tell_them(seconds: float, shown: str) -> None:
    assert output.ago(1_800_000_000 - seconds, 1_800_000_000) == shown


def test_from_a_week_on_the_date_is_told() -> None:
    then = time.mktime((2025, 3, 5, 9, 15, 23, 0, 0, -1))
    assert output.ago(then, then + 8 * DAY) == "2025-03-05"
    assert output.ago(None, then) == "?"


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1024, "1.0 KB"), (13_002_342, "12.4 MB"), (1 << 50, "1024.0 TB")],
)
def test_sizes(count: int, shown: str) -> None:
    assert output.size(count) == shown


@pytest.mark.parametrize(
    "text", ["plain", "很长的标题很长的标题很长的标题", "a" * 40, "ไทย", "e\u0301" * 30, "", "\x1b[2J" * 9]
)
def test_a_column_is_as_wide_as_it_should_be(text: str) -> None:
    shown = output.fit(text, 20)
    assert output.width(shown) == 20
    assert shown.endswith(" ")


class TestList:
    def test_with_titles(self, run, session) -> None:
        now = time.time()
        session("20250303_101500_f", "What's the weather in Las Vegas?", source="telegram", started_at=now - 3.1 * DAY)
        session("20250304_143022_e", "Can you check the tests?", title="my project #3", started_at=now - 1.1 * DAY)
        session("20250305_091523_a", "Help me refactor", title="refactoring auth", started_at=now - 2.1 * HOUR)
        assert run("list").lines == [
            "Title                           Preview                                 Last Active  ID",
            "─" * 102,
            "refactoring auth                Help me refactor                        2h ago       20250305_091523_a",
            "my project #3                   Can you check the tests?                yesterday    20250304_143022_e",
            "—                               What's the weather in Las Vegas?        3d ago       20250303_101500_f",
        ]

    def test_without_any_title_the_source_is_shown(self, run, session) -> None:
        now = time.time()
        session("20250303_101500_f", "What's the weather in Las Vegas?", source="telegram", started_at=now - 3.1 * DAY)
        session("20250305_091523_a", "Help me refactor the auth module please", started_at=now - 2.1 * HOUR)
        assert run("list").lines == [
            "Preview                                           Last Active  Src   ID",
            "─" * 86,
            "Help me refactor the auth module please           2h ago       cli   20250305_091523_a",
            "What's the weather in Las Vegas?                  3d ago       tele… 20250303_101500_f",
        ]

    def test_long_texts_are_cut_and_wide_ones_stay_in_their_column(self, run, session) -> None:
        session("a", "把" * 60, title="東京の天気" * 10)
        row = run("list").lines[2]
        assert output.width(row.partition("just now")[0]) == 72

    def test_limit_and_source(self, run, session) -> None:
        for name in ("a", "b", "c"):
            session(name, "hello", source="cli" if name != "b" else "telegram")
        assert [row["id"] for row in json.loads(run("list", "--limit", "2", "--json").out)] == ["c", "b"]
        assert [row["id"] for row in json.loads(run("list", "--source", "cli", "--json").out)] == ["c", "a"]
        assert run("list", "--source", "irc").out == "No sessions of source 'irc'.\n"

    def test_tools_and_archived_and_sub_agents_are_shown_when_asked_for(self, run, session, db) -> None:
        session("tool", "hello", source="tool")
        session("old", "hello")
        db.archive_session("old")
        session("main", "hello")
        db.create_session("helper", "cli", parent_session_id="main")
        assert [row["id"] for row in json.loads(run("list", "--json").out)] == ["main"]
        assert [row["id"] for row in json.loads(run("list", "--source", "tool", "--json").out)] == ["tool"]
        assert {row["id"] for row in json.loads(run("list", "--all", "--json").out)} == {
            "tool",
            "old",
            "main",
            "helper",
        }

    def test_a_compressed_conversation_is_one_line(self, run, session, db) -> None:
        session("first", "hello", title="work")
        db.rotate_session("first", new_id="second")
        assert [row["id"] for row in json.loads(run("list", "--json").out)] == ["second"]


class TestShow:
    def test_who_said_what(self, run, session, db) -> None:
        session("a", "list the files", title="files", started_at=1_700_000_000.0)
        db.append_message("a", "assistant", None, tool_calls=[{"id": "1", "function": {"name": "terminal"}}])
        db.append_message("a", "tool", "README.md", tool_name="terminal", tool_call_id="1")
        db.append_message("a", "assistant", [{"type": "text", "text": "There is one."}])
        assert run("show", "files").lines == [
            "files",
            "a",
            "cli · 2023-11-14 22:13 · 4 messages",
            "",
            "user: list the files",
            "assistant: [terminal]",
            "tool (terminal): README.md",
            "assistant: There is one.",
        ]

    def test_the_end_of_it(self, run, session) -> None:
        session("a", "one", "two", "three")
        assert run("show", "a", "--last", "1").lines[-2:] == ["… 2 earlier messages …", "user: three"]

    def test_where_it_went_on(self, run, session, db) -> None:
        session("a", "one", title="work")
        db.rotate_session("a", new_id="b")
        db.append_message("b", "user", "two")
        shown = run("show", "work", "--tip").out
        assert "work #2" in shown
        assert "continues a" in shown
        assert "user: two" in shown

    def test_as_json(self, run, session) -> None:
        session("a", "one", "二")
        shown = run("show", "a", "--json").out
        assert "二" in shown
        assert [message["content"] for message in json.loads(shown)["messages"]] == ["one", "二"]

    def test_stored_text_cannot_command_the_terminal(self, run, session) -> None:
        evil = "\x1b[2J\x1b]0;owned\x07 \x9b31m \u202e back \r over \x00 \ud800 tab\there"
        session("a", evil, title="t")
        for command in (["show", "a"], ["list"], ["search", "owned"], ["show", "a", "--json"], ["export", "-"]):
            shown = run(*command).out
            assert shown
            assert not set(shown) & set("\x00\x07\r\x1b\x7f\x9b\u202e\ud800")
        assert json.loads(run("show", "a", "--json").out)["messages"][0]["content"] == evil
        assert (
            r"user: \x1b[2J\x1b]0;owned\x07 \x9b31m \u202e back \x0d over \x00 \ud800 tab	here"
            in run("show", "a").out
        )


class TestSearch:
    def test_hits_are_grouped_by_session(self, run, session) -> None:
        session("a", "the docker build fails", "use docker compose", title="builds")
        session("b", "docker on the server")
        done = run("search", "docker", "--order", "oldest")
        assert done.lines == [
            "builds · a · cli · just now",
            "  user: the >>>docker<<< build fails",
            "  assistant: use >>>docker<<< compose",
            "",
            "b · cli · just now",
            "  user: >>>docker<<< on the server",
        ]

    @pytest.mark.parametrize(
        "query", [["/etc/nginx/nginx.conf"], ["it's", "broken"], ["东京"], ["--", "rm", "-rf"], ['"a b"']]
    )
    def test_things_are_found_as_typed(self, run, session, query: list[str]) -> None:
        session("a", "edit /etc/nginx/nginx.conf: it's broken, 在东京 rm -rf a b")
        assert "a · cli" in run("search", *query).out

    def test_filters(self, run, session) -> None:
        session("a", "docker", "docker")
        session("b", "docker", source="telegram")
        assert len(json.loads(run("search", "docker", "--json").out)) == 3
        assert len(json.loads(run("search", "docker", "--json", "--limit", "1").out)) == 1
        assert [
            hit["session_id"] for hit in json.loads(run("search", "docker", "--source", "telegram", "--json").out)
        ] == ["b"]
        assert [hit["role"] for hit in json.loads(run("search", "docker", "--role", "assistant", "--json").out)] == [
            "assistant"
        ]

    def test_nothing_found_is_no_error(self, run, session) -> None:
        session("a", "hello")
        done = run("search", "kubernetes")
        assert (done.code, done.out) == (0, "No message matches 'kubernetes'.\n")


class TestStats:
    def test_totals_and_every_source(self, run, session) -> None:
        session("a", "one", "two")
        session("b", "three", source="matrix")
        session("c", source="cli")
        lines = run("stats").lines
        assert lines[:4] == ["Total sessions: 3", "Total messages: 3", "  cli: 2 sessions", "  matrix: 1 session"]
        assert lines[4].startswith("Database size: ")

    def test_as_json(self, run, session) -> None:
        session("a", "one")
        stats = json.loads(run("stats", "--json").out)
        assert (stats["sessions"], stats["messages"], stats["sources"]) == (1, 1, {"cli": 1})


class TestVerify:
    def test_all_is_there(self, run, session) -> None:
        session("a", "one", "two")
        session("b", "three")
        assert run("verify").out == "2 sessions, 3 messages: all there.\n"
        assert run("verify", "a").out == "1 session, 2 messages: all there.\n"

    def test_an_altered_message_is_named_and_the_code_is_6(self, run, session, db, home: Path) -> None:
        import apsw

        session("a", "one", "two")
        db.close()
        connection = apsw.Connection(str(home / "state.db"))
        connection.execute("UPDATE messages SET content = 'forged' WHERE seq = 2")
        connection.close()
        done = run("verify")
        assert (done.code, "a: altered or moved: position 2" in done.lines) == (6, True)
        report = json.loads(run("verify", "--json").out)
        assert (report["ok"], report["problems"][0]["positions"]) == (False, [2])
