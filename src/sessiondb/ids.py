"""Session ids that sort by time and can be read aloud: YYYYMMDD_HHMMSS_<8 hex>."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

Clock = Callable[[], float]


def new_session_id(now: float) -> str:
    """A fresh id; local time, as people look for "yesterday evening"."""
    return time.strftime("%Y%m%d_%H%M%S_", time.localtime(now)) + os.urandom(4).hex()
