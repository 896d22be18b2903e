"""One answer of an endpoint, piece by piece: text as it comes, tool calls put together, the usage at the end.

The pieces are read by a thread of their own, so that whoever waits can stop at any moment, and silence has an end.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..jsontext import dumps
from ..llm import Endpoint, NoAnswer, package, reason, sendable, whole

# How soon a wish to stop is seen.
_LOOKS = 0.05


@dataclass(slots=True)
class Answer:
    """What has come so far. `finish` is the endpoint's own word, "interrupted", or "error" with its `problem`."""

    text: str = ""
    reasoning: str = ""
    calls: list[dict[str, Any]] = field(default_factory=list)
    finish: str | None = None
    usage: Any = None
    model: str | None = None
    problem: str | None = None
    _places: dict[Any, int] = field(default_factory=dict)

    def take(self, chunk: Any) -> str:
        """Add a piece; the text in it."""
        self.usage = getattr(chunk, "usage", None) or self.usage
        self.model = _word(chunk, "model") or self.model
        choices = getattr(chunk, "choices", None)
        if not isinstance(choices, list) or not choices:
            return ""
        self.finish = _word(choices[0], "finish_reason") or self.finish
        delta = getattr(choices[0], "delta", None)
        calls = getattr(delta, "tool_calls", None)
        for piece in calls if isinstance(calls, list) else ():
            self._call(piece)
        self.reasoning += _word(delta, "reasoning_content") or _word(delta, "reasoning")
        text = _word(delta, "content") or _word(delta, "refusal")
        self.text += text
        return text

    def _call(self, piece: Any) -> None:
        function = getattr(piece, "function", None)
        if function is None:
            return
        name, arguments = _word(function, "name"), _arguments(function)
        at = getattr(piece, "index", None)
        if not isinstance(at, int):
            # Some endpoints number nothing: a name begins another call.
            at = len(self.calls) if name or not self.calls else len(self.calls) - 1
        if at not in self._places:
            self._places[at] = len(self.calls)
            self.calls.append({"id": None, "type": "function", "function": {"name": "", "arguments": ""}})
        call = self.calls[self._places[at]]
        call["id"] = call["id"] or _word(piece, "id") or None
        call["function"]["name"] += name
        call["function"]["arguments"] += arguments

    def close(self) -> None:
        """Every call has an id, because results are matched by it; what is no answer is an error."""
        # Some endpoints cut a character in two.
        self.text, self.reasoning = whole(self.text), whole(self.reasoning)
        for call in self.calls:
            call["id"] = call["id"] or f"call_{os.urandom(8).hex()}"
        if self.finish is None:
            self.fail("the answer broke off" if self.text or self.calls else "what came is no stream of an answer")
        elif self.finish != "interrupted" and not self.problem and not self.text.strip() and not self.calls:
            self.fail("an answer without text")

    def fail(self, problem: str) -> None:
        self.finish, self.problem = "error", problem


def _word(holder: Any, name: str) -> str:
    """What the SDK hands on of an endpoint is unchecked: whatever is no text counts as none."""
    found = getattr(holder, name, None)
    return found if isinstance(found, str) else ""


def _arguments(function: Any) -> str:
    """Some endpoints tell them at once, as an object."""
    found = getattr(function, "arguments", None)
    return dumps(found) if isinstance(found, dict) else _word(function, "arguments")


def ask(
    endpoint: Endpoint,
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any]],
    *,
    stop: threading.Event,
    timeout: float,
    text: Callable[[str], None],
    meanwhile: Callable[[], None],
) -> Answer:
    """The answer, its text handed on as it comes; what goes wrong is told in it. Raises MissingExtra.

    `meanwhile` is called again and again while nothing comes; what it raises ends the waiting.
    """
    answer = Answer()
    reader = _Reader(endpoint, messages, tools)
    deadline = time.monotonic() + timeout
    try:
        for piece in reader.pieces():
            if stop.is_set():
                answer.finish = "interrupted"
            elif time.monotonic() > deadline:
                answer.fail(f"no end of the answer within {timeout:g} seconds")
            elif piece is None:
                meanwhile()
                continue
            elif isinstance(piece, Exception):
                answer.fail(_told(endpoint, piece, bool(tools)))
            else:
                if said := answer.take(piece):
                    text(said)
                continue
            break
    finally:
        reader.close()
    answer.close()
    return answer


def _told(endpoint: Endpoint, error: Exception, with_tools: bool) -> str:
    if isinstance(error, NoAnswer):
        return str(error)
    # What an endpoint says of it is not shown, because it may quote the conversation.
    refused = with_tools and getattr(error, "status_code", None) in (400, 422)
    hint = " (if the model knows no tools, set chat.tools: false)" if refused else ""
    return f"{endpoint.place} did not answer: {reason(error)}{hint}"


class _Reader:
    def __init__(
        self, endpoint: Endpoint, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]
    ) -> None:
        self._openai = package()
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._request: dict[str, Any] = {
            "model": endpoint.model,
            "messages": sendable(messages),
            "stream": True,
        }
        if tools:
            self._request["tools"] = [{"type": "function", "function": dict(tool)} for tool in tools]
        self._client = endpoint.client()
        self._closed = False
        self._thread = threading.Thread(target=self._read, name="sessiondb-stream", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            with self._client, self._answered() as stream:
                if not hasattr(stream, "__iter__") or isinstance(stream, str):
                    raise NoAnswer("the endpoint does not stream")
                for chunk in stream:
                    if self._closed:
                        return
                    self._queue.put(chunk)
            self._queue.put(_END)
        except Exception as exc:  # noqa: BLE001 - a thread has nobody above it: whoever waits is told
            self._queue.put(exc)

    def _answered(self) -> Any:
        ask = self._client.chat.completions.create
        try:
            return ask(**self._request, stream_options={"include_usage": True})
        except self._openai.APIStatusError as exc:
            # Some know no such field: their tokens are not counted then.
            if exc.status_code in (400, 422) and "stream_options" in f"{exc} {exc.body}":
                return ask(**self._request)
            raise

    def pieces(self) -> Iterator[Any]:
        """Chunks, None while nothing comes, at last the exception if there was one."""
        while True:
            try:
                piece = self._queue.get(timeout=_LOOKS)
            except queue.Empty:
                yield None
                continue
            if piece is _END:
                return
            yield piece

    def close(self) -> None:
        # The thread ends with the next piece, or with the endpoint's silence.
        self._closed = True


_END = object()
