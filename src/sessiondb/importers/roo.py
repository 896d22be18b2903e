"""Roo Code and Kilo Code, which grew out of Cline: the same tasks, with `history_item.json` in each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from . import cline_tasks
from .editors import extension_storage

NAME = "roo-code"
_EXTENSIONS = ("rooveterinaryinc.roo-cline", "kilocode.kilo-code")
find = cline_tasks.tasks
read = cline_tasks.read
stamp = cline_tasks.stamp


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    return extension_storage(env, home, *_EXTENSIONS)


def detect(path: Path, head: bytes) -> bool:
    return cline_tasks.is_history(path, head) and is_task(path)


def is_task(path: Path) -> bool:
    return path.with_name("history_item.json").exists() or any(name in path.parts for name in _EXTENSIONS)
