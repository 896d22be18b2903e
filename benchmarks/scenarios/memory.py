"""How much memory is needed: a conversation loaded by each contender; and transcripts coming in and going out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .. import corpus
from ..arena import SESSIONDB, ContenderFailed, Contestant, Process
from ..figures import summary
from ..peak import watched
from ..results import Comparison, Result, Target
from ..setting import Setting, durability
from ..works import filled_session

MEGABYTE = 1 << 20
PEAK_MEGABYTES = Target(200.0)
MESSAGES_PER_FILE = 500


def memory(setting: Setting) -> Result:
    sizes = setting.sizes
    what = f"peak of a process that loads {sizes.conversation} messages; or moves {sizes.transcripts} MB of transcripts"
    result = Result("memory", what, plot="peak MB")
    for who in (SESSIONDB, *setting.rivals("load")):
        with setting.excused(who):
            _loaded(setting, who, result)
    store, said = setting.stores.new(), setting.stores.new()
    place = setting.stores.new().parent
    _written(place, sizes.transcripts * MEGABYTE)
    peaks = {
        "import": _peak(said, "import", "--agent", "nanobot", str(place), "--db", str(store)),
        "export": _peak(said, "export", str(place / "all.jsonl"), "--db", str(store)),
    }
    for name, peak in peaks.items():
        result.add(f"sessiondb {name}, {sizes.transcripts} MB", {"peak MB": peak}, "wal, FULL")
        result.comparisons.append(Comparison(f"{name}: peak", summary([peak]), "MB", PEAK_MEGABYTES))
    return result


def _loaded(setting: Setting, who: Contestant, result: Result) -> None:
    sizes = setting.sizes
    store = setting.stores.copy(setting.stores.filled(who, sizes.conversations, sizes.conversation))
    with Process(who) as process:
        process.ask("open", path=str(store))
        process.ask("prepare", kind="load", count=1, rounds=1, size=sizes.conversations)
        process.ask("round", number=0)
        # Before the facts, which look at the whole store.
        peak = process.ask("peak_megabytes")
        result.add(f"{who.name}, load", {"peak MB": peak}, durability(process.ask("facts")))
        process.ask("close")


def _written(place: Path, size: int) -> None:
    """Histories of an agent, until they have that many bytes."""
    number = written = 0
    while written < size:
        path = place / f"cli_{number}.jsonl"
        rows = corpus.document(filled_session(number, number + 1), number, MESSAGES_PER_FILE)["messages"]
        lines = [{"_type": "metadata", "key": f"cli:{number}", "metadata": {}}, *rows]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        path.write_text(text, encoding="utf-8")
        number, written = number + 1, written + len(text.encode())


def _peak(errors: Path, *arguments: str) -> float:
    code, most = watched([sys.executable, "-m", "sessiondb", *arguments], errors)
    if code:
        said = errors.read_text(encoding="utf-8", errors="replace")
        raise ContenderFailed(f"sessiondb {arguments[0]} failed: {said.strip()[-300:]}")
    return most
