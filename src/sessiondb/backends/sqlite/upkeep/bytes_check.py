"""What the bytes of a store that no one has open tell, and SQLite does not: it takes a WAL that is cut, broken or
exchanged for the whole truth."""

from __future__ import annotations

import os
import struct

from ....upkeep import Diagnosis
from .. import mark
from . import wal
from .backup import restore_beside
from .image import MAGIC

_HEADER_BYTES = 100
_WAL_VERSION = 2


def examine(diagnosis: Diagnosis) -> None:
    """Add what is found; the file is only read."""
    try:
        with open(diagnosis.path, "rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError as exc:
        diagnosis.add("data", "damage", f"cannot be read: {exc.strerror}", f"ls -l {diagnosis.path}")
        return
    log = wal.read(diagnosis.path + "-wal", _page_size(header))
    index = wal.read_index(diagnosis.path + "-shm")
    _check_file(diagnosis, header, log)
    if log is not None:
        _check_log(diagnosis, log, index)
    else:
        _check_absence(diagnosis, index)


def _page_size(header: bytes) -> int | None:
    if header[:16] != MAGIC or len(header) < _HEADER_BYTES:
        return None
    (size,) = struct.unpack_from(">H", header, 16)
    return 65536 if size == 1 else int(size)


def _damage(diagnosis: Diagnosis, message: str) -> None:
    diagnosis.add("data", "damage", message, f"sessiondb repair --db {diagnosis.path}")


def _check_file(diagnosis: Diagnosis, header: bytes, log: wal.Log | None) -> None:
    if not header:
        return
    size = _page_size(header)
    if not size:
        _damage(diagnosis, "the header of the file is damaged")
        return
    diagnosis.facts["journal_mode"] = "wal" if header[18] == _WAL_VERSION else "delete"
    (changed, pages, valid_for) = (struct.unpack_from(">I", header, at)[0] for at in (24, 28, 92))
    found = os.path.getsize(diagnosis.path)
    # In WAL mode the header of the file is older than the WAL: only a file that stands alone must add up.
    if log is None and changed == valid_for and found < pages * size:
        _damage(diagnosis, f"the file is cut off: {found} of {pages * size} bytes are there")


def _check_log(diagnosis: Diagnosis, log: wal.Log, index: wal.Index | None) -> None:
    if not log.header_sound:
        _damage(diagnosis, "the header of the WAL is damaged: SQLite would ignore all that was written to it")
    elif index is not None and index.frames and index.salts != log.salts:
        _damage(diagnosis, "the WAL is not the one that was last written here")
    elif index is not None and index.frames > log.readable:
        _damage(diagnosis, f"the WAL is damaged: {log.readable} of {index.frames} committed frames can be read")
    elif index is None and log.broken_at is not None:
        _tell_break(diagnosis, log, log.broken_at)


def _tell_break(diagnosis: Diagnosis, log: wal.Log, broken: int) -> None:
    """Without its index only the WAL itself can tell whether something was committed after the break."""
    if any(frame.size for frame in log.frames[broken:]):
        _damage(diagnosis, f"the WAL breaks at frame {broken} of {len(log.frames)}, and commits follow")
    else:
        diagnosis.add("data", "warning", "the last write in the WAL is not whole; it may never have been acknowledged")


def _check_absence(diagnosis: Diagnosis, index: wal.Index | None) -> None:
    before = mark.read(diagnosis.path)
    lost = index is not None and index.frames > index.copied
    if lost or (before is not None and before.open and not os.path.exists(diagnosis.path + "-wal")):
        diagnosis.add(
            "data",
            "damage" if lost else "warning",
            "the WAL is gone though its last writer did not close the store: what was written since the last "
            "checkpoint may be lost",
            restore_beside(diagnosis.path),
        )
