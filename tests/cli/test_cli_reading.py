"""list, show, search, stats, verify: what they print."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from sessiondb.cli import output
from sessiondb.cli.text import width

HOUR, DAY = 3600.0, 86_400.0


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


def sessions(done) -> list[dict[str, Any]]:
    return json.loads(done.out)["sessions"]


def hits(done) -> list[dict[str, Any]]:
    return json.loads(done.out)["hits"]


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
        assert width(row.partition("just now")[0]) == 72

    def test_limit_and_source(self, run, session) -> None:
        for name in ("a", "b", "c"):
            session(name, "hello", source="cli" if name != "b" else "telegram")
        assert [row["id"] for row in sessions(run("list", "--limit", "2", "--json"))] == ["c", "b"]
        assert [row["id"] for row in sessions(run("list", "--source", "cli", "--json"))] == ["c", "a"]
        assert run("list", "--source", "irc").out == "No sessions of source 'irc'.\n"

    def test_tools_and_archived_and_sub_agents_are_shown_when_asked_for(self, run, session, db) -> None:
        session("tool", "hello", source="tool")
        session("old", "hello")
        db.archive_session("old")
        session("main", "hello")
        db.create_session("helper", "cli", parent_session_id="main")
        assert [row["id"] for row in sessions(run("list", "--json"))] == ["main"]
        assert [row["id"] for row in sessions(run("list", "--source", "tool", "--json"))] == ["tool"]
        assert {row["id"] for row in sessions(run("list", "--all", "--json"))} == {
            "tool",
            "old",
            "main",
            "helper",
        }

    def test_a_compressed_conversation_is_one_line(self, run, session, db) -> None:
        session("first", "hello", title="work")
        db.rotate_session("first", new_id="second")
        assert [row["id"] for row in sessions(run("list", "--json"))] == ["second"]


class TestShow:
    @pytest.fixture
    def files(self, session, db) -> str:
        session("a", "list the files", title="files", started_at=1_700_000_000.0)
        call = {"id": "1", "function": {"name": "terminal", "arguments": '{"command": "ls"}'}}
        db.append_message("a", "assistant", None, tool_calls=[call], reasoning="ls will do", timestamp=1_700_000_000.0)
        db.append_message("a", "tool", "README.md", tool_name="terminal", tool_call_id="1", timestamp=1_700_000_000.0)
        db.append_message("a", "assistant", [{"type": "text", "text": "There is one."}], timestamp=1_700_000_000.0)
        return "a"

    def test_how_it_ended(self, run, files: str) -> None:
        assert run("show", "files").lines == [
            "files",
            "a · cli · 2023-11-14 22:13 · 4 messages",
            "",
            "● user",
            "  list the files",
            "",
            "◆ assistant",
            "  There is one.",
            "  [1 tool call: terminal]",
        ]

    def test_all_of_it(self, run, files: str) -> None:
        assert run("show", "files", "--full").lines[3:] == [
            "● user · 22:13 · #1",
            "  list the files",
            "",
            "◆ assistant · 22:13 · #2",
            "  [1 tool call: terminal]",
            "",
            "◆ assistant · 22:13 · #4",
            "  There is one.",
        ]

    def test_tools_and_thoughts_when_asked_for(self, run, files: str) -> None:
        shown = run("show", "files", "--tools", "--reasoning").lines
        assert shown[6:13] == [
            "◆ assistant · 22:13 · #2",
            "  ┆ ls will do",
            '  terminal({"command": "ls"})',
            "",
            "⚙ tool terminal · 22:13 · #3",
            "  README.md",
            "",
        ]

    def test_around_a_message_the_session_need_not_be_named(self, run, session) -> None:
        session("a", *map(str, range(20)))
        shown = run("show", "--around", "10", "-C", "1").lines
        assert [line for line in shown if line.startswith("  ")] == ["  8", "  9", "  10"]
        assert "◆ assistant" in next(line for line in shown if line.endswith("#10 ←"))
        done = run("show", "--around", "99")
        assert (done.code, done.err) == (
            3,
            "sessiondb: no message 99; `sessiondb search` tells the numbers of messages\n",
        )

    def test_the_end_of_it(self, run, session) -> None:
        session("a", "one", "two", "three")
        shown = run("show", "a", "--last", "1").lines
        assert "... 2 earlier messages ..." in shown
        assert shown[-1] == "  three"

    def test_earlier_messages_are_counted(self, run, session) -> None:
        session("a", *(f"text {number}" for number in range(50)))
        shown = run("show", "a").lines
        assert "... 30 earlier messages ..." in shown
        assert [line for line in shown if "text" in line] == [f"  text {number}" for number in range(30, 50)]

    def test_where_it_went_on(self, run, session, db) -> None:
        session("a", "one", title="work")
        db.rotate_session("a", new_id="b")
        db.append_message("b", "user", "two")
        shown = run("show", "a", "--tip").out
        assert "work #2" in shown
        assert "continues a" in shown
        assert "  two" in shown.splitlines()

    def test_as_json(self, run, session) -> None:
        session("a", "one", "二")
        shown = run("show", "a", "--json").out
        assert "二" in shown
        assert [message["content"] for message in json.loads(shown)["messages"]] == ["one", "二"]
        lines = run("show", "a", "--jsonl").lines
        assert [json.loads(line)["content"] for line in lines] == ["one", "二"]


class TestSearch:
    def test_hits_are_grouped_by_session(self, run, session) -> None:
        session("a", "the docker build fails", "use docker compose", title="builds")
        session("b", "docker on the server")
        assert run("search", "docker", "--order", "oldest").lines == [
            "builds · a · cli · just now",
            "  ● user #1: the >>>docker<<< build fails",
            "  ◆ assistant #2: use >>>docker<<< compose",
            "",
            "b · cli · just now",
            "  ● user #3: >>>docker<<< on the server",
        ]

    def test_titles_are_found_and_marked(self, run, session) -> None:
        session("a", "the build fails", title="docker trouble")
        assert run("search", "docker").lines[0] == ">>>docker<<< trouble · a · cli · just now"

    def test_neighbours_come_once_in_the_order_in_which_they_were_said(self, run, session) -> None:
        session("a", "zero", "one docker", "two docker", "three", *["far"] * 9, "docker again", "end")
        shown = run("search", "docker", "-C", "1", "--exact").lines
        numbers = [re.findall(r"#(\d+)", line) or ["…"] for line in shown[1:]]
        assert [number for (number,) in numbers] == ["1", "2", "3", "4", "…", "13", "14", "15"]

    @pytest.mark.parametrize(
        "query", [["/etc/nginx/nginx.conf"], ["it's", "broken"], ["东京"], ["--", "rm", "-rf"], ['"a b"']]
    )
    def test_things_are_found_as_typed(self, run, session, query: list[str]) -> None:
        session("a", "edit /etc/nginx/nginx.conf: it's broken, 在东京 rm -rf a b")
        assert "a · cli" in run("search", *query).out

    def test_a_plain_question_is_answered_by_most_of_its_words_unless_exact(self, run, session) -> None:
        session("a", "we moved staging to port 8443 yesterday")
        question = ["when", "did", "we", "move", "staging", "to", "8443"]
        assert "≈ user #1:" in run("search", *question).out
        assert run("search", "--exact", *question).out.startswith("No message matches")

    def test_what_is_partly_there_comes_after_what_is_all_there(self, run, session) -> None:
        session("b", "only docker here")
        session("a", "docker compose")
        found = hits(run("search", "docker", "compose", "--json"))
        assert [(hit["session_id"], hit["partial"]) for hit in found] == [("a", False), ("b", True)]

    def test_filters(self, run, session, db) -> None:
        session("a", "docker", "docker")
        session("b", "docker", source="telegram")
        db.tag_session("b", "work")
        assert len(hits(run("search", "docker", "--json"))) == 3
        assert len(hits(run("search", "docker", "--json", "--limit", "1"))) == 1
        for choice in (["--source", "telegram"], ["--tag", "work"]):
            assert [hit["session_id"] for hit in hits(run("search", "docker", *choice, "--json"))] == ["b"]
        assert [hit["role"] for hit in hits(run("search", "docker", "--role", "assistant", "--json"))] == ["assistant"]
        assert hits(run("search", "docker", "--until", "yesterday", "--json")) == []

    @pytest.mark.parametrize("how", [[], ["--exact"], ["--order", "newest"], ["--mode", "substring"]])
    def test_times_are_those_of_the_messages(self, run, session, db, how: list[str]) -> None:
        session("a", "docker long ago", started_at=time.time() - 30 * DAY)
        db.append_message("a", "user", "docker today")
        assert [hit["id"] for hit in hits(run("search", "docker", "--since", "7d", *how, "--json"))] == [2]
        assert [hit["id"] for hit in hits(run("search", "docker", "--until", "7d", *how, "--json"))] == [1]

    @pytest.mark.parametrize(
        ("mode", "query"), [("substring", "ock"), ("fuzzy", "dokcer"), ("regex", "d.c[k]er"), ("words", "docker")]
    )
    def test_modes(self, run, session, mode: str, query: str) -> None:
        session("a", "the docker build fails")
        assert [hit["id"] for hit in hits(run("search", query, "--mode", mode, "--json"))] == [1]

    def test_nothing_found_is_no_error_and_a_near_word_is_named(self, run, session) -> None:
        session("a", "hello docker")
        done = run("search", "xyzzy")
        assert (done.code, done.out) == (0, "No message matches 'xyzzy'.\n")
        assert run("search", "dokcer").lines[-1] == "Did you mean: docker"

    @pytest.mark.parametrize(
        ("order", "ranking"),
        [("relevance", "people's first, newest first"), ("newest", "newest first"), ("oldest", "oldest first")],
    )
    def test_it_explains_the_order_of_a_mode(self, run, session, order: str, ranking: str) -> None:
        session("a", "the docker build fails")
        done = run("search", "ock", "--mode", "substring", "--order", order, "--explain", "--json")
        assert json.loads(done.out)["explanation"]["ranking"] == f"{ranking}, by substring"

    def test_it_explains_itself(self, run, session) -> None:
        session("a", "we moved staging")
        shown = run("search", "when", "did", "staging", "move", "since:7d", "--explain").lines
        assert "set aside: when, did" in shown
        assert "filters: since:7d" in shown
        assert json.loads(run("search", "staging", "--explain", "--json").out)["explanation"]["ranking"] == "question"


class TestStats:
    def test_totals_and_every_source(self, run, session) -> None:
        session("a", "one", "two")
        session("b", "three", source="matrix")
        session("c", source="cli")
        lines = run("stats").lines
        assert lines[:4] == ["Total sessions: 3", "Total messages: 3", "  cli: 2 sessions", "  matrix: 1 session"]
        assert re.fullmatch(r"Database size: [0-9.]+ KB \(messages [0-9.]+ KB, search index .*\)", lines[4])

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
