"""Bytes out of messages and back."""

from __future__ import annotations

import base64
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from sessiondb.media import MARK, MediaStore, extract, inline, references

DATA = bytes(range(256)) * 2
ENCODED = base64.b64encode(DATA).decode()
HASH = sha256(DATA).hexdigest()


@pytest.fixture
def kept() -> dict[str, bytes]:
    return {}


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{ENCODED}"}}],
        [{"type": "image_url", "image_url": {"url": f"data:image/png;name=a;base64,{ENCODED}"}}],
        [{"type": "image_url", "image_url": {"url": f"data:;base64,{ENCODED}"}}],
        [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ENCODED}}],
        [{"type": "input_audio", "input_audio": {"data": ENCODED, "format": "wav"}}],
        [{"type": "tool_result", "content": [{"type": "image", "source": {"media_type": "a/b", "data": ENCODED}}]}],
        {"parts": [{"inline_data": {"mime_type": "image/png", "data": ENCODED}}]},
    ],
)
def test_bytes_leave_and_come_back_exactly(content: Any, kept: dict[str, bytes]) -> None:
    stored, found = extract(content, kept.__setitem__)
    assert ENCODED not in str(stored)
    assert kept == {HASH: DATA}
    assert [(ref["sha256"], ref["size"]) for ref in found] == [(HASH, len(DATA))]
    assert inline(stored, kept.get) == content


@pytest.mark.parametrize(
    "uri",
    [
        "data:image/png;base64,iVBO\nRw0K==",
        "data:image/png;base64,iVBO-_==",
        "data:image/png;base64,=",
        "data:x;base64,",
    ],
)
def test_odd_encodings_come_back_exactly(uri: str, kept: dict[str, bytes]) -> None:
    stored, _ = extract([{"url": uri}], kept.__setitem__)
    assert inline(stored, kept.get) == [{"url": uri}]


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "text", "text": "data:image/png is no picture"}],
        [{"type": "text", "data": ENCODED}],
        [{"mime_type": "text/plain", "data": "short"}],
        ["data", None, 5, {"a": None}],
    ],
)
def test_what_carries_no_bytes_stays(content: Any, kept: dict[str, bytes]) -> None:
    assert extract(content, kept.__setitem__) == (content, [])
    assert kept == {}


def test_a_link_is_a_reference_without_bytes(kept: dict[str, bytes]) -> None:
    content = [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]
    stored, (ref,) = extract(content, kept.__setitem__)
    assert (stored, ref["kind"], ref["path"], ref["sha256"]) == (content, "image", "https://example.org/a.png", None)


def test_a_picture_that_is_gone_stays_a_reference(kept: dict[str, bytes]) -> None:
    stored, _ = extract([{"url": f"data:image/png;base64,{ENCODED}"}], kept.__setitem__)
    assert inline(stored, lambda digest: None) == stored
    assert stored[0]["url"].startswith(MARK)


def test_stored_content_names_its_media(kept: dict[str, bytes]) -> None:
    stored, _ = extract([{"url": f"data:image/png;base64,{ENCODED}"}], kept.__setitem__)
    assert [(ref["kind"], ref["sha256"]) for ref in references(stored)] == [("image", HASH)]


def test_files_are_named_by_their_hash_and_private(tmp_path: Path) -> None:
    store = MediaStore(str(tmp_path / "media"))
    store.put(HASH, DATA)
    store.put(HASH, DATA)
    assert store.find(HASH) == DATA
    assert os.stat(store.path(HASH)).st_mode & 0o777 == 0o600
    assert [path.name for path in (tmp_path / "media").rglob("*") if path.is_file()] == [HASH]


def test_an_unknown_file_is_none(tmp_path: Path) -> None:
    assert MediaStore(str(tmp_path)).find(HASH) is None
