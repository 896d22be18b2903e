"""docs/json.md tells the shapes that --json and --jsonl print."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sessiondb import registry
from sessiondb.cli import records
from sessiondb.cli.clicking import of

DOCUMENT = (Path(__file__).parents[2] / "docs" / "json.md").read_text("utf-8")


def documented(heading: str) -> list[str]:
    section = re.search(rf"^### {re.escape(heading)}\n(.*?)(?=^##|\Z)", DOCUMENT, re.DOTALL | re.MULTILINE)
    assert section, f"docs/json.md says nothing about {heading}"
    cells = re.findall(r"^\| (`.*?) \| ", section[1], re.MULTILINE)
    return [key for cell in cells for key in re.findall(r"`(\w+)`", cell)]


def optional(heading: str) -> set[str]:
    """Keys that are there only with an option."""
    conditions = {
        "hit": {"context"},
        "session": {"preview"},
        "sessiondb.search.v1": {"explanation"},
        "sessiondb.prune.v1": {"pruned", "sessions"},
        "sessiondb.insights.v1": {"groups"},
    }
    return conditions.get(heading, set())


def check(heading: str, found: dict[str, Any]) -> None:
    keys = set(documented(heading))
    assert found.keys() <= keys
    assert keys - found.keys() <= optional(heading)


@pytest.fixture
def talk(session, db) -> None:
    session("b", "other", title="other")
    db.delete_session("b")
    session("a", "hello docker", "hi", title="work", started_at=1_000_000.0)
    db.end_session("a", "done")


CASES = {
    "archive": ["archive", "a"],
    "backup": ["backup"],
    "config": ["config"],
    "delete": ["delete", "a", "--yes"],
    "doctor": ["doctor"],
    "gateway": ["gateway", "status"],
    "hook": ["hook", "status"],
    "insights": ["insights"],
    "list": ["list"],
    "migrate": ["migrate", "--to", "memory://"],
    "optimize": ["optimize"],
    "pin": ["pin", "a"],
    "prune": ["prune", "--dry-run"],
    "pull": ["pull", "memory://"],
    "push": ["push", "memory://"],
    "recall": ["recall"],
    "scrub": ["scrub", "--dry-run"],
    "rename": ["rename", "a", "new"],
    "repair": ["repair"],
    "resume": ["resume", "a"],
    "search": ["search", "docker", "--explain"],
    "show": ["show", "a"],
    "stats": ["stats"],
    "tag": ["tag", "a", "x"],
    "tree": ["tree", "a"],
    "undelete": ["undelete", "b"],
    "verify": ["verify"],
}
# Those with files and streams of their own; restore is tried with a backup below.
WITHOUT = {"completions", "demo", "export", "import", "restore", "sessions"}


def answering() -> set[str]:
    """The commands that take --json."""
    commands = {name: of(registry.load("commands", name)) for name in registry.TABLES["commands"]}
    return {name for name, each in commands.items() if any("--json" in param.opts for param in each.params)}


def test_every_command_that_takes_json_is_tried() -> None:
    assert answering() - WITHOUT == CASES.keys()


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize("name", CASES)
def test_the_document_has_the_keys_it_should(run, db, name: str) -> None:
    db.close()
    done = run(*CASES[name], "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert next(iter(document)) == "schema"
    assert document.pop("schema") == f"sessiondb.{name}.v1"
    check(f"sessiondb.{name}.v1", document)


@pytest.mark.usefixtures("talk")
def test_restore_has_the_keys_it_should(run, tmp_path: Path) -> None:
    backup = json.loads(run("backup", "--json").out)["path"]
    document = json.loads(run("restore", backup, "--to", tmp_path / "new.db", "--json").out)
    assert document.pop("schema") == "sessiondb.restore.v1"
    check("sessiondb.restore.v1", document)


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize(
    ("command", "heading"),
    [(["list"], "session"), (["tree", "a"], "session"), (["show", "a"], "message"), (["search", "docker"], "hit")],
)
def test_lines_are_records(run, command: list[str], heading: str) -> None:
    lines = run(*command, "--jsonl").lines
    assert lines
    for line in lines:
        check(heading, json.loads(line))


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize("name", ["stats", "rename", "verify", "tag"])
def test_a_document_without_records_is_one_line(run, name: str) -> None:
    lines = run(*CASES[name], "--jsonl").lines
    assert [json.loads(line)["schema"] for line in lines] == [f"sessiondb.{name}.v1"]


def test_the_records_are_documented_completely() -> None:
    assert set(documented("session")) == set(records.SESSION)
    assert set(documented("message")) == set(records.MESSAGE)


def test_a_failure_prints_nothing_to_stdout(run, session) -> None:
    session("a", "hello")
    done = run("show", "nothing", "--json")
    assert (done.code, done.out, done.err.count("\n")) == (3, "", 1)
