"""Tool calls, media, and the conversation as model APIs take it."""

from __future__ import annotations

import base64
from hashlib import sha256
from typing import Any

import pytest

from ...db import SessionDB
from ...replay import INTERRUPTED
from ..clock import FakeClock
from .base import LawBase, NewSession, say
from .messages import CALL

PICTURE = b"\x89PNG\r\n" + bytes(range(256)) * 4
PICTURE_URI = "data:image/png;base64," + base64.b64encode(PICTURE).decode()
LOOK = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": PICTURE_URI}}]


class ToolCallLaws(LawBase):
    def test_a_call_waits_for_its_result(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        message_id = db.append_message(session(), "assistant", tool_calls=[CALL])
        (call,) = db.get_tool_calls("s")
        assert (call["call_id"], call["tool_name"], call["arguments"]) == ("c1", "shell", '{"cmd": "ls"}')
        assert (call["status"], call["created_at"], call["message_id"]) == ("pending", clock.now, message_id)

    def test_a_result_completes_its_call(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        db.append_message(session(), "assistant", tool_calls=[CALL])
        clock.move(5)
        db.append_message("s", "tool", "file.txt", tool_call_id="c1")
        (call,) = db.get_tool_calls("s")
        assert (call["status"], call["result_summary"], call["completed_at"]) == ("completed", "file.txt", clock.now)

    def test_only_the_beginning_of_a_result_is_summary(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "assistant", tool_calls=[CALL])
        db.append_message("s", "tool", "x" * 500, tool_call_id="c1")
        assert db.get_tool_calls("s")[0]["result_summary"] == "x" * 200

    def test_a_repeated_call_id_completes_the_newest_that_waits(self, db: SessionDB, session: NewSession) -> None:
        db.append_messages(session(), [{"role": "assistant", "tool_calls": [CALL]}] * 2)
        db.append_message("s", "tool", "done", tool_call_id="c1")
        assert [call["status"] for call in db.get_tool_calls("s")] == ["pending", "completed"]

    def test_a_result_without_a_call_is_only_a_message(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "tool", "done", tool_call_id="c9")
        assert db.get_tool_calls("s") == []

    def test_a_result_in_another_session_completes_nothing(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session("a"), "assistant", tool_calls=[CALL])
        db.append_message(session("b"), "tool", "done", tool_call_id="c1")
        assert db.get_tool_calls("a")[0]["status"] == "pending"

    @pytest.mark.parametrize(
        ("call", "arguments"),
        [
            ({"id": "c1", "name": "shell", "input": {"cmd": "ls"}}, '{"cmd": "ls"}'),
            ({"call_id": "c1", "name": "shell", "arguments": "ls"}, "ls"),
            ({"id": "c1", "function": {"name": "shell"}}, None),
        ],
    )
    def test_other_apis_calls_are_understood(
        self, db: SessionDB, session: NewSession, call: dict[str, Any], arguments: str | None
    ) -> None:
        db.append_message(session(), "assistant", tool_calls=[call])
        (row,) = db.get_tool_calls("s")
        assert (row["call_id"], row["tool_name"], row["arguments"]) == ("c1", "shell", arguments)

    def test_an_unknown_session_made_no_calls(self, db: SessionDB) -> None:
        assert (db.get_tool_calls("ghost"), db.get_media_refs("ghost")) == ([], [])


class MediaLaws(LawBase):
    def test_bytes_do_not_enter_the_rows(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), LOOK)
        (row,) = db.provider.stored_messages("s")
        assert base64.b64encode(PICTURE).decode()[:40] not in row["content"]

    def test_bytes_come_back_in_the_conversation(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), LOOK)
        assert db.get_messages_as_conversation("s") == [{"role": "user", "content": LOOK}]

    def test_a_picture_is_known_by_hash_type_and_size(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), LOOK)
        (ref,) = db.get_media_refs("s")
        assert (ref["kind"], ref["mime_type"], ref["size"]) == ("image", "image/png", len(PICTURE))
        assert ref["sha256"] == sha256(PICTURE).hexdigest()

    def test_bytes_beside_their_type_come_back(self, db: SessionDB, session: NewSession) -> None:
        source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PICTURE).decode()}
        content = [{"type": "image", "source": source}]
        say(db, session(), content)
        assert db.get_messages_as_conversation("s")[0]["content"] == content
        assert source["data"] not in next(db.provider.stored_messages("s"))["content"]

    def test_odd_base64_comes_back_exactly(self, db: SessionDB, session: NewSession) -> None:
        content = [{"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO\nRw0K=="}}]
        say(db, session(), content)
        assert db.get_messages_as_conversation("s")[0]["content"] == content

    def test_a_link_is_a_reference(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}])
        (ref,) = db.get_media_refs("s")
        assert (ref["kind"], ref["path"], ref["sha256"]) == ("image", "https://example.org/a.png", None)

    def test_references_may_be_given(self, db: SessionDB, session: NewSession) -> None:
        ref = {"kind": "audio", "path": "a.ogg", "mime_type": "audio/ogg", "sha256": "0" * 64, "size": 9}
        message_id = db.append_message(session(), "user", "listen", media_refs=[{**ref, "metadata": {"seconds": 3}}])
        (row,) = db.get_media_refs("s")
        assert {name: row[name] for name in ref} == ref  # type: ignore[literal-required]
        assert (row["metadata"], row["message_id"]) == ({"seconds": 3}, message_id)


class ConversationLaws(LawBase):
    def test_a_plain_turn_has_role_and_content_only(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "hello")
        assert db.get_messages_as_conversation("s") == [{"role": "user", "content": "hello"}]

    def test_tool_keys_are_there_when_set(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "assistant", None, tool_calls=[CALL])
        db.append_message("s", "tool", "done", tool_name="shell", tool_call_id="c1")
        assert db.get_messages_as_conversation("s") == [
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "content": "done", "tool_call_id": "c1", "tool_name": "shell"},
        ]

    def test_reasoning_is_decoded_on_assistant_turns(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "assistant", "hi", reasoning="why", reasoning_details=[{"a": 1}])
        db.append_message("s", "assistant", "hi", codex_reasoning_items=[{"b": 2}])
        assert db.get_messages_as_conversation("s") == [
            {"role": "assistant", "content": "hi", "reasoning": "why", "reasoning_details": [{"a": 1}]},
            {"role": "assistant", "content": "hi", "codex_reasoning_items": [{"b": 2}]},
        ]

    def test_reasoning_of_others_is_left_out(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "user", "hi", reasoning="why", reasoning_details=[1])
        assert db.get_messages_as_conversation("s") == [{"role": "user", "content": "hi"}]

    def test_timestamps_are_added_on_request(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        say(db, session(), "hi")
        assert db.get_messages_as_conversation("s", timestamps=True)[0]["timestamp"] == clock.now

    def test_hidden_turns_are_left_out(self, db: SessionDB, session: NewSession) -> None:
        first, _ = say(db, session(), *"ab")
        db.rewind_to_message("s", first)
        assert [turn["content"] for turn in db.get_messages_as_conversation("s")] == ["a"]

    def test_an_unknown_session_said_nothing(self, db: SessionDB) -> None:
        assert db.get_messages_as_conversation("ghost") == []

    def test_repair_answers_an_open_call(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "assistant", None, tool_calls=[CALL])
        say(db, "s", "are you there?")
        _, answer, last = db.get_messages_as_conversation("s", repair=True)
        assert answer == {"role": "tool", "content": INTERRUPTED, "tool_call_id": "c1", "tool_name": "shell"}
        assert last == {"role": "user", "content": "are you there?"}

    def test_repair_drops_an_answer_nobody_asked_for(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "tool", "done", tool_call_id="c9")
        assert db.get_messages_as_conversation("s", repair=True) == []

    def test_repair_leaves_a_sound_conversation_alone(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "assistant", None, tool_calls=[CALL])
        db.append_message("s", "tool", "done", tool_call_id="c1")
        sound = db.get_messages_as_conversation("s")
        assert db.get_messages_as_conversation("s", repair=True) == sound

    def test_repair_stores_nothing(self, db: SessionDB, session: NewSession) -> None:
        db.append_message(session(), "assistant", None, tool_calls=[CALL])
        db.get_messages_as_conversation("s", repair=True)
        assert db.message_count("s") == 1
