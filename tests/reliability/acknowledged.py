"""The list of what was acknowledged, kept outside the store: one file per lane, a line after each append."""

from __future__ import annotations

import os
from pathlib import Path


class Acknowledged:
    def __init__(self, directory: str | Path, lane: str) -> None:
        self._path = Path(directory) / f"{lane}.acks"
        self._descriptor = os.open(self._path, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def add(self, number: int) -> None:
        os.write(self._descriptor, b"%d\n" % number)


def numbers(directory: str | Path, lane: str) -> list[int]:
    path = Path(directory) / f"{lane}.acks"
    return [int(line) for line in path.read_text().splitlines()] if path.exists() else []


def next_number(directory: str | Path, lane: str) -> int:
    """Where a successor goes on: the first number nobody acknowledged, which may be stored all the same."""
    found = numbers(directory, lane)
    return found[-1] + 1 if found else 0


def key(lane: str, number: int) -> str:
    return f"{lane}:{number}"


def text(lane: str, number: int) -> str:
    """Now and then something large that all lanes say, which a store may keep once."""
    if number % 8 == 7:
        return f"all say {number % 3}: " + "the same words " * 400
    return key(lane, number)
