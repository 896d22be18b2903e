"""Messages going in: one by one, into stores of several sizes, and in batches."""

from __future__ import annotations

from ..arena import FLOOR, FLOOR_TUPLES, LOOP, SESSIONDB, Contestant, Lane, Race, race
from ..figures import mean, p50, pooled_ratio
from ..results import Comparison, Result, Target
from ..setting import MICROSECOND, SECOND, Setting, add_rows, against, durability, fairness, statements, worked

APPEND_TO_FLOOR = Target(1.3)
PEER_TO_APPEND = Target(2.5, least=True)
MILLION = 1_000_000
PEER_TO_APPEND_AT_A_MILLION = Target(40.0, least=True)
BATCH_TO_FLOOR = Target(0.6, least=True)
IMPORT_TO_PEER = Target(5.0, least=True)
FLAT = Target(1.3)
NO_INDEX = "openai-agents, agno and langgraph keep no index: they store less than an import with its index does"


def append(setting: Setting) -> Result:
    result = Result("append", "one message, one durable commit: plain text, and a conversation with tool calls")
    result.plot = "p50 µs"
    for kind, name in (("append", "text"), ("append-agent", "agent")):
        lanes = setting.lanes((SESSIONDB, FLOOR, FLOOR_TUPLES, *setting.rivals(kind)), setting.empty)
        found = race(lanes, kind, count=setting.sizes.appends, rounds=setting.rounds)
        add_rows(result, found, MICROSECOND, "µs", f", {name}")
        result.comparisons += _append_ratios(found, name, setting)
        result.notes += [*fairness(found), statements(found, FLOOR.name)]
    return result


def _append_ratios(found: Race, name: str, setting: Setting) -> list[Comparison]:
    made = against(found, f"{name}: p50 / floor", "sessiondb", "floor", p50, APPEND_TO_FLOOR)
    made += against(found, f"{name}: p50 / floor, tuples", "sessiondb", FLOOR_TUPLES.name, p50)
    made += against(found, f"{name}: mean / floor", "sessiondb", "floor", mean)
    made += worked(found, f"{name}: cpu / floor", "sessiondb", "floor")
    for peer in setting.peers:
        made += against(found, f"{name}: rate / {peer.name}", peer.name, "sessiondb", mean, PEER_TO_APPEND)
        made += worked(found, f"{name}: cpu of {peer.name} / ours", peer.name, "sessiondb")
    for other in setting.others:
        made += against(found, f"{name}: rate / {other.name}", other.name, "sessiondb", mean)
    return made


def growth(setting: Setting) -> Result:
    """All sizes take turns in one race: what a size costs is not what the minute cost."""
    sizes = setting.sizes.growth
    lanes: list[Lane] = []
    for who in (SESSIONDB, FLOOR, *setting.peers):
        with setting.excused(who):
            lanes += [_grown(setting, who, size) for size in sizes]
    found = race(lanes, "append", count=setting.sizes.appends, rounds=setting.rounds)
    result = Result("growth", "one message, one durable commit, into a store that has many already")
    result.plot = "mean µs"
    add_rows(result, found, MICROSECOND, "µs")
    result.comparisons = _growth_ratios(found, setting)
    result.notes = [f"gave up: {reason}" for reason in found.failures.values()]
    for lane in lanes:
        setting.stores.discard(lane.store)
    return result


def _label(who: Contestant, size: int) -> str:
    return f"{who.name} at {size:,}"


def _grown(setting: Setting, who: Contestant, size: int) -> Lane:
    each = setting.sizes.messages_per_session
    return Lane(_label(who, size), who, setting.stores.copy(setting.stores.filled(who, size // each, each)))


def _growth_ratios(found: Race, setting: Setting) -> list[Comparison]:
    first, *others = setting.sizes.growth
    made: list[Comparison] = []
    for size in others:
        for name, statistic in (("p50", p50), ("mean", mean)):
            label = f"{name} at {size:,} / at {first:,}"
            made += against(found, label, _label(SESSIONDB, size), _label(SESSIONDB, first), statistic, FLAT)
        for who in (FLOOR, *setting.peers):
            label = f"{who.name}: mean at {size:,} / at {first:,}"
            made += against(found, label, _label(who, size), _label(who, first), mean)
        for peer in setting.peers:
            made += _stalls_included(found, f"at {size:,}: rate / {peer.name}", _label(peer, size), size)
    return made


def _stalls_included(found: Race, label: str, peer: str, size: int) -> list[Comparison]:
    ours = _label(SESSIONDB, size)
    if peer not in found.times:
        return []
    target = PEER_TO_APPEND_AT_A_MILLION if size == MILLION else None
    return [Comparison(label, pooled_ratio(found.times[peer], found.times[ours], mean), target=target)]


def batch(setting: Setting) -> Result:
    result = Result("batch", "many messages in one transaction: append_messages, and import_sessions")
    result.plot = "messages/s"
    _add_batches(setting, result)
    _add_imports(setting, result)
    return result


def _add_rates(result: Result, found: Race, what: str) -> None:
    for label, times in found.times.items():
        rate = found.work.messages_per_operation * SECOND / times.typical(mean)
        result.add(f"{label}, {what}", {"messages/s": rate}, durability(found.facts[label]))


def _batch_ratios(found: Race, name: str) -> list[Comparison]:
    """Against a loop that is given finished rows, and against one that makes them of messages."""
    made = against(found, f"{name}: rate / floor, rows ready", FLOOR.name, "sessiondb", mean, BATCH_TO_FLOOR)
    made += against(found, f"{name}: rate / floor, rows ready as tuples", FLOOR_TUPLES.name, "sessiondb", mean)
    made += against(found, f"{name}: rate / loop over messages", LOOP.name, "sessiondb", mean)
    return made + worked(found, f"{name}: cpu / floor, rows ready", "sessiondb", FLOOR.name)


def _add_batches(setting: Setting, result: Result) -> None:
    sizes = setting.sizes
    lanes = setting.lanes((SESSIONDB, LOOP, FLOOR, FLOOR_TUPLES), setting.empty)
    found = race(lanes, "batch", count=sizes.batches, rounds=setting.rounds, size=sizes.batch)
    _add_rates(result, found, f"append_messages of {sizes.batch}")
    result.comparisons += _batch_ratios(found, "append_messages")
    result.notes += fairness(found)


def _add_imports(setting: Setting, result: Result) -> None:
    """Storing alone against the floor; with the index, which peers' imports fill too, against them."""
    sizes = setting.sizes
    size = {"count": sizes.imports, "rounds": setting.rounds, "size": sizes.imported_sessions}
    stored = race(setting.lanes((SESSIONDB, LOOP, FLOOR, FLOOR_TUPLES), setting.empty), "store", **size)
    _add_rates(result, stored, f"import of {sizes.imported_sessions} sessions, storing")
    result.comparisons += _batch_ratios(stored, "import, storing")
    found = race(setting.lanes((SESSIONDB, *setting.rivals("import")), setting.empty), "import", **size)
    _add_rates(result, found, f"import of {sizes.imported_sessions} sessions, with its index")
    for peer in setting.peers:
        label = f"import: rate / {peer.name}"
        result.comparisons += against(found, label, peer.name, "sessiondb", mean, IMPORT_TO_PEER)
    for other in setting.others:
        result.comparisons += against(found, f"import: rate / {other.name}", other.name, "sessiondb", mean)
    result.notes += [*fairness(stored), *fairness(found), NO_INDEX]
