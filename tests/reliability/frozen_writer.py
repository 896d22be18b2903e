"""A program of the original's version 6 that was not restarted: plain SQL, no positions, no keys, no gate.

    frozen_writer.py PATH ACKS SESSION COUNT

Its columns are those of version 6; its index of words is kept by triggers, until somebody drops them.
"""

from __future__ import annotations

import sys
import time

import acknowledged
import apsw

INSERT = "INSERT INTO messages (session_id, role, content, timestamp) VALUES (?, 'user', ?, ?)"
COUNT = "UPDATE sessions SET message_count = message_count + 1 WHERE id = ?"


def append(connection: apsw.Connection, session_id: str, text: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(INSERT, (session_id, text, time.time()))
    connection.execute(COUNT, (session_id,))
    connection.execute("COMMIT")


def main(path: str, acks: str, session_id: str, count: int) -> None:
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(30_000)
    done = acknowledged.Acknowledged(acks, session_id)
    for number in range(count):
        append(connection, session_id, f"frozen words {number}")
        done.add(number)
        time.sleep(0.001)
    connection.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
