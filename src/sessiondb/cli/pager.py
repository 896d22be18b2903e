"""A pager for what does not fit on a terminal; anything else is printed as it comes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from . import terminal

# Colours pass through, and the screen is left as it was.
_LESS = "FRX"


class Paged:
    """Stands for stdout, and keeps what is said until all is said."""

    def __init__(self, out: Any) -> None:
        self._out = out
        self._kept: list[str] = []

    def write(self, text: str) -> int:
        self._kept.append(text)
        return len(text)

    def flush(self) -> None:
        """Nothing is shown before it is known whether it fits."""

    @property
    def encoding(self) -> str | None:
        return getattr(self._out, "encoding", None)

    def fileno(self) -> int:
        return int(self._out.fileno())

    def show(self, program: str, rows: int, columns: int) -> None:
        text = "".join(self._kept)
        taken = sum(1 + len(line) // columns for line in text.split("\n"))
        if taken <= rows:
            self._out.write(text)
        else:
            _page(program, text)


def _page(program: str, text: str) -> None:
    import subprocess

    environment = {"LESS": _LESS, "LESSCHARSET": "utf-8", **os.environ}
    pager = subprocess.Popen(
        program, shell=True, stdin=subprocess.PIPE, encoding="utf-8", errors="replace", env=environment
    )
    # The person may have seen enough before the end; and Ctrl-C is the pager's while it shows something.
    with suppress(BrokenPipeError):
        while True:
            try:
                pager.communicate(text)
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
    """What is said inside is paged when all is said, if stdout is a terminal and it does not fit.

    Whatever was open inside is closed by then: a person may read for hours.
    """
    rows, columns = terminal.rows(), terminal.columns()
    chosen = program() if wanted and rows and columns else None
    if chosen is None or rows is None or columns is None:
        yield
        return
    plain = sys.stdout
    paged = Paged(plain)
    sys.stdout = cast("TextIO", paged)
    try:
        yield
    finally:
        sys.stdout = plain
        paged.show(chosen, rows, columns)
