"""Filesystems on which WAL is unsafe: its shared memory is not shared there."""

from __future__ import annotations

import os

UNSAFE = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "afs", "ncpfs", "fuse.sshfs", "fuse.glusterfs"}
)
_MOUNTS = "/proc/self/mountinfo"


def filesystem(path: str, mountinfo: str | None = None) -> str | None:
    """The type of the filesystem that holds `path`; None where the platform does not tell."""
    lines = _read() if mountinfo is None else mountinfo
    real = os.path.realpath(path)
    best, kind = "", None
    for line in lines.splitlines():
        mounted, _, rest = line.partition(" - ")
        fields = mounted.split(" ")
        if len(fields) < 5 or not rest:
            continue
        point = _unescaped(fields[4])
        # A later mount on the same point hides the earlier one.
        if _below(real, point) and len(point) >= len(best):
            best, kind = point, rest.split(" ")[0]
    return kind


def wal_is_safe(path: str, mountinfo: str | None = None) -> bool:
    return filesystem(path, mountinfo) not in UNSAFE


def _read() -> str:
    try:
        with open(_MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:
        return ""


def _below(path: str, point: str) -> bool:
    return path == point or path.startswith(point.rstrip("/") + "/")


def _unescaped(point: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(code, char)
    return point
