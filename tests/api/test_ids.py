"""Session ids."""

from __future__ import annotations

import re
import time

from sessiondb.ids import new_session_id


def test_an_id_tells_its_time() -> None:
    now = time.mktime((2026, 3, 5, 9, 15, 7, 0, 0, -1))
    assert re.fullmatch(r"20260305_091507_[0-9a-f]{8}", new_session_id(now))


def test_ids_of_one_moment_differ() -> None:
    assert len({new_session_id(1.0) for _ in range(1000)}) == 1000


def test_ids_sort_by_time() -> None:
    assert new_session_id(1_000_000.0) < new_session_id(1_000_001.0)
