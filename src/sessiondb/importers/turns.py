"""The last turns of a conversation by the ids of their messages, in case they are taken back; a part of a carry."""

from __future__ import annotations

from typing import Any

_TURNS = 30
_MESSAGES_OF_TURN = 300


def begin(turns: list[Any], after: str | None = None) -> None:
    """A prompt begins a turn; `after` is what it answers, where the source tells."""
    turns.append({"after": after, "ids": []})
    del turns[:-_TURNS]


def note(turns: list[Any], native_id: str | None) -> None:
    if native_id is None or not turns:
        return
    ids = turns[-1]["ids"]
    if len(ids) < _MESSAGES_OF_TURN and not is_in_last(turns, native_id):
        ids.append(native_id)


def is_in_last(turns: list[Any], native_id: str | None) -> bool:
    return any(native_id in turn["ids"] for turn in turns[-2:])


def take_back(turns: list[Any], count: int) -> list[str]:
    """The ids of the last turns, which leave the conversation."""
    gone = turns[max(len(turns) - count, 0) :]
    del turns[max(len(turns) - count, 0) :]
    return [name for turn in gone for name in turn["ids"]]


def take_back_to(turns: list[Any], after: str | None) -> list[str]:
    """The ids of all turns since another prompt answered the same: that prompt was edited, or left."""
    number = next((number for number, turn in enumerate(turns) if after and turn["after"] == after), len(turns))
    return take_back(turns, len(turns) - number)
