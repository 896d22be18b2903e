"""Where the stores are: on a disk, made once, copied for whoever writes to them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .arena import Contestant, Process

FILE = "state.db"
IN_MEMORY = frozenset({"tmpfs", "ramfs"})


def filesystem(path: Path) -> str:
    """The type of the filesystem that holds a path; "unknown" where the system does not tell."""
    mounts = Path("/proc/self/mounts")
    if not mounts.exists():
        return "unknown"
    fields = [line.split() for line in mounts.read_text(encoding="utf-8").splitlines()]
    holding = [(point, kind) for _, point, kind, *_ in fields if path.resolve().is_relative_to(point)]
    return max(holding, key=lambda mount: len(mount[0]), default=("", "unknown"))[1]


def disk() -> Path:
    """The first usual place for temporary files that is not memory: there a durable commit costs nothing."""
    places = [Path(tempfile.gettempdir()), Path("/var/tmp"), Path.cwd()]
    usable = [place for place in places if os.access(place, os.W_OK)]
    return next((place for place in usable if filesystem(place) not in IN_MEMORY), usable[0])


class Stores:
    def __init__(self, home: Path) -> None:
        self.home = home
        self._filled: dict[tuple[str, int, int], Path] = {}
        self._made = 0

    def new(self) -> Path:
        """A path in a directory of its own, with nothing there yet."""
        self._made += 1
        directory = self.home / f"{self._made:04d}"
        directory.mkdir()
        return directory / FILE

    def filled(self, contestant: Contestant, sessions: int, messages_each: int) -> Path:
        """A store with history, to be read, not written; made by the contestant itself."""
        # The floor reads what sessiondb wrote.
        maker = contestant.module if contestant.is_peer else "sessiondb"
        key = (maker, sessions, messages_each)
        if key not in self._filled:
            path = self.new()
            with Process(contestant) as process:
                process.ask("fill", path=str(path), sessions=sessions, messages_each=messages_each)
            self._filled[key] = path
        return self._filled[key]

    def copy(self, path: Path) -> Path:
        copied = self.new()
        shutil.copytree(path.parent, copied.parent, dirs_exist_ok=True)
        return copied

    def discard(self, path: Path) -> None:
        shutil.rmtree(path.parent)


@contextmanager
def temporary(directory: Path | None) -> Iterator[Stores]:
    with tempfile.TemporaryDirectory(prefix="sessiondb-bench-", dir=directory or disk()) as home:
        yield Stores(Path(home))
