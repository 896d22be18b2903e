"""A gateway process for the load test: takes its share of the messages, some twice, and notes what it acknowledged.

A worker that is started again goes on with what it had not acknowledged, as a platform delivers again.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path

from sessiondb import SessionDB, registry
from sessiondb.gateway.keys import Source
from sessiondb.gateway.router import Router
from sessiondb.gateway.turn import Interrupted

CHATS = 200
WORKERS = 4


def source(number: int) -> Source:
    chat = number % CHATS
    kind = "group" if chat % 2 else "dm"
    return Source(("telegram", "discord")[chat % 3 % 2], kind, f"c{chat}", user_id=f"u{chat}")


def share(worker: int, total: int) -> list[int]:
    """All messages of a chat go round the workers; every twentieth is delivered to two of them."""
    mine = [number for number in range(total) if number // CHATS % WORKERS == worker]
    also = [number for number in range(0, total, 20) if (number // CHATS + 1) % WORKERS == worker]
    return sorted({*mine, *also})


def question(number: int) -> str:
    return f"question {number}"


def answer(number: int) -> str:
    return f"answer {number}"


def with_lease(router: Router, number: int) -> bool:
    arrival = router.receive(source(number), question(number), message_key=f"m{number}")
    if arrival.turn is None:
        return False
    try:
        with arrival.turn as turn:
            time.sleep(random.uniform(0.0, 0.002))
            turn.append([{"role": "assistant", "content": f"step {number}"}])
            turn.end([{"role": "assistant", "content": answer(number)}])
    except Interrupted:
        return False
    return True


def without_lease(router: Router, number: int) -> bool:
    session_id = router.resolve(source(number)).session_id
    router.db.append_message(session_id, "user", question(number))
    time.sleep(random.uniform(0.0, 0.002))
    router.db.append_message(session_id, "assistant", answer(number))
    return True


def opened(store: str) -> SessionDB:
    """A store by its path, or by its provider and options in JSON."""
    if not store.startswith("{"):
        return SessionDB(store)
    named = json.loads(store)
    provider = registry.load("providers", named["provider"])()
    provider.initialize(**named["options"])
    return SessionDB(provider=provider)


def main(store: str, acks: str, worker: str, total: str, kind: str) -> None:
    # A name for each worker, so that many may use one file.
    file = Path(acks) / f"{worker}.txt"
    known = {int(line.split()[0]) for line in file.read_text().splitlines()} if file.exists() else set()
    take = without_lease if kind == "without" else with_lease
    with opened(store) as db:
        router = Router(db, when_busy="interrupt", lease_seconds=30)
        note = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for number in share(int(worker), int(total)):
            if number not in known:
                answered = take(router, number)
                os.write(note, f"{number} {'answered' if answered else 'taken'}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
