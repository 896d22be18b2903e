"""Any program that can sign a request: messages come in by POST, answers go out by POST to `reply_url`.

    X-Sessiondb-Timestamp: 1741166123
    X-Sessiondb-Signature: v1=<hex of HMAC-SHA256(secret, "v1:1741166123:" + body)>

    {"id": "m1", "chat": {"id": "c1", "type": "dm", "name": "…"}, "user": {"id": "u1", "name": "Ann"},
     "thread": "t1", "text": "hello", "files": [{"name": "a.png", "mime_type": "image/png", "data": "<base64>"}]}

Answers are signed the same way: `{"id": …, "chat": "c1", "thread": "t1", "text": …}`, and `file` with name and data.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from ...config_file import Check, text
from ..keys import DM, Source
from . import outward, signing
from .base import Channel, Event, Intake, Media
from .web import Refused, Request, Response, answer

_HEADERS = ("X-Sessiondb-Timestamp", "X-Sessiondb-Signature")
_VERSION = "v1"


class Webhook(Channel):
    name = "webhook"
    KEYS: ClassVar[Mapping[str, Check]] = {"secret": text, "reply_url": text, "path": text}
    NEEDS = ("secret", "reply_url")
    longest = 60_000

    def start(self, intake: Intake) -> None:
        self._intake = intake
        intake.web.route(self.settings.get("path", f"/{self.name}"), self.handle)

    def stop(self) -> None:
        return

    def handle(self, request: Request) -> Response:
        signing.check_timed(request, self.settings["secret"], _VERSION, _HEADERS)
        self._take(request.json())
        return answer({"ok": True})

    def _take(self, given: dict[str, Any]) -> None:
        self._intake.take(self.event(given))

    def event(self, given: dict[str, Any]) -> Event:
        """The message of a payload. Raises Refused."""
        chat, user = part(given, "chat"), part(given, "user")
        message_id, chat_id = word(given.get("id")), word(chat.get("id"))
        if not message_id or not chat_id:
            raise Refused(400, "id and chat.id are needed")
        source = Source(
            self.name,
            word(chat.get("type")) or DM,
            chat_id,
            word(given.get("thread")),
            word(user.get("id")),
            chat_name=word(chat.get("name")),
            user_name=word(user.get("name")),
        )
        files = given.get("files") or []
        media = tuple(self._file(each) for each in files if isinstance(each, dict))
        written = given.get("text") or ""
        if not isinstance(written, str) or not (written.strip() or media):
            raise Refused(400, "a text or files are needed")
        return Event(source, written, f"{self.name}:{message_id}", message_id, media)

    def _file(self, given: dict[str, Any]) -> Media:
        try:
            data = base64.b64decode(str(given.get("data") or ""), validate=True)
        except (binascii.Error, ValueError):
            raise Refused(400, "a file is no base64") from None
        mime = word(given.get("mime_type"))
        return self._intake.keep(data, kind_of(mime), mime_type=mime, name=word(given.get("name")))

    def send(self, to: Source, text: str) -> str:
        return self._post(to, {"text": text})

    def send_file(self, to: Source, path: Path, caption: str) -> str:
        data = base64.b64encode(path.read_bytes()).decode()
        return self._post(to, {"text": caption, "file": {"name": path.name, "data": data}})

    def _post(self, to: Source, said: dict[str, Any]) -> str:
        message_id = os.urandom(8).hex()
        document = {"id": message_id, "chat": to.chat_id, "thread": to.thread_id, **said}
        body = json.dumps(document).encode()
        outward.patiently(lambda: outward.fetch(self.settings["reply_url"], self._signed(body), body))
        return message_id

    def _signed(self, body: bytes) -> dict[str, str]:
        now = str(int(time.time()))
        signature = signing.timed(self.settings["secret"], _VERSION, now, body)
        return {"Content-Type": "application/json", _HEADERS[0]: now, _HEADERS[1]: signature}


def part(given: dict[str, Any], name: str) -> dict[str, Any]:
    found = given.get(name)
    return found if isinstance(found, dict) else {}


def word(value: Any) -> str | None:
    """An id or a name as text; None for nothing, and for what is neither text nor number."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value) or None


def kind_of(mime_type: str | None) -> str:
    main = (mime_type or "").partition("/")[0]
    return main if main in ("image", "audio", "video") else "file"
