"""The list of the latest conversations."""

from __future__ import annotations

from pathlib import Path

from ..arena import FLOOR, SESSIONDB, Contestant, race
from ..figures import p50
from ..results import Result, Target
from ..setting import MILLISECOND, Setting, add_rows, against, fairness, milliseconds
from ..works import LISTED

LIST_MILLISECONDS = Target(1.0)
UNEQUAL = "google-adk lists all sessions, it knows no limit; it and agno list no previews"


def list_by_activity(setting: Setting) -> Result:
    sizes = setting.sizes

    def filled(who: Contestant) -> Path:
        return setting.stores.copy(setting.stores.filled(who, sizes.sessions, sizes.messages_per_session))

    lanes = setting.lanes(
        (SESSIONDB, FLOOR, *setting.rivals("list", sizes.sessions * sizes.messages_per_session)), filled
    )
    found = race(lanes, "list", count=sizes.lists, rounds=setting.rounds)
    result = Result("list", f"the {LISTED} last active of {sizes.sessions:,} sessions, with previews")
    result.plot = "p50 ms"
    add_rows(result, found, MILLISECOND, "ms")
    result.comparisons = [milliseconds(found, "p50", "sessiondb", LIST_MILLISECONDS)]
    result.comparisons += against(found, "p50 / floor", "sessiondb", "floor", p50)
    for peer in (*setting.peers, *setting.others):
        result.comparisons += against(found, f"rate / {peer.name}", peer.name, "sessiondb", p50)
    result.notes = [*fairness(found), UNEQUAL]
    for lane in lanes:
        setting.stores.discard(lane.store)
    return result
