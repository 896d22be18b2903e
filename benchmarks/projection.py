"""scale.md: from the measured figures to 100 million messages and 10,000 writers, with the arithmetic."""

from __future__ import annotations

from pathlib import Path

from . import arrivals
from .publish import Entry

MESSAGES = 100_000_000
HALF = "50 % word"
PATH = "path"
PAGE = """# Scale, on paper

Written by `python -m benchmarks --out`; do not edit. Nothing here was run at this size: figures measured at the sizes
of [results.md](results.md) are multiplied, and the waits are simulated (`python -m benchmarks.arrivals`, seeded).

## 10,000 writers

Independent writers, first come first served, {seconds:.0f} s of arrivals. A provider that is 100 % busy falls behind:
its waits grow for as long as the load lasts, and say nothing but that.

{table}

## 100 million messages

{disk}

{search}

{rebuild}

## What breaks first, and what to do

- **SQLite, a process per agent.** First the one writer at a time: above the rate of the gate, waits grow until `Busy`
  at 30 s. Then: one process that writes for all, whose threads share commits; a file per team or agent.
- **SQLite, one process.** First the processor: the part of a commit that each message adds. Then: a file per team;
  PostgreSQL when one store must hold all.
- **PostgreSQL.** First the pool: commits that wait for a connection; later the size of the index. Then: a larger pool
  up to the cores of the server; replicas for reading; partitions of `messages` by month.
- **MariaDB.** The same, and searches for words that many messages have and few of the newest.
- **Galera.** First a session written through several nodes: commits that certify against each other are repeated.
  Then: sessions pinned to a node. It adds safety, not write rate.

Old sessions are what grows: export them by age (`sessiondb export --until`), then prune; a store of the last year stays
small, and the files of each year can be opened and searched by themselves. Partitions, archive tiers and pinning are
the operator's work today: sessiondb does not do them by itself.
"""


def disk(results: list[Entry]) -> str:
    entry = _named(results, "disk")
    if entry is None:
        return "Not measured: run the scenario `disk`."
    weighed = entry["held"]
    each = entry["figures"][f"sessiondb, {weighed:,}"]["disk MB"] * 1e6 / weighed
    return (
        f"SQLite: {each:,.0f} bytes per message with its index, measured on {weighed:,} messages (small stores weigh "
        f"more per message); {MESSAGES:,} x {each:,.0f} B = {MESSAGES * each / 1e9:,.0f} GB. At 10,000 writers with a "
        f"message a minute, 167 messages/s, that is {MESSAGES / (10_000 / 60) / 86_400:.1f} days of writing."
    )


def search(results: list[Entry]) -> str:
    """What is weighed among the newest matches stays as it is; a phrase of common words is looked for in all."""
    entry = _named(results, "search")
    if entry is None:
        return "Search was not measured: run the scenario `search`."
    held = entry["held"]
    rare, often, path = (entry["figures"][kind]["sessiondb ms"] for kind in ("rare", HALF, PATH))
    return (
        f"Search on SQLite, measured on {held:,} messages: a rare word {rare:,.1f} ms, a word in half of all messages "
        f"{often:,.1f} ms. Both stay, because relevance is weighed among the newest 1,000 matches. A path of which two "
        f"words are in every message took {path:,.1f} ms and grows with the store: {path:,.1f} ms x "
        f"{MESSAGES / held:,.0f} = {path * MESSAGES / held / 1e3:,.1f} s. Phrases of words that all have are what "
        "breaks first when reading; `since:` and `source:` narrow what is ranked, a file per year what is read."
    )


def rebuild(results: list[Entry]) -> str:
    entry = _named(results, "batch")
    rates = {label: row["messages/s"] for label, row in entry["figures"].items()} if entry else {}
    rate = next((rate for label, rate in rates.items() if label.startswith("sessiondb") and "index" in label), None)
    if rate is None:
        return "Import was not measured: run the scenario `batch`."
    return (
        f"Loading all of it anew with its index, at the {rate:,.0f} messages/s of one process: "
        f"{MESSAGES / rate / 3600:,.1f} hours. So a store of this size is moved by its files, not by its messages, "
        "and its index is rebuilt beside the writing, never before it."
    )


def _named(results: list[Entry], name: str) -> Entry | None:
    return next((each for each in results if each["name"] == name), None)


def write(directory: Path, results: list[Entry]) -> None:
    table = "\n".join(arrivals.table(results))
    parts = {"disk": disk(results), "search": search(results), "rebuild": rebuild(results)}
    text = PAGE.format(seconds=arrivals.SECONDS, table=table, **parts)
    (directory / "scale.md").write_text(text, encoding="utf-8")
