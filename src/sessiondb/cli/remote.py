"""`sessiondb remote`: the other end of ssh://host/path; people do not call it."""

from __future__ import annotations

import os
import sys

import click

from .. import places
from . import options


@options.command("remote", hidden=True)
@click.option("--read-only", is_flag=True, help="Change nothing.")
@options.common
@click.pass_obj
def command(state: options.State, read_only: bool) -> None:
    """Answer requests for a store on the standard input and output.

    It is begun through ssh by `push`, `pull` and `migrate` of another machine.

    \b
    Example:
        ssh host sessiondb --db /path/state.db remote
    """
    from ..registry import load

    # Nothing else may speak on the standard output.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    provider = places.source(state.place) if read_only else places.target(state.place)
    try:
        load("servers", "ssh")(provider, sys.stdin.buffer, answers).serve()
    finally:
        provider.shutdown()
