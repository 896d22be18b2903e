"""The pictures in the documents are of commands that exist, and need nothing from elsewhere."""

from __future__ import annotations

import importlib.util
import re
import shlex
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SCREENS = ROOT / "docs" / "screens"


def load() -> Any:
    found = importlib.util.spec_from_file_location("screens", ROOT / "tools" / "screens.py")
    assert found
    assert found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


screens = load()


def words(svg: str) -> str:
    texts = (element.text or "" for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"))
    return "".join(texts).replace("\xa0", " ")


@pytest.mark.parametrize("name", sorted(screens.RUNS))
def test_every_picture_shows_its_command_and_loads_nothing(name: str) -> None:
    svg = (SCREENS / f"{name}.svg").read_text("utf-8")
    assert f"$ sessiondb {shlex.join(screens.RUNS[name])}" in words(svg)
    assert set(re.findall(r"https?://[^\s\"')]+", svg)) <= {"http://www.w3.org/2000/svg", "https://www.textualize.io"}


@pytest.mark.parametrize("name", sorted(screens.CHATTED))
def test_every_picture_of_a_chat_shows_what_is_typed_and_loads_nothing(name: str) -> None:
    svg = (SCREENS / f"{name}.svg").read_text("utf-8")
    arguments, lines = screens.CHATTED[name]
    assert f"$ sessiondb {shlex.join(arguments)}" in words(svg)
    assert all(line in words(svg) for line in lines)
    assert not re.search(r"@font-face|@import|<image|href=|url\((?!#)", svg)


@pytest.mark.parametrize("name", sorted(screens.BROWSED))
def test_every_picture_of_the_browser_is_of_a_full_screen_and_loads_nothing(name: str) -> None:
    svg = (SCREENS / f"{name}.svg").read_text("utf-8")
    shown = words(svg)
    assert "sessiondb browse" in shown
    assert {"browse-insights": "Tokens", "browse-help": "one down", "browse-search": "nginx 502"}.get(
        name, "refactoring auth"
    ) in shown
    assert not re.search(r"@font-face|@import|<image|href=|url\((?!#)", svg)


def test_there_is_no_picture_that_nobody_makes() -> None:
    assert {path.stem for path in SCREENS.iterdir()} == {*screens.RUNS, *screens.CHATTED, *screens.BROWSED}


def test_colours_blanks_and_wide_letters_are_drawn() -> None:
    svg = screens.drawn(("list",), "\x1b[33m  ●\x1b[0m 天气 <&>\n")
    assert "●天气 <&>" in words(svg)
    assert re.search(r'x="24.4" y="[\d.]+" textLength="12.2"[^>]*>●', svg)
