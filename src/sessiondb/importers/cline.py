"""Cline: tasks in the storage of its extension, or in `~/.cline/data`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from . import cline_tasks, roo
from .editors import extension_storage

NAME = "cline"
find = cline_tasks.tasks
read = cline_tasks.read
stamp = cline_tasks.stamp


def roots(env: Mapping[str, str], home: Path) -> list[Path]:
    return [home / ".cline" / "data", *extension_storage(env, home, "saoudrizwan.claude-dev")]


def detect(path: Path, head: bytes) -> bool:
    return cline_tasks.is_history(path, head) and not roo.is_task(path)
