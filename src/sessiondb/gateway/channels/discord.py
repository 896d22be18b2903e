"""Discord: dispatches of its gateway, handed on by a bridge as signed requests; answers through REST.

MESSAGE_CREATE is what people write, INTERACTION_CREATE a slash command that the application has registered. The bridge
is whatever holds the websocket; it posts each payload as it came, signed as for the webhook channel.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote

from ...config_file import Check, text
from ..keys import DM, Source
from . import outward
from .base import Event, Media, NotDelivered
from .web import Refused
from .webhook import Webhook, kind_of, part, word

logger = logging.getLogger("sessiondb.gateway.discord")
BASE_URL = "https://discord.com/api/v10"
# Plain messages and replies; the others tell of joins, pins and the like.
_WRITTEN = (None, 0, 19)
_COMMAND = 2
# An answer to an interaction that only the person sees.
_SEEN, _PRIVATE = 4, 64
# An answer calls nobody, whatever it says.
_NOBODY: dict[str, Any] = {"allowed_mentions": {"parse": []}}
FILES = ("https://cdn.discordapp.com/", "https://media.discordapp.net/")


class Discord(Webhook):
    name = "discord"
    KEYS: ClassVar[Mapping[str, Check]] = {"secret": text, "token": text, "base_url": text, "path": text}
    NEEDS = ("secret", "token")
    longest = 2000
    can_edit = True

    def _take(self, given: dict[str, Any]) -> None:
        event = self.dispatched(given)
        if event is not None:
            self._intake.take(event)

    def dispatched(self, payload: dict[str, Any]) -> Event | None:
        """The message of a gateway payload; None for other payloads, and for what programs wrote."""
        said = part(payload, "d")
        if payload.get("op") != 0:
            return None
        if payload.get("t") == "INTERACTION_CREATE" and said.get("type") == _COMMAND:
            return self._command(said)
        return self._message(said) if payload.get("t") == "MESSAGE_CREATE" else None

    def _message(self, said: dict[str, Any]) -> Event | None:
        author = part(said, "author")
        channel, message_id, user = word(said.get("channel_id")), word(said.get("id")), word(author.get("id"))
        if author.get("bot") or said.get("webhook_id") or said.get("type") not in _WRITTEN:
            return None
        if channel is None or message_id is None or user is None:
            raise Refused(400, "a message without channel, id or author")
        name = word(author.get("global_name")) or word(author.get("username"))
        source = Source(self.name, "group" if said.get("guild_id") else DM, channel, user_id=user, user_name=name)
        files = said.get("attachments") or []
        media = tuple(self._attachment(each) for each in files if isinstance(each, dict))
        return Event(source, _addressed(said), f"discord:{message_id}", message_id, media)

    def _command(self, given: dict[str, Any]) -> Event:
        asked, user = part(given, "data"), part(part(given, "member"), "user") or part(given, "user")
        channel, number, token = word(given.get("channel_id")), word(given.get("id")), word(given.get("token"))
        name, person = word(asked.get("name")), word(user.get("id"))
        if not (channel and number and number.isalnum() and token and name and person):
            raise Refused(400, "a command without channel, id, token, name or user")
        values = [word(each.get("value")) for each in asked.get("options") or [] if isinstance(each, dict)]
        written = " ".join([f"/{name}", *filter(None, values)])
        self._acknowledge(number, token, written)
        known_as = word(user.get("global_name")) or word(user.get("username"))
        kind = "group" if given.get("guild_id") else DM
        source = Source(self.name, kind, channel, user_id=person, user_name=known_as)
        return Event(source, written, f"discord:{number}", number)

    def _acknowledge(self, number: str, token: str, written: str) -> None:
        """Within three seconds, or Discord tells the person that nobody is there; the answer comes as a message."""
        place = f"{self._base}/interactions/{number}/{quote(token, safe='')}/callback"
        document = {"type": _SEEN, "data": {"content": written[:2000], "flags": _PRIVATE}}
        try:
            outward.send(place, json.dumps(document).encode(), {**self._authorized, "Content-Type": "application/json"})
        except NotDelivered as exc:
            logger.warning("not acknowledged", extra={"fields": {"channel": self.name, "error": type(exc).__name__}})

    def _attachment(self, given: dict[str, Any]) -> Media:
        url, mime = str(given.get("url") or ""), word(given.get("content_type"))
        if not url.startswith((*FILES, self._base + "/")):
            raise Refused(400, "a file of another place")
        return outward.kept(
            self._intake, lambda: outward.fetch(url, {}), kind_of(mime), mime, word(given.get("filename"))
        )

    def send(self, to: Source, text: str) -> str:
        found = self._call("POST", self._messages(to), {"content": text, **_NOBODY})
        return str(found.get("id", ""))

    def edit(self, to: Source, message_id: str, text: str) -> None:
        self._call("PATCH", f"{self._messages(to)}/{message_id}", {"content": text, **_NOBODY})

    def typing(self, to: Source) -> None:
        self._call("POST", f"channels/{to.chat_id}/typing", {})

    def send_file(self, to: Source, path: Path, caption: str) -> str:
        """As one body of two parts: what is said, and the file."""
        said = json.dumps({"content": caption, **_NOBODY})
        body, kind = outward.multipart(
            ('name="payload_json"\r\nContent-Type: application/json', said.encode()),
            (f'name="files[0]"; filename="{path.name}"', path.read_bytes()),
        )
        headers = {**self._authorized, "Content-Type": kind}
        url = f"{self._base}/{self._messages(to)}"
        return str(outward.patiently(lambda: outward.send(url, body, headers)).get("id", ""))

    def _messages(self, to: Source) -> str:
        return f"channels/{to.chat_id}/messages"

    def _call(self, method: str, path: str, document: dict[str, Any]) -> dict[str, Any]:
        body, headers = json.dumps(document).encode(), {**self._authorized, "Content-Type": "application/json"}
        return outward.patiently(lambda: outward.send(f"{self._base}/{path}", body, headers, method))

    @property
    def _base(self) -> str:
        return str(self.settings.get("base_url", BASE_URL)).rstrip("/")

    @property
    def _authorized(self) -> dict[str, str]:
        return {"Authorization": f"Bot {self.settings['token']}", "User-Agent": "DiscordBot (sessiondb, 0)"}


def _addressed(said: dict[str, Any]) -> str:
    """The text without the name of a bot before it: in servers many bots only get what is written to them."""
    text = str(said.get("content") or "").strip()
    known = [each for each in said.get("mentions") or [] if isinstance(each, dict) and each.get("bot")]
    marks = [mark for each in known for mark in (f"<@{each.get('id')}>", f"<@!{each.get('id')}>")]
    return text.removeprefix(next((mark for mark in marks if text.startswith(mark)), "")).strip()
