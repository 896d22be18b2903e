"""Which parsers there are, whose a file is, and where histories lie."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from .. import registry
from ..errors import Invalid, NotFound
from .base import Parser
from .databases import is_database
from .packed import ENDS, is_compressed, plain_name
from .source import head_of

SUFFIXES = (".jsonl", ".json", ".db", ".sqlite", ".sqlite3", ".ndjson", ".zip", ".md", ".vscdb", *ENDS)


@dataclass(frozen=True, slots=True)
class Found:
    """A source, and the parser that reads it; None: no parser knows it."""

    path: Path
    parser: Parser | None
    # What the user or the agent's own rules named: a root, or the file itself.
    root: Path


def names() -> list[str]:
    """In order of detection; those of other distributions first, for general formats come last."""
    own = list(registry.TABLES["importers"])
    return [name for name in registry.names("importers") if name not in own] + own


def parser(name: str) -> Parser:
    return cast(Parser, registry.load("importers", name))


def chosen(agents: Iterable[str]) -> list[Parser]:
    """The parsers of these names, or all. Raises Invalid."""
    return [parser(name) for name in (list(agents) or names())]


def detect(path: Path, parsers: Iterable[Parser]) -> Parser | None:
    """The first parser that knows the file."""
    head = head_of(path)
    if not is_compressed(path):
        return next((each for each in parsers if each.detect(path, head)), None) if head else None
    # A database must lie there as it is to be read.
    if is_database(head):
        return None
    # One that cannot be looked into is told by its own name, and reading it says why.
    name = plain_name(path) if head else path
    return next((each for each in parsers if each.detect(name, head)), None)


def at_home(parsers: Iterable[Parser], env: Mapping[str, str], home: Path) -> Iterator[Found]:
    """All sources in the default places of these agents."""
    for each in parsers:
        for root in dict.fromkeys(each.roots(env, home)):
            if root.exists():
                yield from (Found(path, each, root) for path in sorted(each.find(root)))


def at_paths(paths: Iterable[Path], parsers: list[Parser]) -> Iterator[Found]:
    """The sources that these files and directories hold. Raises NotFound."""
    for path in paths:
        if not path.exists():
            raise NotFound(f"no file or directory {os.fspath(path)!r}")
        if path.is_dir():
            files = _files(path, ends(parsers))
            yield from (Found(each, known, path) for each in files if (known := detect(each, parsers)))
        elif path.is_file():
            yield Found(path, detect(path, parsers), path)
        else:
            raise Invalid(f"{os.fspath(path)!r} is neither a file nor a directory")


def ends(parsers: Iterable[Parser]) -> tuple[str, ...]:
    """How the names of files end that are looked into: a parser may know more."""
    return SUFFIXES + tuple(end for each in parsers for end in getattr(each, "SUFFIXES", ()))


def _files(directory: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    for place, below, files in os.walk(directory):
        below.sort()
        for name in sorted(files):
            if name.endswith(suffixes):
                yield Path(place, name)
