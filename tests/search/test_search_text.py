"""The searchable text of a row: all that people read, no bytes, no exception whatever the shape."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_texts import laws

from sessiondb.search.text import readable, tool_names, tool_text, uses_tools, words

PICTURE = "data:image/png;base64," + "iVBORw0KGgo" * 99


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("as is", "as is"),
        (None, ""),
        (7, ""),
        (["one", {"type": "text", "text": "two"}], "one\ntwo"),
        ([{"type": "image_url", "image_url": {"url": PICTURE}}, {"type": "text", "text": "see"}], "see"),
        ([{"type": "image", "source": {"type": "base64", "data": "QUJD"}}], ""),
        ([{"type": "text", "text": PICTURE}, "A" * 600], ""),
        ([{"type": "tool_result", "content": [{"type": "text", "text": "inner"}]}], "inner"),
        ({"parts": [{"text": "a"}, {"text": {"value": "b"}}]}, "a\nb"),
    ],
)
def test_readable(content: Any, text: str) -> None:
    assert readable({"content": content}) == text


@pytest.mark.parametrize(
    ("calls", "text"),
    [
        (None, ""),
        ([{"id": "1", "function": {"name": "f", "arguments": '{"q": "a\\nb"}'}}], "f\nq\na\nb"),
        ([{"name": "g", "input": {"path": "/x", "n": 3, "deep": [{"k": "v"}]}}], "g\npath\n/x\nn\n3\ndeep\nk\nv"),
        ([{"function": {"name": "h", "arguments": "{broken"}}], "h\n{broken"),
        ([{"name": "i", "arguments": {"image": PICTURE}}], "i\nimage"),
        ('[{"name": "j"}]', "j"),
        ({"name": "k"}, "k"),
        ([None, 3, "x", {"name": 5}, {"function": "odd"}], ""),
    ],
)
def test_tool_text(calls: Any, text: str) -> None:
    assert tool_text({"tool_calls": calls}) == text


def test_the_answering_tool_is_named() -> None:
    assert tool_names({"tool_name": "shell", "tool_calls": [{"name": "read"}]}) == ["shell", "read"]
    assert uses_tools({"tool_name": "Shell"}, ["shell"])
    assert not uses_tools({"content": "shell"}, ["shell"])


def test_an_index_row_has_text_and_tools_apart() -> None:
    body, extra = words({"content": "Fix getUserName", "tool_name": "read_file"})
    assert body == ["fix", "getusername"]
    assert extra == ["read", "file", "get", "user", "name"]


shapes = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["text", "content", "name", "function", "arguments", "input", "x"]), inner, max_size=3
        )
    ),
    max_leaves=12,
)


@laws
@given(shapes, shapes, shapes)
def test_no_shape_raises(content: Any, calls: Any, name: Any) -> None:
    body, extra = words({"content": content, "tool_calls": calls, "tool_name": name})
    assert all(body)
    assert all(extra)


def test_depth_is_bounded() -> None:
    deep: Any = "x"
    for _ in range(5000):
        deep = [deep]
    assert words({"content": deep, "tool_calls": [{"name": "f", "input": deep}]}) == ([], ["f"])
    assert tool_text({"tool_calls": [{"name": "f", "arguments": "[" * 100_000}]}).startswith("f")
