"""Settings in JSON with comments are edited in their text: what is not ours keeps every byte."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessiondb.errors import Invalid
from sessiondb.hooks import jsonc

COMMENTED = """{
  // The theme that everybody likes; "mcpServers": {} stands here only to mislead.
  "theme": "dark", /* and
     { more } of it */
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "files"] } // keep
  },
}
"""
ENTRY = {"command": "sessiondb", "args": ["mcp"]}
PLACE = ["mcpServers", "sessiondb"]
TEXTS = [
    COMMENTED,
    "{}",
    "{}\n",
    '{"a": 1}',
    '{\r\n\t"a": [1, 2,\r\n\t],\r\n\t"b": {}\r\n}\r\n',
    '{"hooks": {"Stop": [{"hooks": []}]}}',
    '\ufeff{"a": "\\u00e9 // no comment"}'[1:],
    '{\n    "mcpServers": {\n        "other": {"url": "http://x"}\n    }\n}',
]


def ours(element: Any) -> bool:
    return bool(element == ENTRY)


@pytest.mark.parametrize("text", TEXTS)
class TestBackAndForth:
    def test_a_member_comes_and_goes(self, text: str) -> None:
        edited = jsonc.with_member(text, PLACE, ENTRY)
        assert jsonc.value(edited)["mcpServers"]["sessiondb"] == ENTRY
        assert jsonc.without_member(edited, PLACE) == text

    def test_an_element_comes_and_goes(self, text: str) -> None:
        edited = jsonc.with_element(text, ["hooks", "Stop"], ENTRY)
        assert jsonc.value(edited)["hooks"]["Stop"][-1] == ENTRY
        assert jsonc.without_elements(edited, ["hooks", "Stop"], ours) == text

    def test_nothing_else_changes(self, text: str) -> None:
        edited = jsonc.value(jsonc.with_member(text, PLACE, ENTRY))
        del edited["mcpServers"]["sessiondb"]
        if not edited["mcpServers"]:
            del edited["mcpServers"]
        assert edited == jsonc.value(text)


names = st.text('abc"\\/ \n{}[],:é', max_size=4)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)


@settings(max_examples=100)
@given(st.dictionaries(names, values, max_size=4), st.sampled_from([None, 1, 4]))
def test_any_settings_come_back_as_they_were(written: dict[str, Any], indent: int | None) -> None:
    text = json.dumps(written, indent=indent)
    assert jsonc.value(text) == written
    edited = jsonc.with_member(text, ["ours", "deep"], ENTRY)
    assert jsonc.value(edited) == {**written, "ours": {"deep": ENTRY}}
    assert jsonc.without_member(edited, ["ours", "deep"]) == text


def test_an_entry_is_replaced_in_its_place() -> None:
    text = jsonc.with_member(COMMENTED, PLACE, ENTRY)
    again = jsonc.with_member(text, PLACE, {"command": "elsewhere"})
    assert jsonc.value(again)["mcpServers"]["sessiondb"] == {"command": "elsewhere"}
    assert jsonc.without_member(again, PLACE) == COMMENTED


def test_one_of_ours_between_others_is_taken_out() -> None:
    text = '{"list": [{"a": 1}, {"command": "sessiondb", "args": ["mcp"]}, {"b": 2}]}'
    assert jsonc.without_elements(text, ["list"], ours) == '{"list": [{"a": 1}, {"b": 2}]}'


def test_one_of_ours_before_others_is_taken_out() -> None:
    text = jsonc.without_elements('{"list": [{"command": "sessiondb", "args": ["mcp"]}, 2]}', ["list"], ours)
    assert jsonc.value(text) == {"list": [2]}


@pytest.mark.parametrize("text", ["", "{", '{"a" 1}', "{} {}", '{"a": 1 "b": 2}', '{"a": nope}', "/* {}"])
def test_broken_settings_are_refused_with_their_line(text: str) -> None:
    with pytest.raises(Invalid, match="broken JSON in line 1"):
        jsonc.value(text)


@pytest.mark.parametrize("text", ["[]", '{"mcpServers": []}', '{"mcpServers": "x"}'])
def test_settings_of_another_shape_are_left_alone(text: str) -> None:
    with pytest.raises(Invalid, match="by hand"):
        jsonc.with_member(text, PLACE, ENTRY)
