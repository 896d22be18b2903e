"""What the parsers make of a source agrees with counts made over the raw files by other means."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from sessiondb import registry

from .places import AGENTS, parsed, sources


@pytest.mark.parametrize("agent", AGENTS)
def test_parsed_and_counted_agree(agent: str) -> None:
    counts = AGENTS[agent][1]
    assert parsed(agent).tallies() == counts.count(sources(agent))


@pytest.mark.parametrize("agent", AGENTS)
def test_every_source_is_known_by_its_head(agent: str) -> None:
    for path in sources(agent):
        known = [name for name, (parser, _, _) in AGENTS.items() if parser.detect(path, path.read_bytes()[:65536])]
        assert known == [agent], path


@pytest.mark.parametrize("agent", AGENTS)
def test_a_parser_finds_nothing_in_an_empty_directory(agent: str, tmp_path: Path) -> None:
    assert list(AGENTS[agent][0].find(tmp_path)) == []


@pytest.mark.parametrize("agent", [name for name in registry.TABLES["importers"] if name != "sessiondb"])
def test_the_versions_that_were_seen_are_told(agent: str) -> None:
    """An importer is registered with a row in the table, and with counts of raw files that do without it."""
    page = (Path(__file__).parents[2] / "docs" / "agents.md").read_text()
    rows = page.partition("## Versions seen")[2].splitlines()
    assert any(f"`{agent}`" in row.split("|")[1] for row in rows if row.startswith("|"))
    assert find_spec(f".counts.{agent.replace('-', '_')}", __package__) is not None
