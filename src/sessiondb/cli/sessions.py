"""`sessiondb sessions`: every command once more, for fingers that know `sessions list`."""

from __future__ import annotations

from .clicking import Commands

command = Commands(
    "sessions",
    help="Another way to write every command: `sessiondb sessions list`.",
    short_help="The same commands, as `sessions list`.",
)
