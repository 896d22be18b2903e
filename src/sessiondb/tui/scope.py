"""Where to look: this directory, its repository, everywhere; the next wider one when there is nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

NAMES = ("directory", "repository", "all")


@dataclass(frozen=True)
class Scope:
    name: str
    cwd: str | None = None

    @property
    def label(self) -> str:
        return f"{self.name} {shortened(self.cwd)}" if self.cwd else "everywhere"


def scopes(directory: str) -> list[Scope]:
    """From the narrowest to all; a repository only where the directory is below its root."""
    here = os.path.abspath(directory)
    root = repository(here)
    wider = [Scope("repository", root)] if root is not None and root != here else []
    return [Scope("directory", here), *wider, Scope("all")]


def repository(directory: str) -> str | None:
    """The root of the working tree the directory is in; a linked one has a file `.git`."""
    place = directory
    while not os.path.exists(os.path.join(place, ".git")):
        above = os.path.dirname(place)
        if above == place:
            return None
        place = above
    return place


def named(known: Sequence[Scope], name: str) -> int:
    """The place of a scope by name; without a repository of its own, the directory is one."""
    names = [scope.name for scope in known]
    return names.index(name) if name in names else 0


def shortened(path: str | None) -> str:
    home = os.path.expanduser("~")
    if path and home != "/" and (path == home or path.startswith(home + os.sep)):
        return "~" + path[len(home) :]
    return path or ""
