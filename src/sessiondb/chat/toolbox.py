"""The tools of a conversation: `session_search` is built in, others are registered; each call runs for real.

A tool is a name with its schema and a handler, `handler(arguments, talk) -> str`. Whatever goes wrong in one is told to
the model as its result.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import Invalid, SessionDBError
from ..jsontext import dumps
from ..llm import Endpoint
from ..tools import session_search
from ..tools.summaries import Summaries
from .scoped import scoped_search
from .talk import Talk

if TYPE_CHECKING:
    from ..db import SessionDB

Handler = Callable[[dict[str, Any], Talk], str]
Tools = Mapping[str, tuple[Mapping[str, Any], Handler]]


def recall(db: SessionDB, endpoint: Endpoint | None) -> tuple[Mapping[str, Any], Handler]:
    """`session_search`, within what the person may see."""

    def handle(arguments: dict[str, Any], talk: Talk) -> str:
        if talk.scope.is_everything:
            summarize = Summaries(endpoint) if endpoint else None
            return session_search.handle(db, arguments, current_session_id=talk.session_id, summarize=summarize)
        return dumps(scoped_search(talk.scope, arguments, talk.session_id, db._clock()))

    return session_search.SCHEMA, handle


def run(tools: Tools, call: Mapping[str, Any], talk: Talk, *, timeout: float, stop: threading.Event) -> str:
    """The result of a call as text for the model: of one that fails, what went wrong."""
    name = call["function"]["name"]
    if name not in tools:
        return _wrong(f"there is no tool {name!r}; there are: {', '.join(sorted(tools)) or 'none'}")
    try:
        arguments = json.loads(call["function"]["arguments"] or "{}")
        if not isinstance(arguments, dict):
            raise Invalid("the arguments must be a JSON object")
    except ValueError as exc:
        return _wrong(f"the arguments of {name} cannot be read: {exc}")
    return _Run(tools[name][1], arguments, talk).result(timeout, stop)


def _wrong(sentence: str) -> str:
    return dumps({"success": False, "error": sentence})


class _Run:
    """A handler in a thread, so that its time can end."""

    def __init__(self, handler: Handler, arguments: dict[str, Any], talk: Talk) -> None:
        self._done = threading.Event()
        self._result = ""
        self._thread = threading.Thread(target=self._work, args=(handler, arguments, talk), daemon=True)
        self._thread.start()

    def _work(self, handler: Handler, arguments: dict[str, Any], talk: Talk) -> None:
        try:
            self._result = str(handler(arguments, talk))
        except SessionDBError as exc:
            self._result = _wrong(str(exc))
        except Exception as exc:  # noqa: BLE001 - whatever a tool raises, the model is told and the talk goes on
            self._result = _wrong(f"{type(exc).__name__}: {exc}")
        self._done.set()

    def result(self, timeout: float, stop: threading.Event) -> str:
        left = timeout
        while left > 0 and not stop.is_set():
            if self._done.wait(0.05):
                return self._result
            left -= 0.05
        return _wrong("stopped by the person" if stop.is_set() else f"no result within {timeout:g} seconds")
