"""Page checksums: eight bytes at the end of every page, written and verified by SQLite's checksum VFS.

A file has them from its creation on or never; its header says so (eight reserved bytes). Such a file must always be
written through that VFS: any other writer leaves checksums that do not fit.
"""

from __future__ import annotations

import os

import apsw

from ... import errors

VFS = "cksmvfs"
RESERVED = 8
_EXTENSION = "cksumvfs"
_ENDINGS = (".so", ".dylib", ".dll")


def available() -> bool:
    """Whether this installation of apsw brings the VFS."""
    return VFS in apsw.vfs_names() or _binary() is not None


def _binary() -> str | None:
    """Where the VFS lies; `apsw.sqlite_extra` would tell too, but imports more than a whole search."""
    place = os.path.join(os.path.dirname(apsw.__file__), "sqlite_extra_binaries", _EXTENSION)
    return next((place + ending for ending in _ENDINGS if os.path.exists(place + ending)), None)


def load() -> str:
    """The name of the VFS, registered on first use. Raises NotSupported where apsw lacks it."""
    if VFS in apsw.vfs_names():
        return VFS
    binary = _binary()
    if binary is None:
        raise _lacking()
    connection = apsw.Connection(":memory:", vfs="unix")
    try:
        connection.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1)
        connection.load_extension(binary)
    except apsw.Error as exc:
        raise _lacking() from exc
    finally:
        connection.close()
    return VFS


def _lacking() -> errors.NotSupported:
    return errors.NotSupported(
        "this store has page checksums, and this apsw lacks their VFS: pip install -U apsw from PyPI"
    )


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
