"""Export and import: what goes out comes back the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ...db import SessionDB
from ...models import Filter
from .base import LawBase, NewSession, contents, deleted, positions, say, stored, titled
from .exact import TEXTS
from .messages import CALL
from .tools import LOOK

# What another store may number differently.
ROW_IDS = {"id", "message_id", "last_message_id"}


def without_row_ids(document: dict[str, Any]) -> dict[str, Any]:
    messages = [
        {name: value for name, value in message.items() if name not in {*ROW_IDS, "media_refs"}}
        | {"media_refs": [strip(ref) for ref in message.get("media_refs", ())]}
        for message in document["messages"]
    ]
    return {**document, "last_message_id": None, "messages": messages}


def strip(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ROW_IDS}


def exported(db: SessionDB, session_id: str) -> dict[str, Any]:
    document = db.export_session(session_id)
    assert document is not None
    return document


class ExportLaws(LawBase):
    def test_an_export_has_the_session_and_its_messages(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(model="m"), "a", "b")
        document = exported(db, "s")
        assert (document["id"], document["model"]) == ("s", "m")
        assert [message["content"] for message in document["messages"]] == ["a", "b"]

    def test_an_unknown_session_exports_as_none(self, db: SessionDB) -> None:
        assert db.export_session("ghost") is None

    def test_an_export_is_plain_json(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(metadata={"a": 1}), "assistant", LOOK, tool_calls=[CALL])
        assert json.loads(json.dumps(exported(db, "s"))) == exported(db, "s")

    def test_hidden_messages_and_tags_are_exported(self, db: SessionDB, session: NewSession) -> None:
        first, _ = say(db, session(), *"ab")
        db.rewind_to_message("s", first)
        db.tag_session("s", "work")
        document = exported(db, "s")
        assert ([message["active"] for message in document["messages"]], document["tags"]) == ([1, 0], ["work"])

    def test_everything_is_exported_oldest_first(self, db: SessionDB, session: NewSession) -> None:
        for name, start in (("a", 2.0), ("b", 3.0), ("c", 1.0)):
            session(name, started_at=start)
        assert [document["id"] for document in db.export_all()] == ["c", "a", "b"]

    def test_one_source_is_exported(self, db: SessionDB, session: NewSession) -> None:
        session("a", "cli")
        session("b", "web")
        assert [document["id"] for document in db.export_all("web")] == ["b"]

    def test_an_export_streams(self, db: SessionDB, session: NewSession) -> None:
        session("a")
        session("b")
        stream = db.iter_export(Filter(ids=("a",)))
        assert next(stream)["id"] == "a"
        assert list(stream) == []

    def test_an_export_passes_over_what_is_deleted_meanwhile(self, db: SessionDB, session: NewSession) -> None:
        for name, start in (("a", 1.0), ("b", 2.0), ("c", 3.0)):
            session(name, started_at=start)
        stream = db.iter_export()
        assert next(stream)["id"] == "a"
        db.delete_session("b")
        assert [document["id"] for document in stream] == ["c"]

    def test_more_sessions_than_a_page_are_exported(self, db: SessionDB, session: NewSession) -> None:
        for number in range(450):
            session(f"{number:03}")
        assert [document["id"] for document in db.iter_export()] == [f"{number:03}" for number in range(450)]


class ImportLaws(LawBase):
    @pytest.fixture
    def rich(self, db: SessionDB) -> SessionDB:
        """A session with everything: gaps, hidden messages, tools, media, tags, costs, title, odd characters."""
        titled(db, "s", "deploy", model="m", model_config={"t": 1}, metadata={"a": 1}, cwd="/a")
        say(db, "s", "gone")
        db.replace_messages("s", [{"role": "user", "content": LOOK}])
        db.append_message("s", "assistant", None, tool_calls=[CALL], reasoning_details=[{"x": 1}], message_key="k")
        db.append_message("s", "tool", "done", tool_call_id="c1", tool_name="shell", metadata={"ms": 3})
        anchor = say(db, "s", *TEXTS.values())[-1]
        say(db, "s", "hidden")
        db.rewind_to_message("s", anchor)
        db.tag_session("s", "work", "urgent")
        db.update_token_counts("s", 5, 6, estimated_cost_usd=0.5)
        db.end_session("s", "user_exit")
        return db

    def test_a_round_trip_changes_nothing(self, rich: SessionDB, other_db: SessionDB) -> None:
        report = other_db.import_sessions(rich.iter_export())
        assert (report.imported, report.failed, report.skipped, report.notes) == (["s"], {}, {}, [])
        assert without_row_ids(exported(other_db, "s")) == without_row_ids(exported(rich, "s"))

    def test_a_round_trip_through_json_changes_nothing(self, rich: SessionDB, other_db: SessionDB) -> None:
        other_db.import_sessions(map(json.loads, map(json.dumps, rich.iter_export())))
        assert without_row_ids(exported(other_db, "s")) == without_row_ids(exported(rich, "s"))

    def test_an_imported_session_has_the_same_ledger(self, rich: SessionDB, other_db: SessionDB) -> None:
        other_db.import_sessions(rich.iter_export())
        ours, theirs = stored(rich, "s"), stored(other_db, "s")
        assert (theirs["ledger"], theirs["last_seq"]) == (ours["ledger"], ours["last_seq"])
        assert other_db.verify().ok

    def test_counts_follow_the_imported_messages(self, rich: SessionDB, other_db: SessionDB) -> None:
        report = other_db.import_sessions(rich.iter_export())
        ours, theirs = stored(rich, "s"), stored(other_db, "s")
        assert report.messages == len(exported(rich, "s")["messages"])
        assert (theirs["message_count"], theirs["tool_call_count"]) == (ours["message_count"], ours["tool_call_count"])

    def test_tool_calls_come_along(self, rich: SessionDB, other_db: SessionDB) -> None:
        other_db.import_sessions(rich.iter_export())
        theirs = [strip(dict(call)) for call in other_db.get_tool_calls("s")]
        assert theirs == [strip(dict(call)) for call in rich.get_tool_calls("s")]

    def test_positions_with_gaps_are_kept_and_go_on(self, rich: SessionDB, other_db: SessionDB) -> None:
        other_db.import_sessions(rich.iter_export())
        say(other_db, "s", "next")
        assert positions(other_db, "s")[:2] == [2, 3]
        assert positions(other_db, "s")[-1] == stored(rich, "s")["last_seq"] + 1

    def test_a_second_import_is_skipped_as_the_same(self, rich: SessionDB, other_db: SessionDB) -> None:
        other_db.import_sessions(rich.iter_export())
        report = other_db.import_sessions(rich.iter_export())
        assert (report.imported, list(report.skipped), report.messages) == ([], ["s"], 0)
        assert "same" in report.skipped["s"]

    def test_a_taken_id_is_reported_and_left_alone(self, rich: SessionDB, other_db: SessionDB) -> None:
        say(other_db, other_db.create_session("s", "web"), "mine")
        report = other_db.import_sessions(rich.iter_export())
        assert "other messages" in report.skipped["s"]
        assert (contents(other_db, "s"), stored(other_db, "s")["source"]) == (["mine"], "web")

    def test_a_taken_title_is_numbered_and_noted(self, rich: SessionDB, other_db: SessionDB) -> None:
        titled(other_db, "holder", "deploy")
        report = other_db.import_sessions(rich.iter_export())
        assert (other_db.get_session_title("s"), len(report.notes)) == ("deploy #2", 1)

    def test_a_dry_run_writes_nothing(self, rich: SessionDB, other_db: SessionDB) -> None:
        report = other_db.import_sessions(rich.iter_export(), dry_run=True)
        assert (report.imported, other_db.session_count(), other_db.message_count()) == (["s"], 0, 0)

    def test_a_dry_run_tells_what_an_import_would_do(self, rich: SessionDB, other_db: SessionDB) -> None:
        orphan = {"id": "orphan", "source": "cli", "started_at": 1.0, "parent_session_id": "nowhere"}
        documents = [*rich.iter_export(), orphan]
        promised = other_db.import_sessions(documents, dry_run=True)
        assert promised == other_db.import_sessions(documents)
        assert (promised.messages > 0, len(promised.notes)) == (True, 1)

    def test_what_was_deleted_can_be_imported(self, rich: SessionDB) -> None:
        document = exported(rich, "s")
        rich.delete_session("s")
        assert rich.import_sessions([document]).imported == ["s"]
        assert deleted(rich) == ["s"]

    @pytest.mark.parametrize("backwards", [False, True])
    def test_lineage_is_kept_in_any_order(
        self, db: SessionDB, other_db: SessionDB, session: NewSession, backwards: bool
    ) -> None:
        db.rotate_session(session("a"), new_id="b")
        session("sub", parent_session_id="b")
        documents = db.export_all()
        other_db.import_sessions(documents[::-1] if backwards else documents)
        family = [(row["id"], row["parent_session_id"], row["relation"]) for row in other_db.family("a")]
        assert family == [("a", None, "root"), ("b", "a", "compression"), ("sub", "b", "subagent")]

    def test_a_missing_parent_is_left_out_and_noted(
        self, db: SessionDB, other_db: SessionDB, session: NewSession
    ) -> None:
        session("b", parent_session_id=session("a"))
        report = other_db.import_sessions([exported(db, "b")])
        assert (report.imported, stored(other_db, "b")["parent_session_id"]) == (["b"], None)
        assert "a" in report.notes[0]

    def test_a_parent_that_is_already_there_is_linked(
        self, db: SessionDB, other_db: SessionDB, session: NewSession
    ) -> None:
        session("b", parent_session_id=session("a"))
        other_db.create_session("a", "cli")
        other_db.import_sessions([exported(db, "b")])
        assert stored(other_db, "b")["parent_session_id"] == "a"

    def test_a_circle_is_opened_and_noted(self, db: SessionDB, other_db: SessionDB, session: NewSession) -> None:
        session("b", parent_session_id=session("a"))
        db.provider.update_session("a", {"parent_session_id": "b"})
        report = other_db.import_sessions(db.export_all())
        assert (sorted(report.imported), len(report.notes)) == (["a", "b"], 1)
        assert len(other_db.family("a")) == 2

    def test_foreign_roles_are_kept(self, other_db: SessionDB) -> None:
        message = {"role": "narrator", "content": "once", "timestamp": 1.0}
        other_db.import_sessions([{"id": "s", "source": "cli", "started_at": 1.0, "messages": [message]}])
        assert other_db.get_messages("s")[0]["role"] == "narrator"

    def test_a_key_given_twice_is_imported_once(self, other_db: SessionDB) -> None:
        message = {"role": "user", "content": "a", "timestamp": 1.0, "message_key": "k"}
        other_db.import_sessions([{"id": "s", "source": "cli", "started_at": 1.0, "messages": [message] * 2}])
        assert (contents(other_db, "s"), stored(other_db, "s")["message_count"]) == (["a"], 1)

    def test_an_import_keeps_the_number_of_positions_used(self, db: SessionDB, other_db: SessionDB) -> None:
        say(db, db.create_session("s", "cli"), *"abc")
        db.clear_messages("s")
        other_db.import_sessions(db.iter_export())
        assert stored(other_db, "s")["last_seq"] == 3

    def test_a_minimal_document_is_enough(self, other_db: SessionDB) -> None:
        report = other_db.import_sessions([{"id": "s", "source": "cli", "started_at": 1.0}])
        assert (report.imported, stored(other_db, "s")["relation"]) == (["s"], "root")

    @pytest.mark.parametrize(
        "bad",
        [
            {"source": "cli", "started_at": 1.0},
            {"id": "bad", "started_at": 1.0},
            {"id": "bad", "source": "cli"},
            {"id": "bad", "source": "cli", "started_at": "noon"},
            {"id": "bad", "source": "cli", "started_at": 1.0, "messages": "many"},
            {"id": "bad", "source": "cli", "started_at": 1.0, "messages": ["text"]},
            {"id": "bad", "source": "cli", "started_at": 1.0, "messages": [{"role": "user", "content": "x"}]},
            {"id": "bad", "source": "cli", "started_at": 1.0, "messages": [{"content": "x", "timestamp": 1.0}]},
            {
                "id": "bad",
                "source": "cli",
                "started_at": 1.0,
                "messages": [{"role": "user", "timestamp": 1.0, "seq": seq} for seq in (2, 1)],
            },
            {
                "id": "bad",
                "source": "cli",
                "started_at": 1.0,
                "messages": [{"role": "user", "timestamp": 1.0, "seq": "one"}],
            },
            {"id": "bad", "source": "cli", "started_at": 1.0, "tags": "work"},
            {"id": "bad", "source": "cli", "started_at": 1.0, "title": "x" * 101},
            {"id": "bad", "source": "cli", "started_at": 1.0, "input_tokens": "many"},
            {"id": "bad", "source": "cli", "started_at": 1.0, "user_id": 5},
            {"id": "bad", "source": "cli", "started_at": 1.0, "last_seq": "x"},
            {"id": "bad", "source": "cli", "started_at": 1.0, "relation": "cousin"},
            "no dict",
        ],
    )
    def test_a_bad_document_is_reported_and_the_others_come_in(self, other_db: SessionDB, bad: Any) -> None:
        report = other_db.import_sessions([bad, {"id": "good", "source": "cli", "started_at": 1.0}])
        assert (len(report.failed), report.imported) == (1, ["good"])
        assert (other_db.session_count(), other_db.message_count()) == (1, 0)
