"""A process that appends until its input ends: `index_writer.py STORE SESSION PAUSE`; says how it went, in JSON."""

from __future__ import annotations

import json
import sys
import threading
import time

import sessiondb

WORDS = ("alpha", "beta", "gamma", "delta", "东京", "/etc/hosts", "getUserName")


def main(store: str, session: str, pause: str) -> None:
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    took: list[float] = []
    errors: list[str] = []
    with sessiondb.open(store) as db:
        db.ensure_session(session, "cli")
        print("ready", flush=True)
        while not ended.is_set():
            number = len(took)
            begun = time.perf_counter()
            try:
                db.append_message(session, "user", f"{WORDS[number % len(WORDS)]} n{number % 50} from {session}")
            except sessiondb.errors.SessionDBError as exc:
                errors.append(repr(exc))
            took.append(time.perf_counter() - begun)
            ended.wait(float(pause))
    print(json.dumps({"took": took, "errors": errors}))


if __name__ == "__main__":
    main(*sys.argv[1:])
