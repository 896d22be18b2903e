"""`RemoteProvider`: the primitives of a store on another machine, through the system's ssh.

ssh://user@host:port/path/to/state.db runs `sessiondb remote` there. Names, keys and jumps are those of ~/.ssh/config.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from ... import errors
from ...moving import Movable
from ...provider import Features, SessionDBProvider
from ...values import replace
from . import wire

_ITERATED = frozenset({"catalogue", "stored_messages", "scan_messages", "buried", "homeless", "unreadable_sessions"})
_OWN = frozenset({"is_available", "initialize", "shutdown"})
# What has a shorter way there than its base form here.
_FORWARDED = (
    frozenset(name for name in vars(Movable) if not name.startswith("_"))
    | {"session_facts", "activity", "tool_usage", "get_turns", "surroundings", "found_messages"}
)  # fmt: skip


def _forward(name: str) -> Callable[..., Any]:
    def call(self: RemoteProvider, *args: Any, **kwargs: Any) -> Any:
        return self._iterated(name, args, kwargs) if name in _ITERATED else self._asked(name, args, kwargs)

    call.__name__ = name
    return call


class _Forwarding(SessionDBProvider):
    """Every primitive as a request; `search` with its parsed query is answered here, from the rows there."""


for _name in (SessionDBProvider.__abstractmethods__ | _FORWARDED) - _OWN:
    setattr(_Forwarding, _name, _forward(_name))
_Forwarding.__abstractmethods__ = frozenset(_OWN)


class RemoteProvider(_Forwarding):
    name = "ssh"
    features = Features(indexed_search=False)

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._place = ""

    @classmethod
    def is_available(cls) -> bool:
        return shutil.which(_ssh()) is not None

    def initialize(self, *, dsn: str, read_only: bool = False, program: str = "sessiondb") -> None:  # type: ignore[override]
        """Begin `sessiondb remote` on the other machine; raises Unavailable with what ssh said."""
        if self._process is not None:
            return
        if not self.is_available():
            raise errors.Unavailable(
                "ssh is not installed here; install it, or copy with `sessiondb export` and `import`"
            )
        host, path, port = _target(dsn)
        self._place = f"{path or 'the default store'} on {host}"
        asked = [
            *shlex.split(program),
            *(["--db", path] if path else []),
            "remote",
            *(["--read-only"] if read_only else []),
        ]
        command = [_ssh(), "-T", *(["-p", str(port)] if port else []), host, shlex.join(asked)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        hello = self._received()
        if hello.get("sessiondb") != wire.VERSION:
            self.shutdown()
            raise errors.NotSupported(f"{host} speaks another version of sessiondb; bring both to the same")
        # What takes a function cannot be asked for over a wire.
        self.features = replace(wire.unpack(hello["features"]), revision=False)

    def shutdown(self) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
            process.wait()

    def update_index(self, tick: Callable[[int, int], None] | None = None) -> None:
        self._asked("update_index", (), {})
        super().update_index(tick)

    # --- requests ---

    def _asked(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with self._lock:
            return wire.unpack(
                self._answer({"call": name, "args": wire.pack(args), "kwargs": wire.pack(kwargs)})["value"]
            )

    def _iterated(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
        with self._lock:
            number = self._answer({"call": name, "args": wire.pack(args), "kwargs": wire.pack(kwargs)})["iterator"]
        while True:
            with self._lock:
                values = wire.unpack(self._answer({"next": number})["values"])
            if not values:
                return
            yield from values

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._process is None or self._process.stdin is None:
            raise errors.Closed("the store is closed; open it again")
        try:
            wire.send(self._process.stdin, request)  # type: ignore[arg-type]
        except OSError as exc:
            raise self._lost() from exc
        answer = self._received()
        if "error" in answer:
            kind = getattr(errors, answer["error"], errors.SessionDBError)
            raise kind(answer["message"]) if kind is not errors.MissingExtra else errors.Unavailable(answer["message"])
        return answer

    def _received(self) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            found = wire.receive(self._process.stdout)  # type: ignore[arg-type]
        except ValueError as exc:
            raise errors.NotSupported(
                f"{self._place} answers with something else than sessiondb; let its shell print nothing at login"
            ) from exc
        if found is None:
            raise self._lost()
        return found

    def _lost(self) -> errors.SessionDBError:
        assert self._process is not None
        _, said = self._process.communicate()
        reason = " ".join(said.decode("utf-8", "replace").split()) or "the connection was closed"
        self._process = None
        return errors.ConnectionLost(f"{self._place} cannot be used: {reason}")


def _ssh() -> str:
    return os.environ.get("SESSIONDB_SSH", "ssh")


def _target(dsn: str) -> tuple[str, str, int | None]:
    try:
        parts = urlsplit(dsn)
        port = parts.port
    except ValueError as exc:
        raise errors.Invalid(f"the ssh address cannot be read: {exc}; write ssh://user@host/path/to/state.db") from None
    if not parts.hostname or parts.hostname.startswith("-"):
        raise errors.Invalid(f"{dsn!r} names no host; write ssh://user@host/path/to/state.db")
    host = f"{unquote(parts.username)}@{parts.hostname}" if parts.username else parts.hostname
    path = unquote(parts.path)
    # As scp and git have it: /~/x is in the home there.
    return host, path[1:] if path.startswith("/~") else path.rstrip("/"), port
