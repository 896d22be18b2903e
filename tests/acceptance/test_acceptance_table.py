"""docs/acceptance.md and the acceptance tests name each other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
DOCUMENT = HERE.parents[1] / "docs" / "acceptance.md"
NUMBERS = ("000", "001", "002", "003", "004")


def rows() -> list[tuple[str, str, str]]:
    """(document, criterion, test) of every line of the tables."""
    found, document = [], ""
    for line in DOCUMENT.read_text("utf-8").splitlines():
        if heading := re.match(r"## (\d{3}) ", line):
            document = heading[1]
        elif line.startswith("| ") and not line.startswith("| criterion"):
            criterion, shown = line.strip("|").rsplit("|", 1)
            found.append((document, criterion.strip(), shown.strip()))
    return found


def names_in(number: str) -> list[str]:
    trees = [ast.parse(file.read_text("utf-8")) for file in sorted(HERE.glob(f"test_seed_{number}_*.py"))]
    functions = [node for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)]
    return [function.name for function in functions if function.name.startswith("test_")]


@pytest.mark.parametrize("number", NUMBERS)
def test_every_acceptance_test_stands_once_in_the_table_and_every_named_test_exists(number: str) -> None:
    named = [shown.strip("`") for document, _, shown in rows() if document == number]
    assert sorted(named) == sorted(names_in(number))


def test_every_criterion_has_its_test() -> None:
    assert [row for row in rows() if not re.fullmatch(r"`test_\w+`", row[2])] == []


def test_every_criterion_stands_once() -> None:
    criteria = [(document, criterion) for document, criterion, _ in rows()]
    assert len(criteria) == len(set(criteria))
    assert {document for document, _ in criteria} == set(NUMBERS)
