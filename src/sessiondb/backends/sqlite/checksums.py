"""Page checksums: eight bytes at the end of every page, written and verified by SQLite's checksum VFS.

A file has them from its creation on or never; its header says so (eight reserved bytes). Such a file must always be
written through that VFS: any other writer leaves checksums that do not fit.
"""

from __future__ import annotations

import apsw

from ... import errors

VFS = "cksmvfs"
RESERVED = 8
_EXTENSION = "cksumvfs"


def available() -> bool:
    """Whether this installation of apsw brings the VFS."""
    from apsw import sqlite_extra

    return VFS in apsw.vfs_names() or sqlite_extra.has(_EXTENSION) == "extension"


def load() -> str:
    """The name of the VFS, registered on first use. Raises NotSupported where apsw lacks it."""
    if VFS in apsw.vfs_names():
        return VFS
    from apsw import sqlite_extra

    connection = apsw.Connection(":memory:", vfs="unix")
    try:
        sqlite_extra.load(connection, _EXTENSION)
    except (apsw.Error, sqlite_extra.NotAvailable, LookupError) as exc:
        raise errors.NotSupported(
            "this store has page checksums, and this apsw lacks their VFS: pip install -U apsw from PyPI"
        ) from exc
    finally:
        connection.close()
    return VFS


def present(uri: str) -> bool:
    """Whether the file has them, told by its header; False when it cannot be read.

    Asked through SQLite and without locks: a plain open and close would drop the locks of this process.
    """
    try:
        connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, vfs="unix")
    except apsw.Error:
        return False
    try:
        return connection.reserve_bytes() == RESERVED
    except apsw.Error:
        return False
    finally:
        connection.close()


def reserve(connection: apsw.Connection) -> None:
    """Prepare a file that has no page yet."""
    connection.reserve_bytes(reserve=RESERVED)


def check(connection: apsw.Connection) -> None:
    """Raise unless pages are verified on this connection."""
    answer = connection.pragma("checksum_verification")
    if str(answer) != "1":
        raise errors.NotSupported("page checksums could not be switched on; open the store without checksums")
