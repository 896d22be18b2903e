"""Which texts of role user a person typed, in a rollout of Codex.

Context that the program puts before a prompt has the same role as the prompt. Between two activities of the agent, the
events tell how many prompts there were; an item with the words of an event is that prompt, else the nearest one.
Without events, whatever is no known kind of context was typed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from .base import Message
from .codex_items import words_in
from .parts import blocks_of, body, list_of
from .texts import is_injected, when, words_of

_CONTEXT = (
    "<INSTRUCTIONS",
    "<collaboration_mode",
    "<subagent_notification",
    "<goal_context",
    "<skill",
    "# Files mentioned by the user",
)
_EARLY = 20


class Prompts:
    """The texts since the agent was last active; a file may end between an item and its event."""

    def __init__(self, carry: dict[str, Any]) -> None:
        self.carry = carry
        # The session whose history is being repeated, while it is.
        self.copied_from: str | None = None
        carry.setdefault("group", [])
        carry.setdefault("groups", 0)
        carry.setdefault("early", [])

    def add_item(self, number: int, record: dict[str, Any], item: dict[str, Any]) -> None:
        words = words_in(item)
        if item["role"] == "user" and words in self.carry["early"]:
            # Its event came before the agent was done with the turn before.
            self.carry["early"].remove(words)
            return
        blocks = [block for block in blocks_of(item.get("content")) if block.get("image_url", True) is not None]
        pictures = any(block.get("type") == "input_image" for block in blocks_of(item.get("content")))
        typed = item["role"] == "user" and bool(words.strip() or pictures) and not _is_context(words)
        self._add("item", number, record, words, role=item["role"], content=body(blocks), may_be_typed=typed)

    def add_event(self, number: int, record: dict[str, Any], event: dict[str, Any]) -> None:
        words = words_of(event.get("message")) or ""
        paths = [path for name in ("local_images", "images") for path in list_of(event.get(name)) if words_of(path)]
        self._add("event", number, record, words, role="user", content=words, pictures=paths, may_be_typed=True)

    def _add(self, kind: str, number: int, record: dict[str, Any], words: str, **more: Any) -> None:
        entry = {"kind": kind, "number": number, "timestamp": when(record.get("timestamp")), "words": words}
        self.carry["group"].append({**entry, "copied_from": self.copied_from, **more})
        self.carry["given"] = False

    def messages(self, session: str, *, close: bool) -> Iterator[tuple[Message, bool]]:
        """The messages of the group, and whether each begins a turn."""
        group = self.carry["group"]
        if not group:
            return
        if not self.carry.get("given"):
            typed, alone = _typed(group)
            names: dict[tuple[str, str], int] = {}
            for entry in group:
                name = self._name(entry, names)
                if entry["kind"] == "item" or entry["number"] in alone:
                    is_typed = entry["number"] in typed or entry["number"] in alone
                    own = is_typed and entry["copied_from"] is None and self.carry["relation"] != "subagent"
                    yield _message(entry, name, session, own), is_typed
            if close and not any(entry["kind"] == "item" and entry["may_be_typed"] for entry in group):
                self.carry["early"] = [*self.carry["early"], *(e["words"] for e in group if e["kind"] == "event")][
                    -_EARLY:
                ]
            self.carry["given"] = True
        if close:
            self.carry["group"] = []
            self.carry["groups"] += 1

    def _name(self, entry: dict[str, Any], names: dict[tuple[str, str], int]) -> str:
        """A prompt has the same name whether its event or its item was seen first."""
        digest = hashlib.sha256(entry["words"].strip().encode("utf-8", "surrogatepass")).hexdigest()[:16]
        names[entry["kind"], digest] = number = names.get((entry["kind"], digest), 0) + 1
        return f"prompt-{self.carry['groups']}-{digest}-{number}"


def _is_context(words: str) -> bool:
    return is_injected(words) or words.lstrip().startswith(_CONTEXT)


def _typed(group: list[dict[str, Any]]) -> tuple[set[int], set[int]]:
    """The numbers of the items that were typed, and of the events that have no item."""
    items = [entry for entry in group if entry["kind"] == "item" and entry["may_be_typed"]]
    events = [entry for entry in group if entry["kind"] == "event"]
    if not events:
        return {entry["number"] for entry in items}, set()
    typed: set[int] = set()
    left = []
    for event in events:
        same = (
            item for item in items if item["words"].strip() == event["words"].strip() and item["number"] not in typed
        )
        if (item := next(same, None)) is not None:
            typed.add(item["number"])
        else:
            left.append(event)
    alone: set[int] = set()
    for event in left:
        open_items = [item for item in items if item["number"] not in typed]
        before = [item for item in open_items if item["number"] < event["number"]]
        if open_items:
            typed.add((before[-1] if before else open_items[0])["number"])
        else:
            alone.add(event["number"])
    return typed, alone


def _message(entry: dict[str, Any], name: str, session: str, own: bool) -> Message:
    copied_from = entry["copied_from"]
    return Message(
        entry["role"],
        entry["content"],
        entry["timestamp"],
        name,
        session,
        injected=not own,
        media=[{"kind": "image", "path": path} for path in entry.get("pictures", ()) if not path.startswith("data:")],
        metadata=None if copied_from is None else {"copied_from": copied_from},
    )
