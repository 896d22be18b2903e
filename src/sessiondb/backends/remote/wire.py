"""Primitives as lines of JSON: one request, one answer; iterators are read in batches.

{"call": "get_session", "args": ["s"], "kwargs": {}} is answered by {"value": ...}, {"iterator": 1} or
{"error": "NotFound", "message": "..."}; {"next": 1} by {"values": [...]}, empty at the end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, BinaryIO

from ... import errors, models, moving
from ...provider import Features, SessionDBProvider

VERSION = 1
AT_ONCE = 200
_KNOWN: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        models.Draft, models.Filter, models.MessageFilter, models.Page, models.Matches, models.Match, models.Merged,
        models.Surroundings, models.Activity, moving.Part, moving.Buried, moving.Entry, Features,
    )
}  # fmt: skip
_MARK = "$"


def pack(value: Any) -> Any:
    """The value in terms of JSON; what is none of its own carries the name of its kind."""
    if isinstance(value, tuple) and type(value).__name__ in _KNOWN:
        return {_MARK: type(value).__name__, "v": [pack(item) for item in value]}
    if isinstance(value, list | tuple | set | frozenset):
        return [pack(item) for item in value]
    if isinstance(value, dict):
        plain = {key: pack(item) for key, item in value.items()}
        return {_MARK: "dict", "v": list(plain.items())} if _MARK in plain or not _has_text_keys(plain) else plain
    if isinstance(value, bytes):
        return {_MARK: "bytes", "v": value.hex()}
    if type(value).__name__ in _KNOWN:
        return {
            _MARK: type(value).__name__,
            "v": {name: pack(getattr(value, name)) for name in value.__match_args__},
        }
    if value is None or isinstance(value, str | int | float):
        return value
    raise errors.NotSupported(f"{type(value).__name__} does not go through ssh; run the command on the other machine")


def _has_text_keys(value: dict[Any, Any]) -> bool:
    return all(isinstance(key, str) for key in value)


def unpack(value: Any) -> Any:
    if isinstance(value, list):
        return [unpack(item) for item in value]
    if not isinstance(value, dict):
        return value
    name, inside = value.get(_MARK), value.get("v")
    if name is None:
        return {key: unpack(item) for key, item in value.items()}
    if name == "dict":
        return {key: unpack(item) for key, item in inside or ()}
    if name == "bytes":
        return bytes.fromhex(str(inside))
    kind = _KNOWN[name]
    if isinstance(inside, list):
        return kind(*(unpack(item) for item in inside))
    return kind(**{key: unpack(item) for key, item in (inside or {}).items()})


def send(stream: BinaryIO, message: dict[str, Any]) -> None:
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()


def receive(stream: BinaryIO) -> dict[str, Any] | None:
    """The next message; None when the other side is gone."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        return None
    found: dict[str, Any] = json.loads(line)
    return found


class Server:
    """Answers for a provider until the other side hangs up."""

    def __init__(self, provider: SessionDBProvider, asked: BinaryIO, answers: BinaryIO) -> None:
        self.provider, self.asked, self.answers = provider, asked, answers
        self._iterators: dict[int, Iterator[Any]] = {}

    def serve(self) -> None:
        hello = {"sessiondb": VERSION, "features": pack(self.provider.features)}
        send(self.answers, hello)
        while (request := receive(self.asked)) is not None:
            try:
                answer = self._answer(request)
            except errors.SessionDBError as exc:
                answer = {"error": type(exc).__name__, "message": str(exc)}
            send(self.answers, answer)

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        if "next" in request:
            values = list(islice(self._iterators[request["next"]], AT_ONCE))
            if not values:
                del self._iterators[request["next"]]
            return {"values": pack(values)}
        value = self._called(str(request["call"]), unpack(request["args"]), unpack(request["kwargs"]))
        if hasattr(value, "__next__"):
            number = len(self._iterators) + 1 + max(self._iterators, default=0)
            self._iterators[number] = value
            return {"iterator": number}
        return {"value": pack(value)}

    def _called(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if name.startswith("_") or not hasattr(SessionDBProvider, name) or name in ("initialize", "shutdown"):
            raise errors.Invalid(f"no primitive {name!r}; the two machines run different versions of sessiondb")
        return getattr(self.provider, name)(*args, **kwargs)
