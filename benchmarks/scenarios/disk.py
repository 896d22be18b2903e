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
    each = setting.sizes.messages_per_session
    sessions = setting.sizes.weighed // each
    text = text_bytes(sessions, each)
    result = Result("disk", f"{setting.sizes.weighed:,} messages, {text / MEGABYTE:.1f} MB of text", plot="disk / text")
    result.held = setting.sizes.weighed
    for who in (SESSIONDB, *setting.rivals("append", setting.sizes.weighed)):
        with setting.excused(who):
            _weigh(setting, who, sessions, text, result)
    result.notes.append("sessiondb, hermes-agent and llm can be searched; the others keep no index")
    return result


def _weigh(setting: Setting, who: Contestant, sessions: int, text: float, result: Result) -> None:
    store = setting.stores.copy(setting.stores.filled(who, sessions, setting.sizes.messages_per_session))
    settled = _settled(who, store)
    sizes = {path.name: path.stat().st_size for path in store.parent.iterdir() if path.is_file()}
    whole = sum(sizes.values())
    result.add(who.name, {"disk MB": whole / MEGABYTE, "disk / text": whole / text}, settled)
    if who is SESSIONDB:
        index = sum(size for name, size in sizes.items() if "-search-" in name)
        result.comparisons += [
            Comparison("index / text", summary([index / text]), target=INDEX_TO_TEXT),
            Comparison("store and index / text", summary([whole / text]), target=STORE_TO_TEXT),
        ]
    setting.stores.discard(store)


def _settled(who: Contestant, store: Path) -> str:
    with Process(who) as process:
        process.ask("open", path=str(store))
        process.ask("settle")
        facts = process.ask("facts")
        process.ask("close")
    return durability(facts)
