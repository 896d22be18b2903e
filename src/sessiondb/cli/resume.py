"""`sessiondb resume`, which `sessiondb -c` and `sessiondb -r` stand for (shortcuts.py)."""

from __future__ import annotations

import os
import sys
import time
from typing import NoReturn

from .. import config
from ..agents import Resumption, resumption
from ..db import SessionDB
from ..errors import Invalid, NotFound
from ..models import Filter, SessionRow
from ..recap import one_line, recap
from . import answers, ink, options, output, panel, records
from .selection import find_session, latest
from .store import open_store


@options.command("resume")
@options.maybe_session
@options.flag("-c", "--continue", "going_on", help="Without a name: the last active of source cli.")
@options.flag("-r", "--resume", "named", help="SESSION must be given.")
@options.flag("--print", "only_command", help="Only the command line of the agent it came from.")
@options.flag("--exec", "run", help="Run that command, in the directory of the session.")
@options.answers
@options.common
def command(
    session: str | None, going_on: bool, named: bool, only_command: bool, run: bool, form: answers.Form
) -> None:
    """Take up a conversation: show how it ended, and how to go on.

    SESSION is an id, the beginning of an id, a title (of a lineage, the latest), `latest`, or -1, -2 …; without it,
    the last active session of source cli. A compressed conversation is taken up where it went on. For a session that
    was imported from another agent, the command that resumes it there is printed, and run with --exec.
    `sessiondb -c NAME` and `sessiondb -r NAME` are short for this.

    \b
    Example:
        sessiondb -c
        sessiondb resume nginx 502
        sessiondb resume latest --json
    """
    if named and session is None:
        raise Invalid("-r needs the id or title of a session; `sessiondb list` shows them")
    with open_store(options.state().place, read_only=True) as db:
        row = chosen(db, session)
        there = resumption(row)
        if form:
            _answer(db, row, there, form)
        elif only_command:
            output.say(_needed(row, there).line)
        elif not run:
            show(db, row)
            say_how_to_go_on(row, there)
    if run and not form:
        execute(_needed(row, there))


def chosen(db: SessionDB, session: str | None) -> SessionRow:
    """The session that is meant, where it went on. Raises NotFound."""
    if session is None:
        last = latest(db, where=Filter(sources=("cli",), archived=False))
        if last is None:
            raise NotFound("no session of source cli; `sessiondb resume latest` takes the last of any source")
        found = last["id"]
    else:
        found = find_session(db, session)
    row = db.get_session(db.resolve_resume_session_id(db.get_compression_tip(found)))
    if row is None:
        raise NotFound(f"session {found!r} was deleted meanwhile")
    return row


def _answer(db: SessionDB, row: SessionRow, there: Resumption | None, form: answers.Form) -> None:
    conversation = db.get_messages_as_conversation(row["id"], repair=True)
    agent = there and {"name": there.agent, "command": list(there.command), "cwd": there.cwd}
    facts = {"session": records.session(row), "agent": agent, "conversation": conversation}
    answers.give(form, "resume", facts, records="conversation")


def show(db: SessionDB, row: SessionRow) -> None:
    """How the conversation ended."""
    seen = output.ago(row["last_active"] or row["started_at"], time.time())
    facts = one_line(row["title"] or row["id"], row["message_count"], seen)
    if _is_minimal():
        output.say(ink.bold(facts))
        return
    output.say(ink.bold(facts), ink.dim(f" · {row['id']}" if row["title"] else ""))
    panel.show(recap(db.get_messages(row["id"])))


def _is_minimal() -> bool:
    return config.load(options.state().place).resume_display == "minimal"


def say_how_to_go_on(row: SessionRow, there: Resumption | None) -> None:
    if there is not None:
        elsewhere = f", recorded on {row['host']}" if row["host"] not in (None, os.uname().nodename) else ""
        output.say(f"Go on with {there.agent}{elsewhere} (--exec runs it):")
        output.say("  ", ink.green(there.line))
        return
    if _is_minimal():
        return
    from shlex import quote

    elsewhere = f"{row['origin']} cannot resume it. " if row["origin"] else ""
    output.say(f"{elsewhere}To go on, give its messages to a model:")
    output.say("  ", ink.green(f"sessiondb resume {quote(row['id'])} --json"))


def _needed(row: SessionRow, there: Resumption | None) -> Resumption:
    if there is None:
        origin = f"came from {row['origin']}, which cannot resume it" if row["origin"] else "came from no other agent"
        raise Invalid(f"session {row['id']!r} {origin}; `sessiondb resume {row['id']} --json` prints its messages")
    return there


def execute(there: Resumption) -> NoReturn:
    """Become the other agent, in the directory of the session. Raises NotFound for what is not there."""
    import shlex
    import shutil
    import signal

    program = shutil.which(there.command[0])
    if program is None:
        raise NotFound(f"{there.command[0]} is not installed here, or not in PATH; it would be: {there.line}")
    if there.cwd:
        if not os.path.isdir(there.cwd):
            raise NotFound(f"the directory {there.cwd} of the session is gone; elsewhere: {shlex.join(there.command)}")
        os.chdir(there.cwd)
        os.environ["PWD"] = there.cwd
    # Python ignores it, and a program inherits what is ignored.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.stdout.flush()
    os.execv(program, there.command)
