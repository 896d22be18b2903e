"""A store to look at: what some weeks with agents may leave behind. The same at every call, but for the day."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .db import SessionDB
from .ids import new_session_id

HOUR = 3600.0
DAY = 24 * HOUR
WEEKS = 6


@dataclass
class Clock:
    """Tells the time of the story; every look takes 20 seconds."""

    now: float = field(default_factory=time.time)

    def __call__(self) -> float:
        self.now += 20
        return self.now


# Source, model, directory, tools, question, answer.
_ROUTINE = (
    ("cli", "claude-sonnet-4-5", "/srv/www", ("terminal", "read_file"), "Rotate the logs of nginx weekly, please.",
     "Done: /etc/logrotate.d/nginx keeps eight weeks, compressed."),
    ("cli", "claude-sonnet-4-5", "/home/ann/shop", ("read_file", "edit_file", "terminal"),
     "The tests of the cart fail since yesterday.", "A rounding error in cart/total.py; prices are cents now."),
    ("cli", "gpt-5-codex", "/home/ann/shop", ("terminal", "edit_file"), "Upgrade the shop to Python 3.13.",
     "It runs on 3.13; two dependencies had to move as well."),
    ("telegram", "gemini-2.5-pro", None, ("web_search",), "Which train to Kyoto on Friday?",
     "The 9:21 Hikari; seats are free, platform 14."),
    ("telegram", "gemini-2.5-pro", None, (), "周末去哪里看红叶？", "东福寺这几天最美，早上去人少。"),
    ("discord", "local-model", None, (), "Summarise the thread about the release, please.",
     "Three open points: the changelog, the icons, the date."),
    ("cron", "gpt-5-codex", "/srv/backup", ("terminal",), "Check the backups of the night.",
     "All 12 backups are there and verified."),
)  # fmt: skip


def write(db: SessionDB, clock: Clock) -> None:
    """Some weeks of routine, then the conversations of the last days. `clock` is that of the store."""
    today = clock.now
    _write_routine(db, clock, today)
    stories: tuple[tuple[float, Callable[[SessionDB, Clock], None]], ...] = (
        (3.1 * DAY, _write_weather),
        (30 * HOUR, _write_imported),
        (26 * HOUR, _write_nginx),
        (2.1 * HOUR, _write_refactoring),
        (5 * 60, _write_question),
    )
    for ago, story in stories:
        clock.now = today - ago
        story(db, clock)


def _write_routine(db: SessionDB, clock: Clock, today: float) -> None:
    chance = random.Random(2025)
    first = today - today % DAY - 7 * WEEKS * DAY
    for day in range(7 * WEEKS - 4):
        weekday = time.gmtime(first + day * DAY).tm_wday
        times = sorted(
            chance.gauss(13.5, 3.5) for _ in range(chance.choice((0, 1, 2, 3) if weekday < 5 else (0, 0, 1)))
        )
        for hour in times:
            clock.now = first + day * DAY + min(max(hour, 0.1), 23.0) * HOUR
            _write_visit(db, clock, chance)


def _write_visit(db: SessionDB, clock: Clock, chance: random.Random) -> None:
    source, model, cwd, tools, question, answer = chance.choice(_ROUTINE)
    asked = db.create_session(new_session_id(clock.now), source, model=model, cwd=cwd)
    calls = [_call(tool, number) for number, tool in enumerate(tools * chance.randint(1, 4))]
    said: list[dict[str, Any]] = [{"role": "user", "content": question, "timestamp": clock()}]
    if calls:
        said.append({"role": "assistant", "content": "I look.", "tool_calls": calls, "timestamp": clock()})
    for call in calls:
        name = call["function"]["name"]
        said.append(
            {"role": "tool", "content": "ok", "tool_name": name, "tool_call_id": call["id"], "timestamp": clock()}
        )
    said.append({"role": "assistant", "content": answer, "timestamp": clock()})
    db.append_messages(asked, said)
    size = chance.randint(1, 9) * (1 + len(calls))
    charged = 0.011 * size if model == "gpt-5-codex" else None
    db.update_token_counts(
        asked,
        310 * size,
        120 * size,
        cache_read_tokens=2100 * size,
        reasoning_tokens=40 * size,
        actual_cost_usd=charged,
    )
    db.end_session(asked, "exit")


def _call(tool: str, number: int) -> dict[str, Any]:
    return {"id": f"call_{number}", "type": "function", "function": {"name": tool, "arguments": "{}"}}


def _write_weather(db: SessionDB, clock: Clock) -> None:
    asked = db.create_session(new_session_id(clock.now), "telegram", model="gemini-2.5-pro", user_id="ann")
    db.append_messages(
        asked,
        [
            {"role": "user", "content": "东京明天的天气怎么样？"},
            {"role": "assistant", "content": "明天东京多云，最高 14 度，带一件外套。"},
        ],
    )
    db.end_session(asked, "idle")


def _write_imported(db: SessionDB, clock: Clock) -> None:
    """What an import of another agent's history leaves: it can be taken up there."""
    native = "5f0c2d1e-7a41-4c53-9a43-d1f6c2b7a905"
    asked = db.create_session(
        new_session_id(clock.now), "cli", model="claude-sonnet-4-5", cwd="/home/ann/shop", origin="claude-code",
        native_id=native,
    )  # fmt: skip
    db.set_session_title(asked, "checkout page")
    db.append_message(asked, "user", "The checkout page forgets the address when I go back.")
    db.append_message(asked, "assistant", "The form was cleared on unload; it keeps its values now.")


def _write_nginx(db: SessionDB, clock: Clock) -> None:
    """A conversation with a tool that grew too long and goes on, compressed, in a new session."""
    first = db.create_session(new_session_id(clock.now), "cli", model="claude-sonnet-4-5", cwd="/srv/www")
    db.set_session_title(first, "nginx 502")
    db.append_message(first, "user", "Why does nginx answer 502 since the last deploy?")
    call = {"id": "call_1", "type": "function", "function": {"name": "terminal", "arguments": '{"cmd": "nginx -t"}'}}
    db.append_message(first, "assistant", "I check the configuration.", tool_calls=[call])
    tested = "nginx: configuration file /etc/nginx/nginx.conf test is successful"
    db.append_message(first, "tool", tested, tool_name="terminal", tool_call_id="call_1")
    db.append_message(first, "assistant", "It is fine, so the upstream is not listening on /run/app.sock.")
    db.update_token_counts(first, input_tokens=5200, output_tokens=340, estimated_cost_usd=0.021)
    second = db.rotate_session(first)
    db.append_message(
        second, "user", "[summary] 502 after the deploy; nginx is fine; the socket is missing.", injected=True
    )
    db.append_message(second, "user", "The service was not restarted. What now?")
    db.append_message(second, "assistant", "Run: systemctl restart app && curl -I http://localhost/")


def _write_refactoring(db: SessionDB, clock: Clock) -> None:
    """A conversation that sends a sub-agent to look something up."""
    asked = db.create_session(new_session_id(clock.now), "cli", model="claude-sonnet-4-5", cwd="/home/ann/shop")
    db.set_session_title(asked, "refactoring auth")
    db.append_message(asked, "user", "Help me refactor src/auth/login.py, please.")
    helper = db.create_session(new_session_id(clock.now), "subagent", parent_session_id=asked)
    db.append_message(helper, "user", "List the callers of login().")
    db.append_message(helper, "assistant", "src/web/views.py:41, src/cli/main.py:12")
    call = {"id": "call_1", "type": "function", "function": {"name": "edit_file", "arguments": "{}"}}
    db.append_message(asked, "assistant", "login() has two callers; I split checking from storing.", tool_calls=[call])
    db.append_message(asked, "tool", "edited", tool_name="edit_file", tool_call_id="call_1")
    db.append_message(asked, "assistant", "Both callers use check() now, and all 41 tests pass.")


def _write_question(db: SessionDB, clock: Clock) -> None:
    asked = db.create_session(new_session_id(clock.now), "cli", model="gemini-2.5-pro")
    # The same key is the same message: a retry after a lost answer stores nothing twice.
    for _ in range(2):
        db.append_message(asked, "user", "Was heißt „Zeitgeist“ auf Englisch?", message_key="turn-1")
