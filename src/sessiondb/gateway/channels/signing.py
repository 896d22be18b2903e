"""Signatures of requests; compared in constant time, never logged."""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable
from hashlib import sha256

from .web import Refused, Request

# Seconds that a signed time may differ from ours, as Slack has it.
TOLERANCE = 300.0


def digest(secret: str, message: bytes) -> str:
    return hmac.new(secret.encode(), message, sha256).hexdigest()


def timed(secret: str, version: str, timestamp: str, body: bytes, separator: str = ":") -> str:
    """The signature of a body at a time: `v0=<hex>` over `v0:<time>:<body>`."""
    return f"{version}=" + digest(secret, f"{version}{separator}{timestamp}{separator}".encode() + body)


def check_timed(
    request: Request,
    secret: str,
    version: str,
    headers: tuple[str, str],
    *,
    clock: Callable[[], float] = time.time,
) -> None:
    """Raises Refused for a wrong signature, and for one of another time: a request kept and sent again."""
    timestamp, given = request.header(headers[0]), request.header(headers[1])
    if not timestamp.isdecimal() or len(timestamp) > 12:
        raise Refused(401, "no time")
    check(timed(secret, version, timestamp, request.body), given)
    if abs(clock() - int(timestamp)) > TOLERANCE:
        raise Refused(401, "of another time")


def check(expected: str, given: str) -> None:
    if not hmac.compare_digest(expected.encode(), given.encode("utf-8", "surrogateescape")):
        raise Refused(401, "the signature is wrong")
