"""The machine in words: what decides how far figures carry, and nothing that names it."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import apsw

from . import stores


def described(place: Path) -> str:
    parts = [
        f"{os.cpu_count()} cores ({_processor()})",
        f"{_memory() / 2**30:.0f} GB of memory",
        f"stores on {stores.filesystem(place)}",
        f"{platform.system()} {platform.release().split('-')[0]}",
        f"Python {platform.python_version()}",
        f"SQLite {apsw.sqlite_lib_version()}",
    ]
    return ", ".join(parts)


def _processor() -> str:
    known = Path("/proc/cpuinfo")
    lines = known.read_text(encoding="utf-8").splitlines() if known.exists() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
