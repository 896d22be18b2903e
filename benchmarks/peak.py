"""The most memory a process has had. Not `ru_maxrss`: a process inherits that of whoever started it."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

EVERY = 0.01


def megabytes(pid: int | str = "self") -> float:
    """So far; 0 for a process that has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0) / 1024


def watched(command: Sequence[str], errors: Path) -> tuple[int, float]:
    """The exit code of a command, and the most megabytes it had, looked at until it ended."""
    with errors.open("wb") as said:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said)
    most = 0.0
    while process.poll() is None:
        most = max(most, megabytes(process.pid))
        time.sleep(EVERY)
    return process.returncode, most
