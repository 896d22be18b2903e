"""Slack by its Events API: requests signed `v0`, answers through chat.postMessage and chat.update."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ...config_file import Check, text
from ..keys import DM, Source
from . import outward, signing
from .base import Channel, Event, Intake, Media, NotDelivered
from .web import Refused, Request, Response, answer
from .webhook import kind_of, part, word

BASE_URL = "https://slack.com/api"
FILES = "https://files.slack.com/"
_HEADERS = ("X-Slack-Request-Timestamp", "X-Slack-Signature")
# Of the subtypes of messages those that somebody wrote; edits, joins and the like are not.
_WRITTEN = (None, "file_share", "thread_broadcast", "me_message")


class Slack(Channel):
    name = "slack"
    KEYS: ClassVar[Mapping[str, Check]] = {"signing_secret": text, "token": text, "base_url": text, "path": text}
    NEEDS = ("signing_secret", "token")
    longest = 4000
    can_edit = True

    def start(self, intake: Intake) -> None:
        self._intake = intake
        intake.web.route(self.settings.get("path", "/slack/events"), self.handle)

    def stop(self) -> None:
        return

    def handle(self, request: Request) -> Response:
        signing.check_timed(request, self.settings["signing_secret"], "v0", _HEADERS)
        given = request.json()
        if given.get("type") == "url_verification":
            return answer({"challenge": str(given.get("challenge", ""))})
        event = self.event(given) if given.get("type") == "event_callback" else None
        if event is not None:
            self._intake.take(event)
        return answer({"ok": True})

    def event(self, given: dict[str, Any]) -> Event | None:
        """The message of an event; None for what nobody wrote. A mention comes as two events with one time stamp."""
        said = part(given, "event")
        if said.get("type") not in ("message", "app_mention") or said.get("subtype") not in _WRITTEN:
            return None
        channel, stamp, user = word(said.get("channel")), word(said.get("ts")), word(said.get("user"))
        if said.get("bot_id") or user is None:
            return None
        if channel is None or stamp is None:
            raise Refused(400, "an event without channel or ts")
        kind = DM if said.get("channel_type") == "im" or channel.startswith("D") else "group"
        source = Source(self.name, kind, channel, word(said.get("thread_ts")), user)
        files = said.get("files") or []
        media = tuple(self._file(each) for each in files if isinstance(each, dict))
        team = word(given.get("team_id")) or ""
        details = {"event_id": word(given.get("event_id"))}
        return Event(source, str(said.get("text") or ""), f"slack:{team}:{channel}:{stamp}", stamp, media, details)

    def _file(self, given: dict[str, Any]) -> Media:
        url, mime = str(given.get("url_private") or ""), word(given.get("mimetype"))
        # The token goes to Slack, and nowhere else.
        if not url.startswith((FILES, self._base + "/")):
            raise Refused(400, "a file of another place")
        name = word(given.get("name"))
        return outward.kept(self._intake, lambda: outward.fetch(url, self._authorized), kind_of(mime), mime, name)

    def send(self, to: Source, text: str) -> str:
        thread = {"thread_ts": to.thread_id} if to.thread_id else {}
        return str(self._call("chat.postMessage", {"channel": to.chat_id, "text": text, **thread}).get("ts", ""))

    def edit(self, to: Source, message_id: str, text: str) -> None:
        self._call("chat.update", {"channel": to.chat_id, "ts": message_id, "text": text})

    def _call(self, method: str, document: dict[str, Any]) -> dict[str, Any]:
        def attempt() -> dict[str, Any]:
            found = outward.post(f"{self._base}/{method}", document, self._authorized)
            if not found.get("ok"):
                raise NotDelivered(f"Slack refused: {found.get('error', 'no reason given')}", final=True)
            return found

        return outward.patiently(attempt)

    @property
    def _base(self) -> str:
        return str(self.settings.get("base_url", BASE_URL)).rstrip("/")

    @property
    def _authorized(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.settings['token']}"}
