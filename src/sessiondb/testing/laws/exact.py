"""Text comes back as it was given, character by character."""

from __future__ import annotations

import pytest

from ...db import SessionDB
from ...errors import Invalid
from ...models import Filter, MessageFilter
from .base import LawBase, NewSession, contents, say, stored

MEGABYTE = 1024 * 1024

TEXTS = {
    "nul": "a\x00b\x00",
    "only nul": "\x00",
    "lone high surrogate": "a\ud83db",
    "lone low surrogate": "\udc00",
    "swapped surrogates": "\udc00\ud800",
    "four bytes": "\U0001f4a9 \U00020000 \U0010ffff",
    "noncharacters": "\ufdd0\uffff\ufffe",
    "replacement and mark": "\ufffd\ufeff",
    "private use": "\ue000\uf8ff\U000f0000",
    "backslashes": "\\u0000 \\x00 \\ \\\\ \\",
    "controls": "".join(map(chr, range(1, 32))) + "\x7f\x80\x9f",
    "combining": "e\u0301 \u0915\u094d\u0937 \u200d\u200c",
    "right to left": "\u202eשלום\u202c مرحبا",
    "line ends": "a\r\nb\rc\nd\u2028e\u2029",
    "blanks": "  a \t ",
    "quotes": "'\"`;--%s :name ? {x} %",
    "json": '{"a": "\\ud800"}',
    "number": "0012.50",
}
text = pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())


class ExactLaws(LawBase):
    @text
    def test_content_comes_back_exactly(self, db: SessionDB, session: NewSession, text: str) -> None:
        say(db, session(), text)
        assert contents(db, "s") == [text]

    @text
    def test_structured_content_comes_back_exactly(self, db: SessionDB, session: NewSession, text: str) -> None:
        say(db, session(), [{"type": "text", "text": text, text: [text]}])
        assert contents(db, "s") == [[{"type": "text", "text": text, text: [text]}]]

    @text
    def test_tool_fields_come_back_exactly(self, db: SessionDB, session: NewSession, text: str) -> None:
        calls = [{"id": text, "function": {"name": text, "arguments": text}}]
        db.append_message(session(), "assistant", tool_calls=calls, reasoning=text, tool_name=text, message_key=text)
        row = db.get_messages("s")[0]
        assert (row["tool_calls"], row["reasoning"], row["tool_name"], row["message_key"]) == (calls, text, text, text)
        assert db.get_tool_calls("s")[0]["arguments"] == text

    @text
    def test_session_fields_come_back_exactly(self, db: SessionDB, text: str) -> None:
        db.create_session("s", text, system_prompt=text, cwd=text, metadata={text: text}, user_id=text)
        row = stored(db, "s")
        assert (row["source"], row["system_prompt"], row["cwd"], row["user_id"]) == (text, text, text, text)
        assert row["metadata"] == {text: text}

    @text
    def test_facts_come_with_messages_exactly(self, db: SessionDB, session: NewSession, text: str) -> None:
        message_id = db.append_message(session(source=text, model=text), "user", "x")
        (found,) = db.provider.found_messages([message_id])
        (scanned,) = db.provider.scan_messages(Filter(), MessageFilter())
        assert [(facts["source"], facts["model"]) for _, facts in (found, scanned)] == [(text, text)] * 2

    @text
    def test_meta_comes_back_exactly(self, db: SessionDB, text: str) -> None:
        db.set_meta(text, text)
        assert db.get_meta(text) == text

    @text
    def test_the_ledger_counts_every_character(self, db: SessionDB, session: NewSession, text: str) -> None:
        db.append_message(session(), "user", text, metadata={text: text})
        assert db.verify().ok

    def test_a_long_message_comes_back_exactly(self, db: SessionDB, session: NewSession) -> None:
        size = min(20 * MEGABYTE, db.features.max_content_bytes)
        long_text = "0123456789abcde\n" * (size // 16)
        say(db, session(), long_text)
        assert contents(db, "s") == [long_text]

    def test_a_message_beyond_the_limit_is_refused(self, db: SessionDB, session: NewSession) -> None:
        with pytest.raises(Invalid, match="bytes"):
            say(db, session(), "x" * (db.features.max_content_bytes + 1))
        assert db.message_count() == 0

    @pytest.mark.parametrize("moment", [0.0, 0.1, 1_750_000_000.123456, 1e-7, 4_102_444_800.0, -1.5])
    def test_times_come_back_exactly(self, db: SessionDB, session: NewSession, moment: float) -> None:
        db.append_message(session(started_at=moment), "user", "x", timestamp=moment)
        assert (stored(db, "s")["started_at"], db.get_messages("s")[0]["timestamp"]) == (moment, moment)
