"""Telegram by python-telegram-bot: long polling or webhook; private chats, groups and topics; files by path and hash.

Updates are asked for here, not by the package's own updater: that one tells Telegram "taken" before anything is stored.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar, TypeVar

from ...config_file import Check, seconds, text
from ...errors import Invalid, MissingExtra
from ..keys import DM, Source
from . import outward, signing
from .base import Channel, Event, Intake, Media, NotDelivered
from .web import Request, Response, answer

logger = logging.getLogger("sessiondb.gateway.telegram")
T = TypeVar("T")
BASE_URL = "https://api.telegram.org"
_ALLOWED = ["message"]
# Seconds for all updates of one batch to be stored; those that take longer are asked for again.
_PATIENCE = 20.0
_STANDBY = 3.0
_LONGEST_CALL = 90.0
_KINDS = {
    "document": "file", "voice": "audio", "audio": "audio", "video": "video",
    "video_note": "video", "animation": "video", "sticker": "image",
}  # fmt: skip


def _mode(value: Any) -> str:
    if value not in ("polling", "webhook"):
        raise ValueError("polling or webhook")
    return str(value)


class Telegram(Channel):
    name = "telegram"
    KEYS: ClassVar[Mapping[str, Check]] = {
        "token": text, "base_url": text, "mode": _mode, "poll_seconds": seconds,
        "webhook_url": text, "secret": text, "path": text,
    }  # fmt: skip
    NEEDS = ("token",)
    can_edit = True

    def __init__(self, settings: Mapping[str, Any]) -> None:
        super().__init__(settings)
        self._telegram = _package()
        if self._is_hooked and not (settings.get("webhook_url") and settings.get("secret")):
            raise Invalid("channels.telegram: mode webhook needs webhook_url and secret")
        base = str(settings.get("base_url", BASE_URL)).rstrip("/")
        self._bot = self._telegram.Bot(
            settings["token"], base_url=f"{base}/bot", base_file_url=f"{base}/file/bot",
            request=_request(), get_updates_request=_request(),
        )  # fmt: skip
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(ThreadPoolExecutor(16, "sessiondb-telegram"))
        self._thread = Thread(target=self._loop.run_forever, name="sessiondb-telegram", daemon=True)
        self._stopping = False

    @property
    def _is_hooked(self) -> bool:
        return self.settings.get("mode") == "webhook"

    def measure(self, text: str) -> int:
        return len(text.encode("utf-16-le", "surrogatepass")) // 2

    # --- from the start to the end ---

    def start(self, intake: Intake) -> None:
        self._intake = intake
        self._thread.start()
        if self._is_hooked:
            intake.web.route(self.settings.get("path", "/telegram"), self.handle)
        self._running = asyncio.run_coroutine_threadsafe(self._run(), self._loop)

    def stop(self) -> None:
        """Ask for no more updates; what is taken can still be answered."""
        self._stopping = True
        self._running.cancel()

    async def _run(self) -> None:
        await self._until_done(self._ready)
        if not self._is_hooked:
            await self._poll()

    async def _ready(self) -> None:
        await self._bot.initialize()
        if self._is_hooked:
            url, secret = self.settings["webhook_url"], self.settings["secret"]
            await self._bot.set_webhook(url, secret_token=secret, allowed_updates=_ALLOWED)
        else:
            await self._bot.delete_webhook()

    async def _until_done(self, attempt: Any) -> Any:
        """Once more until Telegram answers; another process that polls keeps this one waiting."""
        while True:
            try:
                return await attempt()
            except Exception as exc:  # noqa: BLE001 - what Telegram answers may be anything; listening must go on
                told = _translated(self._telegram, exc)
                logger.warning("waits", extra={"fields": {"channel": self.name, "error": type(exc).__name__}})
                await asyncio.sleep(told.wait if told.wait is not None else _STANDBY)

    # --- what comes in ---

    async def _poll(self) -> None:
        offset: int | None = None
        wait = int(self.settings.get("poll_seconds", 30))
        while not self._stopping:
            updates = await self._until_done(
                lambda offset=offset: self._bot.get_updates(offset=offset, timeout=wait, allowed_updates=_ALLOWED)
            )
            if updates:
                offset = await self._stored(updates)

    async def _stored(self, updates: Any) -> int:
        """Take all updates, chats side by side; the number of the first that Telegram shall send again."""
        chats: dict[Any, list[Any]] = {}
        for update in updates:
            chats.setdefault(update.effective_chat.id if update.effective_chat else None, []).append(update)
        missing = {update.update_id for update in updates}
        tasks = [asyncio.create_task(self._chat(each, missing)) for each in chats.values()]
        await asyncio.wait(tasks, timeout=_PATIENCE)
        if missing:
            await asyncio.sleep(1.0)
        return int(min(missing, default=updates[-1].update_id + 1))

    async def _chat(self, updates: list[Any], missing: set[int]) -> None:
        for update in updates:
            try:
                event = await self._event(update)
                if event is not None:
                    await asyncio.to_thread(self._intake.take, event)
            except Exception as exc:  # noqa: BLE001 - whatever fails, Telegram is asked for it again, and others go on
                fields = {"channel": self.name, "error": type(exc).__name__}
                logger.warning("not taken", extra={"fields": fields})
                # What no store ever takes is passed by; all else is asked for again.
                if not isinstance(exc, Invalid):
                    return
            missing.discard(update.update_id)

    def handle(self, request: Request) -> Response:
        signing.check(self.settings["secret"], request.header("X-Telegram-Bot-Api-Secret-Token"))
        update = self._telegram.Update.de_json(request.json(), self._bot)
        event = self._called(self._event(update))
        if event is not None:
            self._intake.take(event)
        return answer({"ok": True})

    async def _event(self, update: Any) -> Event | None:
        """The message of an update; None for what nobody wrote, and for commands to other bots."""
        message = update.message
        if message is None or message.from_user is None or message.from_user.is_bot:
            return None
        written = self._addressed(message.text or message.caption or "")
        media = await self._files(message)
        if written is None or (not written and not media):
            return None
        key = f"telegram:{message.chat.id}:{message.message_id}"
        return Event(source_of(message), written, key, str(message.message_id), media)

    def _addressed(self, written: str) -> str | None:
        """`/title@thisbot x` is `/title x`; for another bot it is None."""
        first, blank, rest = written.partition(" ")
        command, at, name = first.partition("@")
        if not first.startswith("/") or not at:
            return written
        return command + blank + rest if name.lower() == (self._bot.username or "").lower() else None

    async def _files(self, message: Any) -> tuple[Media, ...]:
        found = [(message.photo[-1], "image")] if message.photo else []
        found += [(getattr(message, name), kind) for name, kind in _KINDS.items() if getattr(message, name, None)]
        # An animation comes as a document, too.
        unique = {each.file_unique_id: (each, kind) for each, kind in found}
        return tuple([await self._file(each, kind) for each, kind in unique.values()])

    async def _file(self, given: Any, kind: str) -> Media:
        mime, name = getattr(given, "mime_type", None), getattr(given, "file_name", None)
        try:
            file = await self._bot.get_file(given.file_id)
            data = bytes(await file.download_as_bytearray())
        except self._telegram.error.TelegramError as exc:
            if not _translated(self._telegram, exc).final:
                raise
            # Too large for bots, or gone: the message must not wait for it.
            return Media(kind, mime_type=mime, name=name)
        return await asyncio.to_thread(self._intake.keep, data, kind, mime_type=mime, name=name)

    # --- what goes out ---

    def send(self, to: Source, text: str) -> str:
        return self._sent(lambda: self._bot.send_message(text=text, **_where(to)))

    def edit(self, to: Source, message_id: str, text: str) -> None:
        where = {"chat_id": _where(to)["chat_id"], "message_id": int(message_id)}
        self._patiently(lambda: self._bot.edit_message_text(text=text, **where))

    def typing(self, to: Source) -> None:
        self._call(self._bot.send_chat_action(action="typing", **_where(to)))

    def send_file(self, to: Source, path: Path, caption: str) -> str:
        return self._sent(lambda: self._bot.send_document(document=path, caption=caption[:1024], **_where(to)))

    def _sent(self, make: Any) -> str:
        message = self._patiently(make)
        return str(message.message_id)

    def _patiently(self, make: Any) -> Any:
        return outward.patiently(lambda: self._call(make()))

    def _call(self, coroutine: Coroutine[Any, Any, T]) -> T | None:
        """Run in the loop. Raises NotDelivered; a change that changes nothing is none."""
        try:
            return self._called(coroutine)
        except self._telegram.error.TelegramError as exc:
            if "not modified" in str(exc).lower():
                return None
            raise _translated(self._telegram, exc) from None

    def _called(self, coroutine: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result(_LONGEST_CALL)
        except TookTooLong:
            future.cancel()
            raise NotDelivered("Telegram did not answer in time") from None


def source_of(message: Any) -> Source:
    chat, user = message.chat, message.from_user
    thread = message.message_thread_id if message.is_topic_message else None
    return Source(
        "telegram",
        DM if chat.type == "private" else "group",
        str(chat.id),
        None if thread is None else str(thread),
        str(user.id),
        chat_name=chat.title,
        user_name=user.full_name,
    )


def _where(to: Source) -> dict[str, Any]:
    thread = {"message_thread_id": int(to.thread_id)} if to.thread_id else {}
    return {"chat_id": int(to.chat_id or 0), **thread}


def _translated(telegram: Any, error: Exception) -> NotDelivered:
    kind = f"Telegram refused ({type(error).__name__})"
    if isinstance(error, telegram.error.RetryAfter):
        wait = error.retry_after
        return NotDelivered(kind, wait.total_seconds() if isinstance(wait, timedelta) else float(wait))
    refused = telegram.error.BadRequest, telegram.error.Forbidden, telegram.error.InvalidToken
    return NotDelivered(kind, final=isinstance(error, refused))


def _request() -> Any:
    from telegram.request import HTTPXRequest

    return HTTPXRequest(connection_pool_size=32, pool_timeout=20.0, read_timeout=20.0, connect_timeout=10.0)


def _package() -> Any:
    try:
        import telegram
        import telegram.error
    except ImportError:
        raise MissingExtra("Telegram", "telegram") from None
    return telegram
