"""What may come next on a command line; asked by the scripts of `completions`, answered one candidate per line.

A line is `kind`, `value` and `help` with tabs between them. Nothing is said about what goes wrong: a complaint in the
middle of somebody's line helps nobody, and the command itself will tell.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem, ShellComplete

from ..errors import SessionDBError
from ..models import Filter, Page, SessionRow
from . import bash_line, options, output
from .store import open_store
from .text import line

if TYPE_CHECKING:
    import click

    from ..db import SessionDB

Complete = Callable[["click.Context", "click.Parameter", str], list[CompletionItem]]
VARIABLE = "_SESSIONDB_COMPLETE"
_MOST = 50
_RECENT = 20


def run(words: Sequence[str]) -> int:
    """Print what may follow; `VARIABLE` names the shell, `words` are those of the line, the last one being typed."""
    from .program import program

    shell = os.environ[VARIABLE]
    typed = bash_line.parsed(os.environ.get("COMP_LINE", "")[: _point()]) if shell == "bash" else None
    before, current = (typed.before[1:], typed.current) if typed else (list(words[:-1]), words[-1] if words else "")
    found = ShellComplete(program, {}, "sessiondb", VARIABLE).get_completions(before, current)
    found = [item for item in found if str(item.value).isprintable()]
    values = [str(item.value) for item in found]
    for item, value in zip(found, bash_line.reply(typed, values) if typed else values, strict=True):
        print(f"{item.type}\t{value}\t{line(item.help or '')}", file=sys.stdout)
    return 0


def _point() -> int:
    point = os.environ.get("COMP_POINT", "")
    return int(point) if point.isdecimal() else len(os.environ.get("COMP_LINE", ""))


def sessions(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Titles and ids that begin so, a title of several words included; without a beginning, the last active."""
    earlier = ctx.params.get(param.name or "")
    words = [earlier] if isinstance(earlier, str) else list(earlier or ())
    typed = " ".join([*words, incomplete])
    skipped = len(typed) - len(incomplete)
    try:
        with open_store(options.state().place, read_only=True) as db:
            found = list(_candidates(db, typed))
    except (SessionDBError, OSError):
        return []
    return [CompletionItem(value[skipped:], help=told) for value, told in found]


def _candidates(db: SessionDB, typed: str) -> Iterator[tuple[str, str]]:
    if not typed:
        for row in db.list_sessions_rich(None, None, _RECENT, order_by="activity"):
            yield _named(row) if row["title"] else (row["id"], row["preview"])
        return
    titled = db.provider.find_titles(typed)[:_MOST]
    yield from map(_named, titled)
    ids = db.provider.find_ids(typed, _MOST)
    if ids:
        rows = db.provider.list_sessions(Filter(ids=tuple(ids)), Page(_MOST), "activity")
        yield from ((row["id"], row["title"] or row["preview"]) for row in rows)


def _named(row: SessionRow) -> tuple[str, str]:
    return row["title"] or row["id"], f"{row['source']} · {output.moment(row['started_at'])}"


def sources(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return _counted(lambda db: db.stats()["sources"], incomplete)


def tags(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return _counted(lambda db: db.provider.list_tags(), incomplete)


def _counted(names: Callable[[SessionDB], dict[str, int]], incomplete: str) -> list[CompletionItem]:
    """Names that begin so, with the number of their sessions."""
    try:
        with open_store(options.state().place, read_only=True) as db:
            counts = names(db)
    except (SessionDBError, OSError):
        return []
    return [
        CompletionItem(name, help=output.count(number, "session"))
        for name, number in counts.items()
        if name.startswith(incomplete)
    ]


def one_of(*words: str) -> Complete:
    def found(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(word) for word in words if word.startswith(incomplete)]

    return found


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="file")]


def directories(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="dir")]
