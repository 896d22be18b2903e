"""`sessiondb chat`: a conversation at the terminal."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import threading
from pathlib import Path

from .. import config, llm
from ..chat import commands
from ..chat.desk import Outcome
from ..chat.loop import Agent
from ..chat.own import OwnDesk, OwnTalk
from ..chat.talk import Reply
from ..db import SessionDB
from ..errors import Invalid, Unavailable
from ..titling import Titler
from . import ink, options, output, resume
from .chat_input import Keyboard
from .chat_screen import Screen
from .store import open_store

# Seconds that a title on its way may take when the person leaves.
_LAST_TITLE = 3.0


@options.command("chat")
@options.maybe_session
@options.flag(
    "-c", "--continue", "going_on", help="Go on in the last session of source cli, or with a NAME in that one."
)
@options.flag("-r", "--resume", "named", help="Go on in the session with this ID or TITLE.")
@options.option("--model", metavar="NAME", help="Another model of the same endpoint than llm.model.")
@options.common
def command(session: str | None, going_on: bool, named: bool, model: str | None) -> None:
    """Talk with a model; every word is kept.

    The model is the one of `llm` in config.yaml, behind any endpoint that speaks the OpenAI protocol. It may search
    earlier conversations. /help lists the commands; Ctrl-C stops an answer and keeps what was said, Ctrl-D leaves.
    A backslash at the end of a line goes on in the next. Without a terminal, each line of the input is a message.

    \b
    Example:
        sessiondb chat
        sessiondb chat -c refactoring auth
        echo "what did we decide about nginx?" | sessiondb chat
    """
    if named and session is None:
        raise Invalid("-r needs the id or title of a session; `sessiondb list` shows them")
    if session is not None and not (named or going_on):
        raise Invalid(f"to go on in a session write `sessiondb chat -c {session}`")
    with open_store(options.state().place, read_only=False, create=True) as db:
        agent = Agent.from_config(db)
        if model is not None:
            agent.endpoint = _with_model(agent.endpoint, model)
        _Host(db, agent, session, resuming=named or going_on).run()


def _with_model(endpoint: llm.Endpoint, model: str) -> llm.Endpoint:
    from dataclasses import replace

    return replace(endpoint, model=model)


class _Host:
    def __init__(self, db: SessionDB, agent: Agent, session: str | None, *, resuming: bool) -> None:
        row = resume.chosen(db, session) if resuming else None
        fields = {"model": agent.endpoint.model, "system_prompt": agent.settings.system_prompt}
        self.db, self.agent, self.screen = db, agent, Screen()
        self.desk = OwnDesk(db, row["id"] if row else None, **fields)
        self.titler = Titler(db, agent.endpoint)
        home = Path(config.home_directory(os.environ))
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.keyboard = Keyboard(home / "chat_history", self._candidates)
        # What goes wrong is told on the screen, once; without a handler the logs would be there, too.
        logging.getLogger("sessiondb").addHandler(logging.NullHandler())
        if not self.keyboard.interactive:
            return
        if row is not None:
            resume.show(db, row)
        else:
            output.say(ink.dim(f"{agent.endpoint.model} at {agent.endpoint.place} · /help lists the commands"))

    def run(self) -> None:
        try:
            while (line := self._typed()) is not None:
                if line.strip() and not self._tried(line):
                    break
        finally:
            self._leave()

    def _typed(self) -> str | None:
        while True:
            try:
                return self.keyboard.read()
            except KeyboardInterrupt:
                # What was typed is dropped, as shells do.
                output.say()
                output.say(ink.dim("Ctrl-D or /quit leaves."))

    def _tried(self, line: str) -> bool:
        """A store that is busy or full now works again later; the person decides when to try."""
        try:
            return self._done(line)
        except Unavailable as exc:
            if not self.keyboard.interactive:
                raise
            output.complain(exc)
            return True

    def _done(self, line: str) -> bool:
        """Obey or answer; False to leave."""
        try:
            outcome = commands.obey(line, self.desk, self.agent)
        except KeyboardInterrupt:
            if not self.keyboard.interactive:
                raise
            # Such as while the model writes a summary; what is not stored then did not happen.
            self.screen.notice("[stopped]")
            return True
        if outcome is None:
            self._answer(line)
            return True
        self._show(outcome)
        if outcome.prompt is not None:
            self._answer(outcome.prompt)
        return not outcome.leave

    def _show(self, outcome: Outcome) -> None:
        if outcome.text:
            self.screen.told(outcome.text)
        if outcome.file is not None:
            kept = _free(Path.cwd() / outcome.file.name)
            shutil.move(outcome.file, kept)
            outcome.file.parent.rmdir()
            output.say(f"  {kept}")

    def _answer(self, text: str) -> None:
        talk = self.desk.say(text, self.screen.notice)
        work = _Work(self.agent, talk, self.screen)
        reply = work.reply()
        talk.append(reply.last_words)
        self.desk.follow(talk)
        self.screen.ended(reply)
        if reply.finish == "stop":
            self.titler.after_exchange(talk.session_id)
        if reply.problem is not None and not self.keyboard.interactive:
            raise llm.NoAnswer(reply.problem)

    def _leave(self) -> None:
        self.titler.wait(_LAST_TITLE)
        self.desk.leave()
        if self.desk.session_id is None:
            return
        said = f"Session {self.desk.session_id}", f"  sessiondb chat -r {self.desk.session_id}"
        for each in said:
            if self.keyboard.interactive:
                output.say(ink.dim(each))
            else:
                print(each, file=sys.stderr)

    def _candidates(self, text: str) -> list[str]:
        if text.startswith("/resume "):
            titles = (row["title"] for row in self.desk.scope.sessions(limit=50))
            return [f"/resume {title}" for title in titles if title]
        return [f"{name} " for name in commands.names()] if text.startswith("/") else []


class _Work:
    """An answer in the making. Ctrl-C stops it, and what was said until then is kept; a second one leaves."""

    def __init__(self, agent: Agent, talk: OwnTalk, screen: Screen) -> None:
        self._stop, self._done = threading.Event(), threading.Event()
        self._made: list[Reply] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(agent, talk, screen), daemon=True)
        self._thread.start()

    def _run(self, agent: Agent, talk: OwnTalk, screen: Screen) -> None:
        try:
            self._made.append(agent.answer(talk, screen, self._stop))
        except BaseException as exc:  # noqa: BLE001 - raised again where it is waited for
            self._error = exc
        self._done.set()

    def reply(self) -> Reply:
        # Not by joining the thread: a join that Ctrl-C breaks takes the thread for ended.
        while not self._done.is_set():
            try:
                self._done.wait(0.1)
            except KeyboardInterrupt:
                if self._stop.is_set():
                    raise
                self._stop.set()
        if self._error is not None:
            raise self._error
        return self._made[0]


def _free(path: Path) -> Path:
    """The path, or with a number one that nothing has."""
    found, number = path, 1
    while found.exists():
        number += 1
        found = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return found
