"""`sessiondb export`"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from typing import TYPE_CHECKING, TextIO

from ..db import SessionDB
from ..errors import NotFound, SessionDBError
from ..models import Filter
from . import answers, options, output
from .progress import Progress
from .selection import find_session
from .terminal import is_terminal
from .text import line, safe

if TYPE_CHECKING:
    from ..exporters.base import Conversation, Exporter


@options.command("export")
@options.words("file", metavar="[FILE|-]", required=False)
@options.selecting
@options.option("--session-id", metavar="SESSION", help="Only this session: its id, the beginning of it, or its title.")
@options.option(
    "--format",
    "wanted",
    choices=("jsonl", "markdown", "html", "openai", "sharegpt", "sharegpt-hermes", "csv", "otlp"),
    help="What to write; without it the end of FILE says, and jsonl is meant.",
    registered="exporters",
)
@options.flag("--redact", "wish", value="redact", help="Leave credentials out, as all formats but jsonl do.")
@options.flag("--no-redact", "wish", value="keep", help="Leave credentials in, as jsonl does.")
@options.flag("--follow", help="Go on with every message as it comes, until Ctrl-C; jsonl and otlp.")
@options.reading
def command(
    db: SessionDB,
    file: str | None,
    where: Filter,
    session_id: str | None,
    wanted: str | None,
    wish: str | None,
    follow: bool,
) -> None:
    """Write sessions with their messages.

    jsonl holds everything, and `sessiondb import` restores it. markdown and html are to read, openai and sharegpt for
    training, csv is a table of sessions, otlp traces for OpenTelemetry. Without FILE, or with -, the standard output is
    written to. A FILE is complete or is not there: it gets its name when everything is written. With --follow it is
    written as the messages come.

    \b
    Example:
        sessiondb export backup.jsonl
        sessiondb export talk.html --session-id "nginx 502"
        sessiondb export - --source telegram | gzip > telegram.jsonl.gz
        sessiondb export traces.otlp.json --since 30d
    """
    from ..exporters import base

    target = file or "-"
    if session_id is not None:
        where = replace(where, ids=(find_session(db, session_id),))
    exporter = base.exporter(wanted or base.for_file(target))
    usual = base.redacts(exporter)
    redact = wish == "redact" if wish else usual
    left_out: list[str] = []
    if follow:
        sessions = _follow(db, where, exporter, target, redact)
    else:
        with Progress(db.session_count(where=where), "sessions") as progress, _opened(target) as stream:
            found = base.conversations(db, where, left_out.append, redact=redact, summed=not usual)
            counted = _Counted(found, progress)
            exporter.write(counted, stream)
        sessions = counted.sessions
    for what in left_out:
        output.complain(what)
    if target != "-":
        _warn_of_a_name(db, target, session_id)
        print(f"Exported {output.count(sessions, 'session')} to {line(target)}.", file=sys.stderr)


def _warn_of_a_name(db: SessionDB, file: str, chosen: str | None) -> None:
    """`export latest` looks like a choice, and is the name of a file."""
    if chosen is not None or os.path.splitext(file)[1] or os.path.dirname(file):
        return
    try:
        find_session(db, file)
    except SessionDBError:
        return
    output.complain(f"{file!r} is the name of the file; --session-id {file!r} chooses the session")


def _follow(db: SessionDB, where: Filter, exporter: Exporter, target: str, redact: bool) -> int:
    """Write until somebody stops it, which is how it ends well."""
    from ..exporters import following

    following.check(exporter)
    with _in_place(target) as stream:
        writing = following.Following(db, where, exporter, stream, redact=redact)
        try:
            with Progress(db.session_count(where=where), "sessions") as progress:
                writing.first(progress)
            writing.forever()
        except KeyboardInterrupt:
            stream.flush()
        return writing.sessions


class _Shown(StringIO):
    """A terminal, which no stored text may command; a file or a pipe gets the text as it is."""

    def write(self, text: str) -> int:
        answers.stream().write(safe(text))
        return len(text)

    def flush(self) -> None:
        answers.stream().flush()


def _standard_output() -> TextIO:
    return _Shown() if is_terminal(sys.stdout) else answers.stream()


@contextmanager
def _in_place(file: str) -> Iterator[TextIO]:
    if file == "-":
        yield _standard_output()
        return
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as stream:
        yield stream


class _Counted:
    """Conversations, told to the progress line as they pass."""

    def __init__(self, conversations: Iterable[Conversation], progress: Progress) -> None:
        self._conversations, self._progress = conversations, progress
        self.sessions = 0

    def __iter__(self) -> Iterator[Conversation]:
        for conversation in self._conversations:
            yield conversation
            self.sessions += 1
            self._progress()


@contextmanager
def _opened(file: str) -> Iterator[TextIO]:
    if file == "-":
        yield _standard_output()
        return
    place = os.path.realpath(file)
    if os.path.exists(place) and not os.path.isfile(place):
        # A device or a pipe: nothing to rename over.
        with open(place, "w", encoding="utf-8") as stream:
            yield stream
        return
    if not os.path.isdir(os.path.dirname(place)):
        raise NotFound(f"no directory {os.path.dirname(place)!r} to write {os.path.basename(place)!r} into")
    with _complete_or_absent(place) as stream:
        yield stream


@contextmanager
def _complete_or_absent(place: str) -> Iterator[TextIO]:
    unfinished = f"{place}.{os.getpid()}.part"
    try:
        # What no encoding can hold (a lone surrogate) must not cost the file.
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8", errors="backslashreplace") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(unfinished, place)
    except BaseException:
        if os.path.exists(unfinished):
            os.unlink(unfinished)
        raise
