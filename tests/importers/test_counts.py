"""What the parsers make of a source agrees with counts made over the raw files by other means."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from sessiondb import SessionDB, registry
from sessiondb.importers.base import Message, Session
from sessiondb.importers.intake import Intake
from sessiondb.importers.report import Report

from .conftest import Bring
from .places import AGENTS, parsed, sources
from .told import contents


@pytest.mark.parametrize("agent", AGENTS)
def test_parsed_and_counted_agree(agent: str) -> None:
    counts = AGENTS[agent][1]
    assert parsed(agent).tallies() == counts.count(sources(agent))


@pytest.mark.parametrize("agent", AGENTS)
def test_as_many_are_told_as_are_stored(agent: str, db: SessionDB, bring: Bring) -> None:
    report = bring(*sources(agent))
    assert report.total("messages") == sum(len(session["messages"]) for session in db.export_all())


def test_a_message_that_comes_twice_counts_once(db: SessionDB) -> None:
    report = Report()
    taking = Intake(db, "agent", Path("/x"), report, report.tally("agent", Path("/x")), 1777626000.0)
    twice = (Message("user", "a", native_id="1"), Message("assistant", "b"), Message("user", "a b", native_id="1"))
    taking.consume(iter((Session("s"), *twice, Message("assistant", "b"))))
    assert report.total("messages") == len(contents(db, "s"))


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
