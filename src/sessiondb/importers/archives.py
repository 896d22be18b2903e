"""Exports as they are downloaded: a ZIP file with `conversations.json`, or that in several parts."""

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


def is_archive(path: Path) -> bool:
    return path.suffix == ".zip"


def members(path: Path) -> Iterator[IO[bytes]]:
    """The files of conversations in an archive, opened one after the other."""
    with zipfile.ZipFile(path) as archive:
        for name in sorted(filter(_CONVERSATIONS.fullmatch, archive.namelist())):
            with archive.open(name) as file:
                yield file


def first_member(path: Path) -> IO[bytes]:
    """The first of them. Raises ValueError where there is none."""
    with zipfile.ZipFile(path) as archive:
        for name in sorted(filter(_CONVERSATIONS.fullmatch, archive.namelist())):
            # It keeps the archive's file open until it is closed itself.
            return archive.open(name)
    raise ValueError(f"no conversations.json in {path.name}")
