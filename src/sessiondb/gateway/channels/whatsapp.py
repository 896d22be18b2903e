"""WhatsApp by the Cloud API: a challenge once, then signed notifications; answers through the Graph API."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from ...config_file import Check, text
from ..keys import DM, Source
from . import outward, signing
from .base import Channel, Event, Intake, Media, NotDelivered
from .web import Refused, Request, Response, answer
from .webhook import kind_of, part, word

BASE_URL = "https://graph.facebook.com/v21.0"
FILES = ("https://lookaside.fbsbx.com/", "https://graph.facebook.com/")
# What may be sent as a document besides plain text begins so.
_DOCUMENTS = ("application/pdf", "application/msword", "application/vnd.")
_FILES = ("image", "audio", "video", "document", "sticker")


class WhatsApp(Channel):
    name = "whatsapp"
    KEYS: ClassVar[Mapping[str, Check]] = {
        "app_secret": text, "verify_token": text, "token": text, "phone_number_id": text,
        "base_url": text, "path": text,
    }  # fmt: skip
    NEEDS = ("app_secret", "verify_token", "token", "phone_number_id")

    def start(self, intake: Intake) -> None:
        self._intake = intake
        intake.web.route(self.settings.get("path", "/whatsapp"), self.handle)

    def stop(self) -> None:
        return

    def handle(self, request: Request) -> Response:
        if request.method == "GET":
            return self._challenged(request)
        expected = "sha256=" + signing.digest(self.settings["app_secret"], request.body)
        signing.check(expected, request.header("X-Hub-Signature-256"))
        for event in self.events(request.json()):
            self._intake.take(event)
        return answer({"ok": True})

    def _challenged(self, request: Request) -> Response:
        if request.query.get("hub.mode") != "subscribe":
            raise Refused(400, "no subscription")
        signing.check(self.settings["verify_token"], request.query.get("hub.verify_token", ""))
        return Response(body=request.query.get("hub.challenge", "").encode(), kind="text/plain")

    def events(self, given: dict[str, Any]) -> Iterator[Event]:
        """The messages of a notification; read marks, reactions and the like are none."""
        for entry in _dicts(given.get("entry")):
            for change in _dicts(entry.get("changes")):
                value = part(change, "value")
                names = {each.get("wa_id"): part(each, "profile").get("name") for each in _dicts(value.get("contacts"))}
                said = [each for each in _dicts(value.get("messages")) if each.get("type") != "reaction"]
                yield from (self._event(each, names) for each in said)

    def _event(self, said: dict[str, Any], names: dict[Any, Any]) -> Event:
        sender, message_id, kind = word(said.get("from")), word(said.get("id")), str(said.get("type"))
        if sender is None or message_id is None:
            raise Refused(400, "a message without from or id")
        source = Source(self.name, DM, sender, user_id=sender, user_name=word(names.get(sender)))
        content = part(said, kind)
        written = content.get("body") or content.get("caption") or _chosen(kind, content)
        media = (self._file(content),) if kind in _FILES else ()
        if not written and not media:
            written = f"[{kind}]"
        return Event(source, str(written), f"whatsapp:{message_id}", message_id, media)

    def _file(self, content: dict[str, Any]) -> Media:
        number = word(content.get("id"))
        if number is None or not number.isalnum():
            raise Refused(400, "a file without id")
        mime, name = word(content.get("mime_type")), word(content.get("filename"))
        return outward.kept(self._intake, lambda: self._fetched(number), kind_of(mime), mime, name)

    def _fetched(self, number: str) -> bytes:
        place = outward.send(f"{self._base}/{number}", None, self._authorized)
        url = str(place.get("url") or "")
        # The token goes to Meta, and nowhere else; it answered, over TLS, where the file is.
        if not url.startswith((*FILES, self._base + "/")):
            raise NotDelivered("a file of another place", final=True)
        return outward.fetch(url, self._authorized)

    def send(self, to: Source, text: str) -> str:
        return self._sent(to, {"type": "text", "text": {"body": text}})

    def send_file(self, to: Source, path: Path, caption: str) -> str:
        """First the bytes, then a message that names them."""
        guessed = mimetypes.guess_type(path.name)[0] or ""
        mime = guessed if guessed.startswith(_DOCUMENTS) else "text/plain"
        body, kind = outward.multipart(
            ('name="messaging_product"', b"whatsapp"),
            ('name="type"', mime.encode()),
            (f'name="file"; filename="{path.name}"\r\nContent-Type: {mime}', path.read_bytes()),
        )
        headers = {**self._authorized, "Content-Type": kind}
        kept = outward.patiently(lambda: outward.send(f"{self._number}/media", body, headers))
        document = {"id": str(kept.get("id", "")), "filename": path.name, "caption": caption[:1024]}
        return self._sent(to, {"type": "document", "document": document})

    def _sent(self, to: Source, said: dict[str, Any]) -> str:
        document = {"messaging_product": "whatsapp", "recipient_type": "individual", "to": to.chat_id, **said}
        found = outward.patiently(lambda: outward.post(f"{self._number}/messages", document, self._authorized))
        sent = _dicts(found.get("messages"))
        return str(sent[0].get("id", "")) if sent else ""

    @property
    def _number(self) -> str:
        return f"{self._base}/{self.settings['phone_number_id']}"

    @property
    def _base(self) -> str:
        return str(self.settings.get("base_url", BASE_URL)).rstrip("/")

    @property
    def _authorized(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.settings['token']}"}


def _chosen(kind: str, content: dict[str, Any]) -> str:
    """What stands on the button or the line that somebody tapped."""
    if kind == "button":
        return word(content.get("text")) or ""
    tapped = part(content, str(content.get("type"))) if kind == "interactive" else {}
    return word(tapped.get("title")) or ""


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
