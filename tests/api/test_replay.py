"""Conversations for model APIs."""

from __future__ import annotations

from typing import Any

import pytest

from sessiondb.replay import INTERRUPTED, TURN_COLUMNS, repaired, turn


def made(**values: Any) -> Any:
    return turn(**(dict.fromkeys(TURN_COLUMNS) | {"role": "user", "timestamp": 1.0} | values))


def asked(*call_ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [{"id": each, "name": "t"} for each in call_ids]}


def answered(call_id: str, content: str = "done") -> dict[str, Any]:
    return {"role": "tool", "content": content, "tool_call_id": call_id}


def closed(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "content": INTERRUPTED, "tool_call_id": call_id, "tool_name": "t"}


SAID = {"role": "user", "content": "go on"}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"content": "a"}, {"role": "user", "content": "a"}),
        ({"content": None, "tool_name": "", "tool_calls": "[]"}, {"role": "user", "content": None}),
        ({"role": "tool", "tool_call_id": "c"}, {"role": "tool", "content": None, "tool_call_id": "c"}),
        ({"role": "user", "reasoning": "r"}, {"role": "user", "content": None}),
        ({"role": "assistant", "reasoning": ""}, {"role": "assistant", "content": None}),
        (
            {"role": "assistant", "reasoning_details": '[{"a": 1}]', "codex_reasoning_items": "no json"},
            {"role": "assistant", "content": None, "reasoning_details": [{"a": 1}], "codex_reasoning_items": "no json"},
        ),
    ],
)
def test_a_turn_has_only_the_keys_that_are_set(values: dict[str, Any], expected: dict[str, Any]) -> None:
    assert made(**values) == expected | {"timestamp": 1.0}


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([], []),
        ([SAID], [SAID]),
        ([asked("a"), answered("a"), SAID], [asked("a"), answered("a"), SAID]),
        ([asked("a")], [asked("a"), closed("a")]),
        ([asked("a", "b"), answered("b")], [asked("a", "b"), closed("a"), answered("b")]),
        ([asked("a"), SAID, answered("a")], [asked("a"), answered("a"), SAID]),
        ([answered("a"), SAID], [SAID]),
        (
            [asked("a"), answered("a", "1"), asked("a"), answered("a", "2")],
            [asked("a"), answered("a", "1"), asked("a"), answered("a", "2")],
        ),
    ],
)
def test_every_call_is_answered_at_once(turns: list[Any], expected: list[Any]) -> None:
    assert repaired(turns) == expected


def test_what_was_said_before_a_call_is_no_answer_to_it() -> None:
    assert repaired([answered("a", "early"), asked("a"), answered("a", "late")]) == [asked("a"), answered("a", "late")]


def test_an_open_call_takes_no_answer_of_a_later_one() -> None:
    turns = [asked("a"), SAID, asked("a"), answered("a", "second")]
    assert repaired(turns) == [asked("a"), closed("a"), SAID, asked("a"), answered("a", "second")]


def test_repairing_twice_changes_nothing() -> None:
    once = repaired([answered("x"), asked("a", "b"), SAID, answered("b")])
    assert repaired(once) == once
