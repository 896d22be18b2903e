"""The small HTTP server that webhooks share: routes by path, bodies of limited size, loopback unless told otherwise."""

from __future__ import annotations

import json
import logging
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

from ...errors import Invalid, SessionDBError

logger = logging.getLogger("sessiondb.gateway.web")
LOOPBACK = "127.0.0.1"
LARGEST_BODY = 4 * 1024 * 1024
AT_ONCE = 64
_PATIENCE = 30.0
# Seconds for a gateway that has just taken the address to say that it is one of ours.
_INTRODUCTION = 2.0


class Refused(Exception):
    """A request that is answered with this status and nothing else."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    headers: Mapping[str, str]
    query: Mapping[str, str]
    body: bytes

    def header(self, name: str) -> str:
        return self.headers.get(name.lower(), "")

    def json(self) -> dict[str, Any]:
        """The body as a JSON object. Raises Refused."""
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError):
            raise Refused(400, "the body is no JSON") from None
        if not isinstance(found, dict):
            raise Refused(400, "the body is no JSON object")
        return found


@dataclass(frozen=True, slots=True)
class Response:
    status: int = 200
    body: bytes = b"{}"
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


Handle = Callable[[Request], Response]


def answer(document: Mapping[str, Any], status: int = 200) -> Response:
    return Response(status, json.dumps(document).encode())


class WebServer:
    """Started with its first route; a port of 0 takes any that is free.

    An address that is taken is an error, unless `shared` says that whoever has it is one of ours: then the system
    hands each request to one of those that listen.
    """

    def __init__(
        self,
        host: str = LOOPBACK,
        port: int = 0,
        *,
        largest: int = LARGEST_BODY,
        shared: Callable[[str], bool] = lambda place: False,
    ) -> None:
        self.host, self.port, self.largest = host, port, largest
        self._shared = shared
        self.routes: dict[str, Handle] = {}
        self.free = BoundedSemaphore(AT_ONCE)
        self._server: _Server | None = None
        self._thread: Thread | None = None

    def route(self, path: str, handle: Handle) -> None:
        if path in self.routes:
            raise Invalid(f"two channels want the path {path}; give one of them another `path`")
        self.routes[path] = handle
        self._start()

    def _start(self) -> None:
        if self._server is not None:
            return
        try:
            if self.port:
                self._ask_for_place()
            self._server = _Server((self.host, self.port), self)
        except OSError as exc:
            raise Invalid(
                f"{self.host}:{self.port} cannot be listened on: {exc.strerror}; choose another port"
            ) from exc
        self.port = self._server.server_address[1]
        self._thread = Thread(target=self._server.serve_forever, args=(0.1,), name="sessiondb-web", daemon=True)
        self._thread.start()

    def _ask_for_place(self) -> None:
        """Raises OSError when somebody else has the address: two who share it by mistake would split its requests."""
        deadline = time.monotonic() + _INTRODUCTION
        while True:
            try:
                with socket.socket() as alone:
                    alone.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    alone.bind((self.host, self.port))
                return
            except OSError:
                if self._shared(f"{self.host}:{self.port}"):
                    return
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def stop(self) -> None:
        """Take no request any more; those that began are answered."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()
            self._server = None


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    block_on_close = True
    request_queue_size = 128
    allow_reuse_port = True

    def __init__(self, address: tuple[str, int], web: WebServer) -> None:
        self.web = web
        super().__init__(address, _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    # Also ends connections that say nothing, so that no thread waits for ever.
    timeout = 10
    server_version, sys_version = "sessiondb", ""

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def _serve(self) -> None:
        web = self.server.web
        if not web.free.acquire(timeout=_PATIENCE):
            self._reply(Response(503))
            return
        try:
            self._reply(self._answered(web))
        finally:
            web.free.release()

    def _answered(self, web: WebServer) -> Response:
        place = urlsplit(self.path)
        handle = web.routes.get(place.path)
        if handle is None:
            return Response(404)
        try:
            query = {name: values[0] for name, values in parse_qs(place.query).items()}
            headers = {name.lower(): value for name, value in self.headers.items()}
            return handle(Request(self.command, headers, query, self._body(web.largest)))
        except Refused as exc:
            logger.warning("refused", extra={"fields": {"path": place.path, "status": exc.status, "why": str(exc)}})
            return Response(exc.status)
        except SessionDBError as exc:
            logger.warning("not taken", extra={"fields": {"path": place.path, "error": type(exc).__name__}})
            # What no store ever takes is not worth another try.
            return Response(400) if isinstance(exc, Invalid) else Response(503, headers={"Retry-After": "1"})
        except Exception as exc:  # noqa: BLE001 - whatever a handler raises, the platform hears of it and delivers again
            logger.error("failed", extra={"fields": {"path": place.path, "error": type(exc).__name__}})
            return Response(500)

    def _body(self, largest: int) -> bytes:
        given = self.headers.get("Content-Length", "0")
        if not given.isdecimal():
            raise Refused(411, "no length")
        if int(given) > largest:
            self.close_connection = True
            raise Refused(413, "the body is too large")
        body = self.rfile.read(int(given))
        if len(body) != int(given):
            raise Refused(400, "the body ended early")
        return body

    def _reply(self, response: Response) -> None:
        try:
            self.send_response(response.status)
            self.send_header("Content-Type", response.kind)
            self.send_header("Content-Length", str(len(response.body)))
            for name, value in response.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(response.body)
        except OSError:
            # Whoever asked is gone, and will ask again.
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Requests carry what people wrote; nothing of them is logged."""
