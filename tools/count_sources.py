"""Imports a directory into a store in memory and compares every session with counts of the raw files.

    python tools/count_sources.py DIR...

The counts (tests/importers/counts) share no code with the parsers. Prints what was compared, then each difference;
exits with 1 when there is one.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from sessiondb import SessionDB  # noqa: E402
from sessiondb.importers import known  # noqa: E402
from sessiondb.importers.runner import Runner  # noqa: E402
from sessiondb.titles import split  # noqa: E402

COUNTS = "tests.importers.counts"
TOKENS = ("input", "output", "cache_read", "cache_write", "reasoning")
SUMMED = ("human", "assistant", "tool_calls", "tool_results", *TOKENS)


def module_of(agent: str) -> Any:
    """The counts of an agent; None when nobody counts it."""
    name = f"{COUNTS}.{agent.replace('-', '_')}"
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def stored(db: SessionDB, origin: str, native_id: str) -> dict[str, Any] | None:
    """What the store has of a session, in the terms of the counts."""
    row = db.provider.find_native(origin, native_id)
    if row is None:
        return None
    messages = db.get_messages(row["id"])
    parent = db.get_session(row["parent_session_id"]) if row["parent_session_id"] else None
    return {
        "human": sum(message["role"] == "user" and not message["injected"] for message in messages),
        "assistant": sum(message["role"] == "assistant" and bool(message["content"]) for message in messages),
        "tool_calls": len(db.get_tool_calls(row["id"])),
        "tool_results": sum(message["role"] == "tool" for message in messages),
        **{name: row[f"{name}_tokens"] for name in TOKENS},  # type: ignore[literal-required]
        "title": row["title"],
        "parent": parent["native_id"] if parent else None,
        "relation": row["relation"] if parent else None,
    }


def differences(counted: dict[str, Any], found: dict[str, Any] | None, known_ids: set[str]) -> list[str]:
    if found is None:
        return ["not imported"]
    expected = dict(counted)
    if expected["parent"] not in known_ids:
        # A parent that lies in none of the files cannot be linked.
        expected["parent"] = expected["relation"] = None
    if same_title(expected["title"], found["title"]):
        expected["title"] = found["title"]
    return [
        f"{name}: counted {value!r}, stored {found[name]!r}" for name, value in expected.items() if found[name] != value
    ]


def same_title(counted: str | None, found: str | None) -> bool:
    """Titles are unique in a store, and at most 100 characters long."""
    if counted is None or found is None:
        return counted == found
    plain = " ".join(counted.split())
    return split(found)[0].rstrip("…")[:90] == split(plain)[0][: len(split(found)[0].rstrip("…")[:90])]


def compare(agent: str, paths: list[Path], db: SessionDB) -> int:
    module = module_of(agent)
    if module is None:
        print(f"{agent}: {len(paths)} files, not counted")
        return 0
    counted = module.count(paths)
    sums = {name: sum(tally[name] for tally in counted.values()) for name in SUMMED}
    titles, parents = (sum(bool(tally[name]) for tally in counted.values()) for name in ("title", "parent"))
    told = ", ".join(f"{name} {value:,}" for name, value in sums.items())
    print(f"{agent}: {len(paths)} files, {len(counted)} sessions, {told}, titles {titles}, parents {parents}")
    wrong = 0
    for native_id, tally in counted.items():
        for what in differences(tally, stored(db, agent, native_id), set(counted)):
            print(f"  {native_id}: {what}")
            wrong += 1
    return wrong + extra(agent, set(counted), db)


def extra(agent: str, counted: set[str], db: SessionDB) -> int:
    """Sessions that were imported and that the files do not hold."""
    wrong = 0
    for row in db.list_sessions_rich(include_children=True, limit=1_000_000):
        if row["origin"] == agent and row["native_id"] not in counted:
            print(f"  {row['native_id']}: imported, not counted")
            wrong += 1
    return wrong


def main(arguments: list[str]) -> int:
    found = list(known.at_paths([Path(each) for each in arguments], known.chosen(())))
    by_agent: dict[str, list[Path]] = {}
    for each in found:
        by_agent.setdefault(each.parser.NAME if each.parser else "unknown", []).append(each.path)
    wrong = 0
    with SessionDB("memory://") as db:
        report = Runner(db).run(found)
        for what in [*report.errors, *report.skipped]:
            print(f"{what.path}:{what.line}: {what.why}")
        for agent, paths in sorted(by_agent.items()):
            wrong += compare(agent, paths, db)
    print("all equal" if not wrong else f"{wrong} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
