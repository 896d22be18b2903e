"""`python -m benchmarks.check`: have the hot paths become slow? A look of seconds, not a measurement.

Each is compared with the bare loop in five interleaved rounds, by medians; it fails only if all five exceed the bound,
so that a busy machine is no failure. What exceeds it is looked at again, because a machine may be busy for seconds.
"""

from __future__ import annotations

import sys

from . import stores
from .arena import FLOOR, SESSIONDB, race
from .figures import p50, ratio
from .setting import Setting
from .sizes import Sizes

BOUND = 2.0
ROUNDS = 5
LOOKS = 3
SIZES = Sizes(appends=60, batches=4, batch=500, loads=5, conversations=2, conversation=200, lists=10, sessions=300)


def best_ratio(setting: Setting, kind: str, count: int) -> float:
    """The best of the rounds' ratios of medians, ours to the floor's."""
    sizes = setting.sizes
    reads = kind in ("load", "rows", "list")
    filled = (sizes.sessions, 2) if kind == "list" else (sizes.conversations, sizes.conversation)
    lanes = setting.lanes(
        (SESSIONDB, FLOOR),
        lambda who: setting.stores.copy(setting.stores.filled(who, *filled)) if reads else setting.stores.new(),
    )
    size = sizes.conversations if reads else sizes.batch if kind == "batch" else 1
    found = race(lanes, kind, count=count, rounds=setting.rounds, size=size)
    return ratio(found.times["sessiondb"], found.times["floor"], p50).lowest


def best_of_looks(setting: Setting, kind: str, count: int) -> float:
    best = best_ratio(setting, kind, count)
    for _ in range(LOOKS - 1):
        if best <= BOUND:
            break
        best = min(best, best_ratio(setting, kind, count))
    return best


def main() -> int:
    slow = []
    with stores.temporary(None) as home:
        setting = Setting(SIZES, ROUNDS, home)
        works = {
            "append": SIZES.appends,
            "append-agent": SIZES.appends,
            "batch": SIZES.batches,
            "load": SIZES.loads,
            "rows": SIZES.loads,
            "list": SIZES.lists,
        }
        for kind, count in works.items():
            best = best_of_looks(setting, kind, count)
            print(f"bench-check: {kind:12} {best:.2f}x the bare loop, best of {ROUNDS} (bound {BOUND:g}x)")
            slow += [kind] if best > BOUND else []
    if slow:
        print(f"bench-check: too slow in every round: {', '.join(slow)}; `make bench` measures", file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
