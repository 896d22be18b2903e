"""A process that harms index files, a blow for each line it is told: `index_vandal.py STORE SEED`.

A process of its own, for who opens and closes a file of SQLite's drops the locks of his own process.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path


class Vandal:
    def __init__(self, store: Path, seed: int) -> None:
        self.store = store
        self.chance = random.Random(seed)
        self.hoard = store.parent / "hoard"
        self.hoard.mkdir(exist_ok=True)

    def files(self) -> list[Path]:
        return sorted(self.store.parent.glob(f"{self.store.stem}-search-*"))

    def one(self) -> Path | None:
        found = self.files()
        return self.chance.choice(found) if found else None

    # --- blows ---

    def delete(self) -> None:
        for path in self.files():
            if self.chance.random() < 0.7:
                path.unlink(missing_ok=True)

    def truncate(self) -> None:
        if (path := self.one()) is not None:
            os.truncate(path, self.chance.randint(0, path.stat().st_size))

    def noise(self) -> None:
        self._write(self.chance.randbytes(self.chance.choice((1, 100, 4096, 20000))))

    def flip(self) -> None:
        if (path := self.one()) is not None and (size := path.stat().st_size):
            at = self.chance.randrange(size)
            with path.open("r+b") as file:
                file.seek(at)
                byte = file.read(1)
                file.seek(at)
                file.write(bytes([byte[0] ^ 1 << self.chance.randrange(8)]))

    def put_back(self) -> None:
        """Copies of yesterday, written into the files, or in their place, with or without their times."""
        copy = self.chance.choice((shutil.copy, shutil.copy2))
        in_place = self.chance.random() < 0.5
        for path in sorted(self.hoard.iterdir()):
            target = self.store.parent / path.name
            if in_place:
                copy(path, target)
            else:
                copy(path, draft := target.with_suffix(".draft"))
                os.replace(draft, target)

    def keep(self) -> None:
        for path in self.files():
            shutil.copy2(path, self.hoard / path.name)

    def _write(self, data: bytes) -> None:
        if (path := self.one()) is not None:
            with path.open("r+b") as file:
                file.seek(self.chance.randint(0, max(1, path.stat().st_size)))
                file.write(data)

    def blow(self, name: str) -> None:
        blows: dict[str, Callable[[], None]] = {
            "delete": self.delete,
            "truncate": self.truncate,
            "noise": self.noise,
            "flip": self.flip,
            "put_back": self.put_back,
            "keep": self.keep,
        }
        try:
            blows[name]()
        except FileNotFoundError:
            # Those who repair remove files too.
            return


def main(store: str, seed: str) -> None:
    vandal = Vandal(Path(store), int(seed))
    for line in sys.stdin:
        vandal.blow(line.strip())
        print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
