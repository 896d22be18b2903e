"""`sessiondb remote`: the other end of ssh://host/path; people do not call it."""

from __future__ import annotations

import os
import sys

from .. import places
from . import options


@options.command("remote")
@options.flag("--read-only", help="Change nothing.")
@options.common
def command(read_only: bool) -> None:
    """Answer for a store on the standard input and output.

    It is begun through ssh by `push`, `pull` and `migrate` of another machine.

    \b
    Example:
        sessiondb remote --read-only < /dev/null
    """
    from ..registry import load

    place = options.state().place

    # Nothing else may speak on the standard output.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    provider = places.source(place) if read_only else places.target(place)
    try:
        load("servers", "ssh")(provider, sys.stdin.buffer, answers).serve()
    finally:
        provider.shutdown()
