"""A clock that stands still until it is moved."""

from __future__ import annotations


class FakeClock:
    """Epoch seconds under the control of a test; may go backwards, as real ones do."""

    def __init__(self, now: float = 1_750_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def move(self, seconds: float) -> float:
        self.now += seconds
        return self.now
