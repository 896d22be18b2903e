"""How far a long way has come: one line on stderr, on a terminal only, after the first second."""

from __future__ import annotations

import sys
import time
from typing import Self

from .terminal import columns, is_terminal
from .text import cut

_QUIET_SECONDS = 1.0
_SHOW_EVERY = 0.1
_BAR = 24


class Progress:
    """Counts what is done, of `total` if that is known; tells rate and time left. Use it with `with`."""

    def __init__(self, total: int | None = None, noun: str = "messages") -> None:
        self.total = total
        self.noun = noun
        self.done = 0
        self._began = self._shown = time.monotonic()
        self._quiet_until = self._began + _QUIET_SECONDS
        self._visible = False

    def __call__(self, more: int = 1) -> None:
        self.done += more
        self._tell()

    def reached(self, done: int, total: int | None = None) -> None:
        """Say how far it is, where the caller counts himself."""
        self.done, self.total = done, total if total is not None else self.total
        self._tell()

    def turn_to(self, total: int | None, noun: str) -> None:
        """Begin with something else, which has a rate of its own."""
        self.total, self.noun, self.done = total, noun, 0
        self._began = time.monotonic()

    def _tell(self) -> None:
        now = time.monotonic()
        if now < self._quiet_until or now - self._shown < _SHOW_EVERY:
            return
        if is_terminal(sys.stderr):
            self._shown, self._visible = now, True
            shown = cut(self._line(now), (columns(sys.stderr) or 80) - 1)
            print(f"\r{shown}\x1b[K", end="", file=sys.stderr, flush=True)

    def _line(self, now: float) -> str:
        rate = self.done / max(now - self._began, 1e-9)
        speed = f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"
        if not self.total:
            return f"{self.done:,} {self.noun} · {speed}"
        share = min(1.0, self.done / self.total)
        filled = int(_BAR * share)
        left = f" · {_duration((self.total - self.done) / rate)} left" if rate and share < 1 else ""
        bar = "█" * filled + "░" * (_BAR - filled)
        return f"{bar} {share:4.0%} · {self.done:,} of {self.total:,} {self.noun} · {speed}{left}"

    def finish(self) -> None:
        """Take the line away."""
        if self._visible:
            self._visible = False
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.finish()


def _duration(seconds: float) -> str:
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
