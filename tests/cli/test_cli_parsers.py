"""The small parser and click read the same declarations; where the small one answers, click answers the same."""

from __future__ import annotations

from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessiondb import registry
from sessiondb.cli import clicking, lane, options
from sessiondb.cli.declare import Command, NotPlain

LEAN = [name for name in sorted(registry.TABLES["commands"]) if isinstance(registry.load("commands", name), Command)]


def small(command: Command, arguments: list[str]) -> dict[str, Any] | None:
    try:
        return command.parse(arguments)
    except NotPlain:
        return None


def by_click(command: Command, arguments: list[str]) -> dict[str, Any] | None:
    built = clicking.of(command)
    try:
        return built.make_context(command.name, list(arguments)).params
    except (click.ClickException, click.exceptions.Exit):
        return None


def words_of(command: Command) -> list[str]:
    flags = [flag for each in clicking.of(command).params for flag in each.opts if flag.startswith("-")]
    values = ["5", "0", "-1", "x", "a b", "", "2025-03-05", "30d", "auto", "never", "activity", "newest", "regex", "é"]
    return [
        *flags,
        *(f"{flag}={value}" for flag in flags for value in values[:4]),
        *values,
        "--",
        "-",
        "-n5",
        "--bogus",
    ]


@pytest.mark.parametrize("name", LEAN)
@given(data=st.data())
def test_they_agree(name: str, data: st.DataObject) -> None:
    command: Command = registry.load("commands", name)
    arguments = data.draw(st.lists(st.sampled_from(words_of(command)), max_size=5))
    found = small(command, arguments)
    if found is not None:
        expected = by_click(command, arguments)
        assert expected is not None, arguments
        # Time passes between two readings of "30d ago".
        assert {
            key: pytest.approx(value) if isinstance(value, float) else value for key, value in expected.items()
        } == found


@pytest.mark.parametrize(
    "arguments",
    [
        ["list"],
        ["list", "--limit", "5", "--source", "cli", "--json"],
        ["--db", "x.db", "list", "--all"],
        ["sessions", "list"],
        ["ls", "-n", "3"],
        ["search", "nginx", "502", "-C", "1"],
        ["search", "--exact", "--", "rm", "-rf"],
        ["show", "-1", "--full"],
        ["show", "refactoring", "auth"],
        ["stats"],
        ["tree", "latest"],
    ],
)
def test_what_is_typed_every_day_goes_the_short_way(arguments: list[str]) -> None:
    lane._plain(arguments)
    options.begin()


@pytest.mark.parametrize(
    "arguments", [[], ["--help"], ["list", "--help"], ["lst"], ["list", "--limt"], ["-c"], ["list", "-n0"]]
)
def test_what_needs_explaining_is_left_to_click(arguments: list[str]) -> None:
    with pytest.raises(NotPlain):
        lane._plain(arguments)
    options.begin()
