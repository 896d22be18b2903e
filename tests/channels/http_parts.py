"""Small HTTP servers for tests: what a model, Telegram, Slack, WhatsApp and others say on the wire."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Self


class Server:
    """Answers with what `respond(method, path, body, headers)` returns: status and JSON, or bytes."""

    def __init__(self) -> None:
        self.lock = Lock()
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        server.daemon_threads = True
        self._server = server
        self.port = server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except (ConnectionError, TimeoutError):
                    self.close_connection = True

            def serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                outer.serve(self, self.command, self.path, body, headers)

            do_GET = do_POST = do_PATCH = serve

            def log_message(self, *args: Any) -> None:
                return

        return Handler

    def serve(
        self, handler: BaseHTTPRequestHandler, method: str, path: str, body: bytes, headers: dict[str, str]
    ) -> None:
        status, answer, more = self.respond(method, path, body, headers)
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        handler.send_response(status)
        for name, value in {"Content-Type": "application/json", **more}.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def respond(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
