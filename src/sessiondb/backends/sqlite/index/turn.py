"""Whose turn it is to bring the index up to date in the background: one process does it for all.

Others at the same work would load the same modules and wait for the same file, while everybody's appends need the
processor. Whoever finds it taken leaves it; what he wrote last is read when he writes again, or by the next search.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .. import locks

# Where nobody can be told (no file may be made, or the filesystem has no locks): that is only slower.
BESIDE_OTHERS = True

_held: set[int] = set()


def path_of(data_path: str) -> str:
    return data_path.removesuffix(".db") + "-search.turn"


@contextmanager
def taken(data_path: str) -> Iterator[bool]:
    """Whether it is ours, until the end of the block."""
    try:
        descriptor = os.open(path_of(data_path), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError:
        yield BESIDE_OTHERS
        return
    _held.add(descriptor)
    try:
        yield _try(descriptor)
    finally:
        # Said, not left to the close: a child that was just forked has the descriptor too.
        with suppress(OSError):
            locks.unlock(descriptor)
        _held.discard(descriptor)
        os.close(descriptor)


def _try(descriptor: int) -> bool:
    try:
        return locks.try_lock(descriptor)
    except OSError:
        return BESIDE_OTHERS


def _forget() -> None:
    """In a forked child: the turn is the parent's, and must not outlive it here."""
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_forget)
