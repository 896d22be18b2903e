"""Stored columns to what callers see."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessiondb.models import MEDIA_REF_COLUMNS, MESSAGE_COLUMNS, SESSION_COLUMNS
from sessiondb.rows import media_ref_row, message_row, preview, session_row, stored_text, summary, text_of

PARTS = [{"type": "text", "text": "one"}, {"type": "image_url", "image_url": {"url": "x"}}, {"text": "two"}]


def test_metadata_is_decoded_everywhere() -> None:
    for columns, decode in (
        (SESSION_COLUMNS, session_row),
        (MESSAGE_COLUMNS, message_row),
        (MEDIA_REF_COLUMNS, media_ref_row),
    ):
        assert decode(dict.fromkeys(columns) | {"metadata": '{"a": 1}'})["metadata"] == {"a": 1}
        assert decode(dict.fromkeys(columns))["metadata"] is None


def test_model_config_stays_text() -> None:
    assert session_row(dict.fromkeys(SESSION_COLUMNS) | {"model_config": '{"a": 1}'})["model_config"] == '{"a": 1}'


@pytest.mark.parametrize(("content_type", "expected"), [("json", [1]), (None, "[1]"), ("text/plain", "[1]")])
def test_content_is_decoded_by_its_type(content_type: str | None, expected: Any) -> None:
    assert (
        message_row(dict.fromkeys(MESSAGE_COLUMNS) | {"content": "[1]", "content_type": content_type})["content"]
        == expected
    )


def test_what_older_code_wrote_stays_readable() -> None:
    row = message_row(dict.fromkeys(MESSAGE_COLUMNS) | {"tool_calls": "not json", "metadata": "neither"})
    assert (row["tool_calls"], row["metadata"]) == ("not json", "neither")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        (PARTS, "one\ntwo"),
        ({"text": "one"}, "one"),
        ({"content": PARTS}, "one\ntwo"),
        ([["deep"], "flat"], "deep\nflat"),
        (None, ""),
        (5, ""),
        ([], ""),
    ],
)
def test_the_words_of_any_content(content: Any, text: str) -> None:
    assert text_of(content) == text


def test_stored_content_has_words_too() -> None:
    assert (stored_text(json.dumps(PARTS), "json"), stored_text("[1]", None), stored_text(None, None)) == (
        "one\ntwo",
        "[1]",
        "",
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("a\r\nb", "a  b"),
        ("x" * 60, "x" * 60),
        ("x" * 61, "x" * 60 + "..."),
        ("a  b", "a  b"),
        ("x" * 59 + "\n" * 9, "x" * 59 + " ..."),
    ],
)
def test_a_preview_is_one_short_line(text: str, shown: str) -> None:
    assert preview(text, None) == shown


def test_a_summary_is_the_beginning() -> None:
    assert (summary("x" * 500, None), summary(json.dumps(PARTS), "json")) == ("x" * 200, "one\ntwo")
