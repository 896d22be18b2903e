"""What the parsers make of a source agrees with counts made over the raw files by other means."""

from __future__ import annotations

from pathlib import Path

import pytest

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
