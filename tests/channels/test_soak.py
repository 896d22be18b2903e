"""All channels for a long time, with gateways that stop and die: descriptors, memory and WAL flat, nothing lost."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from gateways import Gateway, configure, said, until
from model_server import ModelServer
from platforms import DiscordPlatform, Platform, SlackPlatform, TelegramPlatform, WebhookPlatform, WhatsAppPlatform

LONG = os.environ.get("SESSIONDB_TORTURE") == "1"
SECONDS = 1800.0 if LONG else 12.0
LIVES = 20 if LONG else 3
# The first life takes half of the time, so that what grows slowly shows; the others share the rest.
LENGTHS = [SECONDS / 2, *[SECONDS / 2 / (LIVES - 1)] * (LIVES - 1)]
KINDS = (TelegramPlatform, WebhookPlatform, SlackPlatform, WhatsAppPlatform, DiscordPlatform)


def measured(gateway: Gateway, home: Path) -> dict[str, float]:
    process = Path("/proc") / str(gateway.process.pid)
    pages = int((process / "statm").read_text().split()[1])
    wal = home / "state.db-wal"
    return {
        "descriptors": len(list((process / "fd").iterdir())),
        "megabytes": pages * os.sysconf("SC_PAGE_SIZE") / 1e6,
        "threads": len(list((process / "task").iterdir())),
        "wal": os.stat(wal).st_size / 1e6 if wal.exists() else 0.0,
    }


@pytest.fixture
def platforms() -> Iterator[list[Platform]]:
    with ExitStack() as stack:
        yield [stack.enter_context(kind()) for kind in KINDS]


def live(gateway: Gateway, platforms: list[Platform], first: int, end: float, chance: random.Random) -> int:
    """Ask on all platforms, some things twice, until the time is over; the number of the next question."""
    number = first
    while time.monotonic() < end:
        for platform in platforms:
            if number % 40 == 0:
                # The conversation does not grow for ever, and neither does what the model is sent.
                until(lambda p=platform, n=number: p.say(100_000 + n, "/new") == 200, "taken")
            asked = [each for each in (number, number, number - 1) if each >= first][: chance.choice((1, 2, 3))]
            for each in asked:
                until(lambda p=platform, n=each: p.say(n, f"question {n}") == 200, "taken")
            wanted = f"answer to question {number}"
            until(lambda p=platform, w=wanted: w in p.heard(), f"{wanted} on {platform.name}")
        number += 1
    return number


@pytest.mark.alone
def test_a_mixed_soak(
    platforms: list[Platform], model: ModelServer, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    channels = {platform.name: platform.config() for platform in platforms}
    configure(home, model.url, channels, chat={"compress_at": 0})
    chance, number, curves = random.Random(7), 1, []
    for life, seconds in enumerate(LENGTHS):
        with Gateway(home) as gateway:
            for platform in platforms:
                platform.gateway = gateway.url
            end = time.monotonic() + seconds
            number = live(gateway, platforms, number, time.monotonic() + seconds / 4, chance)
            early = measured(gateway, home)
            number = live(gateway, platforms, number, end, chance)
            curves.append((early, measured(gateway, home)))
            if life % 2:
                # What was asked last is answered, and its delivery may still be unrecorded.
                gateway.kill()
            else:
                assert gateway.stop() == 0
    questions = Counter({f"question {each}": len(KINDS) for each in range(1, number)})
    answers = Counter({f"answer to question {each}": len(KINDS) for each in range(1, number)})
    with capsys.disabled():
        print(f"\n{sum(questions.values())} questions in {SECONDS:g} s, {LIVES} lives; {tell(curves)}")
    assert Counter(said(home, "user")) == questions
    assert Counter(said(home, "assistant")) == answers
    for platform in platforms:
        heard = [text for text in platform.heard() if text.startswith("answer")]
        assert set(heard) == set(answers)
        if platform.can_edit:
            assert len(heard) == len(answers)
    for early, late in curves:
        assert late["descriptors"] <= early["descriptors"] + 12
        assert late["threads"] <= early["threads"] + 12
        assert late["megabytes"] <= early["megabytes"] + 25
        assert late["wal"] <= 16


def tell(curves: list[tuple[dict[str, float], dict[str, float]]]) -> str:
    lines: list[Any] = []
    for name in curves[0][0]:
        lines.append(
            f"{name} {max(early[name] for early, _ in curves):.1f} -> {max(late[name] for _, late in curves):.1f}"
        )
    return ", ".join(lines)
