"""A pager for what does not fit on a terminal; anything else is printed as it comes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

from . import terminal

if TYPE_CHECKING:
    from subprocess import Popen

# Colours pass through, and the screen is left as it was.
_LESS = "FRX"


class Paged:
    """Stands for stdout: keeps what is said until it is more than a screen, then begins the pager."""

    def __init__(self, out: Any, program: str, rows: int, columns: int) -> None:
        self._out, self._program, self._columns = out, program, columns
        self._room = rows - 1
        self._kept: list[str] = []
        self._pager: Popen[str] | None = None

    def write(self, text: str) -> int:
        if self._pager is not None:
            self._pipe.write(text)
            return len(text)
        self._kept.append(text)
        self._room -= sum(1 + len(part) // self._columns for part in text.split("\n")[:-1])
        if self._room < 0:
            self._begin()
        return len(text)

    @property
    def _pipe(self) -> IO[str]:
        assert self._pager is not None
        assert self._pager.stdin is not None
        return self._pager.stdin

    def _begin(self) -> None:
        import subprocess

        environment = {"LESS": _LESS, "LESSCHARSET": "utf-8", **os.environ}
        self._pager = subprocess.Popen(
            self._program, shell=True, stdin=subprocess.PIPE, encoding="utf-8", errors="replace", env=environment
        )
        self._pipe.write("".join(self._kept))

    def flush(self) -> None:
        """Nothing is said before it is known whether it fits."""

    def fileno(self) -> int:
        return int(self._out.fileno())

    def finish(self) -> None:
        if self._pager is None:
            self._out.write("".join(self._kept))
            return
        with suppress(BrokenPipeError):
            self._pipe.close()
        while True:
            # Ctrl-C is the pager's while it shows something.
            try:
                self._pager.wait()
                return
            except KeyboardInterrupt:
                continue


def program() -> str | None:
    """What the person wants to page with; None for nothing."""
    for variable in ("SESSIONDB_PAGER", "PAGER"):
        if variable in os.environ:
            wanted = os.environ[variable].strip()
            return None if wanted in ("", "cat") else wanted
    from shutil import which

    return "less" if which("less") else None


@contextmanager
def paging(wanted: bool = True) -> Iterator[None]:
    """What is said inside goes through a pager, if stdout is a terminal and it does not fit."""
    rows, columns = terminal.rows(), terminal.columns()
    chosen = program() if wanted and rows and columns else None
    if chosen is None or rows is None or columns is None:
        yield
        return
    plain, sys.stdout = sys.stdout, Paged(sys.stdout, chosen, rows, columns)
    paged: Any = sys.stdout
    try:
        yield
    except BrokenPipeError:
        # The person has seen enough.
        pass
    finally:
        sys.stdout = plain
        paged.finish()
