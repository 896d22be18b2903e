"""Keeps the layers of src/sessiondb apart; prints `file:line: what` for each breach.

Dependencies point one way: pure modules <- provider <- sql <- backends, and pure, provider <- api <- parts <- edge.
SQL and drivers stay in sql/ and backends/, click in cli/, the standard library's sqlite3 out (compat names its
exceptions), and `import sessiondb` loads no driver.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "sessiondb"
SOURCE = Path(__file__).resolve().parent.parent / "src" / PACKAGE

# The longest name that fits decides; a new top-level module gets a line here.
LAYERS = {
    "sessiondb": "api",
    "sessiondb.aio": "api",
    "sessiondb.api": "api",
    "sessiondb.db": "api",
    "sessiondb.verify": "provider",
    "sessiondb.examine": "provider",
    "sessiondb.agents": "pure",
    "sessiondb.bindings": "pure",
    "sessiondb.chat": "parts",
    "sessiondb.clean_rows": "pure",
    "sessiondb.config": "pure",
    "sessiondb.config_file": "pure",
    "sessiondb.config_twin": "pure",
    "sessiondb.credentials": "pure",
    "sessiondb.demo": "parts",
    "sessiondb.drafts": "pure",
    "sessiondb.errors": "pure",
    "sessiondb.hooks": "parts",
    "sessiondb.ids": "pure",
    "sessiondb.exporters": "parts",
    "sessiondb.importers": "pure",
    "sessiondb.importers.files": "parts",
    "sessiondb.importers.intake": "parts",
    "sessiondb.importers.links": "parts",
    "sessiondb.importers.order": "parts",
    "sessiondb.importers.rehearsal": "parts",
    "sessiondb.importers.restoring": "parts",
    "sessiondb.importers.runner": "parts",
    "sessiondb.importers.status": "parts",
    "sessiondb.importers.watching": "parts",
    "sessiondb.insights": "parts",
    "sessiondb.jsontext": "pure",
    "sessiondb.ledger": "pure",
    "sessiondb.media": "pure",
    "sessiondb.meanwhile": "pure",
    "sessiondb.migrate": "parts",
    "sessiondb.models": "pure",
    "sessiondb.moving": "provider",
    "sessiondb.places": "parts",
    "sessiondb.quarantine": "pure",
    "sessiondb.readable": "provider",
    "sessiondb.reconcile": "provider",
    "sessiondb.recap": "pure",
    "sessiondb.redact": "pure",
    "sessiondb.registry": "pure",
    "sessiondb.replay": "pure",
    "sessiondb.rows": "pure",
    "sessiondb.scrub": "parts",
    "sessiondb.search": "pure",
    "sessiondb.search.recall": "parts",
    "sessiondb.search.extracts": "parts",
    "sessiondb.search.shapes": "parts",
    "sessiondb.search.windows": "parts",
    "sessiondb.shapes": "pure",
    "sessiondb.titles": "pure",
    "sessiondb.values": "pure",
    "sessiondb.retention": "parts",
    "sessiondb.tools": "parts",
    "sessiondb.llm": "pure",
    "sessiondb.titling": "parts",
    "sessiondb.gateway": "parts",
    "sessiondb.gateway.keys": "pure",
    "sessiondb.gateway.policy": "pure",
    "sessiondb.upkeep": "pure",
    "sessiondb.pricing": "pure",
    "sessiondb.provider": "provider",
    "sessiondb.searchable": "provider",
    "sessiondb.sql": "sql",
    "sessiondb.backends": "backends",
    "sessiondb.compat": "frame",
    "sessiondb.testing": "frame",
    "sessiondb.cli": "edge",
    "sessiondb.tui": "edge",
    "sessiondb.__main__": "edge",
}

MAY_IMPORT = {
    "pure": {"pure"},
    "provider": {"pure", "provider"},
    "sql": {"pure", "provider", "sql"},
    "backends": {"pure", "provider", "sql", "backends"},
    "api": {"pure", "provider", "api"},
    "parts": {"pure", "provider", "api", "parts"},
    # Stands around one backend: the old import name on SQLite, the laws with memory as their oracle.
    "frame": {"pure", "provider", "api", "backends", "frame"},
    "edge": {"pure", "provider", "api", "parts", "edge"},
}

DRIVERS = {"apsw", "psycopg", "psycopg_pool", "pymysql"}
MAY_TALK_SQL = {"sql", "backends"}
SQL = re.compile(
    r"\s*(SELECT\s.*\sFROM\s|INSERT\s+(OR\s+\w+\s+)?INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|WITH\s+\w+.*\sAS\s*\("
    r"|(CREATE|ALTER|DROP)\s+(UNIQUE\s+|VIRTUAL\s+)?(TABLE|INDEX|TRIGGER|VIEW|SCHEMA)\s|PRAGMA\s+\w+|BEGIN\s+IMMEDIATE)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Import:
    module: str
    line: int
    at_import: bool


@dataclass(frozen=True)
class Breach:
    path: Path
    line: int
    what: str


@dataclass(frozen=True)
class Module:
    name: str
    path: Path
    tree: ast.Module
    imports: tuple[Import, ...]

    @property
    def layer(self) -> str | None:
        return layer_of(self.name)


def layer_of(name: str) -> str | None:
    """The layer of a module; None for a top-level module that nobody has placed."""
    parts = name.split(".")
    for length in range(len(parts), 1, -1):
        if layer := LAYERS.get(".".join(parts[:length])):
            return layer
    return LAYERS[PACKAGE] if name == PACKAGE else None


def module_name(path: Path, source: Path) -> str:
    parts = [PACKAGE, *path.relative_to(source).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def import_nodes(node: ast.AST, at_import: bool = True) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Every import statement, and whether it runs when the module is imported."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, at_import
        else:
            runs = not (isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) or is_type_checking(child))
            yield from import_nodes(child, at_import and runs)


def imported_names(node: ast.Import | ast.ImportFrom, package: str, known: set[str]) -> Iterator[str]:
    """Absolute names; of `from package import name` the module, where name is one."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    base = node.module or ""
    if node.level:
        above = package.split(".")[: len(package.split(".")) - node.level + 1]
        base = ".".join([*above, *([node.module] if node.module else [])])
    for alias in node.names:
        name = f"{base}.{alias.name}"
        yield name if name in known else base


def read(source: Path) -> list[Module]:
    paths = {module_name(path, source): path for path in sorted(source.rglob("*.py"))}
    return [parse(name, path, set(paths)) for name, path in paths.items()]


def parse(name: str, path: Path, known: set[str]) -> Module:
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    found = {
        Import(target, node.lineno, at_import)
        for node, at_import in import_nodes(tree)
        for target in imported_names(node, package, known)
    }
    return Module(name, path, tree, tuple(sorted(found, key=lambda item: (item.line, item.module))))


def unplaced(module: Module) -> Iterator[Breach]:
    if module.layer is None:
        yield Breach(module.path, 1, f"{module.name} has no layer; give it one in LAYERS of tools/check_layers.py")


def wrong_direction(module: Module) -> Iterator[Breach]:
    layer = module.layer
    for found in module.imports:
        if layer is None or found.module.split(".")[0] != PACKAGE:
            continue
        target = layer_of(found.module)
        if target is not None and target not in MAY_IMPORT[layer]:
            yield Breach(module.path, found.line, f"{layer} code imports {found.module} ({target})")


def strays(module: Module) -> Iterator[Breach]:
    """Libraries outside the one place that may know them."""
    for found in module.imports:
        top = found.module.split(".")[0]
        if top in DRIVERS and module.layer != "backends":
            yield Breach(module.path, found.line, f"driver {top} outside backends/")
        if top == "click" and not module.name.startswith(f"{PACKAGE}.cli"):
            yield Breach(module.path, found.line, "click outside cli/")
        if top == "sqlite3" and not module.name.startswith(f"{PACKAGE}.compat"):
            yield Breach(module.path, found.line, "sqlite3 of the standard library; use apsw")


def docstrings(tree: ast.Module) -> set[ast.AST]:
    owners = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    firsts = (node.body[0] for node in ast.walk(tree) if isinstance(node, owners) and node.body)
    return {first.value for first in firsts if isinstance(first, ast.Expr)}


def is_sql(value: object) -> bool:
    return isinstance(value, str) and SQL.match(value) is not None


def sql_above(module: Module) -> Iterator[Breach]:
    if module.layer in MAY_TALK_SQL:
        return
    prose = docstrings(module.tree)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and node not in prose and is_sql(node.value):
            yield Breach(module.path, node.lineno, "SQL above sql/ and backends/")


def reachable(modules: dict[str, Module], start: str) -> Iterator[Module]:
    """The modules that importing `start` imports."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name in seen or name not in modules:
            continue
        seen.add(name)
        yield modules[name]
        waiting += [found.module for found in modules[name].imports if found.at_import]


def eager_drivers(modules: list[Module]) -> Iterator[Breach]:
    for module in reachable({module.name: module for module in modules}, PACKAGE):
        for found in module.imports:
            if found.at_import and found.module.split(".")[0] in DRIVERS:
                yield Breach(module.path, found.line, f"`import {PACKAGE}` loads the driver {found.module}")


def breaches(source: Path) -> list[Breach]:
    modules = read(source)
    rules = (unplaced, wrong_direction, strays, sql_above)
    found = [breach for module in modules for rule in rules for breach in rule(module)]
    return sorted({*found, *eager_drivers(modules)}, key=lambda breach: (str(breach.path), breach.line, breach.what))


def main(arguments: list[str]) -> int:
    source = Path(arguments[0]) if arguments else SOURCE
    found = breaches(source)
    for breach in found:
        print(f"{breach.path}:{breach.line}: {breach.what}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
