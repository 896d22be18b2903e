"""A server on loopback that speaks the chat protocol of OpenAI, as well or as badly as a test wants."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

from sessiondb.llm import Endpoint

Reply = Callable[[dict[str, Any]], Any]
# Where a stream breaks off.
BREAK = object()


class ChatEndpoint:
    """`reply` makes the text of an answer from the request; `delay`, `status` and `body` misbehave.

    A request for a stream gets the answer in pieces. There `reply` may also answer a list of pieces, each a text, a
    dict that is the delta itself, a number of seconds to wait, or `BREAK`, where the connection is cut.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.reply: Reply = lambda request: "An answer"
        self.delay = 0.0
        self.status = 200
        self.body: bytes | None = None
        # A field that is refused with the status that servers use for what they do not know.
        self.unknown = ""
        self.usage: dict[str, Any] = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}
        self.active = self.most_active = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def configure(self, home: Path, text: str = "") -> None:
        """A config.yaml that names this endpoint; `text` are further lines."""
        home.mkdir(parents=True, exist_ok=True)
        llm = f"llm: {{base_url: '{self.url}', model: small, retries: 0, timeout: 5}}\n"
        (home / "config.yaml").write_text(llm + text)

    def endpoint(self, **options: Any) -> Endpoint:
        return Endpoint(**{"base_url": self.url, "model": "small", "retries": 0, "timeout": 5.0, **options})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _answer(self, request: dict[str, Any]) -> bytes:
        with self._lock:
            self.requests.append(request)
            self.active += 1
            self.most_active = max(self.most_active, self.active)
        time.sleep(self.delay)
        with self._lock:
            self.active -= 1
        return self.body if self.body is not None else json.dumps(_completion(self.reply(request))).encode()

    def _stream(self, request: dict[str, Any], out: Any) -> None:
        with self._lock:
            self.requests.append(request)
        time.sleep(self.delay)
        reply = self.reply(request)
        pieces = reply if isinstance(reply, list) else [reply]
        calls = any(isinstance(piece, dict) and "tool_calls" in piece for piece in pieces)
        for piece in pieces:
            if piece is BREAK:
                return
            if isinstance(piece, float):
                time.sleep(piece)
                continue
            _event(out, _chunk(piece if isinstance(piece, dict) else {"content": piece}))
        _event(out, _chunk({}, "tool_calls" if calls else "stop"))
        _event(out, _chunk(None) | {"usage": self.usage})
        out.write(b"data: [DONE]\n\n")

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.keys.append(self.headers["Authorization"])
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                try:
                    if server.unknown in request:
                        self.send_error(422, explain=f"unexpected field: {server.unknown}")
                        return
                    if request.get("stream") and server.body is None and server.status == 200:
                        self.send_response(200)
                        self.send_header("Content-Type", "text/event-stream")
                        self.end_headers()
                        server._stream(request, self.wfile)
                        return
                    body = server._answer(request)
                    self.send_response(server.status if self.path == "/v1/chat/completions" else 404)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except (BrokenPipeError, ConnectionResetError):
                    # The client did not wait.
                    return

            def log_message(self, *_: object) -> None:
                return

        return Handler


def _completion(text: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "small",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
    }


def _event(out: Any, chunk: dict[str, Any]) -> None:
    out.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
    out.flush()


def _chunk(delta: dict[str, Any] | None, finish: str | None = None) -> dict[str, Any]:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "small", "choices": choices}


def tool_call(name: str, arguments: str, call_id: str = "call_1", index: int = 0) -> dict[str, Any]:
    """The delta of a call."""
    call = {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"tool_calls": [call]}
