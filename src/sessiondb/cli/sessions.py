"""`sessiondb sessions`: every command once more, for fingers that know `sessions list`."""

from __future__ import annotations

from . import options
from .clicking import Commands, parameter_of

command = Commands(
    "sessions",
    params=[parameter_of(each) for each in options.COMMON],
    help="Another way to write every command: `sessiondb sessions list`.",
    short_help="The same commands, as `sessions list`.",
)
