"""Slack by its Events API and its slash commands: requests signed `v0`, answers through chat.postMessage and update."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import parse_qs, urlencode

from ...config_file import Check, text
from ..keys import DM, Source
from . import outward, signing
from .base import Channel, Event, Intake, Media, NotDelivered
from .web import Refused, Request, Response, answer
from .webhook import kind_of, part, word

BASE_URL = "https://slack.com/api"
FILES = "https://files.slack.com/"
_HEADERS = ("X-Slack-Request-Timestamp", "X-Slack-Signature")
_MARKED = re.compile(r"<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>")
# Files that Slack has not, or has no longer: noted, so that what was said with them is not lost.
_ELSEWHERE = ("external", "tombstone", "hidden_by_limit")
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
        if _is_form(request):
            self._intake.take(self.command(request.body))
            # What is answered here would be shown; the answer comes as a message.
            return Response(body=b"", kind="text/plain")
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
        return Event(source, _addressed(given, said), f"slack:{team}:{channel}:{stamp}", stamp, media, details)

    def command(self, body: bytes) -> Event:
        """A slash command that the app has registered: Slack's own line takes no other."""
        given = {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}
        channel, user, trigger = given.get("channel_id"), given.get("user_id"), given.get("trigger_id")
        if not channel or not user or not trigger or not given.get("command"):
            raise Refused(400, "a command without command, channel_id, user_id or trigger_id")
        is_dm = given.get("channel_name") == "directmessage" or channel.startswith("D")
        source = Source(self.name, DM if is_dm else "group", channel, user_id=user)
        written = f"{given['command']} {plain(given.get('text', ''))}".strip()
        return Event(source, written, f"slack:{given.get('team_id', '')}:{trigger}", trigger)

    def _file(self, given: dict[str, Any]) -> Media:
        url, mime = str(given.get("url_private") or ""), word(given.get("mimetype"))
        if given.get("is_external") or given.get("mode") in _ELSEWHERE:
            return Media(kind_of(mime), mime_type=mime, name=word(given.get("name")))
        # The token goes to Slack, and nowhere else.
        if not url.startswith((FILES, self._base + "/")):
            raise Refused(400, "a file of another place")
        name = word(given.get("name"))
        return outward.kept(self._intake, lambda: outward.fetch(url, self._authorized), kind_of(mime), mime, name)

    def send(self, to: Source, text: str) -> str:
        thread = {"thread_ts": to.thread_id} if to.thread_id else {}
        document = {"channel": to.chat_id, "text": escaped(text), **thread}
        return str(self._call("chat.postMessage", document).get("ts", ""))

    def edit(self, to: Source, message_id: str, text: str) -> None:
        self._call("chat.update", {"channel": to.chat_id, "ts": message_id, "text": escaped(text)})

    def measure(self, text: str) -> int:
        return len(escaped(text))

    def send_file(self, to: Source, path: Path, caption: str) -> str:
        """Ask for a place, bring the bytes there, and tell the chat."""
        data = path.read_bytes()
        place = self._form("files.getUploadURLExternal", {"filename": path.name, "length": str(len(data))})
        url, number = str(place.get("upload_url") or ""), str(place.get("file_id") or "")
        if not url.startswith((FILES, self._base + "/")):
            raise NotDelivered("a place for files that is not Slack's", final=True)
        outward.patiently(lambda: outward.fetch(url, {"Content-Type": "application/octet-stream"}, data))
        thread = {"thread_ts": to.thread_id} if to.thread_id else {}
        files = [{"id": number, "title": path.name}]
        told = {"channel_id": to.chat_id, "initial_comment": escaped(caption), "files": files, **thread}
        self._call("files.completeUploadExternal", told)
        return number

    def _form(self, method: str, fields: dict[str, str]) -> dict[str, Any]:
        """A method that takes a form."""
        headers = {**self._authorized, "Content-Type": "application/x-www-form-urlencoded"}
        body = urlencode(fields).encode()
        return self._patiently(lambda: outward.send(f"{self._base}/{method}", body, headers))

    def _call(self, method: str, document: dict[str, Any]) -> dict[str, Any]:
        return self._patiently(lambda: outward.post(f"{self._base}/{method}", document, self._authorized))

    def _patiently(self, ask: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        def attempt() -> dict[str, Any]:
            found = ask()
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


def _is_form(request: Request) -> bool:
    kind = request.header("Content-Type")
    return kind.startswith("application/x-www-form-urlencoded") and not request.body.startswith(b"{")


def plain(text: str) -> str:
    """What a person typed: addresses without their marks, and the three signs that Slack writes as entities."""
    return html.unescape(_MARKED.sub(_unmarked, text))


def _unmarked(found: re.Match[str]) -> str:
    mark, inner, label = found.groups()
    if mark == "@":
        return found[0]
    return inner if not mark else ("#" if mark == "#" else "@") + (label or inner)


def escaped(text: str) -> str:
    """The text so that nothing in it is a mark: an answer must not call everybody in a channel."""
    return html.escape(text, quote=False)


def _addressed(given: dict[str, Any], said: dict[str, Any]) -> str:
    """The text without the name of the bot before it: in channels a command comes behind a mention."""
    text = str(said.get("text") or "").strip()
    known = [each for each in given.get("authorizations") or [] if isinstance(each, dict)]
    ours = [f"<@{each.get('user_id')}>" for each in known if each.get("is_bot")]
    mark = next((each for each in ours if text.startswith(each)), "")
    if not mark and said.get("type") == "app_mention":
        mark = text.partition(">")[0] + ">" if text.startswith("<@") else ""
    return plain(text.removeprefix(mark).strip())
