"""Laws of all parsers: read in pieces or at once, cut anywhere, with junk in between."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessiondb.importers.base import Message
from sessiondb.importers.source import Source

from .parsed import Parsed
from .places import AGENTS, sources

LINES = [(agent, path) for agent in AGENTS for path in sources(agent) if path.suffix == ".jsonl"]
JUNK = (b"", b"{", b"[1, 2]", b"null", b"\xff\xfe", b'{"type": 1}', b'{"type": "user", "message": 3, "payload": []}')


def content(found: Parsed) -> dict[str, list[Message]]:
    return {session: list(messages.values()) for session, messages in found.messages.items()}


@pytest.mark.parametrize(("agent", "path"), LINES, ids=lambda value: getattr(value, "name", value))
def test_a_file_read_in_two_parts_is_the_same_as_read_at_once(agent: str, path: Path, tmp_path: Path) -> None:
    parser = AGENTS[agent][0]
    lines = path.read_bytes().splitlines(keepends=True)
    growing = beside(path, tmp_path)
    for count in range(len(lines)):
        write(growing, lines)
        whole = Parsed().read(parser, growing)
        write(growing, lines[:count])
        first = Source(growing)
        found = Parsed().take(parser.read(first))
        write(growing, lines)
        carry = json.loads(json.dumps(first.carry))
        found.take(parser.read(Source(growing, offset=first.done, line=first.line, carry=carry)))
        assert found.tallies() == whole.tallies(), f"cut after line {count}"
        assert found.sessions == whole.sessions, f"cut after line {count}"
        assert sizes(found) == sizes(whole), f"cut after line {count}"


def write(path: Path, lines: list[bytes]) -> None:
    path.write_bytes(b"".join(lines))
    os.utime(path, (1_790_000_000, 1_790_000_000))


def sizes(found: Parsed) -> dict[str, list[tuple[str, bool, bool]]]:
    return {
        session: sorted((each.role, each.injected, bool(each.reasoning)) for each in messages.values())
        for session, messages in found.messages.items()
    }


def beside(path: Path, directory: Path) -> Path:
    """A file of the same name in a directory of the same names, for ids that come from the path."""
    target = directory / path.parent.name / path.name
    target.parent.mkdir(exist_ok=True)
    return target


@pytest.mark.parametrize(("agent", "path"), LINES, ids=lambda value: getattr(value, "name", value))
def test_a_file_cut_at_any_byte_is_read_up_to_the_last_whole_line(agent: str, path: Path, tmp_path: Path) -> None:
    parser, data = AGENTS[agent][0], path.read_bytes()
    target = beside(path, tmp_path)
    for size in {*range(0, len(data), max(1, len(data) // 60)), len(data) - 1}:
        target.write_bytes(data[:size])
        found = Parsed().read(parser, target)
        wrong = [skipped for skipped in found.skipped if b"broken" not in data.splitlines()[(skipped.line or 1) - 1]]
        assert wrong == []


@settings(max_examples=40, derandomize=True, deadline=None)
@given(data=st.data())
def test_junk_between_the_lines_never_raises_and_changes_nothing(data: st.DataObject, tmp_path_factory) -> None:
    agent, path = data.draw(st.sampled_from(LINES))
    parser = AGENTS[agent][0]
    target = beside(path, tmp_path_factory.mktemp("junk"))
    lines = path.read_bytes().splitlines()
    target.write_bytes(b"\n".join(lines) + b"\n")
    clean = Parsed().read(parser, target)
    for _ in range(data.draw(st.integers(1, 4))):
        lines.insert(data.draw(st.integers(1, len(lines))), data.draw(st.sampled_from(JUNK)))
    target.write_bytes(b"\n".join(lines) + b"\n")
    found = Parsed().read(parser, target)
    spoken = ("human", "assistant", "tool_calls", "tool_results", "input", "output", "title", "parent")
    for session, tally in clean.tallies().items():
        assert {name: found.tallies()[session][name] for name in spoken} == {name: tally[name] for name in spoken}


@settings(max_examples=150, derandomize=True, deadline=None)
@given(data=st.data())
def test_records_with_anything_in_any_place_never_raise(data: st.DataObject, tmp_path_factory) -> None:
    """Formats change weekly: a field may be gone, or hold something else."""
    agent, path = data.draw(st.sampled_from(LINES))
    target = beside(path, tmp_path_factory.mktemp("odd"))
    records = []
    for line in path.read_bytes().splitlines():
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    for _ in range(data.draw(st.integers(1, 6))):
        spoil(data, data.draw(st.sampled_from(records)))
    target.write_text("".join(json.dumps(record) + "\n" for record in records))
    Parsed().read(AGENTS[agent][0], target)


ODD = st.sampled_from(
    ["null", "7", "-1.5", "true", '""', '"text"', "[]", "{}", "[null]", '{"type": []}', '[{"type": null, "text": 3}]']
).map(json.loads)


def spoil(data: st.DataObject, record: object) -> None:
    while True:
        if isinstance(record, dict) and record:
            key = data.draw(st.sampled_from(sorted(record)))
        elif isinstance(record, list) and record:
            key = data.draw(st.integers(0, len(record) - 1))
        else:
            return
        if isinstance(record[key], dict | list) and record[key] and data.draw(st.booleans()):
            record = record[key]
        else:
            record[key] = data.draw(ODD)
            return
