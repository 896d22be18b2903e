"""The entry: finds the command in the registry, and turns what goes wrong into one sentence and an exit code.

0 done · 1 other, or "no" answered · 2 usage · 3 not found · 4 conflict · 5 unavailable · 6 schema or corruption.
"""

from __future__ import annotations

import os
import sys
import time
from io import TextIOWrapper
from types import TracebackType
from typing import NoReturn, TextIO

import click

from .. import __version__, registry
from ..errors import SessionDBError
from . import options, output
from .ink import palette
from .text import cut, line, pad

INTERRUPTED = 130


ALIASES = {"ls": "list"}


class Commands(click.Group):
    """Commands by their name in the registry, those of other distributions included."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in registry.names("commands") if name != self.name]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        cmd_name = ALIASES.get(cmd_name, cmd_name)
        if cmd_name == self.name or not registry.has("commands", cmd_name):
            return None
        try:
            command: click.Command = registry.load("commands", cmd_name)
        except SessionDBError as exc:
            # One broken plug-in must not take the help of all commands away.
            return _broken(cmd_name, exc)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise click.UsageError(_no_command(args[0], self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)


def _no_command(wanted: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(wanted, known, n=1)
    return f"no command {wanted!r}; " + (f"did you mean {near[0]!r}" if near else f"known: {', '.join(known)}")


def _broken(name: str, error: SessionDBError) -> click.Command:
    def fail() -> NoReturn:
        raise error

    return click.Command(name, callback=fail, help=f"Broken: {error}", short_help="(cannot be loaded)")


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(__version__, prog_name="sessiondb", message="%(prog)s %(version)s")
@options.common
@click.pass_context
def commands(ctx: click.Context) -> None:
    """Keeps the conversations of AI agents, and finds them again.

    The store is the one of --db, else of $SESSIONDB_URL, else of config.yaml, else ~/.sessiondb/state.db.

    \b
    Example:
        sessiondb list --limit 5
        sessiondb search "nginx 502"
    """
    if ctx.invoked_subcommand is None:
        output.say(ctx.get_help())


def main() -> NoReturn:
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    state = options.State()
    palette.choose("auto")
    sys.excepthook = _one_sentence
    for stream in (sys.stdout, sys.stderr):
        _never_fail(stream)
    try:
        result = commands.main(arguments, prog_name="sessiondb", standalone_mode=False, obj=state)
        sys.stdout.flush()
    except click.ClickException as exc:
        output.complain(_usage(exc))
        return exc.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        _let_go_of_stdout()
        return 1
    except (SessionDBError, OSError) as exc:
        if state.debug:
            import traceback

            traceback.print_exc()
        output.complain(_sentence(exc))
        _show_candidates(exc)
        return getattr(exc, "exit_code", 1)
    finally:
        if state.debug:
            sys.excepthook = sys.__excepthook__
    return result if isinstance(result, int) else 0


def _usage(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    way_out = f"; see `{context.command_path} --help`" if context else ""
    return error.format_message().rstrip(".") + way_out


def _sentence(error: SessionDBError | OSError) -> str:
    if isinstance(error, OSError) and error.strerror and not isinstance(error, SessionDBError):
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _show_candidates(error: Exception) -> None:
    """The sessions that may have been meant, below the sentence."""
    now = time.time()
    for row in getattr(error, "candidates", ()):
        when = output.ago(row.get("last_active") or row.get("started_at"), now)
        name = row.get("title") or row.get("preview") or "—"
        print(f"  {line(row['id'])}  {pad(when, 10)}  {cut(line(name), 60)}", file=sys.stderr)


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
