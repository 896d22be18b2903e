"""The agent loop: ask, run the tools that the model calls, ask again, until there is an answer.

Each step is stored before the next begins: calls before they run, results when they are there. The last words are left
to the caller, who stores them with the end of the turn.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from .. import llm
from ..db import SessionDB
from ..errors import Invalid, SessionDBError
from . import settings as settings_of
from . import stream, toolbox
from .compress import compress, is_long
from .requests import request
from .settings import Settings
from .spending import book, spent
from .talk import Listener, Reply, Talk

logger = logging.getLogger(__name__)
# Often enough that no lease ends while an endpoint thinks.
_RENEWS = 30.0
NO_ENDPOINT = (
    "no model is configured; set llm.base_url and llm.model in config.yaml, such as\n"
    "  llm: {base_url: http://localhost:11434/v1, model: qwen3}"
)


class Agent:
    """Answers conversations with a model; one for a process, safe to use from many threads."""

    def __init__(
        self,
        db: SessionDB,
        endpoint: llm.Endpoint,
        settings: Settings | None = None,
        tools: toolbox.Tools | None = None,
    ) -> None:
        """`tools` are offered beside `session_search`: name -> (schema, handler)."""
        self.db, self.endpoint, self.settings = db, endpoint, settings or Settings()
        self.tools: dict[str, tuple[Mapping[str, Any], toolbox.Handler]] = {}
        if self.settings.tools:
            self.tools = {"session_search": toolbox.recall(db, endpoint), **(tools or {})}

    @classmethod
    def from_config(cls, db: SessionDB, *, env: Mapping[str, str] | None = None) -> Agent:
        """As config.yaml describes it. Raises Invalid when no model is configured, MissingExtra without the SDK."""
        endpoint = llm.endpoint(env=env)
        if endpoint is None:
            raise Invalid(NO_ENDPOINT)
        llm.package()
        return cls(db, endpoint, settings_of.load(env=env))

    def answer(self, talk: Talk, listener: Listener, stop: threading.Event) -> Reply:
        """Answer what was said last. What goes wrong with the endpoint is told in the reply, never raised."""
        if self.settings.compress_at and is_long(talk.history(), self.settings.compress_at):
            talk.renew()
            done = compress(self.db, talk.session_id, endpoint=self.endpoint, rotate=talk.rotate)
            listener.notice(f"The conversation grew long and goes on in {done.session_id} with a summary.")
        for _ in range(self.settings.max_turns):
            answer = self._asked(talk, listener, stop)
            if answer.finish in ("error", "interrupted", "length") or not answer.calls:
                return self._reply(answer)
            talk.append([_message(answer, self._model(answer), "tool_calls")])
            self._run(talk, listener, stop, answer.calls)
            if stop.is_set():
                return Reply("", "interrupted", (_record("interrupted", "[interrupted]"),))
        told = f"[stopped after {self.settings.max_turns} requests]"
        return Reply("", "max_turns", (_record("max_turns", told),), told.strip("[]"))

    def _asked(self, talk: Talk, listener: Listener, stop: threading.Event) -> stream.Answer:
        answer = stream.ask(
            self.endpoint,
            request(self.settings.system_prompt, talk.history()),
            [schema for schema, _ in self.tools.values()],
            stop=stop,
            timeout=self.settings.timeout,
            text=listener.text,
            meanwhile=_Renewing(talk),
        )
        used = spent(answer.usage)
        if used is not None:
            try:
                book(self.db, talk.session_id, self.endpoint, self._model(answer), used)
            except SessionDBError as exc:
                # Counters are a comfort; the answer that was paid for must still be stored.
                listener.notice(f"The tokens were not counted: {exc}")
        return answer

    def _run(self, talk: Talk, listener: Listener, stop: threading.Event, calls: Sequence[Mapping[str, Any]]) -> None:
        for call in calls:
            name = call["function"]["name"]
            listener.tool_begins(name, call["function"]["arguments"])
            result = toolbox.run(self.tools, call, talk, timeout=self.settings.tool_timeout, stop=stop)
            talk.append([{"role": "tool", "content": result, "tool_call_id": call["id"], "tool_name": name}])
            listener.tool_ends(name, result)

    def _model(self, answer: stream.Answer) -> str:
        return answer.model or self.endpoint.model

    def _reply(self, answer: stream.Answer) -> Reply:
        finish = answer.finish if answer.finish in ("error", "interrupted", "length") else "stop"
        if answer.text.strip():
            words = _message(answer, self._model(answer), finish)
        else:
            told = f"[no answer: {answer.problem}]" if answer.problem else f"[{finish}]"
            words = _record(finish, told)
        if answer.problem:
            words["metadata"] = {"error": answer.problem}
            logger.warning("no whole answer: %s", answer.problem)
        return Reply(answer.text, finish, (words,), answer.problem)


class _Renewing:
    """Says now and then that the turn is at work, while an endpoint thinks."""

    def __init__(self, talk: Talk) -> None:
        self._talk, self._next = talk, time.monotonic() + _RENEWS

    def __call__(self) -> None:
        if time.monotonic() > self._next:
            self._talk.renew()
            self._next = time.monotonic() + _RENEWS


def _message(answer: stream.Answer, model: str, finish: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text, "finish_reason": finish, "model": model}
    if finish == "tool_calls":
        message["tool_calls"] = answer.calls
    if answer.reasoning:
        message["reasoning"] = answer.reasoning
    used = spent(answer.usage)
    if used is not None:
        message |= {
            "input_tokens": used.input_tokens + used.cache_read_tokens,
            "output_tokens": used.output_tokens,
            "token_count": used.output_tokens,
        }
    return message


def _record(finish: str, text: str) -> dict[str, Any]:
    """In the place of an answer that there is none of."""
    return {"role": "assistant", "content": text, "finish_reason": finish, "injected": True}
