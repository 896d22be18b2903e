"""Messages on their way into a store."""

from __future__ import annotations

import json
import subprocess
import sys
from enum import Enum
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sessiondb import ledger
from sessiondb.drafts import calls_of, check_count, check_id, check_time, draft, restored, to_json
from sessiondb.errors import Invalid
from sessiondb.models import MESSAGE_COLUMNS, ROLES, Draft
from sessiondb.rows import message_row

LIMIT = 1000


def made(role: str = "user", content: Any = "hello", **fields: Any) -> Draft:
    return draft({"role": role, "content": content, **fields}, 1.0, LIMIT)


def test_a_draft_has_a_place_for_every_column_but_the_id_and_leaves_some_to_the_store() -> None:
    values = made().values
    assert values.keys() == set(MESSAGE_COLUMNS) - {"id"}
    assert [values[name] for name in ("session_id", "seq", "term", "active")] == [None] * 4


def test_a_draft_carries_its_digest() -> None:
    said = made(metadata={"a": 1})
    assert said.digest == ledger.digest(said.values)


@pytest.mark.parametrize("content", ["text", "", None])
def test_text_is_stored_as_it_is(content: str | None) -> None:
    assert (made(content=content).values["content"], made(content=content).values["content_type"]) == (content, None)


class Marked(str):
    """Text of a kind of its own, as template engines and parsers make it."""


@pytest.mark.parametrize(
    "field", ["role", "content", "tool_name", "tool_call_id", "finish_reason", "reasoning", "message_key", "provider"]
)
def test_of_other_kinds_of_text_only_what_they_say_is_stored(field: str) -> None:
    said = made(**{field: Marked("user")})
    assert (said.values[field], said.values[field].__class__) == ("user", str)


@pytest.mark.parametrize("content", [[], {}, [{"type": "text", "text": "漢"}]])
def test_structures_are_stored_as_json(content: Any) -> None:
    values = made(content=content).values
    assert (json.loads(values["content"]), values["content_type"]) == (content, "json")


@pytest.mark.parametrize(("content", "fits"), [("x" * LIMIT, True), ("x" * (LIMIT + 1), False), ("漢" * 334, False)])
def test_size_is_counted_in_bytes(content: str, fits: bool) -> None:
    if fits:
        assert made(content=content).values["content"] == content
        return
    with pytest.raises(Invalid, match="bytes"):
        made(content=content)


@pytest.mark.parametrize(
    ("tool_calls", "expected"),
    [
        (None, []),
        ([], []),
        ({"id": "c", "name": "t"}, [("c", "t", None)]),
        ([{"id": 7, "function": {"name": "t", "arguments": "{}"}}], [("7", "t", "{}")]),
        ([{"id": "c", "name": "t", "input": {"a": "é"}}], [("c", "t", '{"a": "é"}')]),
        ([{"call_id": "c", "name": "t", "arguments": {"a": 1}}], [("c", "t", '{"a": 1}')]),
        (["odd", {"function": "odd"}], [(None, None, None), (None, None, None)]),
    ],
)
def test_calls_of_every_shape_are_understood(tool_calls: Any, expected: list[tuple[Any, ...]]) -> None:
    calls = calls_of(tool_calls)
    assert [(call["call_id"], call["tool_name"], call["arguments"]) for call in calls] == expected


class Tool(str, Enum):  # noqa: UP042 - its str() is not what it says
    READ = "read_file"


def test_calls_of_an_enum_are_called_by_its_values() -> None:
    (call,) = calls_of([{"id": Tool.READ, "function": {"name": Tool.READ, "arguments": Tool.READ}}])
    assert set(call.values()) == {"read_file"}
    assert {value.__class__ for value in call.values()} == {str}


@pytest.mark.parametrize("value", [{1, 2}, object(), {"a": b"x"}])
def test_what_is_no_json_is_refused_by_name(value: Any) -> None:
    with pytest.raises(Invalid, match="my_field"):
        to_json([value], "my_field")


def test_a_circle_is_no_json() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(Invalid, match="content"):
        made(content=circle)


@pytest.mark.parametrize("value", [True, 1.0, "1", -1, 1 << 63])
def test_a_count_is_a_whole_number(value: Any) -> None:
    with pytest.raises(Invalid, match="tokens"):
        check_count(value, "tokens")


@pytest.mark.parametrize("value", [None, True, "1", float("nan"), float("-inf")])
def test_a_time_is_a_finite_number(value: Any) -> None:
    with pytest.raises(Invalid, match="epoch"):
        check_time(value, "timestamp")


@pytest.mark.parametrize("value", ["", None, 5, "x" * 256])
def test_an_id_is_a_short_text(value: Any) -> None:
    with pytest.raises(Invalid, match="session_id"):
        check_id(value)


def test_a_restored_message_has_the_digest_of_the_original() -> None:
    said = made("assistant", [{"text": "x"}], tool_calls=[{"id": "c"}], reasoning_details=[1], metadata={"a": 1})
    row = dict.fromkeys(MESSAGE_COLUMNS) | said.values | {"seq": 7, "active": 0}
    back = restored(message_row(dict(row)), max_bytes=LIMIT)
    assert (back.digest, back.seq, back.active, back.values) == (said.digest, 7, 0, said.values)


def test_a_restored_message_keeps_a_foreign_role() -> None:
    assert restored({"role": "narrator", "timestamp": 1}, max_bytes=LIMIT).values["role"] == "narrator"


@pytest.mark.parametrize("message", [{"timestamp": 1}, {"role": "user"}, {"role": "user", "timestamp": "noon"}])
def test_a_message_without_role_or_time_is_not_restored(message: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        restored(message, max_bytes=LIMIT)


class TestFastEncoder:
    """Programs that write much spell their messages with another encoder: the numbers must not change."""

    @pytest.fixture(autouse=True)
    def _loaded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ledger, "_LEFT_TO_SPELL", [-1])

    @given(
        st.text(),
        st.sampled_from(sorted(ROLES)),
        st.floats(allow_nan=False, allow_infinity=False),
        st.integers(0, (1 << 63) - 1),
        st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.integers() | st.text()),
    )
    @example("\ud800", "user", 1.7e9, 0, {})
    @example('"\\\x00\x1f\x7f/\u2028', "tool", 1e15, 1, {})
    @example("plain", "user", 1e22, 1, {})
    @example("plain", "user", 1e-7, 1, {})
    @settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_gives_the_same_digest(self, text: str, role: str, when: float, count: int, more: dict[str, Any]) -> None:
        said = draft(
            {"role": role, "content": text, "timestamp": when, "token_count": count, "metadata": more}, 1.0, 1 << 20
        )
        assert said.digest == ledger.digest(said.values)

    @pytest.mark.parametrize("field", ["role", "content", "tool_name"])
    def test_takes_other_kinds_of_text(self, field: str) -> None:
        for _ in range(3):
            assert made(**{field: Marked("user")}).digest == made(**{field: "user"}).digest

    @pytest.mark.parametrize("field", ["content", "reasoning", "tool_name", "provider", "model"])
    def test_what_is_called_ascii_is(self, field: str) -> None:
        assert made(**{field: "plain"}).is_ascii or field in ("provider", "model")
        assert not made(**{field: "caf\u00e9"}).is_ascii

    def test_is_loaded_by_programs_that_write_many_at_once_only(self) -> None:
        script = (
            "import sys, sessiondb\n"
            "db = sessiondb.open('memory://')\n"
            "db.create_session('s', 'cli')\n"
            "for number in range(600): db.append_message('s', 'user', 'x')\n"
            "assert 'msgspec' not in sys.modules\n"
            "for number in range(2): db.append_messages('s', [{'role': 'user', 'content': 'x'}] * 600)\n"
            "assert 'msgspec' in sys.modules"
        )
        subprocess.run([sys.executable, "-c", script], check=True)
