"""`sessiondb export`"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import click

from ..db import SessionDB
from ..models import Filter
from . import answers, options, output
from .selection import find_session
from .text import line


@options.command("export")
@click.argument("file", metavar="FILE|-")
@options.source
@click.option(
    "--session-id", metavar="SESSION", help="Only this session: its id, the beginning of its id, or its title."
)
@options.reading
def command(db: SessionDB, file: str, source: str | None, session_id: str | None) -> None:
    """Write sessions as JSON lines.

    Each line is a session with all its messages. - is the standard output. A FILE is complete or is not there: it
    gets its name when everything is written.

    \b
    Example:
        sessiondb export backup.jsonl
        sessiondb export - --source telegram | gzip > telegram.jsonl.gz
    """
    where = Filter(
        ids=(find_session(db, session_id),) if session_id is not None else None,
        sources=(source,) if source is not None else None,
    )
    sessions = 0
    with _opened(file) as stream:
        for document in db.iter_export(where):
            stream.write(answers.to_json(document, indent=None) + "\n")
            sessions += 1
    if file != "-":
        print(f"Exported {output.count(sessions, 'session')} to {line(file)}.", file=sys.stderr)


@contextmanager
def _opened(file: str) -> Iterator[TextIO]:
    if file == "-":
        yield answers.stream()
        return
    place = os.path.realpath(file)
    if os.path.exists(place) and not os.path.isfile(place):
        # A device or a pipe: nothing to rename over.
        with open(place, "w", encoding="utf-8") as stream:
            yield stream
        return
    with _complete_or_absent(place) as stream:
        yield stream


@contextmanager
def _complete_or_absent(place: str) -> Iterator[TextIO]:
    unfinished = f"{place}.{os.getpid()}.part"
    try:
        with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(unfinished, place)
    except BaseException:
        if os.path.exists(unfinished):
            os.unlink(unfinished)
        raise
