"""Media in structured content: bytes go to files named by their hash, messages keep a reference.

A part that carries bytes (a `data:` URI, or base64 beside its type) is replaced by
`sessiondb-media:<sha256>:<form>:<mime type>`, where the form tells how to put the bytes back.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

MARK = "sessiondb-media:"
# Left as text, and compiled at first use: most messages have no media.
_DATA_URI = r"(?s)data:([^;,]*)((?:;[^;,]*)*);base64,(.*)"
_REFERENCE = "(?s)" + re.escape(MARK) + r"([0-9a-f]{64}):(uri|base64|text):(.*)"
_TYPE_KEYS = ("media_type", "mime_type", "mimeType", "mediaType", "format")
_LINK_KEYS = ("url", "image_url", "file_url", "path", "file_path", "uri")
_MEDIA_TYPES = ("image", "audio", "video", "file", "document")
_SHORTEST_BASE64 = 64

Put = Callable[[str, bytes], None]


class MediaStore:
    """A directory of files named by their hash; a file is complete or not there."""

    def __init__(self, directory: str) -> None:
        self.directory = directory

    def path(self, digest: str) -> str:
        return os.path.join(self.directory, digest[:2], digest)

    def put(self, digest: str, data: bytes) -> None:
        target = self.path(digest)
        if os.path.exists(target):
            return
        os.makedirs(os.path.dirname(target), exist_ok=True, mode=0o700)
        draft = f"{target}.{os.getpid()}.{id(data):x}"
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)

    def find(self, digest: str) -> bytes | None:
        try:
            with open(self.path(digest), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None


def extract(content: Any, put: Put) -> tuple[Any, list[dict[str, Any]]]:
    """Content without media bytes, and a reference for every picture, sound or file in it."""
    references: list[dict[str, Any]] = []
    return _walk(content, "file", put, references), references


def _walk(part: Any, kind: str, put: Put, found: list[dict[str, Any]]) -> Any:
    if isinstance(part, list):
        return [_walk(item, kind, put, found) for item in part]
    if isinstance(part, dict):
        kind = _kind(part, kind)
        return {key: _value(part, key, value, kind, put, found) for key, value in part.items()}
    return part


def _kind(part: dict[str, Any], inherited: str) -> str:
    name = str(part.get("type", "")).removeprefix("input_").removesuffix("_url")
    return name if name in _MEDIA_TYPES else inherited


def _value(part: dict[str, Any], key: str, value: Any, kind: str, put: Put, found: list[dict[str, Any]]) -> Any:
    if not isinstance(value, str):
        return _walk(value, kind, put, found)
    uri = re.fullmatch(_DATA_URI, value) if value.startswith("data:") else None
    if uri:
        return _stored(value, uri[3], "uri", uri[1] + uri[2], kind, put, found)
    mime = next((part[name] for name in _TYPE_KEYS if isinstance(part.get(name), str)), None)
    if key == "data" and mime is not None and len(value) >= _SHORTEST_BASE64:
        return _stored(value, value, "base64", mime, kind, put, found)
    if key in _LINK_KEYS and not value.startswith(MARK):
        found.append(_reference(kind, value, mime, None, None))
    return value


def _stored(value: str, encoded: str, form: str, mime: str, kind: str, put: Put, found: list[dict[str, Any]]) -> str:
    import base64

    try:
        data = base64.b64decode(encoded, validate=True)
    except ValueError:
        data = b""
    if base64.b64encode(data).decode() != encoded:
        # Not plain base64 (line breaks, another alphabet): keep the text itself, so that it comes back exactly.
        form, data = "text", value.encode("utf-8", "surrogatepass")
    from hashlib import sha256

    digest = sha256(data).hexdigest()
    put(digest, data)
    main = mime.partition("/")[0]
    found.append(_reference(main if main in _MEDIA_TYPES else kind, None, mime or None, digest, len(data)))
    return f"{MARK}{digest}:{form}:{mime}"


def _reference(kind: str, path: str | None, mime: str | None, digest: str | None, size: int | None) -> dict[str, Any]:
    return {"kind": kind, "path": path, "mime_type": mime, "sha256": digest, "size": size, "metadata": None}


def references(content: Any) -> list[dict[str, Any]]:
    """The media that stored content names, as `extract` found them; sizes are not known here."""
    found: list[dict[str, Any]] = []

    def visit(part: Any) -> None:
        if isinstance(part, dict | list):
            for item in part.values() if isinstance(part, dict) else part:
                visit(item)
        elif isinstance(part, str) and (mark := re.fullmatch(_REFERENCE, part)):
            main = mark[3].partition("/")[0]
            found.append(_reference(main if main in _MEDIA_TYPES else "file", None, mark[3] or None, mark[1], None))

    visit(content)
    return found


def inline(content: Any, find: Callable[[str], bytes | None]) -> Any:
    """Content with the bytes back in their places; a reference whose file is gone stays a reference."""
    if isinstance(content, list):
        return [inline(part, find) for part in content]
    if isinstance(content, dict):
        return {key: inline(value, find) for key, value in content.items()}
    mark = re.fullmatch(_REFERENCE, content) if isinstance(content, str) and content.startswith(MARK) else None
    data = find(mark[1]) if mark else None
    if mark is None or data is None:
        return content
    return _restored(data, mark[2], mark[3])


def _restored(data: bytes, form: str, mime: str) -> str:
    if form == "text":
        return data.decode("utf-8", "surrogatepass")
    import base64

    encoded = base64.b64encode(data).decode()
    return f"data:{mime};base64,{encoded}" if form == "uri" else encoded
