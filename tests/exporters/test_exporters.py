"""What is written out: complete, harmless, and readable again."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from sessiondb import SessionDB
from sessiondb.exporters import base, html, jsonl
from sessiondb.importers import known
from sessiondb.importers.runner import Runner
from sessiondb.models import Filter
from sessiondb.verify import verify_export

HOSTILE = "</pre><script>alert(1)</script><img src=x onerror=alert(2)> ```\n# not a heading\n``` \x1b[31m \u202e \ud800"
CALL = [{"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"cmd": "ls"}'}}]
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0KGgo" * 12 + "AAAA"}}


@pytest.fixture
def db(tmp_path: Path) -> Iterator[SessionDB]:
    with SessionDB(tmp_path / "state.db") as db:
        yield db


@pytest.fixture
def full(db: SessionDB) -> SessionDB:
    """A store with one of everything."""
    db.create_session("a", "cli", "m-1", system_prompt="Be kind.", started_at=1777626000.0, cwd="/srv", origin="codex",
                      native_id="n1", metadata={"deep": {"er": [1, None]}})  # fmt: skip
    db.append_messages(
        "a",
        [
            {"role": "user", "content": "list files", "timestamp": 1777626001.0},
            {"role": "assistant", "content": "running", "tool_calls": CALL, "reasoning": "think", "model": "m-1",
             "input_tokens": 5, "timestamp": 1777626002.0, "finish_reason": "tool_calls"},
            {"role": "tool", "content": "a\nb", "tool_call_id": "c1", "tool_name": "run", "timestamp": 1777626003.0},
            {"role": "user", "content": [{"type": "text", "text": "see"}, PICTURE], "timestamp": 1777626004.0},
            {"role": "meta", "content": "{}", "timestamp": 1777626005.0, "injected": True, "message_key": "k"},
            {"role": "assistant", "content": "taken back", "timestamp": 1777626006.0},
        ],
    )  # fmt: skip
    db.rewind_to_message("a", db.get_messages("a")[-2]["id"])
    db.set_session_title("a", "Files")
    db.tag_session("a", "work", "x y")
    db.update_token_counts("a", 100, 20, estimated_cost_usd=0.25)
    db.end_session("a", "done")
    db.create_session("b", "subagent", parent_session_id="a", relation="subagent", started_at=1777626100.0)
    db.append_message("b", "user", HOSTILE, timestamp=1777626101.0)
    db.pin_session("b")
    return db


def exported(db: SessionDB, name: str, where: Filter | None = None) -> str:
    out = io.StringIO()
    base.exporter(name).write(base.conversations(db, where or Filter()), out)
    return out.getvalue()


def restored(db: SessionDB, other: SessionDB, place: Path) -> None:
    place.write_text(exported(db, "jsonl"), encoding="utf-8")
    report = Runner(other).run(known.at_paths([place], known.chosen(())))
    assert report.errors == report.skipped == []


def comparable(db: SessionDB) -> list[dict[str, object]]:
    """Everything but the ids of rows, which are always new."""
    found = []
    for document in db.export_all():
        document.pop("last_message_id")
        for message in document["messages"]:
            message.pop("id")
            for reference in message.get("media_refs", ()):
                del reference["id"], reference["message_id"]
        found.append(document)
    return found


class TestOwnLines:
    def test_importing_them_restores_everything(self, full: SessionDB, tmp_path: Path) -> None:
        with SessionDB(tmp_path / "other.db") as other:
            restored(full, other, tmp_path / "x.jsonl")
            assert comparable(other) == comparable(full)
            assert other.verify().ok

    def test_the_ledgers_are_equal(self, full: SessionDB, tmp_path: Path) -> None:
        with SessionDB("memory://") as other:
            restored(full, other, tmp_path / "x.jsonl")
            assert [row["ledger"] for row in other.search_sessions()] == [
                row["ledger"] for row in full.search_sessions()
            ]

    def test_pictures_come_back_with_their_bytes(self, full: SessionDB, tmp_path: Path) -> None:
        with SessionDB(tmp_path / "other.db") as other:
            restored(full, other, tmp_path / "x.jsonl")
            assert other.get_messages_as_conversation("a")[3] == full.get_messages_as_conversation("a")[3]

    def test_a_long_session_takes_several_lines(
        self, db: SessionDB, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(jsonl, "MESSAGES_PER_LINE", 10)
        db.create_session("long", "cli")
        db.append_messages("long", [{"role": "user", "content": f"m{number}"} for number in range(35)])
        assert exported(db, "jsonl").count("\n") == 4
        with SessionDB("memory://") as other:
            restored(db, other, tmp_path / "x.jsonl")
            assert comparable(other) == comparable(db)

    def test_a_restore_that_was_broken_off_is_taken_up(
        self, db: SessionDB, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(jsonl, "MESSAGES_PER_LINE", 10)
        db.create_session("long", "cli")
        db.append_messages("long", [{"role": "user", "content": f"m{number}"} for number in range(35)])
        db.create_session("child", "cli", parent_session_id="long", relation="fork")
        whole = exported(db, "jsonl").splitlines(keepends=True)
        with SessionDB("memory://") as other:
            for count in (2, 3, len(whole)):
                place = tmp_path / f"{count}.jsonl"
                place.write_text("".join(whole[:count]))
                Runner(other).run(known.at_paths([place], known.chosen(())))
            assert comparable(other) == comparable(db)

    def test_an_export_proves_that_it_is_complete(self, full: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(jsonl, "MESSAGES_PER_LINE", 2)
        lines = [json.loads(line) for line in exported(full, "jsonl").splitlines()]
        report = verify_export(lines)
        assert (report.ok, report.sessions, report.messages) == (True, 2, 7)
        assert not verify_export([line for line in lines if "part_of" not in line]).ok
        assert not verify_export(lines[1:]).ok
        damaged = [{**line, "data": "AAAA"} if "media" in line else line for line in lines]
        assert [each.kind for each in verify_export(damaged).problems] == ["unreadable"]

    def test_every_line_names_its_version(self, full: SessionDB) -> None:
        assert {json.loads(line)["format"] for line in exported(full, "jsonl").splitlines()} == {"sessiondb/1"}

    def test_nothing_in_a_line_commands_a_terminal(self, full: SessionDB) -> None:
        text = exported(full, "jsonl")
        assert not any(ord(char) < 0x20 and char != "\n" for char in text)
        assert "\u202e" not in text
        text.encode("utf-8")

    def test_a_damaged_picture_is_refused(self, db: SessionDB) -> None:
        report = db.import_sessions([{"format": "sessiondb/1", "media": "0" * 64, "data": "AAAA"}])
        assert "damaged" in report.failed["0" * 64]

    def test_a_version_of_tomorrow_is_skipped_and_named(self, db: SessionDB, tmp_path: Path) -> None:
        place = tmp_path / "x.jsonl"
        place.write_text('{"format": "sessiondb/1", "id": "a", "source": "cli", "started_at": 1.0}\n'
                         '{"format": "sessiondb/99", "id": "b"}\n')  # fmt: skip
        report = Runner(db).run(known.at_paths([place], known.chosen(())))
        assert [(each.line, "sessiondb/99" in each.why) for each in report.skipped] == [(2, True)]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


class TestHTML:
    def test_hostile_text_stays_text(self, full: SessionDB) -> None:
        full.set_session_title("b", "<script>title</script>")
        page = Tags()
        page.feed(exported(full, "html"))
        names = {tag for tag, _ in page.seen}
        assert names <= {"html", "head", "meta", "title", "style", "body", "section", "h1", "h2", "p", "b", "article",
                         "pre", "details", "summary"}  # fmt: skip
        assert not any(
            name.startswith("on") or name in ("src", "href", "style") for _, each in page.seen for name in each
        )

    def test_the_policy_allows_its_own_style_and_nothing_else(self, full: SessionDB) -> None:
        text = exported(full, "html")
        assert f'content="{html.POLICY}"' in text
        assert "default-src 'none'" in html.POLICY
        assert "unsafe" not in html.POLICY
        assert f"<style>{html.STYLE}</style>" in text

    def test_controls_and_surrogates_are_signs(self, full: SessionDB) -> None:
        text = exported(full, "html")
        text.encode("utf-8")
        assert "\x1b" not in text
        assert "\u202e" not in text

    def test_what_was_said_is_there(self, full: SessionDB) -> None:
        text = exported(full, "html")
        assert all(told in text for told in ("list files", "running", "think", "Files", "#work"))
        assert "taken back" not in text


class TestMarkdown:
    def test_what_was_said_is_there(self, full: SessionDB) -> None:
        text = exported(full, "markdown", Filter(ids=("a",)))
        assert text.startswith("# Files\n")
        assert "## User · 2026-05-01 09:00:01 UTC\n\nlist files\n" in text
        assert '**Calls run**\n\n```json\n{"cmd": "ls"}\n```' in text
        assert "taken back" not in text

    def test_a_block_is_not_ended_by_its_text(self, db: SessionDB) -> None:
        db.create_session("s", "cli")
        db.append_message("s", "tool", "```\n# heading\n```", tool_name="run")
        assert "````text\n```\n# heading\n```\n````" in exported(db, "markdown")


class TestTraining:
    def test_openai_lines_hold_messages_only(self, full: SessionDB) -> None:
        first = json.loads(exported(full, "openai").splitlines()[0])
        assert list(first) == ["messages"]
        assert [each["role"] for each in first["messages"]] == ["system", "user", "assistant", "tool", "user"]
        assert first["messages"][2]["tool_calls"] == CALL

    def test_sharegpt_has_people_and_agents(self, full: SessionDB) -> None:
        first = json.loads(exported(full, "sharegpt").splitlines()[0])
        assert [each["from"] for each in first["conversations"]] == ["system", "human", "gpt", "tool", "human"]

    @pytest.mark.parametrize("name", ["openai", "sharegpt-hermes"])
    def test_what_is_imported_again_says_the_same(self, full: SessionDB, name: str, tmp_path: Path) -> None:
        place = tmp_path / "x.jsonl"
        place.write_text(exported(full, name, Filter(ids=("a",))), encoding="utf-8")
        with SessionDB("memory://") as other:
            Runner(other).run(known.at_paths([place], known.chosen(())))
            (row,) = other.search_sessions()
            messages = other.get_messages(row["id"])
        assert [each["content"] for each in messages][:4] == ["Be kind.", "list files", "running", "a\nb"]
        assert messages[2]["tool_calls"][0]["function"]["name"] == "run"
        assert messages[2]["reasoning"] == ("think" if name == "sharegpt-hermes" else None)
        assert messages[3]["tool_call_id"] == "c1"


class TestCSV:
    def test_a_row_per_session(self, full: SessionDB) -> None:
        rows = list(csv.DictReader(io.StringIO(exported(full, "csv"))))
        assert [row["id"] for row in rows] == ["a", "b"]
        assert (rows[0]["title"], rows[0]["input_tokens"], rows[0]["tags"]) == ("Files", "100", "work x y")

    def test_no_cell_is_a_formula(self, db: SessionDB) -> None:
        db.create_session("s", "cli")
        db.set_session_title("s", "=HYPERLINK(1)")
        (row,) = csv.DictReader(io.StringIO(exported(db, "csv")))
        assert row["title"] == "'=HYPERLINK(1)"


def test_names_of_files_mean_formats() -> None:
    names = ["x.jsonl", "x.openai.jsonl", "x.hermes.jsonl", "X.HTML", "x.md", "x.csv", "-", "x"]
    found = [base.for_file(name) for name in names]
    assert found == ["jsonl", "openai", "sharegpt-hermes", "html", "markdown", "csv", "jsonl", "jsonl"]


def test_a_file_too_long_for_a_line_is_named(full: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_MEDIA", 10)
    notes: list[str] = []
    out = io.StringIO()
    jsonl.write(base.conversations(full, Filter(), notes.append), out)
    (note,) = notes
    assert note.startswith("left out the image ")
    assert "of session a" in note
    assert '"media":' not in out.getvalue()
