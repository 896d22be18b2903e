"""Hermes, nanobot, OpenAI chat and ShareGPT: what is in the files is what arrives."""

from __future__ import annotations

import json
import os
import runpy
from pathlib import Path

import apsw
import pytest

from sessiondb import SessionDB
from sessiondb.importers import hermes_rows, known

from .conftest import Bring
from .histories import HERMES_SESSION, NANOBOT, OPENAI, SHAREGPT, hermes_database, hermes_files
from .told import contents, stored

TOOL = Path(__file__).parents[2] / "tools" / "count_sources.py"


def roles(db: SessionDB, session_id: str) -> list[str]:
    return [message["role"] for message in db.get_messages(session_id)]


class TestHermesDatabase:
    def test_sessions_of_the_first_schema_arrive(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        report = bring(hermes_database(tmp_path / "h" / "state.db"))
        assert [report.total(name) for name in ("sessions", "new", "messages", "skipped")] == [3, 3, 6, 0]
        assert contents(db, "root") == ["fix the build", "running", "ok"]
        assert (stored(db, "root")["input_tokens"], stored(db, "root")["output_tokens"]) == (100, 20)
        assert stored(db, "root")["started_at"] == 1777626000.0

    def test_children_are_what_they_were(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        bring(hermes_database(tmp_path / "h" / "state.db"))
        found = [(stored(db, name)["parent_session_id"], stored(db, name)["relation"]) for name in ("next", "help")]
        assert found == [("root", "compression"), ("next", "subagent")]

    def test_tool_calls_meet_their_results(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        bring(hermes_database(tmp_path / "h" / "state.db"))
        (call,) = db.get_tool_calls("root")
        assert (call["tool_name"], call["status"], call["result_summary"]) == ("terminal", "completed", "ok")

    def test_later_columns_are_read_where_they_are(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        bring(hermes_database(tmp_path / "h" / "state.db", later=True))
        root = stored(db, "root")
        assert (root["title"], root["title_source"], root["cwd"]) == ("Build", "user", "/srv")
        assert (root["system_prompt"], root["estimated_cost_usd"]) == ("You are Hermes.", 0.5)
        assert root["archived_at"] is not None

    @pytest.mark.parametrize("mark", ["\0json:", "\1json:"])
    def test_parts_of_a_message_arrive_as_parts(self, db: SessionDB, bring: Bring, tmp_path: Path, mark: str) -> None:
        path = hermes_database(tmp_path / "h" / "state.db")
        parts = [{"type": "text", "text": "what is on the picture"}]
        connection = apsw.Connection(str(path), vfs="unix")
        for session_id, content in (("root", mark + json.dumps(parts)), ("next", mark + "[no")):
            connection.execute(
                "UPDATE messages SET content = ? WHERE session_id = ? AND role = 'user'", (content, session_id)
            )
        connection.close()
        bring(path)
        assert (db.get_messages("root")[0]["content"], contents(db, "next")) == (parts, [mark + "[no"])

    def test_what_was_compacted_is_kept_hidden(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        bring(hermes_database(tmp_path / "h" / "state.db", later=True))
        assert "old words" not in contents(db, "root")
        hidden = [each for each in db.get_messages("root", include_inactive=True) if not each["active"]]
        assert [(each["content"], each["metadata"]) for each in hidden] == [("old words", {"compacted": True})]

    def test_scaffolding_is_not_taken_for_a_person(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        bring(hermes_database(tmp_path / "h" / "state.db", later=True))
        assert [each["injected"] for each in db.get_messages("next")] == [0, 1, 0]
        assert db.get_messages("next")[2]["reasoning"] == "thinking"

    @pytest.mark.parametrize(
        ("marks", "end", "meant"),
        [
            ({"_branched_from": "x"}, "compression", "fork"),
            ({"_delegate_from": "x"}, None, "subagent"),
            ({"_reset_from": "x"}, None, "reset"),
            ({}, "compression", "compression"),
            ({}, "idle", "reset"),
            ({}, "done", "subagent"),
            ({}, None, "subagent"),
        ],
    )
    def test_relations(self, marks: dict[str, str], end: str | None, meant: str) -> None:
        assert hermes_rows.relation({"model_config": json.dumps(marks)}, end) == meant

    def test_a_store_of_our_own_is_no_history_of_hermes(self, tmp_path: Path) -> None:
        with SessionDB(tmp_path / "own.db") as own:
            own.create_session("s", "cli")
        assert known.detect(tmp_path / "own.db", known.chosen(())) is None


class TestHermesFiles:
    def test_transcripts_and_the_gateways_index_arrive(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        report = bring(hermes_files(tmp_path / "sessions"))
        assert (report.total("files"), report.total("new"), report.total("errors")) == (2, 2, 0)
        row = stored(db, "20260502_080000_aaaaaaaa")
        assert (row["source"], row["model"], row["chat_id"], row["display_name"]) == ("telegram", "m-1", "777", "Ann")
        assert (row["session_key"], row["input_tokens"]) == ("agent:main:telegram:dm:777", 30)
        assert (row["parent_session_id"], row["relation"]) == ("20260501_070000_bbbbbbbb", "reset")

    def test_messages_without_a_time_have_the_sessions(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        bring(hermes_files(tmp_path / "sessions"))
        started = stored(db, "20260501_070000_bbbbbbbb")["started_at"]
        times = {each["timestamp"] for each in db.get_messages("20260501_070000_bbbbbbbb")}
        assert times == {started}

    def test_what_the_database_has_is_not_read_from_files_too(
        self, db: SessionDB, bring: Bring, tmp_path: Path
    ) -> None:
        hermes_database(tmp_path / "state.db")
        (tmp_path / "sessions").mkdir()
        (tmp_path / "sessions" / "session_root.json").write_text(json.dumps({**HERMES_SESSION, "session_id": "root"}))
        bring(tmp_path)
        assert contents(db, "root") == ["fix the build", "running", "ok"]

    def test_what_was_read_from_files_and_then_stands_in_the_database_is_there_once(
        self, db: SessionDB, bring: Bring, tmp_path: Path
    ) -> None:
        (tmp_path / "sessions").mkdir()
        said = [
            {"role": "session_meta", "platform": "cli", "timestamp": "2026-05-01T09:00:00+00:00"},
            {"role": "user", "content": "fix the build", "timestamp": "2026-05-01T09:00:00.700+00:00"},
            {"role": "assistant", "content": "running", "timestamp": "2026-05-01T09:00:01.700+00:00"},
            {"role": "assistant", "content": "only in the file", "timestamp": "2026-05-01T09:00:01.800+00:00"},
        ]
        (tmp_path / "sessions" / "root.jsonl").write_bytes(b"".join(json.dumps(each).encode() + b"\n" for each in said))
        bring(tmp_path)
        hermes_database(tmp_path / "state.db")
        for _ in range(2):
            os.utime(tmp_path / "state.db")
            bring(tmp_path)
            spoken = [each for each in db.get_messages("root") if each["role"] != "meta"]
            assert [each["content"] for each in spoken] == ["fix the build", "running", "only in the file", "ok"]
            assert spoken[0]["timestamp"] == 1777626001.0

    def test_what_the_gateways_index_tells_later_arrives(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        index = hermes_files(tmp_path / "sessions") / "sessions.json"
        whole = index.read_bytes()
        index.write_bytes(whole.replace(b'"input_tokens": 30', b'"input_tokens": 3'))
        bring(tmp_path)
        index.write_bytes(whole)
        bring(tmp_path)
        assert stored(db, "20260502_080000_aaaaaaaa")["input_tokens"] == 30

    def test_the_home_of_hermes_is_found(self, tmp_path: Path) -> None:
        hermes_database(tmp_path / ".hermes" / "state.db")
        hermes_database(tmp_path / ".hermes" / "profiles" / "work" / "state.db")
        hermes_files(tmp_path / ".hermes" / "sessions")
        found = [each.path.name for each in known.at_home(known.chosen(["hermes"]), {}, tmp_path)]
        assert sorted(found) == [
            "20260502_080000_aaaaaaaa.jsonl", "session_20260501_070000_bbbbbbbb.json", "state.db", "state.db",
        ]  # fmt: skip

    def test_the_environment_moves_it(self, tmp_path: Path) -> None:
        hermes_database(tmp_path / "elsewhere" / "state.db")
        env = {"HERMES_HOME": str(tmp_path / "elsewhere")}
        assert len(list(known.at_home(known.chosen(["hermes"]), env, tmp_path))) == 1


class TestNanobot:
    def test_a_conversation_arrives(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        (tmp_path / "telegram_42.jsonl").write_bytes(NANOBOT)
        bring(tmp_path)
        row = stored(db, "telegram:42")
        assert (row["source"], row["chat_id"], row["title"], row["title_source"]) == (
            "telegram", "42", "Shopping", "user",
        )  # fmt: skip
        assert roles(db, "telegram:42") == ["user", "assistant", "tool", "meta", "assistant"]
        assert db.get_messages("telegram:42")[1]["reasoning"] == "a list, perhaps"
        assert db.get_messages("telegram:42")[0]["timestamp"] == 1777626001.0

    @pytest.mark.parametrize("stem", ["telegram_42", "dGVsZWdyYW06NDI"])
    def test_without_metadata_the_name_tells_the_key(self, stem: str) -> None:
        from sessiondb.importers.nanobot import _key_of

        assert _key_of(Path(f"{stem}.jsonl")) == "telegram:42"


class TestOpenAI:
    def test_conversations_arrive(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        (tmp_path / "chat.jsonl").write_bytes(OPENAI)
        bring(tmp_path)
        row = stored(db, "conv-1")
        assert (row["title"], row["model"], row["input_tokens"], row["output_tokens"]) == ("Greeting", "gpt-x", 11, 5)
        assert contents(db, "conv-1") == ["Be kind.", "hello", "hello", None, "a\nb", "hi"]
        assert db.get_messages("conv-2")[0]["injected"] == 1

    def test_a_line_without_an_id_is_known_by_its_content(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        line = json.dumps({"messages": [{"role": "user", "content": "hello"}]}).encode() + b"\n"
        (tmp_path / "a.jsonl").write_bytes(line)
        (tmp_path / "b.jsonl").write_bytes(line)
        bring(tmp_path)
        assert (db.session_count(), db.message_count()) == (1, 1)


class TestShareGPT:
    def test_the_markup_of_hermes_is_understood(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        (tmp_path / "share.jsonl").write_bytes(SHAREGPT)
        bring(tmp_path)
        assert contents(db, "share-1") == ["You call tools.", "rain today?", "One moment.", "yes", "Yes."]
        asked, answered = db.get_messages("share-1")[2:4]
        assert asked["reasoning"] == "ask the tool"
        assert json.loads(asked["tool_calls"][0]["function"]["arguments"]) == {"city": "Bonn"}
        assert answered["tool_call_id"] == asked["tool_calls"][0]["id"]

    def test_text_that_only_looks_like_markup_stays_text(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        text = "write <tool_call> and </tool_call> around it"
        line = {"id": "x", "conversations": [{"from": "gpt", "value": text}]}
        (tmp_path / "x.jsonl").write_text(json.dumps(line) + "\n")
        bring(tmp_path)
        assert contents(db, "x") == [text]


class TestForeignDatabases:
    """The directory of a source is the same before and after."""

    def listing(self, directory: Path) -> list[tuple[str, int, int, bytes]]:
        return [(each.name, each.stat().st_mtime_ns, each.stat().st_size, each.read_bytes()) for each in
                sorted(directory.iterdir())]  # fmt: skip

    def test_a_database_at_rest(self, bring: Bring, tmp_path: Path) -> None:
        path = hermes_database(tmp_path / "h" / "state.db")
        before = self.listing(path.parent)
        assert bring(path).total("new") == 3
        assert self.listing(path.parent) == before

    def test_a_column_whose_name_is_no_text_stops_nothing(self, bring: Bring, tmp_path: Path) -> None:
        path = hermes_database(tmp_path / "h" / "state.db")
        path.write_bytes(path.read_bytes().replace(b"tool_name", b"tool\x80name"))
        hermes_database(tmp_path / "sound" / "state.db")
        assert bring(tmp_path).total("new") == 3

    def test_a_log_beside_its_live_owner_is_read_too(self, bring: Bring, tmp_path: Path) -> None:
        path = hermes_database(tmp_path / "h" / "state.db")
        owner = apsw.Connection(str(path), vfs="unix")
        owner.execute("PRAGMA journal_mode=WAL")
        owner.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('root', 'user', 'live', 2e9)"
        )
        names = [each.name for each in sorted(path.parent.iterdir())]
        data = path.read_bytes(), path.with_name("state.db-wal").read_bytes()
        assert bring(path).total("messages") == 7
        assert [each.name for each in sorted(path.parent.iterdir())] == names
        assert (path.read_bytes(), path.with_name("state.db-wal").read_bytes()) == data
        owner.close()

    def test_a_log_without_its_owner_is_read_from_a_copy(self, bring: Bring, tmp_path: Path) -> None:
        path = hermes_database(tmp_path / "h" / "state.db")
        owner = apsw.Connection(str(path), vfs="unix")
        owner.execute("PRAGMA journal_mode=WAL")
        owner.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('root', 'user', 'live', 2e9)"
        )
        left = tmp_path / "left"
        left.mkdir()
        for name in ("state.db", "state.db-wal"):
            (left / name).write_bytes(path.with_name(name).read_bytes())
        owner.close()
        before = self.listing(left)
        assert bring(left / "state.db").total("messages") == 7
        assert self.listing(left) == before

    def test_a_log_that_grows_is_a_change(self, db: SessionDB, bring: Bring, tmp_path: Path) -> None:
        path = hermes_database(tmp_path / "h" / "state.db")
        owner = apsw.Connection(str(path), vfs="unix")
        owner.execute("PRAGMA journal_mode=WAL")
        bring(path)
        owner.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('root', 'user', 'live', 2e9)"
        )
        assert bring(path).total("messages") == 1
        owner.close()


def test_counts_of_the_raw_files_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hermes_database(tmp_path / "db" / "state.db", later=True)
    hermes_files(tmp_path / "files" / "sessions")
    for name, data in (("telegram_42.jsonl", NANOBOT), ("chat.jsonl", OPENAI), ("share.jsonl", SHAREGPT)):
        (tmp_path / name).write_bytes(data)
    main = runpy.run_path(str(TOOL))["main"]
    assert main([str(tmp_path)]) == 0, capsys.readouterr().out
    told = capsys.readouterr().out
    assert "hermes: 3 files, 5 sessions" in told
    assert "nanobot: 1 files, 1 sessions, human 1, assistant 2, tool_calls 1" in told
    assert "sharegpt: 1 files, 2 sessions, human 2" in told
    assert "openai-chat: 1 files, 2 sessions, human 2" in told


def test_the_counts_can_disagree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison notices a parser that loses a message."""
    from sessiondb.importers import nanobot

    (tmp_path / "telegram_42.jsonl").write_bytes(NANOBOT)
    read = nanobot.read
    monkeypatch.setattr(nanobot, "read", lambda source: list(read(source))[:-1])
    main = runpy.run_path(str(TOOL))["main"]
    assert main([str(tmp_path)]) == 1
