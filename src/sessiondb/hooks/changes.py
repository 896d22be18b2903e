"""Files that an installation writes: shown as a difference first, then written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..errors import Conflict, Unavailable

BACKUP = ".before-sessiondb"


@dataclass(frozen=True, slots=True)
class Change:
    """A file as it is and as it is to be; None: it is not there."""

    path: Path
    before: str | None
    after: str | None
    # Ours alone: nothing in it is worth a backup.
    owned: bool = False
    executable: bool = False

    @property
    def backup(self) -> Path:
        return self.path.with_name(self.path.name + BACKUP)


def read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as exc:
        raise Unavailable(f"{path} cannot be read: {exc}") from exc


def differences(changes: Iterable[Change]) -> Iterator[str]:
    """Lines of a unified diff."""
    from difflib import unified_diff

    for change in changes:
        before, after = ((text or "").splitlines() for text in (change.before, change.after))
        old, new = ("/dev/null" if text is None else str(change.path) for text in (change.before, change.after))
        yield from unified_diff(before, after, old, new, lineterm="", n=2)


def write(changes: Iterable[Change], *, back_up: bool) -> None:
    """Make the changes. Raises Conflict when a file is no longer as it was shown, Unavailable when it cannot be."""
    for change in changes:
        if read(change.path) != change.before:
            raise Conflict(f"{change.path} was changed meanwhile; nothing of it was touched, run the command again")
        try:
            if back_up and change.before is not None and not change.owned:
                shutil.copy2(change.path, change.backup)
            _written(change)
        except OSError as exc:
            raise Unavailable(f"{change.path} cannot be written: {exc.strerror or exc}") from exc


def _make(directory: Path) -> None:
    """With all that are missing above it; for nobody else to look into."""
    missing = [each for each in (directory, *directory.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700)


def _written(change: Change) -> None:
    # A link to a file elsewhere stays a link.
    place = Path(os.path.realpath(change.path))
    if change.after is None:
        place.unlink(missing_ok=True)
        if change.owned:
            with suppress(OSError):
                # Made for it; others may have put something there meanwhile.
                place.parent.rmdir()
        return
    _make(place.parent)
    mode = place.stat().st_mode & 0o777 if place.exists() else 0o700 if change.executable else 0o600
    handle, part = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(change.after.encode())
        os.chmod(part, mode)
        os.replace(part, place)
    except OSError:
        Path(part).unlink(missing_ok=True)
        raise
