"""Requests to the platforms: JSON in and out, patient where the platform asks for it. Tokens stay out of errors."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from http.client import HTTPException
from typing import Any, TypeVar
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from .base import Intake, Media, NotDelivered

T = TypeVar("T")
TIMEOUT = 20.0
TRIES = 5
LONGEST_WAIT = 60.0
LARGEST_FILE = 25 * 1024 * 1024


def post(url: str, document: Mapping[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
    """Send JSON; the JSON answer. Raises NotDelivered."""
    body = json.dumps(document).encode()
    return send(url, body, {"Content-Type": "application/json; charset=utf-8", **headers})


def send(url: str, body: bytes | None, headers: Mapping[str, str], method: str | None = None) -> dict[str, Any]:
    data = fetch(url, headers, body, method)
    try:
        found = json.loads(data or b"{}")
    except ValueError:
        raise NotDelivered("the platform answered with something that is no JSON") from None
    return found if isinstance(found, dict) else {"answer": found}


def fetch(url: str, headers: Mapping[str, str], body: bytes | None = None, method: str | None = None) -> bytes:
    """The body of an answer. Raises NotDelivered, with the time the platform asked to wait."""
    request = Request(url, body, dict(headers), method=method)
    try:
        with urlopen(request, timeout=TIMEOUT) as response:
            data: bytes = response.read(LARGEST_FILE + 1)
    except HTTPError as exc:
        with exc:
            raise NotDelivered(
                f"the platform answered with status {exc.code}",
                retry_after(exc.headers.get("Retry-After")),
                final=400 <= exc.code < 500 and exc.code not in (408, 409, 425, 429),
            ) from None
    except (URLError, HTTPException, OSError) as exc:
        raise NotDelivered(f"the platform cannot be reached ({type(exc).__name__})") from None
    if len(data) > LARGEST_FILE:
        raise NotDelivered("the platform answered with more than is taken", final=True)
    return data


def multipart(*parts: tuple[str, bytes]) -> tuple[bytes, str]:
    """A body of several parts, each with what stands behind `form-data; `; and its content type."""
    # Drawn anew, so that no part can hold it.
    mark = os.urandom(16).hex()
    lines = [
        f"--{mark}\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode() + data + b"\r\n" for head, data in parts
    ]
    return b"".join(lines) + f"--{mark}--\r\n".encode(), f"multipart/form-data; boundary={mark}"


def retry_after(value: str | None) -> float | None:
    try:
        return None if value is None else max(0.0, float(value))
    except ValueError:
        return None


def patiently(attempt: Callable[[], T], *, tries: int = TRIES, sleep: Callable[[float], Any] = time.sleep) -> T:
    """Try again while that may help, as late as the platform asks. Raises the last NotDelivered."""
    for number in range(1, tries + 1):
        try:
            return attempt()
        except NotDelivered as exc:
            if exc.final or number == tries or (exc.wait or 0.0) > LONGEST_WAIT:
                raise
            sleep(exc.wait if exc.wait is not None else min(8.0, 0.25 * 2**number))
    raise AssertionError("not reached")


def kept(intake: Intake, get: Callable[[], bytes], kind: str, mime_type: str | None, name: str | None) -> Media:
    """A file, fetched and kept; one that the platform will never give is noted: its message must not wait for ever."""
    try:
        data = patiently(get)
    except NotDelivered as exc:
        if not exc.final:
            raise
        return Media(kind, mime_type=mime_type, name=name)
    return intake.keep(data, kind, mime_type=mime_type, name=name)
