"""The tour of `sessiondb demo`, for those who have not installed the command.

make demo
"""

from __future__ import annotations

import sys

from sessiondb.cli.running import run

if __name__ == "__main__":
    sys.exit(run(["demo", *sys.argv[1:]]))
