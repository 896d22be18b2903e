"""Logs as JSON lines: what happened, where, how long; never what people wrote, never a token.

Of the packages below only that they warned, and with which kind of error: their words may hold both.
"""

from __future__ import annotations

import json
import logging
import sys
from typing import IO

_NAME = "sessiondb"


class Lines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", None) if _is_ours(record) else _kind(record)
        line = {
            "at": round(record.created, 3),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage() if _is_ours(record) else "warned",
            **(fields if isinstance(fields, dict) else {}),
        }
        return json.dumps(line)


def _is_ours(record: logging.LogRecord) -> bool:
    return record.name.partition(".")[0] == _NAME


def _kind(record: logging.LogRecord) -> dict[str, str]:
    kind = record.exc_info[0] if record.exc_info else None
    return {} if kind is None else {"error": kind.__name__}


def to_lines(stream: IO[str] | None = None, level: int = logging.INFO) -> logging.Handler:
    """Send logs to a stream, the standard error by default; returns the handler, for removing it."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(Lines())
    ours = logging.getLogger(_NAME)
    ours.addHandler(handler)
    ours.setLevel(level)
    # The packages below log addresses, and those of Telegram hold the token.
    ours.propagate = False
    handler.addFilter(lambda record: _is_ours(record) or record.levelno >= logging.WARNING)
    logging.getLogger().addHandler(handler)
    return handler
