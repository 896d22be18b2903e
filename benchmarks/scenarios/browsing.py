"""The browser: from the prompt to the first paint in a real terminal, and how long it stands still while typing."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
from concurrent.futures import Future
from pathlib import Path
from time import perf_counter_ns

from ..arena import SESSIONDB, ContenderFailed
from ..figures import Rounds, p50, p99, summary
from ..results import Comparison, Result, Target
from ..searches import queries
from ..setting import MILLISECOND, Setting

FIRST_PAINT = 400 * MILLISECOND
STANDSTILL = 100 * MILLISECOND
IN_TIME = Target(1.0)
WARM_UP = 2
PATIENCE = 30 * 1000 * MILLISECOND
ROWS, COLUMNS = 24, 80
BEAT = 0.002
BETWEEN_KEYS = 0.03


def browse(setting: Setting) -> Result:
    sizes = setting.sizes
    store = setting.stores.filled(SESSIONDB, sizes.sessions, sizes.messages_per_session)
    result = Result(
        "browse", f"{sizes.sessions:,} sessions, {sizes.messages_per_session} messages each; terminal of 80x24, warm"
    )
    for _ in range(WARM_UP):
        first_paint(store)
    times = [first_paint(store) for _ in range(setting.rounds)]
    painted, worked = Rounds([[wall] for wall, _ in times]), Rounds([[cpu] for _, cpu in times])
    stood = Rounds([asyncio.run(standstills(store, queries()["AND"])) for _ in range(max(1, setting.rounds // 3))])
    result.figures["first paint, with its rows"] = {
        "wall ms": painted.typical(p50) / MILLISECOND,
        "cpu ms": worked.typical(p50) / MILLISECOND,
    }
    result.figures["screen stands still while typing"] = {
        "p50 ms": stood.overall(p50) / MILLISECOND,
        "p99 ms": stood.overall(p99) / MILLISECOND,
        "max ms": stood.overall(max) / MILLISECOND,
    }
    result.comparisons += [
        Comparison("first paint / 400 ms", summary([each / FIRST_PAINT for each in painted.each(p50)]), target=IN_TIME),
        Comparison("the same, cpu", summary([each / FIRST_PAINT for each in worked.each(p50)]), target=IN_TIME),
        Comparison("p99 standstill / 100 ms", summary([each / STANDSTILL for each in stood.each(p99)]), target=IN_TIME),
    ]
    return result


def first_paint(store: Path) -> tuple[float, float]:
    """Nanoseconds until a terminal is sent the list with its rows, and those that a processor worked until then."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    command = [sys.executable, "-m", "sessiondb", "--db", str(store), "browse", "--scope", "all"]
    begun = perf_counter_ns()
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm-256color"}
    )
    os.close(theirs)
    try:
        shown = b""
        while b" session" not in shown:
            if perf_counter_ns() - begun > PATIENCE or process.poll() is not None:
                raise ContenderFailed(f"browse painted no list: {shown[-200:]!r}")
            if select.select([ours], [], [], 0.01)[0]:
                shown += os.read(ours, 65536)
        taken = perf_counter_ns() - begun
    finally:
        process.kill()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        os.close(ours)
    return taken, (used.ru_utime + used.ru_stime) * 1e9


async def standstills(store: Path, text: str) -> list[float]:
    """How late a beat of the screen's own loop comes while a query is typed, in nanoseconds."""
    import sessiondb
    from sessiondb.tui import listing
    from sessiondb.tui.app import BrowserApp
    from sessiondb.tui.choice import Choice
    from sessiondb.tui.scope import Scope

    known, late = [Scope("all")], list[float]()
    with sessiondb.open(store, read_only=True) as db:
        early: Future[listing.Loaded] = Future()
        early.set_result(listing.first(db, Choice(), known))
        app = BrowserApp(db, Choice(), known, read_only=True, early=early)
        async with app.run_test(size=(COLUMNS, ROWS)) as pilot:
            await pilot.press("slash")
            beating = asyncio.create_task(_beat(late))
            for letter in text:
                await pilot.press("space" if letter == " " else letter)
                await asyncio.sleep(BETWEEN_KEYS)
            while app.browser.lists.waiting:
                await asyncio.sleep(BEAT)
            beating.cancel()
    return late


async def _beat(late: list[float]) -> None:
    while True:
        begun = perf_counter_ns()
        await asyncio.sleep(BEAT)
        late.append(perf_counter_ns() - begun - BEAT * 1e9)
