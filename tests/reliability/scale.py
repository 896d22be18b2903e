"""How long the tests run: a form for every change, and a long one with SESSIONDB_TORTURE=1."""

from __future__ import annotations

import os

LONG = os.environ.get("SESSIONDB_TORTURE") == "1"


def scaled(usual: int, long: int) -> int:
    return long if LONG else usual
