"""Exports as they are downloaded: ZIP files with `conversations.json`, that in parts, or files of other names."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ..errors import SessionDBError

# What reading a damaged, encrypted or foreign file raises.
UNREADABLE = (OSError, EOFError, ValueError, RuntimeError, SessionDBError, zipfile.BadZipFile, zlib.error)
_CONVERSATIONS = re.compile(r"(.*/)?conversations[^/]*\.json")
# What lies beside them: people, settings, judgements.
_OTHERS = re.compile(r"(.*/)?(users?|projects|memories|message_feedback|model_comparisons|shared_.*|prod-mc-.*)\.json")


def is_archive(path: Path) -> bool:
    return path.suffix == ".zip"


def members(path: Path) -> Iterator[IO[bytes]]:
    """The files of conversations in an archive, opened one after the other."""
    with zipfile.ZipFile(path) as archive:
        for name in _names(archive):
            with archive.open(name) as file:
                yield file


def first_member(path: Path) -> IO[bytes]:
    """The first of them. Raises ValueError where there is none."""
    with zipfile.ZipFile(path) as archive:
        for name in _names(archive):
            # It keeps the archive's file open until it is closed itself.
            return archive.open(name)
    raise ValueError(f"no conversations in {path.name}")


def _names(archive: zipfile.ZipFile) -> list[str]:
    """The files called as most exports call them, else all that may hold conversations."""
    there = sorted(name for name in archive.namelist() if name.endswith(".json"))
    return [*filter(_CONVERSATIONS.fullmatch, there)] or [name for name in there if not _OTHERS.fullmatch(name)]
