"""What a history weighs on disk, for each byte of its texts; indexes caught up, logs folded in."""

from __future__ import annotations

from pathlib import Path

from ..arena import SESSIONDB, Contestant, Process
from ..figures import summary
from ..results import Comparison, Result, Target
from ..searches import text_bytes
from ..setting import Setting, durability

INDEX_TO_TEXT = Target(0.7)
STORE_TO_TEXT = Target(2.2)
MEGABYTE = 1e6


def disk(setting: Setting) -> Result:
    """All who can at one size; sessiondb and its peer also at the size that is searched."""
    small, large = setting.sizes.weighed, setting.sizes.searched
    result = Result("disk", f"{small:,} messages, and {large:,} where so many fit", plot="disk / text")
    result.held = max(small, large)
    for who in (SESSIONDB, *setting.rivals("append", small)):
        with setting.excused(who):
            _weigh(setting, who, small, result)
    if large > small:
        for who in (SESSIONDB, *setting.peers):
            with setting.excused(who):
                _weigh(setting, who, large, result)
    result.notes.append("sessiondb, hermes-agent and llm can be searched; the others keep no index")
    return result


def _weigh(setting: Setting, who: Contestant, messages: int, result: Result) -> None:
    each = setting.sizes.messages_per_session
    text = text_bytes(messages // each, each)
    store = setting.stores.copy(setting.stores.filled(who, messages // each, each))
    settled = _settled(who, store)
    sizes = {path.name: path.stat().st_size for path in store.parent.iterdir() if path.is_file()}
    whole = sum(sizes.values())
    result.add(f"{who.name}, {messages:,}", {"disk MB": whole / MEGABYTE, "disk / text": whole / text}, settled)
    if who is SESSIONDB:
        index = sum(size for name, size in sizes.items() if "-search-" in name)
        result.comparisons += [
            Comparison(f"index / text, {messages:,}", summary([index / text]), target=INDEX_TO_TEXT),
            Comparison(f"store and index / text, {messages:,}", summary([whole / text]), target=STORE_TO_TEXT),
        ]
    setting.stores.discard(store)


def _settled(who: Contestant, store: Path) -> str:
    with Process(who) as process:
        process.ask("open", path=str(store))
        process.ask("settle")
        facts = process.ask("facts")
        process.ask("close")
    return durability(facts)
