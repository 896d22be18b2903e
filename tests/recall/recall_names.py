"""Types that the tests of recall share."""

from __future__ import annotations

from collections.abc import Callable

# Writes a conversation and answers the ids of its messages; see the fixture `tell`.
Tell = Callable[..., list[int]]
