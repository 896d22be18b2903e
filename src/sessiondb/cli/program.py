"""The program as click knows it: its help, its version, its commands. Loaded when the small parser gives up."""

from __future__ import annotations

import click

from .. import __version__
from . import options, output
from .clicking import Commands, parameter_of
from .declare import Option


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(__version__, prog_name="sessiondb", message="%(prog)s %(version)s")
@click.pass_context
def program(ctx: click.Context, /, **shortcuts: bool) -> None:
    """Keeps the conversations of AI agents, and finds them again.

    The store is the one of --db, else of $SESSIONDB_URL, else of config.yaml, else ~/.sessiondb/state.db.

    \b
    Example:
        sessiondb list --limit 5
        sessiondb search "nginx 502"
        sessiondb -c
    """
    if ctx.invoked_subcommand is None:
        output.say(ctx.get_help())


# Told here, read by `shortcuts` before click sees them.
_SHORTCUTS = (
    Option("-c", "--continue", help="Take up the last conversation of source cli, or with a NAME that one."),
    Option("-r", "--resume", help="Take up the conversation with this ID or NAME."),
)
program.params += map(parameter_of, (*_SHORTCUTS, *options.COMMON))


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        result = program.main(arguments, prog_name="sessiondb", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as exc:
        output.say(exc.ctx.get_help() if exc.ctx else exc.format_message())
        return 0
    except click.ClickException as exc:
        output.complain(_usage(exc))
        return exc.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None
    return result if isinstance(result, int) else 0


def _usage(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    way_out = f"; see `{context.command_path} --help`" if context else ""
    return error.format_message().rstrip(".?") + way_out
