"""Finding messages: each kind of query on a store with history."""

from __future__ import annotations

from pathlib import Path

from ..arena import SESSIONDB, Contestant, Race, race
from ..figures import Ratio, summary
from ..results import Comparison, Result, Target
from ..searches import LIMIT, QUESTION, queries
from ..setting import MILLISECOND, Setting, durabilities, fairness

# The first search of a round finds the caches full of what the neighbour left there.
PASSES = 5
# At a million messages; the question at a hundred thousand.
TARGETS = {
    "rare": Target(1.0),
    "50 % word": Target(40.0),
    "AND": Target(30.0),
    "phrase": Target(30.0),
    "path": Target(30.0),
    "CJK 2": Target(10.0),
    QUESTION: Target(20.0),
}


def search(setting: Setting) -> Result:
    sizes = setting.sizes
    each = sizes.messages_per_session
    sessions = sizes.searched // each

    def filled(who: Contestant) -> Path:
        return setting.stores.copy(setting.stores.filled(who, sessions, each))

    lanes = setting.lanes((SESSIONDB, *setting.rivals("search", sizes.searched)), filled)
    found = race(lanes, "search", count=len(queries()), rounds=setting.rounds, passes=PASSES)
    result = Result("search", f"a page of {LIMIT} hits of {sizes.searched:,} messages, with snippets and context")
    for place, kind in enumerate(queries()):
        result.figures[kind] = {f"{label} ms": _middle(found, label, place).middle for label in found.times}
        result.comparisons += _comparisons(found, kind, place, setting)
    result.plot, result.held = "sessiondb ms", sizes.searched
    result.notes = [*durabilities(found), *fairness(found), *_empty_handed(found)]
    for lane in lanes:
        setting.stores.discard(lane.store)
    return result


def _times(found: Race, label: str, place: int) -> list[float]:
    return [times[place] / MILLISECOND for times in found.times[label].rounds]


def _middle(found: Race, label: str, place: int) -> Ratio:
    return summary(_times(found, label, place))


def _comparisons(found: Race, kind: str, place: int, setting: Setting) -> list[Comparison]:
    made = [Comparison(f"{kind}: p50", _middle(found, "sessiondb", place), "ms", TARGETS.get(kind))]
    for peer in (*setting.peers, *setting.others):
        if peer.name in found.times and _found_as_we_did(found, peer.name, kind):
            pairs = zip(_times(found, peer.name, place), _times(found, "sessiondb", place), strict=True)
            made.append(Comparison(f"{kind}: {peer.name} / ours", summary([theirs / ours for theirs, ours in pairs])))
    return made


def _found_as_we_did(found: Race, label: str, kind: str) -> bool:
    """Whoever finds nothing where there is something is not fast."""
    return bool(found.facts[label]["hits"][kind]) == bool(found.facts["sessiondb"]["hits"][kind])


def _empty_handed(found: Race) -> list[str]:
    missed = {label: [kind for kind in queries() if not _found_as_we_did(found, label, kind)] for label in found.times}
    return [f"{label} finds nothing: {', '.join(kinds)}" for label, kinds in missed.items() if kinds]
