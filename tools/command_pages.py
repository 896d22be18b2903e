"""Writes docs/commands/: a page per command, made of its help. With --check, tells what is not current and exits 1."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from sessiondb import registry
from sessiondb.cli.clicking import of
from sessiondb.cli.program import program

DIRECTORY = Path(__file__).resolve().parent.parent / "docs" / "commands"
WIDTH = 100
GROUP = "sessions"
INTRODUCTION = """# Commands

Each page is the help of a command, as `sessiondb COMMAND --help` prints it.

A SESSION is named by its id, the beginning of its id, its title (of a compressed conversation the latest part),
`latest`, or `-1`, `-2` and so on, counted from the last active. Titles of several words need no quotes. WHEN is
`2025-03-05`, `2025-03-05T14:30`, `today`, `yesterday`, or how long ago: `12h`, `7d`, `2w`.

`--json` and `--jsonl` print [documented shapes](../json.md). Results go to stdout, complaints and progress to stderr.
Colours and the pager (`$SESSIONDB_PAGER`, `$PAGER`, `less`) are for terminals only; `NO_COLOR`, `FORCE_COLOR`,
`--color` and `--no-pager` switch them. What deletes asks first; without a terminal it refuses unless `--yes` is given.

Exit codes: 0 done, 1 other or "no" answered, 2 usage, 3 not found, 4 conflict, 5 unavailable, 6 schema or corruption.

"""


def help_of(command: click.Command, name: str) -> str:
    with click.Context(program, info_name="sessiondb") as above:
        context = click.Context(
            command,
            info_name=name,
            parent=above,
            terminal_width=WIDTH,
            max_content_width=WIDTH,
            help_option_names=["-h", "--help"],
        )
        return command.get_help(context)


def pages() -> dict[str, str]:
    """Name of the file -> text."""
    made: dict[str, str] = {}
    index = INTRODUCTION + "| command | what it does |\n|---|---|\n"
    for name in sorted(registry.TABLES["commands"]):
        command = of(registry.load("commands", name))
        first = re.split(r"\n\s*\n|\f", (command.help or "").strip())[0]
        summary = " ".join(first.split()).replace("|", "\\|")
        if name == GROUP:
            index += f"| `{name}` | {summary} |\n"
            continue
        made[f"{name}.md"] = f"# sessiondb {name}\n\n```text\n{help_of(command, name).rstrip()}\n```\n"
        index += f"| [`{name}`]({name}.md) | {summary} |\n"
    return {"README.md": index, **made}


def main() -> int:
    wanted = pages()
    present = {path.name: path.read_text("utf-8") for path in DIRECTORY.glob("*.md")}
    differing = sorted(name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name))
    if "--check" in sys.argv[1:]:
        for name in differing:
            print(f"docs/commands/{name} is not current; run `make pages`")
        return bool(differing)
    DIRECTORY.mkdir(exist_ok=True)
    for name in differing:
        path = DIRECTORY / name
        if name in wanted:
            path.write_text(wanted[name], "utf-8")
        else:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
