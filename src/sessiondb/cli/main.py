"""The program `sessiondb`: as short a way as there is into it and out of it."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` makes enumerations that short commands do not need
import gc
import os
import sys
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

# Imports make many objects and no garbage; looking through them again and again took a twentieth of a short command.
_OBJECTS_BEFORE_COLLECTION = 50_000
INTERRUPTED = 130
_SOON = 0.001


def main() -> NoReturn:
    gc.set_threshold(_OBJECTS_BEFORE_COLLECTION)
    sys.unraisablehook = _heard_again
    try:
        from .running import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    _leave(code)


def _heard_again(lost: UnraisableHookArgs) -> None:
    """Ctrl-C in a callback of the interpreter, as imports have them, is thrown away there: it comes again soon."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    _signal.signal(_signal.SIGALRM, _signal.default_int_handler)
    _signal.setitimer(_signal.ITIMER_REAL, _SOON)


def _leave(code: int) -> NoReturn:
    """Stores are closed and everything is said: taking the interpreter apart would only take time."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            # Closed by whoever started us; there is nobody to tell.
            code = code or 1
    os._exit(code)
