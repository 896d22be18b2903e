"""The browser, driven by keys as a person would, in a terminal that is only in memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

import sessiondb
from sessiondb.db import SessionDB
from sessiondb.tui import listing
from sessiondb.tui.app import BrowserApp
from sessiondb.tui.choice import Choice
from sessiondb.tui.scope import Scope, scopes

DAY = 86_400.0
PATIENCE = 30.0


class User:
    """Presses keys and reads the screen."""

    def __init__(self, app: BrowserApp, pilot: Any) -> None:
        self.app, self.pilot, self.browser = app, pilot, app.browser

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settled()

    async def type(self, text: str) -> None:
        for letter in text:
            await self.pilot.press("space" if letter == " " else letter)
        await self.settled()

    async def settled(self) -> None:
        """Every answer has come and is shown."""
        quiet, until = 0, time.monotonic() + PATIENCE
        while quiet < 2 and time.monotonic() < until:
            await self.pilot.pause()
            screen = self.app.screen
            waiting = self.browser.lists.waiting + self.browser.talks.waiting + self.browser.writes.waiting
            waiting += screen._lane.waiting if hasattr(screen, "_lane") else 0
            quiet = 0 if waiting else quiet + 1
            if waiting:
                await asyncio.sleep(0.005)

    @property
    def lines(self) -> list[str]:
        return ["".join(piece.text for piece in row) for row in self.app.screen._compositor.render_strips()]

    @property
    def screen(self) -> str:
        return "\n".join(self.lines)

    @property
    def status(self) -> str:
        return self.lines[-1].strip()

    @property
    def here(self) -> str | None:
        row = self.browser.sessions.current
        return row.id if row else None

    @property
    def listed(self) -> list[str]:
        return [row.id for row in self.browser.sessions.pages.loaded()]


Act = Callable[[User], Awaitable[object]]
Browse = Callable[..., str | None]


def begun(db: SessionDB, choice: Choice, known: list[Scope]) -> Future[listing.Loaded]:
    early: Future[listing.Loaded] = Future()
    early.set_result(listing.first(db, choice, known))
    return early


@pytest.fixture
def browse() -> Browse:
    """Open the browser on a store, act, and return what it ended with."""

    def run(
        db: SessionDB,
        act: Act,
        *,
        size: tuple[int, int] = (80, 24),
        choice: Choice | None = None,
        directory: Path | str = "/nowhere/at/all",
        read_only: bool = False,
    ) -> str | None:
        async def main() -> str | None:
            known = scopes(str(directory))
            chosen = choice or Choice(scope=len(known) - 1)
            app = BrowserApp(db, chosen, known, read_only=read_only, early=begun(db, chosen, known))
            async with app.run_test(size=size) as pilot:
                user = User(app, pilot)
                await user.settled()
                await act(user)
            return app.return_value

        return asyncio.run(main())

    return run


@pytest.fixture
def db() -> Iterator[SessionDB]:
    """Three conversations, the last active first: c (of another agent), b (with code and tools), a."""
    with sessiondb.open("memory://") as store:
        people(store)
        yield store


def people(store: SessionDB) -> None:
    now = time.time()
    store.create_session("a", "telegram", started_at=now - 5 * DAY)
    store.append_message("a", "user", "東京の天気は？ 👨‍👩‍👧‍👦", timestamp=now - 5 * DAY)
    store.create_session("b", "cli", model="large", cwd="/srv/www", started_at=now - 3 * DAY)
    store.set_session_title("b", "nginx 502")
    code = "\n".join(f"line_{number} = {number}" for number in range(12))
    call = {"id": "1", "type": "function", "function": {"name": "terminal", "arguments": '{"cmd": "nginx -t"}'}}
    store.append_messages("b", [
        {"role": "user", "content": "Why does **nginx** answer 502?", "timestamp": now - 3 * DAY},
        {"role": "assistant", "content": "I look.", "tool_calls": [call], "reasoning": "the socket?",
         "timestamp": now - 3 * DAY},
        {"role": "tool", "content": "test is\nsuccessful", "tool_name": "terminal", "tool_call_id": "1",
         "timestamp": now - 3 * DAY},
        {"role": "assistant", "content": f"Run nginx so:\n```python\n{code}\n```\nor\n```sh\nnginx -s reload\n```",
         "timestamp": now - 3 * DAY},
        {"role": "user", "content": "Thanks, List<String> works.", "timestamp": now - 3 * DAY},
    ])  # fmt: skip
    store.create_session("c", "cli", cwd="/srv/www/shop", origin="claude-code", native_id="n-1", started_at=now - DAY)
    store.append_message("c", "user", "The checkout page forgets.", timestamp=now - DAY)
    store.append_message("c", "assistant", "It keeps its values now.", timestamp=now - DAY)
    store.update_token_counts("a", input_tokens=900)
    store.update_token_counts("b", input_tokens=100)
