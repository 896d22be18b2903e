"""Finding messages: each kind of query on a store with history, and what the index costs on disk."""

from __future__ import annotations

from pathlib import Path

from ..arena import SESSIONDB, Contestant, Lane, Race, race
from ..figures import Ratio, summary
from ..results import Comparison, Result, Target
from ..searches import LIMIT, QUESTION, queries, text_bytes
from ..setting import MILLISECOND, Setting, fairness

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
INDEX_TO_TEXT = Target(0.7)
STORE_TO_TEXT = Target(2.2)


def search(setting: Setting) -> Result:
    sizes = setting.sizes
    each = sizes.messages_per_session
    sessions = sizes.searched // each

    def filled(who: Contestant) -> Path:
        return setting.stores.copy(setting.stores.filled(who, sessions, each))

    lanes = setting.lanes((SESSIONDB, *setting.peers), filled)
    found = race(lanes, "search", count=len(queries()), rounds=setting.rounds)
    result = Result("search", f"a page of {LIMIT} hits of {sizes.searched:,} messages, with snippets and context")
    for place, kind in enumerate(queries()):
        result.figures[kind] = {f"{label} ms": _middle(found, label, place).middle for label in found.times}
        result.comparisons += _comparisons(found, kind, place, setting)
    result.comparisons += _disk(lanes, text_bytes(sessions, each))
    result.notes = [*fairness(found), *_empty_handed(found)]
    for lane in lanes:
        setting.stores.discard(lane.store)
    return result


def _times(found: Race, label: str, place: int) -> list[float]:
    return [times[place] / MILLISECOND for times in found.times[label].rounds]


def _middle(found: Race, label: str, place: int) -> Ratio:
    return summary(_times(found, label, place))


def _comparisons(found: Race, kind: str, place: int, setting: Setting) -> list[Comparison]:
    made = [Comparison(f"{kind}: p50", _middle(found, "sessiondb", place), "ms", TARGETS.get(kind))]
    for peer in setting.peers:
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


def _disk(lanes: list[Lane], text: float) -> list[Comparison]:
    made = []
    for lane in lanes:
        files = [path for path in lane.store.parent.iterdir() if path.is_file()]
        whole = sum(path.stat().st_size for path in files) / text
        index = sum(path.stat().st_size for path in files if "-search-" in path.name) / text
        ours = lane.contestant is SESSIONDB
        if ours:
            made.append(Comparison("index / text", _exact(index), target=INDEX_TO_TEXT))
        made.append(Comparison(f"{lane.label}: disk / text", _exact(whole), target=STORE_TO_TEXT if ours else None))
    return made


def _exact(value: float) -> Ratio:
    return Ratio(value, value, value)
