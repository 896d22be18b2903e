"""Discord: MESSAGE_CREATE dispatches of its gateway, handed on by a bridge as signed requests; answers through REST.

The bridge is whatever holds the websocket; it posts each payload as it came, signed as for the webhook channel.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from ...config_file import Check, text
from ..keys import DM, Source
from . import outward
from .base import Event, Media
from .web import Refused
from .webhook import Webhook, kind_of, part, word

BASE_URL = "https://discord.com/api/v10"
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
        if payload.get("op") != 0 or payload.get("t") != "MESSAGE_CREATE":
            return None
        author = part(said, "author")
        channel, message_id, user = word(said.get("channel_id")), word(said.get("id")), word(author.get("id"))
        if author.get("bot") or said.get("webhook_id"):
            return None
        if channel is None or message_id is None or user is None:
            raise Refused(400, "a message without channel, id or author")
        name = word(author.get("global_name")) or word(author.get("username"))
        source = Source(self.name, "group" if said.get("guild_id") else DM, channel, user_id=user, user_name=name)
        files = said.get("attachments") or []
        media = tuple(self._attachment(each) for each in files if isinstance(each, dict))
        return Event(source, str(said.get("content") or ""), f"discord:{message_id}", message_id, media)

    def _attachment(self, given: dict[str, Any]) -> Media:
        url, mime = str(given.get("url") or ""), word(given.get("content_type"))
        if not url.startswith((*FILES, self._base + "/")):
            raise Refused(400, "a file of another place")
        return outward.kept(
            self._intake, lambda: outward.fetch(url, {}), kind_of(mime), mime, word(given.get("filename"))
        )

    def send(self, to: Source, text: str) -> str:
        found = self._call("POST", self._messages(to), {"content": text, "allowed_mentions": {"parse": []}})
        return str(found.get("id", ""))

    def edit(self, to: Source, message_id: str, text: str) -> None:
        self._call("PATCH", f"{self._messages(to)}/{message_id}", {"content": text})

    def typing(self, to: Source) -> None:
        self._call("POST", f"channels/{to.chat_id}/typing", {})

    def send_file(self, to: Source, path: Path, caption: str) -> str:
        """As one body of two parts: what is said, and the file."""
        said = json.dumps({"content": caption, "allowed_mentions": {"parse": []}})
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
