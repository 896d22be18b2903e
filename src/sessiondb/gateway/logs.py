"""Logs as JSON lines: what happened, where, how long. Only our own loggers, never what people wrote, never a token."""

from __future__ import annotations

import json
import logging
import sys
from typing import IO

_NAME = "sessiondb"


class Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", None)
        line = {
            "at": round(record.created, 3),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **(fields if isinstance(fields, dict) else {}),
        }
        return json.dumps(line)


def to_lines(stream: IO[str] | None = None, level: int = logging.INFO) -> logging.Handler:
    """Send our logs to a stream, the standard error by default; returns the handler, for removing it."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(Lines())
    ours = logging.getLogger(_NAME)
    ours.addHandler(handler)
    ours.setLevel(level)
    # The packages below log addresses, and those of Telegram hold the token.
    ours.propagate = False
    return handler
