"""What the platforms do: each brings messages in as recorded payloads and remembers what a chat was sent."""

from __future__ import annotations

import base64
import hmac
import json
import re
import time
from hashlib import sha256
from typing import Any, ClassVar
from urllib.error import HTTPError
from urllib.parse import parse_qs, unquote, urlencode
from urllib.request import Request, urlopen

from http_parts import Server

TOKEN = "123456:SECRET-of-the-bot"
SECRET = "SECRET-of-the-hook"


def posted(url: str, body: bytes, headers: dict[str, str]) -> int:
    """The status of an answer; 0 when nobody answers."""
    request = Request(url, body, {"Content-Type": "application/json", **headers})
    try:
        with urlopen(request, timeout=30) as response:
            return int(response.status)
    except HTTPError as exc:
        with exc:
            return exc.code
    except OSError:
        return 0


class Platform(Server):
    """The texts a chat shows, in the order they came; those that were changed as they are now."""

    name = "none"
    can_edit = True

    def __init__(self) -> None:
        super().__init__()
        self.shown: dict[str, str] = {}
        self.refuse: list[float] = []
        # Files that a chat was sent, by name.
        self.received: dict[str, bytes] = {}
        self.gateway = ""

    def heard(self) -> list[str]:
        with self.lock:
            return list(self.shown.values())

    def show(self, text: str) -> str:
        with self.lock:
            number = str(1000 + len(self.shown))
            self.shown[number] = text
            return number

    def say(self, number: int, text: str) -> int:
        """Deliver a message; number 7 delivered twice is the same message."""
        raise NotImplementedError

    def config(self) -> dict[str, Any]:
        raise NotImplementedError


def timed_headers(
    secret: str, version: str, names: tuple[str, str], body: bytes, at: int | None = None
) -> dict[str, str]:
    now = str(int(time.time()) if at is None else at)
    digest = hmac.new(secret.encode(), f"{version}:{now}:".encode() + body, sha256).hexdigest()
    return {names[0]: now, names[1]: f"{version}={digest}"}


HOOK = ("X-Sessiondb-Timestamp", "X-Sessiondb-Signature")
SLACK = ("X-Slack-Request-Timestamp", "X-Slack-Signature")


class WebhookPlatform(Platform):
    name = "webhook"
    can_edit = False

    def config(self) -> dict[str, Any]:
        return {"secret": SECRET, "reply_url": f"{self.url}/replies"}

    def payload(self, number: int, text: str) -> dict[str, Any]:
        return {"id": f"m{number}", "chat": {"id": "c1"}, "user": {"id": "u1", "name": "Ann"}, "text": text}

    def say(self, number: int, text: str) -> int:
        body = json.dumps(self.payload(number, text)).encode()
        return posted(f"{self.gateway}/webhook", body, timed_headers(SECRET, "v1", HOOK, body))

    def respond(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        stamp = headers[HOOK[0].lower()]
        signature = timed_headers(SECRET, "v1", HOOK, body, int(stamp))[HOOK[1]]
        if headers[HOOK[1].lower()] != signature:
            return 401, {}, {}
        given = json.loads(body)
        with self.lock:
            self.shown[given["id"]] = given["text"]
            if "file" in given:
                self.received[given["file"]["name"]] = base64.b64decode(given["file"]["data"])
        return 200, {}, {}


class SlackPlatform(Platform):
    name = "slack"

    def __init__(self) -> None:
        super().__init__()
        self.uploads: dict[str, tuple[str, int, bytes]] = {}

    def config(self) -> dict[str, Any]:
        return {"signing_secret": SECRET, "token": TOKEN, "base_url": f"{self.url}/api"}

    def payload(self, number: int, text: str) -> dict[str, Any]:
        event = {
            "client_msg_id": f"id-{number}", "type": "message", "text": text, "user": "U061F7AUR",
            "ts": f"1741166100.{number:06}", "team": "T061EG9R6", "channel": "D024BE91L", "channel_type": "im",
            "event_ts": f"1741166100.{number:06}",
        }  # fmt: skip
        return {
            "token": "legacy", "team_id": "T061EG9R6", "api_app_id": "A0MDYCDME", "event": event,
            "type": "event_callback", "event_id": f"Ev{number:08}", "event_time": 1741166100 + number,
        }  # fmt: skip

    def send(self, document: dict[str, Any], headers: dict[str, str] | None = None) -> int:
        body = json.dumps(document).encode()
        signed = timed_headers(SECRET, "v0", SLACK, body)
        return posted(f"{self.gateway}/slack/events", body, {**signed, **(headers or {})})

    def say(self, number: int, text: str) -> int:
        return self.send(self.payload(number, text))

    def commanded(self, number: int, command: str, text: str, **fields: str) -> int:
        """A slash command that the app has registered."""
        given = {
            "token": "legacy", "team_id": "T061EG9R6", "team_domain": "example", "channel_id": "D024BE91L",
            "channel_name": "directmessage", "user_id": "U061F7AUR", "user_name": "ann", "command": command,
            "text": text, "api_app_id": "A0MDYCDME", "response_url": "https://hooks.slack.com/commands/1",
            "trigger_id": f"13345224609.738474920.{number}", **fields,
        }  # fmt: skip
        body = urlencode(given).encode()
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        return posted(f"{self.gateway}/slack/events", body, {**timed_headers(SECRET, "v0", SLACK, body), **form})

    def _uploaded(self, path: str, body: bytes) -> tuple[int, Any, dict[str, str]]:
        """A place is asked for, bytes are brought there, then the file is shared."""
        if path == "/api/files.getUploadURLExternal":
            given = {name: values[0] for name, values in parse_qs(body.decode()).items()}
            self.uploads["F7"] = (given["filename"], int(given["length"]), b"")
            return 200, {"ok": True, "upload_url": f"{self.url}/api/upload/v1/F7", "file_id": "F7"}, {}
        if path.startswith("/api/upload/v1/"):
            name, length, _ = self.uploads[path.rpartition("/")[2]]
            self.uploads[path.rpartition("/")[2]] = (name, length, body)
            return 200, b"OK - 1", {"Content-Type": "text/plain"}
        given = json.loads(body)
        name, length, data = self.uploads[given["files"][0]["id"]]
        if len(data) != length or given["channel_id"] != "D024BE91L":
            return 200, {"ok": False, "error": "file_update_failed"}, {}
        with self.lock:
            self.received[name] = data
        return 200, {"ok": True, "files": [{"id": "F7", "title": given["files"][0]["title"]}]}, {}

    def respond(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        if path.startswith("/api/upload/"):
            return self._uploaded(path, body)
        if headers.get("authorization") != f"Bearer {TOKEN}":
            return 200, {"ok": False, "error": "invalid_auth"}, {}
        if path in ("/api/files.getUploadURLExternal", "/api/files.completeUploadExternal"):
            return self._uploaded(path, body)
        if self.refuse:
            return 429, {"ok": False, "error": "ratelimited"}, {"Retry-After": str(self.refuse.pop())}
        if path.startswith("/api/files/"):
            return 200, b"picture of Slack", {"Content-Type": "image/png"}
        given = json.loads(body)
        if path == "/api/chat.update":
            with self.lock:
                self.shown[given["ts"]] = given["text"]
            return 200, {"ok": True, "ts": given["ts"]}, {}
        assert path == "/api/chat.postMessage"
        return 200, {"ok": True, "channel": given["channel"], "ts": self.show(given["text"])}, {}


class WhatsAppPlatform(Platform):
    name = "whatsapp"
    can_edit = False

    def config(self) -> dict[str, Any]:
        return {
            "app_secret": SECRET, "verify_token": "verify-me", "token": TOKEN,
            "phone_number_id": "106540352242922", "base_url": f"{self.url}/v21.0",
        }  # fmt: skip

    def payload(self, number: int, text: str) -> dict[str, Any]:
        message = {
            "from": "16505551234", "id": f"wamid.HBgL{number:04}", "timestamp": "1741166123",
            "type": "text", "text": {"body": text},
        }  # fmt: skip
        return self.around(message)

    def around(self, message: dict[str, Any]) -> dict[str, Any]:
        value = {
            "messaging_product": "whatsapp",
            "metadata": {"display_phone_number": "15550783881", "phone_number_id": "106540352242922"},
            "contacts": [{"profile": {"name": "Ann"}, "wa_id": "16505551234"}],
            "messages": [message],
        }
        entry = {"id": "102290129340398", "changes": [{"value": value, "field": "messages"}]}
        return {"object": "whatsapp_business_account", "entry": [entry]}

    def send(self, document: dict[str, Any]) -> int:
        body = json.dumps(document).encode()
        signature = "sha256=" + hmac.new(SECRET.encode(), body, sha256).hexdigest()
        return posted(f"{self.gateway}/whatsapp", body, {"X-Hub-Signature-256": signature})

    def say(self, number: int, text: str) -> int:
        return self.send(self.payload(number, text))

    def respond(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        if headers.get("authorization") != f"Bearer {TOKEN}":
            return 401, {"error": {"code": 190}}, {}
        if path == "/v21.0/media77":
            return 200, {"url": f"{self.url}/v21.0/bytes", "mime_type": "image/jpeg"}, {}
        if path == "/v21.0/bytes":
            return 200, b"picture of WhatsApp", {"Content-Type": "image/jpeg"}
        if path == "/v21.0/106540352242922/media":
            assert _fields(body, headers["content-type"]) == {"messaging_product": "whatsapp", "type": "text/plain"}
            with self.lock:
                self.received |= _files(body)
            return 200, {"id": "media99"}, {}
        assert path == "/v21.0/106540352242922/messages"
        given = json.loads(body)
        if given["type"] == "document":
            assert given["document"]["id"] == "media99"
            said = given["document"]["caption"]
        else:
            said = given["text"]["body"]
        return 200, {"messaging_product": "whatsapp", "messages": [{"id": self.show(said)}]}, {}


class DiscordPlatform(Platform):
    name = "discord"

    def __init__(self) -> None:
        super().__init__()
        self.acknowledged: list[str] = []

    def config(self) -> dict[str, Any]:
        return {"secret": SECRET, "token": TOKEN, "base_url": f"{self.url}/api/v10"}

    def payload(self, number: int, text: str) -> dict[str, Any]:
        message = {
            "id": f"13469012{number:09}", "channel_id": "290926798999357250", "content": text, "type": 0,
            "author": {"id": "53908099506183680", "username": "ann", "global_name": "Ann", "discriminator": "0"},
            "timestamp": "2025-03-05T09:15:23.000000+00:00", "attachments": [], "mentions": [], "embeds": [],
        }  # fmt: skip
        return {"t": "MESSAGE_CREATE", "s": number, "op": 0, "d": message}

    def say(self, number: int, text: str) -> int:
        return self.send(self.payload(number, text))

    def send(self, payload: dict[str, Any]) -> int:
        body = json.dumps(payload).encode()
        return posted(f"{self.gateway}/discord", body, timed_headers(SECRET, "v1", HOOK, body))

    def commanded(self, number: int, name: str, *values: str) -> int:
        """A slash command that the application has registered."""
        options = [{"type": 3, "name": f"option{at}", "value": value} for at, value in enumerate(values)]
        interaction = {
            "id": f"8460{number:09}", "application_id": "775799577604522054", "type": 2, "version": 1,
            "token": f"aW50/ZXJh{number}", "channel_id": "290926798999357250",
            "user": {"id": "53908099506183680", "username": "ann", "global_name": "Ann"},
            "data": {"id": "866818195033292851", "type": 1, "name": name, "options": options},
        }  # fmt: skip
        return self.send({"t": "INTERACTION_CREATE", "s": number, "op": 0, "d": interaction})

    def respond(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        if headers.get("authorization") != f"Bot {TOKEN}":
            return 401, {}, {}
        base = "/api/v10/channels/290926798999357250"
        if path.startswith("/api/v10/interactions/"):
            with self.lock:
                self.acknowledged.append(path)
            return 204, b"", {}
        if path == f"{base}/typing":
            return 204, b"", {}
        if headers["content-type"].startswith("multipart/"):
            with self.lock:
                self.received |= _files(body)
            given = json.loads(_fields(body, headers["content-type"])["payload_json"])
        else:
            given = json.loads(body)
        if method == "PATCH":
            with self.lock:
                self.shown[path.rpartition("/")[2]] = given["content"]
            return 200, {"id": path.rpartition("/")[2]}, {}
        assert path == f"{base}/messages"
        return 200, {"id": self.show(given["content"])}, {}


class TelegramPlatform(Platform):
    """The Bot API: updates wait until they are confirmed by an offset; a bot has one listener."""

    name = "telegram"
    chat: ClassVar[dict[str, Any]] = {"id": 42, "type": "private", "first_name": "Ann"}

    def __init__(self) -> None:
        super().__init__()
        self.updates: list[dict[str, Any]] = []
        self.calls: list[str] = []
        self.sent: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}
        self.hook: dict[str, str] = {}
        self.pollers = 0
        # What the next requests for updates are answered instead.
        self.nonsense: list[tuple[int, Any, dict[str, str]]] = []
        self._number = 500

    def config(self) -> dict[str, Any]:
        return {"token": TOKEN, "base_url": self.url, "poll_seconds": 1}

    def message(self, number: int, text: str) -> dict[str, Any]:
        sender = {"id": 7, "is_bot": False, "first_name": "Ann", "language_code": "en"}
        message = {"message_id": number, "from": sender, "chat": self.chat, "date": 1741166123, "text": text}
        if text.startswith("/"):
            message["entities"] = [{"type": "bot_command", "offset": 0, "length": len(text.split()[0])}]
        return message

    def say(self, number: int, text: str) -> int:
        return self.deliver(self.message(number, text))

    def deliver(self, message: dict[str, Any]) -> int:
        """As an update with a new number: the message tells that it is the same."""
        with self.lock:
            self._number += 1
            update = {"update_id": self._number, "message": message}
            if not self.hook:
                self.updates.append(update)
                return 200
        header = {"X-Telegram-Bot-Api-Secret-Token": self.hook["secret_token"]}
        return posted(f"{self.gateway}/telegram", json.dumps(update).encode(), header)

    def respond(self, method: str, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        path = unquote(path)
        if path.startswith(f"/file/bot{TOKEN}/"):
            return 200, self.files[path.rpartition("/")[2]], {"Content-Type": "application/octet-stream"}
        found = re.fullmatch(rf"/bot{TOKEN}/(\w+)", path)
        if found is None:
            return 401, {"ok": False, "error_code": 401, "description": "Unauthorized"}, {}
        self.calls.append(found[1])
        if found[1] == "sendDocument":
            with self.lock:
                self.received |= _files(body)
        return self._answer(found[1], _fields(body, headers.get("content-type", "")))

    def _answer(self, name: str, given: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        if name == "getMe":
            return _ok({"id": 1, "is_bot": True, "first_name": "Test", "username": "test_bot"})
        if name in ("setWebhook", "deleteWebhook"):
            self.hook = given if name == "setWebhook" else {}
            return _ok(True)
        if name == "getUpdates" and self.nonsense:
            return self.nonsense.pop()
        if name == "getUpdates":
            return self._updates(int(given.get("offset") or 0), float(given.get("timeout") or 0))
        if name == "getFile" and given["file_id"] not in self.files:
            return 400, {"ok": False, "error_code": 400, "description": "Bad Request: file is too big"}, {}
        if name == "getFile":
            return _ok({"file_id": given["file_id"], "file_unique_id": "u", "file_path": given["file_id"]})
        if name == "sendChatAction":
            return _ok(True)
        return self._written(name, given)

    def _written(self, name: str, given: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        if self.refuse:
            wait = self.refuse.pop()
            told = {
                "ok": False,
                "error_code": 429,
                "description": "Too Many Requests",
                "parameters": {"retry_after": wait},
            }
            return 429, told, {"Retry-After": str(wait)}
        text = given.get("text", given.get("caption", ""))
        if len(text.encode("utf-16-le")) // 2 > 4096:
            return 400, {"ok": False, "error_code": 400, "description": "Bad Request: message is too long"}, {}
        self.sent.append({"method": name, **given})
        number = given.get("message_id")
        if name == "editMessageText" and number is not None:
            if number not in self.shown:
                told = "Bad Request: message to edit not found"
                return 400, {"ok": False, "error_code": 400, "description": told}, {}
            with self.lock:
                if self.shown[number] == text:
                    return (
                        400,
                        {"ok": False, "error_code": 400, "description": "Bad Request: message is not modified"},
                        {},
                    )
                self.shown[number] = text
        else:
            number = self.show(text)
        return _ok(
            {
                "message_id": int(number),
                "date": 1741166123,
                "chat": {"id": int(given["chat_id"]), "type": "private"},
                "text": text,
            }
        )

    def _updates(self, offset: int, timeout: float) -> tuple[int, Any, dict[str, str]]:
        with self.lock:
            if self.pollers:
                return (
                    409,
                    {"ok": False, "error_code": 409, "description": "Conflict: terminated by other getUpdates request"},
                    {},
                )
            self.pollers += 1
        try:
            deadline = time.monotonic() + timeout
            while True:
                with self.lock:
                    self.updates = [each for each in self.updates if each["update_id"] >= offset]
                    found = list(self.updates)
                if found or time.monotonic() > deadline:
                    return _ok(found)
                time.sleep(0.02)
        finally:
            with self.lock:
                self.pollers -= 1


def _ok(result: Any) -> tuple[int, Any, dict[str, str]]:
    return 200, {"ok": True, "result": result}, {}


def _fields(body: bytes, kind: str) -> dict[str, str]:
    if kind.startswith("application/json"):
        return {name: str(value) for name, value in json.loads(body).items()}
    if kind.startswith("multipart/"):
        found = re.findall(rb'name="(\w+)"\r\n(?:Content-Type: [a-z]+/[a-z]+\r\n)?\r\n(.*?)\r\n--', body, re.DOTALL)
        return {name.decode(): value.decode() for name, value in found}
    return {name: values[0] for name, values in parse_qs(body.decode(), keep_blank_values=True).items()}


def _files(body: bytes) -> dict[str, bytes]:
    """The files of a form, by name."""
    found = re.findall(rb'filename="([^"]+)"\r\n(?:[\w-]+: [^\r]+\r\n)*\r\n(.*?)\r\n--', body, re.DOTALL)
    return {name.decode(): data for name, data in found}


PLATFORMS = (TelegramPlatform, WebhookPlatform, SlackPlatform, WhatsAppPlatform, DiscordPlatform)
