"""Asking before something goes away; where nobody can be asked, nothing goes."""

from __future__ import annotations

import sys

from ..errors import Invalid
from .declare import flag
from .terminal import is_terminal
from .text import line

yes = flag("--yes", "-y", help="Do not ask.")


class Stopped(Exception):
    """A person said no; exit code 1."""


def require(question: str, *, yes: bool) -> None:
    """Go on, or raise Stopped after "no". Raises Invalid without a terminal and --yes."""
    if yes:
        return
    if not is_terminal(sys.stdin):
        raise Invalid("this asks before it acts, and there is no terminal to ask on; add --yes")
    print(f"{line(question)} [y/N]: ", end="", file=sys.stderr, flush=True)
    try:
        answer = sys.stdin.readline()
    except KeyboardInterrupt:
        answer = ""
    if not answer.endswith("\n"):
        # Nobody ended the line of the question: Ctrl-C, Ctrl-D.
        print(file=sys.stderr)
    if not answer:
        raise KeyboardInterrupt
    if answer.strip().lower() not in ("y", "yes"):
        raise Stopped
