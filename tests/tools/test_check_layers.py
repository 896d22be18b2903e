"""The layer lint finds what it is there to find, and names the place."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "check_layers.py"

Lint = Callable[[dict[str, str]], list[str]]


@pytest.fixture
def lint(tmp_path: Path) -> Lint:
    """Breaches in a package made of these files, without the path in front."""

    def run(files: dict[str, str]) -> list[str]:
        root = tmp_path / "sessiondb"
        for name, text in {"__init__.py": "", **files}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        done = subprocess.run([sys.executable, str(TOOL), str(root)], capture_output=True, text=True, check=False)
        assert done.stderr == ""
        assert done.returncode == (1 if done.stdout else 0)
        return [line.removeprefix(f"{root}/") for line in done.stdout.splitlines()]

    return run


ALLOWED = [
    {"models.py": "import json"},
    {"provider.py": "from .models import Filter", "models.py": ""},
    {"backends/sqlite/driver.py": "import apsw\nfrom ...sql import core", "sql/core.py": "", "sql/__init__.py": ""},
    {"cli/main.py": "import click\nfrom .. import db", "db.py": ""},
    {"compat/hermes_state.py": "import sqlite3"},
    {"sql/sessions.py": 'FIND = """\n    SELECT id\n      FROM sessions\n"""'},
    {"db.py": '"""SELECT id FROM sessions is what sql/ says."""'},
    {"db.py": 'message = "Select a session FROM the list"'},
    {"backends/memory.py": "def start() -> None:\n    import apsw"},
]

BROKEN = [
    (
        {"models.py": "import os\nfrom .provider import P", "provider.py": ""},
        "models.py:2: pure code imports",
    ),
    ({"provider.py": "from .db import SessionDB", "db.py": ""}, "provider.py:1: provider code imports sessiondb.db"),
    (
        {"db.py": "from .backends import memory", "backends/memory.py": ""},
        "db.py:1: api code imports",
    ),
    ({"backends/m.py": "from .. import db", "db.py": ""}, "backends/m.py:1: backends code imports sessiondb.db"),
    ({"db.py": "def late():\n    from sessiondb.cli import main", "cli/__init__.py": ""}, "db.py:2: api code imports"),
    ({"cli/x.py": "from ..sql.core import run", "sql/core.py": ""}, "cli/x.py:1: edge code imports sessiondb.sql.core"),
    ({"rows.py": "import apsw"}, "rows.py:1: driver apsw outside backends/"),
    ({"db.py": "import click"}, "db.py:1: click outside cli/"),
    ({"backends/x.py": "import sqlite3"}, "backends/x.py:1: sqlite3 of the standard library"),
    ({"db.py": 'x = 1\nq = "SELECT id FROM sessions WHERE id = :id"'}, "db.py:2: SQL above"),
    ({"db.py": 'q = f"UPDATE sessions SET title = {1}"'}, "db.py:1: SQL above"),
    ({"cli/x.py": 'q = """\n    PRAGMA table_info(x)"""'}, "cli/x.py:1: SQL above"),
    ({"wizard.py": ""}, "wizard.py:1: sessiondb.wizard has no layer"),
]


@pytest.mark.parametrize("files", ALLOWED, ids=lambda files: ",".join(files))
def test_a_dependency_that_points_down_is_fine(lint: Lint, files: dict[str, str]) -> None:
    assert lint(files) == []


@pytest.mark.parametrize(("files", "expected"), BROKEN, ids=[expected for _, expected in BROKEN])
def test_a_breach_is_named_with_its_place(lint: Lint, files: dict[str, str], expected: str) -> None:
    assert [line[: len(expected)] for line in lint(files)] == [expected]


def test_importing_the_package_may_load_no_driver(lint: Lint) -> None:
    files = {"__init__.py": "from . import db", "db.py": "from .backends import s", "backends/s.py": "import apsw"}
    assert "backends/s.py:1: `import sessiondb` loads the driver apsw" in lint(files)


def test_the_map_tells_each_module_where_the_lint_has_it() -> None:
    layers: dict[str, str] = runpy.run_path(str(TOOL))["LAYERS"]
    rows = re.findall(r"^\| (\w+) \| (.*?) \|", (TOOL.parents[1] / "AGENTS.md").read_text("utf-8"), re.MULTILINE)
    told = {layer: set(re.findall(r"\w+", where)) for layer, where in rows if layer in layers.values()}
    named = {module: module.rpartition(".")[2] for module in layers if module != "sessiondb"}
    assert [module for module, name in named.items() if name not in told[layers[module]]] == []
    modules = {path.stem for path in (TOOL.parents[1] / "src" / "sessiondb").iterdir()}
    assert {name for names in told.values() for name in names} >= modules - {"py", "__pycache__"}
