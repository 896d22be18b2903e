"""A program that appends to a cluster and notes what was acknowledged, and when: `cluster_writer.py WORK`, as JSON.

It does what an agent does: a message has a key, and when the store is unavailable it tries again with the same one.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from sessiondb import registry
from sessiondb.db import SessionDB
from sessiondb.errors import Unavailable


def opened(place: list[Any]) -> SessionDB:
    provider = registry.load("providers", place[0])()
    provider.initialize(**place[1])
    return SessionDB(provider=provider)


def until_it_works(work: Any) -> int:
    """Run it again while the store is unavailable; how often."""
    tries = 0
    while True:
        try:
            work()
            return tries
        except Unavailable:
            tries += 1
            time.sleep(0.05)


def main(work: dict[str, Any]) -> None:
    lane, session = work["lane"], work["session"]
    db = opened(work["place"])
    until_it_works(lambda: db.ensure_session(session, "cli"))
    with open(work["acks"], "ab", buffering=0) as file:
        number = 0
        while True:
            said = f"{lane}:{number}"
            key = said if work.get("keys", True) else None
            tries = until_it_works(lambda: db.append_message(session, "user", said, message_key=key))  # noqa: B023
            file.write(f"{number} {time.monotonic():.4f} {tries}\n".encode())
            number += 1
            # The machine is also that of the servers, who need some of it to come back.
            time.sleep(work.get("pause", 0.0))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
