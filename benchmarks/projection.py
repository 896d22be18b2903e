"""scale.md: from the measured figures to 100 million messages and 10,000 writers, with the arithmetic."""

from __future__ import annotations

from pathlib import Path

from . import arrivals
from .publish import Entry

MESSAGES = 100_000_000
PAGE = """# Scale, on paper

Written by `python -m benchmarks --out`; do not edit. Nothing here was run at this size: figures measured at the sizes
of [results.md](results.md) are multiplied, and the waits are simulated (`python -m benchmarks.arrivals`, seeded).

## 10,000 writers

Independent writers, first come first served, {seconds:.0f} s of arrivals. A provider that is 100 % busy falls behind:
its waits grow for as long as the load lasts, and say nothing but that.

{table}

## 100 million messages

{disk}

## What breaks first, and what to do

- **SQLite, a process per agent.** First the one writer at a time: above the rate of the gate, waits grow until `Busy`
  at 30 s. Then: one process that writes for all, whose threads share commits; a file per team or agent.
- **SQLite, one process.** First the processor: the part of a commit that each message adds. Then: a file per team;
  PostgreSQL when one store must hold all.
- **PostgreSQL.** First the pool: commits that wait for a connection; later the size of the index. Then: a larger pool
  up to the cores of the server; replicas for reading; partitions of `messages` by month.
- **MariaDB.** The same, and searches for frequent words, which cost in proportion to their matches.
- **Galera.** First a session written through several nodes: commits that certify against each other are repeated.
  Then: sessions pinned to a node. It adds safety, not write rate.

Old sessions are what grows: export them by age (`sessiondb export --until`), then prune; a store of the last year stays
small, and the files of each year can be opened and searched by themselves. Partitions, archive tiers and pinning are
the operator's work today: sessiondb does not do them by itself.
"""


def disk(results: list[Entry]) -> str:
    entry = next((each for each in results if each["name"] == "disk"), None)
    if entry is None:
        return "Not measured: run the scenario `disk`."
    figures = entry["figures"]["sessiondb"]
    weighed = int(figures["messages"])
    each = figures["disk MB"] * 1e6 / weighed
    return (
        f"SQLite: {each:,.0f} bytes per message with its index, measured on {weighed:,} messages (small stores weigh "
        f"more per message); {MESSAGES:,} x {each:,.0f} B = {MESSAGES * each / 1e9:,.0f} GB. At 10,000 writers with a "
        f"message a minute, 167 messages/s, that is {MESSAGES / (10_000 / 60) / 86_400:.1f} days of writing."
    )


def write(directory: Path, results: list[Entry]) -> None:
    table = "\n".join(arrivals.table(results))
    text = PAGE.format(seconds=arrivals.SECONDS, table=table, disk=disk(results))
    (directory / "scale.md").write_text(text, encoding="utf-8")
