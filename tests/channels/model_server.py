"""An endpoint that speaks the OpenAI chat protocol and answers `answer to <question>`, or misbehaves as told."""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler
from typing import Any

from http_parts import Server


def content_of(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return " ".join(str(part.get("text", "")) for part in content)
    return str(content)


class ModelServer(Server):
    """`mood`: fine, error, nonsense, half; `pause` is the time between two words."""

    def __init__(self) -> None:
        super().__init__()
        self.mood, self.pause = "fine", 0.0
        self.asked: list[dict[str, Any]] = []
        # Question -> arguments of a session_search to ask for first.
        self.searches: dict[str, str] = {}
        self.long: dict[str, str] = {}

    def serve(
        self, handler: BaseHTTPRequestHandler, method: str, path: str, body: bytes, headers: dict[str, str]
    ) -> None:
        request = json.loads(body)
        if request.get("stream"):
            with self.lock:
                self.asked.append(request)
        if self.mood == "error":
            self._plain(handler, 500, b'{"error": {"message": "overloaded"}}')
        elif self.mood == "nonsense":
            self._plain(handler, 200, b"<html>no model lives here</html>")
        elif request.get("stream"):
            self._stream(handler, request)
        else:
            message = {"role": "assistant", "content": "A scripted title"}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            document = {"id": "c2", "object": "chat.completion", "created": 1, "model": "scripted", "choices": [choice]}
            self._plain(handler, 200, json.dumps(document).encode())

    def _plain(self, handler: BaseHTTPRequestHandler, status: int, data: bytes) -> None:
        handler.send_response(status)
        handler.send_header("Content-Type", "text/html" if data.startswith(b"<") else "application/json")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def _stream(self, handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.close_connection = True
        for delta in self._deltas(request):
            chunk = {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
            self._chunk(handler, chunk)
            time.sleep(self.pause)
            if self.mood == "half":
                handler.connection.close()
                return
        called = any("tool_calls" in delta for delta in self._deltas(request))
        reason = "tool_calls" if called else "stop"
        self._chunk(handler, {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        self._chunk(handler, {"choices": [], "usage": usage})
        handler.wfile.write(b"data: [DONE]\n\n")

    def _chunk(self, handler: BaseHTTPRequestHandler, chunk: dict[str, Any]) -> None:
        document = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "scripted", **chunk}
        handler.wfile.write(b"data: " + json.dumps(document).encode() + b"\n\n")
        handler.wfile.flush()

    def _deltas(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        messages = request["messages"]
        question = next(content_of(each) for each in reversed(messages) if each["role"] == "user")
        if question in self.searches and messages[-1]["role"] != "tool":
            call = {"name": "session_search", "arguments": self.searches[question]}
            return [{"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": call}]}]
        words = self.long.get(question, f"answer to {question}").split(" ")
        return [{"content": word if not number else f" {word}"} for number, word in enumerate(words)]
