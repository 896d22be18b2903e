"""Runs a command, and turns what goes wrong into one sentence and an exit code.

0 done · 1 other, or "no" answered · 2 usage · 3 not found · 4 conflict · 5 unavailable · 6 schema or corruption.
"""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from types import TracebackType
from typing import TextIO

from ..errors import SessionDBError
from . import lane, options, output
from .consent import Stopped

INTERRUPTED = 130


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    state = options.begin()
    sys.excepthook = _one_sentence
    # None: closed by whoever started us.
    sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        _never_fail(stream)
    try:
        code = lane.run(arguments)
        sys.stdout.flush()
    except Stopped:
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _let_go_of_stdout()
        return 1
    except (SessionDBError, OSError) as exc:
        return _failed(exc, state.debug)
    finally:
        if state.debug:
            sys.excepthook = sys.__excepthook__
    return code


def _failed(error: SessionDBError | OSError, debug: bool) -> int:
    if debug:
        import traceback

        traceback.print_exc()
    output.complain(_sentence(error))
    _show_candidates(error)
    return getattr(error, "exit_code", 1)


def _sentence(error: SessionDBError | OSError) -> str:
    if isinstance(error, OSError) and error.strerror and not isinstance(error, SessionDBError):
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _show_candidates(error: Exception) -> None:
    """The sessions that may have been meant, below the sentence."""
    candidates = getattr(error, "candidates", ())
    if candidates:
        from .selection import show_candidates

        show_candidates(candidates)


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")


def _never_fail(stream: TextIO) -> None:
    # A locale that lacks a character must not cost the answer.
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def _let_go_of_stdout() -> None:
    """The reader has gone: say nothing, not even from the flush at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _one_sentence(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What a bug shows instead of a traceback."""
    output.complain(f"internal error: {kind.__name__}: {error}; --debug shows where")
