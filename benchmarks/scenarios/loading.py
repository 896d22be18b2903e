"""A conversation coming out."""

from __future__ import annotations

from pathlib import Path

from ..arena import FLOOR, FLOOR_TUPLES, SESSIONDB, Contestant, Race, race
from ..figures import p50
from ..results import Comparison, Result, Target
from ..setting import MILLISECOND, Setting, add_rows, against, fairness

LOAD_TO_FLOOR = Target(1.5)
CALLS = {"load": "get_messages_as_conversation", "rows": "get_messages"}


def load(setting: Setting) -> Result:
    sizes = setting.sizes
    result = Result("load", f"a conversation of {sizes.conversation} messages")
    result.plot = "p50 ms"
    for kind, call in CALLS.items():
        found = _race(setting, kind)
        add_rows(result, found, MILLISECOND, "ms", f", {call}")
        result.comparisons += _ratios(found, call, setting)
        result.notes += fairness(found)
    return result


def _race(setting: Setting, kind: str) -> Race:
    sizes = setting.sizes

    def filled(who: Contestant) -> Path:
        return setting.stores.copy(setting.stores.filled(who, sizes.conversations, sizes.conversation))

    lanes = setting.lanes((SESSIONDB, FLOOR, FLOOR_TUPLES, *setting.rivals(kind)), filled)
    return race(lanes, kind, count=sizes.loads, rounds=setting.rounds, size=sizes.conversations)


def _ratios(found: Race, call: str, setting: Setting) -> list[Comparison]:
    made = against(found, f"{call}: p50 / floor", "sessiondb", "floor", p50, LOAD_TO_FLOOR)
    made += against(found, f"{call}: p50 / floor, tuples", "sessiondb", "floor, tuples", p50)
    for peer in (*setting.peers, *setting.others):
        made += against(found, f"{call}: rate / {peer.name}", peer.name, "sessiondb", p50)
    return made
