"""The list of the latest conversations."""

from __future__ import annotations

from pathlib import Path

from ..arena import FLOOR, SESSIONDB, Contestant, race
from ..figures import p50
from ..results import Result, Target
from ..setting import MILLISECOND, Setting, against, fairness, latencies, milliseconds
from ..works import LISTED

LIST_MILLISECONDS = Target(1.0)


def list_by_activity(setting: Setting) -> Result:
    sizes = setting.sizes

    def filled(who: Contestant) -> Path:
        return setting.stores.copy(setting.stores.filled(who, sizes.sessions, sizes.messages_per_session))

    lanes = setting.lanes((SESSIONDB, FLOOR, *setting.peers), filled)
    found = race(lanes, "list", count=sizes.lists, rounds=setting.rounds)
    result = Result("list", f"the {LISTED} last active of {sizes.sessions:,} sessions, with previews")
    for label in found.times:
        result.figures[label] = latencies(found, label, MILLISECOND, "ms")
    result.comparisons = [milliseconds(found, "p50", "sessiondb", LIST_MILLISECONDS)]
    result.comparisons += against(found, "p50 / floor", "sessiondb", "floor", p50)
    for peer in setting.peers:
        result.comparisons += against(found, f"rate / {peer.name}", peer.name, "sessiondb", p50)
    result.notes = fairness(found)
    for lane in lanes:
        setting.stores.discard(lane.store)
    return result
