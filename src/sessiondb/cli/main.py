"""The program `sessiondb`: as short a way as there is into it and out of it."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

# Imports make many objects and no garbage; looking through them again and again took a twentieth of a short command.
_OBJECTS_BEFORE_COLLECTION = 50_000
INTERRUPTED = 130


def main() -> NoReturn:
    gc.set_threshold(_OBJECTS_BEFORE_COLLECTION)
    try:
        from .running import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    _leave(code)


def _leave(code: int) -> NoReturn:
    """Stores are closed and everything is said: taking the interpreter apart would only take time."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            # Closed by whoever started us; there is nobody to tell.
            code = code or 1
    os._exit(code)
