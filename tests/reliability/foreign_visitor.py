"""A program that is none of ours: opens the file with the standard library's SQLite, reads, closes.

foreign_visitor.py PATH         once
foreign_visitor.py PATH COUNTS  again and again until it is killed, counting its visits in the file COUNTS
"""

from __future__ import annotations

import sqlite3
import sys
import time


def visit(path: str) -> int:
    connection = sqlite3.connect(path, timeout=10)
    try:
        return int(connection.execute("SELECT COUNT(*) FROM messages").fetchone()[0])
    finally:
        connection.close()


def visit_always(path: str, counts: str) -> None:
    with open(counts, "wb", buffering=0) as file:
        while True:
            visit(path)
            file.write(b".")
            time.sleep(0.002)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(visit(sys.argv[1]))
    else:
        visit_always(sys.argv[1], sys.argv[2])
