"""Asking before something goes away; where nobody can be asked, nothing goes."""

from __future__ import annotations

import sys

import click

from ..errors import Invalid
from .terminal import is_terminal
from .text import line

yes = click.option("--yes", "-y", is_flag=True, help="Do not ask.")


def require(question: str, *, yes: bool) -> None:
    """Go on, or end with exit code 1 after "no". Raises Invalid without a terminal and --yes."""
    if yes:
        return
    if not is_terminal(sys.stdin):
        command = click.get_current_context().info_name
        raise Invalid(f"{command} asks before it acts, and there is no terminal to ask on; add --yes")
    if not click.confirm(line(question), err=True):
        raise click.exceptions.Exit(1)
