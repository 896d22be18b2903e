"""Writes src/sessiondb/aio/ from src/sessiondb/api/: every public method, awaited, with its own signature.

    tools/make_async.py            write what has changed
    tools/make_async.py --check    say which files are not current, and fail

What writes is named here; a test holds every other method to a store opened for reading only.
"""

from __future__ import annotations

import ast
import builtins
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "sessiondb"
NOUNS = ("lineage", "messages", "search", "sessions", "stats", "titles", "transfer", "trash")

WRITES = frozenset({
    "append_message", "append_messages", "archive_session", "clear_messages", "create_session", "delete_session",
    "empty_trash", "end_session", "ensure_session", "fork_session", "import_native", "import_sessions", "index",
    "merge_messages", "pin_session", "prune_sessions", "reopen_session", "replace_messages", "restore_deleted",
    "restore_rewound", "rewind_to_message", "rotate_session", "set_auto_title_if_empty", "set_meta",
    "set_session_title", "tag_session", "untag_session", "update_session", "update_system_prompt",
    "update_token_counts",
})  # fmt: skip
# How many rows of an iterator are fetched by one visit to a thread; documents are large, and come one by one.
AT_ONCE = {"iter_messages": 200}

Method = ast.FunctionDef


def methods(tree: ast.Module) -> tuple[ast.ClassDef, list[Method]]:
    """The class of a module, and its public methods."""
    found = next(node for node in tree.body if isinstance(node, ast.ClassDef) and not node.decorator_list)
    named = (node for node in found.body if isinstance(node, Method))
    return found, [node for node in named if not node.name.startswith("_")]


def signature(method: Method) -> str:
    returns = ast.unparse(method.returns) if method.returns else "None"
    if is_iterator(method):
        returns = "Async" + returns
    return f"({ast.unparse(method.args)}) -> {returns}"


def is_iterator(method: Method) -> bool:
    return method.returns is not None and ast.unparse(method.returns).startswith("Iterator[")


def is_static(method: Method) -> bool:
    return any(isinstance(mark, ast.Name) and mark.id == "staticmethod" for mark in method.decorator_list)


def passed_on(method: Method) -> str:
    """The arguments as they are handed to the method of the same name."""
    given = method.args
    positional = [each.arg for each in (*given.posonlyargs, *given.args) if each.arg != "self"]
    rest = [f"*{given.vararg.arg}"] if given.vararg else []
    named = [f"{each.arg}={each.arg}" for each in given.kwonlyargs]
    others = [f"**{given.kwarg.arg}"] if given.kwarg else []
    return ", ".join([*positional, *rest, *named, *others])


def lane(method: Method) -> str:
    """Writes to one session keep their order; others have no queue."""
    return "session_id" if any(each.arg == "session_id" for each in method.args.args) else "None"


def call(method: Method) -> str:
    if is_static(method):
        return f"return SessionDB.{method.name}({passed_on(method)})"
    work = f"lambda db: db.{method.name}({passed_on(method)})"
    if is_iterator(method):
        return f"return self._iterate({AT_ONCE.get(method.name, 1)}, {work})"
    if method.name in WRITES:
        return f"return await self._write({lane(method)}, {work})"
    return f"return await self._read({work})"


def definition(method: Method) -> str:
    lines = ["@staticmethod"] if is_static(method) else []
    kind = "def" if is_static(method) or is_iterator(method) else "async def"
    lines.append(f"{kind} {method.name}{signature(method)}:")
    doc = ast.get_docstring(method, clean=False)
    lines += [f'    """{doc}"""'] if doc else []
    lines.append(f"    {call(method)}")
    return "\n".join("    " + line for line in lines)


def names_in(nodes: Iterable[ast.AST | None]) -> set[str]:
    inside = (child for node in nodes if node is not None for child in ast.walk(node))
    return {child.id for child in inside if isinstance(child, ast.Name)} - set(dir(builtins))


def needed(found: list[Method]) -> tuple[set[str], set[str]]:
    """The names that annotations use, and those that defaults use."""
    arguments = [each.args for each in found]
    everything = [
        part
        for given in arguments
        for part in (*given.args, *given.kwonlyargs, given.vararg, given.kwarg)
        if part is not None
    ]
    annotations = names_in([*(each.annotation for each in everything), *(each.returns for each in found)])
    return annotations, names_in(part for given in arguments for part in (*given.defaults, *given.kw_defaults))


def imports(tree: ast.Module, noun: str) -> dict[str, str]:
    """For each name the module knows: where it comes from, seen from aio/."""
    places: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            base = {0: "", 1: "..api.", 2: ".."}[node.level] + (node.module or "")
            places |= {alias.asname or alias.name: base for alias in node.names}
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [node]
        places |= {
            part.id if isinstance(part, ast.Name) else part.name: f"..api.{noun}"
            for part in targets
            if isinstance(part, ast.Name | ast.ClassDef)
        }
    return places


def import_lines(names: Iterable[str], places: dict[str, str]) -> Iterator[str]:
    by_module: dict[str, list[str]] = {}
    for name in sorted(names):
        by_module.setdefault(places[name], []).append(name)
    for module in sorted(by_module):
        yield f"from {module} import {', '.join(by_module[module])}"


def generated(noun: str) -> str:
    tree = ast.parse((PACKAGE / "api" / f"{noun}.py").read_text("utf-8"))
    owner, found = methods(tree)
    annotations, defaults = needed(found)
    places = imports(tree, noun) | {"AsyncIterator": "collections.abc"}
    if any(map(is_iterator, found)):
        annotations = (annotations - {"Iterator"}) | {"AsyncIterator"}
    typing = ["    " + line for line in import_lines(annotations - defaults, places)]
    head = [
        f'"""{ast.get_docstring(tree)}',
        "",
        f"Written by tools/make_async.py from api/{noun}.py.",
        '"""',
        "",
        "from __future__ import annotations",
        "",
        *(["from typing import TYPE_CHECKING"] if typing else []),
        *import_lines(defaults, places),
        *(["from ..db import SessionDB"] if any(map(is_static, found)) else []),
        "from .handle import AsyncHandle",
        "",
        *(["if TYPE_CHECKING:", *typing] if typing else []),
        "",
        f"class Async{owner.name}(AsyncHandle):",
    ]
    text = "\n".join(head) + "\n" + "\n\n".join(map(definition, found)) + "\n"
    return formatted(text)


def formatted(text: str) -> str:
    for wish in (["check", "--select", "I", "--fix"], ["format"]):
        place = str(PACKAGE / "aio" / "generated.py")
        command = [sys.executable, "-m", "ruff", *wish, "--quiet", "--stdin-filename", place, "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return text


def main(arguments: list[str]) -> int:
    stale = []
    for noun in NOUNS:
        path, text = PACKAGE / "aio" / f"{noun}.py", generated(noun)
        if path.exists() and path.read_text("utf-8") == text:
            continue
        stale.append(path)
        if "--check" not in arguments:
            path.write_text(text, "utf-8")
    for path in stale:
        print(f"{path}: {'not current; run tools/make_async.py' if '--check' in arguments else 'written'}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
