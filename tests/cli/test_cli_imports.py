"""What the commands that people type all day must not import: it would take longer than their answer."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"click", "dataclasses", "inspect", "logging", "msgspec", "rich", "yaml", "pathlib", "subprocess"}
HEAVY |= {"base64", "signal", "zlib"}
CODE = """
import sys
from sessiondb.cli.running import run
assert run(sys.argv[1:]) == 0
print({name.partition('.')[0] for name in sys.modules})
"""


@pytest.mark.parametrize(
    "command",
    [
        ["list"],
        ["list", "--since", "7d", "--json"],
        ["-c"],
        ["resume", "a", "--json"],
        ["show", "a"],
        ["show", "a", "--full", "--tools"],
        ["search", "hello"],
        ["search", "hello", "--json"],
        ["stats"],
        ["tree", "a"],
        ["tag", "a"],
        ["rename", "a", "new", "title"],
    ],
)
def test_short_commands_import_no_heavy_module(session, environment: dict[str, str], command: list[str]) -> None:
    session("a", "hello")
    done = subprocess.run(
        [sys.executable, "-c", CODE, *command], capture_output=True, text=True, env=environment, check=True
    )
    imported = eval(done.stdout.splitlines()[-1])
    assert imported & HEAVY == set()
    assert "sessiondb" in imported


PATTERNS = """
import re._compiler, sys
patterns, compile = [], re._compiler.compile
re._compiler.compile = lambda pattern, flags=0: patterns.append(pattern) or compile(pattern, flags)
from sessiondb.cli.running import run
assert run(sys.argv[1:]) == 0
print([each for each in patterns if isinstance(each, str) and not each.isascii() and len(each) > 20])
"""


@pytest.mark.parametrize("command", [["list"], ["stats"], ["search", "/etc/nginx/nginx.conf"]])
def test_plain_english_compiles_no_pattern_of_other_scripts(
    session, environment: dict[str, str], command: list[str]
) -> None:
    """Classes of characters beyond ASCII are what costs: together as much as a third of an empty Python."""
    session("a", "what is in /etc/nginx/nginx.conf?", "Nothing", title="nginx")
    done = subprocess.run(
        [sys.executable, "-c", PATTERNS, *command], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


COMPILED = """
import builtins, sys
texts, compile = [], builtins.compile
builtins.compile = lambda text, *more, **named: texts.append(str(text)[:80]) or compile(text, *more, **named)
sys.dont_write_bytecode = False
from sessiondb.cli.running import run
assert run(sys.argv[1:]) == 0
print([each for each in texts if len(each) < 80])
"""


@pytest.mark.parametrize("command", [["list"], ["search", "hello"]])
def test_no_annotation_is_looked_at(session, environment: dict[str, str], command: list[str]) -> None:
    """The first look makes Python load its whole syntax tree, which takes a twelfth of an empty Python."""
    session("a", "hello")
    done = subprocess.run(
        [sys.executable, "-c", COMPILED, *command], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
