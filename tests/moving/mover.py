"""A move in a process of its own, which dies where it is told: `mover.py WORK`, WORK as JSON.

"before": when the n-th batch is about to be sent; "inside": in its transaction; "after": when it was acknowledged;
"unindexed": when all is there but the index; "indexing": when a part of the index of a PostgreSQL store is there.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any

from sessiondb import registry
from sessiondb.migrate import Move


def opened(place: list[Any], **more: Any) -> Any:
    provider = registry.load("providers", place[0])()
    provider.initialize(**place[1], **more)
    return provider


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def arm_index(target: Any, moment: str) -> None:
    if moment == "unindexed":
        target.update_index = lambda tick: die()
        return
    from sessiondb.backends.postgres import postponed

    ensure = postponed.trigrams.ensure
    postponed.trigrams.ensure = lambda *args, **more: (ensure(*args, **more), die())


def arm(target: Any, number: int, moment: str) -> None:
    if number == 0:
        arm_index(target, moment)
        return
    load, write = target.load, target.driver.write
    seen = {"loads": 0}

    def loading(parts: Any) -> Any:
        seen["loads"] += 1
        if seen["loads"] != number:
            return load(parts)
        if moment == "before":
            die()
        if moment == "inside":
            target.driver.write = lambda work, **more: write(lambda tx: (work(tx), die()), **more)
        done = load(parts)
        die()
        return done

    target.load = loading


def main() -> None:
    work = json.loads(sys.argv[1])
    source, target = opened(work["source"], read_only=True), opened(work["target"])
    if work["kill"]:
        arm(target, *work["kill"])
    done = Move(source, target, source_name="the source", part_rows=work["part_rows"]).run()
    print(json.dumps({"verified": done.verified, "problems": done.problems, "quarantined": done.quarantined}))
    target.shutdown()
    source.shutdown()


if __name__ == "__main__":
    main()
