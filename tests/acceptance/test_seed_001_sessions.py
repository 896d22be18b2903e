"""The user's guide to sessions: what is kept, resume, naming, listing, export, cleanup."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import sessiondb
from sessiondb import SessionDB
from sessiondb.gateway.keys import Rules, Source, session_key
from sessiondb.gateway.policy import Policies, ResetPolicy
from sessiondb.gateway.router import Router
from sessiondb.gateway.transcripts import Transcripts, read_index, read_transcript
from sessiondb.gateway.watcher import Watcher
from sessiondb.testing import FakeClock
from sessiondb.titling import Titler, give_title
from sessiondb.tools.seed_shape import seed_shape
from sessiondb.tools.session_search import session_search

Command = Callable[..., subprocess.CompletedProcess[str]]
DAY = 86_400.0


@pytest.fixture
def command(path: Path) -> Command:
    """Run the real command on the store."""

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "sessiondb", "--db", str(path), *arguments]
        return subprocess.run(line, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)

    return run


@pytest.fixture
def project(db: SessionDB) -> list[str]:
    """The ids of a conversation that was compressed twice, oldest first."""
    db.create_session("first", "cli", started_at=time.time() - 60)
    db.append_message("first", "user", "Help me refactor the auth module please")
    db.set_session_title("first", "my project")
    second = db.rotate_session("first")
    return ["first", second, db.rotate_session(second)]


# --- what is kept ---


def test_session_keeps_everything_that_describes_it(db: SessionDB) -> None:
    db.create_session("parent", "cli")
    db.create_session(
        "s",
        "telegram",
        model="m1",
        model_config={"temperature": 0},
        system_prompt="be brief",
        user_id="u1",
        parent_session_id="parent",
    )
    db.set_session_title("s", "my title")
    db.update_token_counts("s", input_tokens=10, output_tokens=4)
    db.end_session("s", "user_exit")
    session = db.get_session("s")
    assert session is not None
    assert (session["source"], session["user_id"], session["title"]) == ("telegram", "u1", "my title")
    assert (session["model"], json.loads(session["model_config"] or "")) == ("m1", {"temperature": 0})
    assert (session["system_prompt"], session["parent_session_id"]) == ("be brief", "parent")
    assert (session["input_tokens"], session["output_tokens"]) == (10, 4)
    assert (session["ended_at"] or 0) >= session["started_at"]


def test_history_keeps_roles_contents_calls_and_results(db: SessionDB) -> None:
    call = {"id": "c1", "function": {"name": "terminal", "arguments": '{"command": "ls"}'}}
    db.create_session("s", "cli")
    db.append_message("s", "user", "list the files")
    db.append_message("s", "assistant", "", tool_calls=[call])
    db.append_message("s", "tool", "a.txt", tool_call_id="c1", tool_name="terminal")
    kept = [(row["role"], row["content"], row["tool_calls"], row["tool_name"]) for row in db.get_messages("s")]
    assert kept == [
        ("user", "list the files", None, None),
        ("assistant", "", [call], None),
        ("tool", "a.txt", None, "terminal"),
    ]


@pytest.mark.parametrize("source", ["cli", "telegram", "discord", "whatsapp", "slack"])
def test_sessions_are_tagged_with_their_source(source: str, db: SessionDB) -> None:
    db.create_session("s", source)
    db.create_session("other", "elsewhere")
    assert [row["id"] for row in db.list_sessions_rich(source=source)] == ["s"]


# --- resume ---


def test_last_cli_session_is_continued_with_its_history(db: SessionDB) -> None:
    for name, source, age in (("old", "cli", 30), ("last", "cli", 20), ("chat", "telegram", 10)):
        db.create_session(name, source, started_at=time.time() - age)
        db.append_message(name, "user", f"hello from {name}")
    newest = db.list_sessions_rich(source="cli", limit=1)[0]
    assert db.get_messages_as_conversation(newest["id"]) == [{"role": "user", "content": "hello from last"}]


def test_name_resumes_the_newest_of_its_lineage(db: SessionDB, project: list[str]) -> None:
    assert db.resolve_session_by_title("my project") == project[-1]
    assert db.get_session_title(project[-1]) == "my project #3"


def test_id_resumes_a_session(db: SessionDB) -> None:
    db.create_session("20250305_091523_a1b2c3d4", "cli")
    assert db.resolve_session_id("20250305_091523_a1b2c3d4") == "20250305_091523_a1b2c3d4"


def test_title_resumes_a_session(db: SessionDB) -> None:
    db.create_session("20250305_091523_a1b2c3d4", "cli")
    db.set_session_title("20250305_091523_a1b2c3d4", "refactoring auth")
    assert db.resolve_session_by_title("refactoring auth") == "20250305_091523_a1b2c3d4"


def test_continue_and_resume_on_the_command_line(db: SessionDB, project: list[str], command: Command) -> None:
    db.append_message(project[-1], "user", "newest part")
    db.create_session("chat", "telegram")
    db.append_message("chat", "user", "later, but not on the command line")
    for words in (["--continue"], ["-c"], ["-c", "my project"], ["--resume", "my project"], ["-r", project[-1]]):
        assert "● newest part" in command(*words).stdout.splitlines(), words


def test_recap_shows_what_the_guide_says(db: SessionDB, command: Command) -> None:
    db.create_session("s", "cli", system_prompt="hidden prompt")
    for number in range(12):
        db.append_message("s", "user", f"question {number} " + "x" * 400)
        calls = [{"id": f"{at}", "function": {"name": name}} for at, name in enumerate(("terminal", "web_search") * 2)]
        db.append_message("s", "assistant", f"<think>hidden</think>answer {number}\nb\nc\nd", tool_calls=calls[:3])
        db.append_message("s", "tool", "hidden result", tool_name="terminal", tool_call_id="0")
    shown = command("-c").stdout
    assert "... 4 earlier messages ..." in shown
    assert (shown.count("● question"), shown.count("◆ answer"), "hidden" in shown) == (10, 10, False)
    assert shown.count("[3 tool calls: terminal, web_search]") == 10
    assert "answer 11\n  b\n  c...\n" in shown
    assert re.sub(r"\s", "", shown).count("x" * (300 - len("question 11 ")) + "...") == 10


def test_recap_can_be_one_line(db: SessionDB, path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSIONDB_HOME", str(path.parent))
    (path.parent / "config.yaml").write_text("display:\n  resume_display: minimal\n")
    db.create_session("s", "cli")
    db.append_message("s", "user", "hello")
    assert command("-c").stdout == "s · 1 message · just now\n"


def test_ids_tell_date_and_time(db: SessionDB, project: list[str]) -> None:
    assert all(re.fullmatch(r"\d{8}_\d{6}_[0-9a-f]{8}", name) for name in project[1:])


# --- naming ---


def test_automatic_title_comes_once_and_never_over_a_chosen_one(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.create_session("named", "cli")
    db.set_session_title("named", "mine")
    assert db.set_auto_title_if_empty("s", "Refactoring The Auth Module")
    assert not db.set_auto_title_if_empty("s", "Another Title")
    assert not db.set_auto_title_if_empty("named", "Another Title")
    assert [db.get_session_title(name) for name in ("s", "named")] == ["Refactoring The Auth Module", "mine"]


def test_no_two_sessions_share_a_title(db: SessionDB) -> None:
    db.create_session("a", "cli")
    db.create_session("b", "cli")
    db.set_session_title("a", "shared")
    with pytest.raises(sessiondb.TitleTaken):
        db.set_session_title("b", "shared")


def test_title_has_at_most_100_characters(db: SessionDB) -> None:
    db.create_session("s", "cli")
    assert db.set_session_title("s", "x" * 100)
    with pytest.raises(ValueError, match="101 characters"):
        db.set_session_title("s", "x" * 101)
    assert db.get_session_title("s") == "x" * 100


def test_title_loses_invisible_characters(db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.set_session_title("s", "  my\x00 \u200bproject\u202e \t notes\n")
    assert db.get_session_title("s") == "my project notes"


@pytest.mark.parametrize("title", ["🚀 launch", "設定を直す", "café für Łódź"])
def test_title_takes_any_script(title: str, db: SessionDB) -> None:
    db.create_session("s", "cli")
    db.set_session_title("s", title)
    assert db.resolve_session_by_title(title) == "s"


def test_compression_numbers_the_titles(db: SessionDB, project: list[str]) -> None:
    assert [db.get_session_title(name) for name in project] == ["my project", "my project #2", "my project #3"]


def test_compression_ends_the_original(db: SessionDB, project: list[str]) -> None:
    first = db.get_session(project[0])
    assert first is not None
    assert (first["end_reason"], db.get_compression_tip(project[0])) == ("compression", project[-1])


# --- listing ---


def test_list_has_20_by_default_newest_first(db: SessionDB) -> None:
    for number in range(25):
        db.create_session(f"s{number:02}", "cli", started_at=1000.0 + number)
    assert [row["id"] for row in db.list_sessions_rich()] == [f"s{number:02}" for number in range(24, 4, -1)]
    assert len(db.list_sessions_rich(limit=50)) == 25


def test_list_with_titles_shows_title_preview_activity_and_id(db: SessionDB, command: Command) -> None:
    db.create_session("20250305_091523_a1b2c3d4", "cli", started_at=time.time() - 7300)
    db.set_session_title("20250305_091523_a1b2c3d4", "refactoring auth")
    db.append_message("20250305_091523_a1b2c3d4", "user", "Help me refactor the auth", timestamp=time.time() - 7300)
    header, _, row = command("list").stdout.splitlines()[:3]
    assert header.split() == ["Title", "Preview", "Last", "Active", "ID"]
    assert re.search(r"refactoring auth +Help me refactor the auth +2h ago +20250305_091523_a", row)


def test_list_without_titles_shows_the_source(db: SessionDB, command: Command) -> None:
    db.create_session("20250303_101500_f0000000", "telegram", started_at=time.time() - 3 * DAY - 60)
    db.append_message("20250303_101500_f0000000", "user", "What's the weather?", timestamp=time.time() - 3 * DAY - 60)
    header, _, row = command("list").stdout.splitlines()[:3]
    assert header.split() == ["Preview", "Last", "Active", "Src", "ID"]
    assert re.search(r"What's the weather\? +3d ago +tele\S* +20250303_101500_f", row)


def test_list_of_one_source_and_limit(db: SessionDB, command: Command) -> None:
    for number in range(3):
        db.create_session(f"cli-{number}", "cli")
        db.create_session(f"tg-{number}", "telegram")
    listed = command("list", "--source", "telegram", "--limit", "2").stdout
    assert (listed.count("tg-"), listed.count("cli-")) == (2, 0)


# --- export, delete, rename ---


@pytest.fixture
def three(db: SessionDB) -> SessionDB:
    for name, source in (("20250305_091523_a1b2c3d4", "cli"), ("s2", "telegram"), ("s3", "telegram")):
        db.create_session(name, source)
        db.append_message(name, "user", f"hello from {name}")
    return db


def exported(file: Path) -> list[str]:
    documents = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert all(len(document["messages"]) == 1 for document in documents)
    return sorted(document["id"] for document in documents)


def test_browse_lists_searches_and_takes_up(db: SessionDB, path: Path, project: list[str]) -> None:
    """The browser shows titles and previews; words choose, Enter takes up."""
    import pty
    import select
    import termios

    db.create_session("other", "telegram", started_at=time.time() - 60)
    db.append_message("other", "user", "What's the weather in Las Vegas?")
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    line = [sys.executable, "-m", "sessiondb", "--db", str(path), "browse"]
    process = subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    sent = b""

    def read_until(text: str) -> None:
        nonlocal sent
        until = time.monotonic() + 60
        while text not in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", sent.decode(errors="replace")):
            assert time.monotonic() < until, f"no {text!r} in {sent!r}"
            if select.select([ours], [], [], 2)[0]:
                sent += os.read(ours, 65536)

    try:
        read_until("my project #3")
        read_until("weather in Las")
        os.write(ours, b"/Vegas")
        read_until("1 session ")
        os.write(ours, b"\r")
        time.sleep(1)
        os.write(ours, b"\r")
        read_until("sessiondb resume other --json")
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_export_writes_one_json_object_per_line(three: SessionDB, command: Command, tmp_path: Path) -> None:
    assert command("export", str(tmp_path / "backup.jsonl")).returncode == 0
    assert exported(tmp_path / "backup.jsonl") == ["20250305_091523_a1b2c3d4", "s2", "s3"]


def test_export_of_one_source(three: SessionDB, command: Command, tmp_path: Path) -> None:
    command("export", str(tmp_path / "telegram.jsonl"), "--source", "telegram")
    assert exported(tmp_path / "telegram.jsonl") == ["s2", "s3"]


def test_export_of_one_session(three: SessionDB, command: Command, tmp_path: Path) -> None:
    command("export", str(tmp_path / "one.jsonl"), "--session-id", "20250305_091523_a1b2c3d4")
    assert exported(tmp_path / "one.jsonl") == ["20250305_091523_a1b2c3d4"]


def test_delete_asks_first(three: SessionDB, command: Command) -> None:
    assert command("delete", "s2").returncode != 0
    assert three.get_session("s2") is not None


def test_delete_without_asking(three: SessionDB, command: Command) -> None:
    assert command("delete", "s2", "--yes").returncode == 0
    assert three.get_session("s2") is None


def test_rename_takes_words_without_quotes(three: SessionDB, command: Command) -> None:
    assert command("rename", "20250305_091523_a1b2c3d4", "debugging", "auth", "flow").returncode == 0
    assert three.get_session_title("20250305_091523_a1b2c3d4") == "debugging auth flow"


def test_rename_to_a_taken_title_shows_an_error(three: SessionDB, command: Command) -> None:
    three.set_session_title("s2", "taken")
    refused = command("rename", "s3", "taken")
    assert refused.returncode == 4
    assert "belongs to session s2" in refused.stderr
    assert three.get_session_title("s3") is None


def test_stats_count_sessions_messages_and_size(three: SessionDB, command: Command) -> None:
    shown = command("stats").stdout
    assert "Total sessions: 3" in shown
    assert "Total messages: 3" in shown
    assert re.search(r"telegram: 2 sessions\s", shown)
    assert re.search(r"Database size: [\d.,]+ \w?B", shown)


# --- search syntax ---


def test_insights_tell_tokens_costs_tools_and_activity(three: SessionDB, command: Command) -> None:
    session = three.list_sessions_rich()[0]["id"]
    three.update_token_counts(session, 1000, 50, estimated_cost_usd=0.25)
    three.append_message(session, "assistant", "", tool_calls=[{"id": "1", "function": {"name": "terminal"}}])
    shown = command("insights").stdout
    for expected in ("Sessions ", "Input              1.0k", "Estimated         $0.25", "terminal", "By weekday"):
        assert expected in shown


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("docker deployment", {"a"}),
        ('"exact phrase"', {"b"}),
        ("docker OR kubernetes", {"a", "c"}),
        ("python NOT java", {"b"}),
        ("deploy*", {"a", "c"}),
    ],
)
def test_search_syntax(query: str, expected: set[str], db: SessionDB) -> None:
    for name, text in (
        ("a", "docker deployment of java and python"),
        ("b", "an exact phrase about python"),
        ("c", "kubernetes deploys; a phrase, not exact"),
    ):
        db.create_session(name, "cli")
        db.append_message(name, "user", text)
    assert {hit["session_id"] for hit in db.search_messages(query)} == expected


# --- cleanup ---


def test_ended_sessions_stay_until_pruned(db: SessionDB) -> None:
    db.create_session("s", "cli", started_at=time.time() - 100 * DAY)
    db.append_message("s", "user", "still here")
    db.end_session("s", "session_reset")
    assert [hit["session_id"] for hit in db.search_messages("still")] == ["s"]
    assert db.prune_sessions() == 1
    assert db.search_messages("still") == []


def test_active_sessions_are_never_pruned(db: SessionDB) -> None:
    db.create_session("s", "cli", started_at=time.time() - 1000 * DAY)
    assert db.prune_sessions(older_than_days=0) == 0


def test_prune_command_takes_age_and_source(db: SessionDB, command: Command) -> None:
    for name, source, age in (("old", "cli", 100), ("chat", "telegram", 70), ("young", "cli", 10)):
        db.create_session(name, source, started_at=time.time() - age * DAY)
        db.end_session(name, "user_exit")
    assert command("prune").returncode == 2
    assert command("prune", "--yes").stdout.startswith("Moved 1 session ")
    assert command("prune", "--source", "telegram", "--older-than", "60", "--yes").stdout.startswith("Moved 1 session ")
    assert command("prune", "--older-than", "30", "--yes").stdout.startswith("Moved 0 sessions ")
    assert [row["id"] for row in db.list_sessions_rich()] == ["young"]


def test_export_before_pruning_is_a_backup(db: SessionDB) -> None:
    db.create_session("s", "cli", started_at=time.time() - 100 * DAY)
    db.append_message("s", "user", "kept in the backup")
    db.end_session("s", "user_exit")
    backup = [json.loads(json.dumps(document)) for document in db.export_all()]
    db.prune_sessions(older_than_days=30, hard=True)
    assert db.import_sessions(backup).imported == ["s"]
    assert [row["content"] for row in db.get_messages("s")] == ["kept in the backup"]
    assert db.verify().ok


def test_default_store_is_one_file_in_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSIONDB_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SESSIONDB_URL", raising=False)
    with sessiondb.open() as db:
        db.create_session("s", "cli")
    assert (tmp_path / "home" / "state.db").exists()


# --- titles by themselves, and the tool ---


def test_title_is_generated_after_the_first_exchange(db: SessionDB) -> None:
    titler = Titler(db)
    db.create_session("s", "cli")
    db.append_message("s", "user", "Hi! Please refactor the auth module of the shop")
    titler.after_exchange("s")
    titler.wait()
    assert db.get_session_title("s") is None
    db.append_message("s", "assistant", "Of course.")
    assert give_title(db, "s") == "refactor the auth module of the shop"
    assert give_title(db, "s") is None


def test_title_waits_for_its_session(db: SessionDB) -> None:
    titler = Titler(db)
    assert titler.set_title("s", "my research project") is False
    db.create_session("s", "cli")
    titler.session_began("s")
    assert db.get_session_title("s") == "my research project"


def test_session_search_groups_hits_with_context_and_summaries(db: SessionDB) -> None:
    for name in ("one", "two"):
        db.create_session(name, "cli")
        for text in ("what about the proxy?", "the proxy has port 8443", "good"):
            db.append_message(name, "user", text)

    def summarize(db: SessionDB, query: str, results: Sequence[dict[str, Any]]) -> None:
        for result in results:
            result["summary"] = f"about {query}"

    answer = seed_shape(session_search(db, {"query": "port 8443", "summarize": True}, summarize=summarize))
    assert {each["session_id"] for each in answer["results"]} == {"one", "two"}
    assert [each["summary"] for each in answer["results"]] == ["about port 8443"] * 2
    plain = session_search(db, {"query": "port 8443"})["results"][0]
    assert [each["content"] for each in plain["messages"]] == [
        "what about the proxy?",
        "the proxy has port 8443",
        "good",
    ]


# --- the gateway ---

ANN = Source("telegram", chat_id="42", user_id="ann")
HOUR = 3600.0


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (Source("telegram", chat_id="42", user_id="7"), "agent:main:telegram:dm:42"),
        (Source("discord", chat_id="42", user_id="7"), "agent:main:discord:dm:42"),
        (Source("whatsapp", chat_id="4917", user_id="7"), "agent:main:whatsapp:dm:4917"),
        (Source("telegram", "group", "-1", user_id="7"), "agent:main:telegram:group:-1:7"),
        (Source("telegram", "group", "-1", "9", "7"), "agent:main:telegram:group:-1:9:7"),
        (Source("slack", "channel", "C1", user_id="U1"), "agent:main:slack:channel:C1:U1"),
        (Source("slack", "channel", "C1"), "agent:main:slack:channel:C1"),
    ],
)
def test_gateway_keys_have_the_forms_of_the_table(source: Source, text: str) -> None:
    assert session_key(source).text == text


@pytest.mark.parametrize(("per_user", "sessions"), [(True, 2), (False, 1)])
def test_group_members_are_apart_unless_the_room_is_shared(db: SessionDB, per_user: bool, sessions: int) -> None:
    router = Router(db, rules=Rules(group_sessions_per_user=per_user))
    found = {router.resolve(Source("discord", "group", "-1", user_id=user)).session_id for user in ("alice", "bob")}
    assert len(found) == sessions


@pytest.mark.parametrize(
    ("mode", "hours", "resets"),
    [
        ("idle", 0.5, False), ("idle", 2, True), ("daily", 2, False), ("daily", 26, True),
        ("both", 2, True), ("both", 0.5, False), ("none", 1000, False),
    ],
)  # fmt: skip
def test_reset_policies(db: SessionDB, mode: str, hours: float, resets: bool) -> None:
    clock = FakeClock()
    # Noon: the next 4 o'clock is 16 hours away.
    clock.now = 1_750_000_000.0 // 86_400 * 86_400 + 12 * HOUR
    policy = ResetPolicy(mode, idle_minutes=60, timezone="UTC")
    router = Router(db, clock=clock, policies=Policies(policy))
    with router.receive(ANN, "hello").turn:
        pass
    before = router.resolve(ANN).session_id
    clock.move(hours * HOUR)
    after = router.resolve(ANN)
    assert (after.session_id != before) is resets
    assert (db.get_session(before)["end_reason"] == "session_reset") is resets
    assert (after.notice is not None) is resets


def test_agent_saves_memories_before_a_reset(db: SessionDB) -> None:
    clock, saved = FakeClock(), []
    policies = Policies(ResetPolicy("idle", idle_minutes=60))
    router = Router(db, clock=clock, policies=policies, before_reset=lambda name, reason: saved.append((name, reason)))
    session_id = router.resolve(ANN).session_id
    clock.move(2 * HOUR)
    Watcher(router).look()
    assert (saved, db.get_session(session_id)["end_reason"]) == ([(session_id, "idle")], "session_reset")


def test_background_processes_protect_from_resets(db: SessionDB) -> None:
    clock = FakeClock()
    policies = Policies(ResetPolicy("both", idle_minutes=60))
    router = Router(db, clock=clock, policies=policies, is_busy=lambda key: True)
    session_id = router.resolve(ANN).session_id
    clock.move(1000 * HOUR)
    Watcher(router).look()
    assert router.resolve(ANN).session_id == session_id


def test_gateway_writes_a_transcript_for_each_session(db: SessionDB, path: Path) -> None:
    files = Transcripts(path.parent / "sessions")
    arrival = Router(db, transcripts=files).receive(ANN, "hello")
    arrival.turn.end([{"role": "assistant", "content": "hi"}])
    messages, _ = read_transcript(path.parent / "sessions" / f"{arrival.session_id}.jsonl")
    assert [(each["role"], each["content"]) for each in messages] == [("user", "hello"), ("assistant", "hi")]


def test_index_maps_keys_to_active_sessions(db: SessionDB, path: Path) -> None:
    router = Router(db, transcripts=Transcripts(path.parent / "sessions"))
    router.resolve(ANN)
    session_id = router.reset(ANN).session_id
    index = json.loads((path.parent / "sessions" / "sessions.json").read_text())
    assert index["agent:main:telegram:dm:42"]["session_id"] == session_id
    assert read_index(path.parent / "sessions").keys() == index.keys()
