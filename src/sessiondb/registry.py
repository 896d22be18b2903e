"""Where the parts are: name -> "module:object" for our own, entry points for what others ship.

A part is imported when it is asked for by name. Our own names win; on a miss the entry points of the group
`sessiondb.<kind>` are read, so another distribution adds a provider or a command by declaring one:

    [project.entry-points."sessiondb.providers"]
    redis = "my_package.store:RedisProvider"
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import Invalid, SessionDBError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

TABLES: dict[str, dict[str, str]] = {
    "providers": {
        "memory": "sessiondb.backends.memory:MemoryProvider",
        "mysql": "sessiondb.backends.mysql:MySQLProvider",
        "postgresql": "sessiondb.backends.postgres:PostgreSQLProvider",
        "sqlite": "sessiondb.backends.sqlite:SQLiteProvider",
        "ssh": "sessiondb.backends.remote:RemoteProvider",
    },
    # What answers for a store on the machine that has it.
    "servers": {
        "ssh": "sessiondb.backends.remote.wire:Server",
    },
    # Providers that read a store for a move and change nothing, where the usual one would.
    "sources": {
        "sqlite": "sessiondb.backends.sqlite.borrowed:BorrowedSQLite",
    },
    # What reads the database files of other programs for the importers.
    "foreign": {
        "sqlite": "sessiondb.backends.sqlite.foreign:ForeignDatabase",
    },
    # In order of detection: a file belongs to the first that knows it, so general formats come last.
    "importers": {
        "sessiondb": "sessiondb.importers.sessiondb_jsonl",
        "claude-code": "sessiondb.importers.claude_code",
        "codex": "sessiondb.importers.codex",
        "gemini-cli": "sessiondb.importers.gemini",
        "opencode": "sessiondb.importers.opencode",
        "hermes": "sessiondb.importers.hermes",
        "nanobot": "sessiondb.importers.nanobot",
        "copilot-cli": "sessiondb.importers.copilot",
        "cursor": "sessiondb.importers.cursor",
        "cline": "sessiondb.importers.cline",
        "roo-code": "sessiondb.importers.roo",
        "aider": "sessiondb.importers.aider",
        "qwen-code": "sessiondb.importers.qwen",
        "kimi-code": "sessiondb.importers.kimi",
        "pi": "sessiondb.importers.pi",
        "openclaw": "sessiondb.importers.openclaw",
        "llm": "sessiondb.importers.llm_logs",
        "openai-agents": "sessiondb.importers.agents_sdk",
        "chatgpt": "sessiondb.importers.chatgpt",
        "claude-ai": "sessiondb.importers.claude_ai",
        "grok": "sessiondb.importers.grok",
        "open-webui": "sessiondb.importers.open_webui",
        "sharegpt": "sessiondb.importers.sharegpt",
        "openai-chat": "sessiondb.importers.openai_chat",
    },
    # In this order the end of a file's name is looked at.
    "exporters": {
        "openai": "sessiondb.exporters.openai_chat",
        "otlp": "sessiondb.exporters.otlp",
        "sharegpt": "sessiondb.exporters.sharegpt",
        "sharegpt-hermes": "sessiondb.exporters.sharegpt_hermes",
        "jsonl": "sessiondb.exporters.jsonl",
        "markdown": "sessiondb.exporters.markdown",
        "html": "sessiondb.exporters.html",
        "csv": "sessiondb.exporters.sessions_csv",
    },
    # Where people write; see gateway/channels/base.py.
    "channels": {
        "discord": "sessiondb.gateway.channels.discord:Discord",
        "slack": "sessiondb.gateway.channels.slack:Slack",
        "telegram": "sessiondb.gateway.channels.telegram:Telegram",
        "webhook": "sessiondb.gateway.channels.webhook:Webhook",
        "whatsapp": "sessiondb.gateway.channels.whatsapp:WhatsApp",
    },
    "upkeep": {
        "sqlite": "sessiondb.backends.sqlite.upkeep:SQLiteUpkeep",
    },
    # What a look at a server tells of a store.
    "checkups": {
        "mysql": "sessiondb.backends.mysql.checkup:findings",
        "postgresql": "sessiondb.backends.postgres.checkup:findings",
    },
    "commands": {
        "archive": "sessiondb.cli.archive:command",
        "backup": "sessiondb.cli.backup:command",
        "browse": "sessiondb.cli.browse:command",
        "chat": "sessiondb.cli.chat:command",
        "completions": "sessiondb.cli.completions:command",
        "config": "sessiondb.cli.config:command",
        "delete": "sessiondb.cli.delete:command",
        "demo": "sessiondb.cli.demo:command",
        "doctor": "sessiondb.cli.doctor:command",
        "export": "sessiondb.cli.export:command",
        "gateway": "sessiondb.cli.gateway:command",
        "hook": "sessiondb.cli.hook:command",
        "import": "sessiondb.cli.importing:command",
        "insights": "sessiondb.cli.insights:command",
        "list": "sessiondb.cli.list:command",
        "mcp": "sessiondb.cli.mcp:command",
        "migrate": "sessiondb.cli.migrate:command",
        "optimize": "sessiondb.cli.optimize:command",
        "pin": "sessiondb.cli.pin:command",
        "prune": "sessiondb.cli.prune:command",
        "pull": "sessiondb.cli.pull:command",
        "push": "sessiondb.cli.push:command",
        "recall": "sessiondb.cli.recall:command",
        "remote": "sessiondb.cli.remote:command",
        "rename": "sessiondb.cli.rename:command",
        "repair": "sessiondb.cli.repair:command",
        "restore": "sessiondb.cli.restore:command",
        "resume": "sessiondb.cli.resume:command",
        "scrub": "sessiondb.cli.scrub:command",
        "search": "sessiondb.cli.search:command",
        "sessions": "sessiondb.cli.sessions:command",
        "show": "sessiondb.cli.show:command",
        "stats": "sessiondb.cli.stats:command",
        "tag": "sessiondb.cli.tag:command",
        "tree": "sessiondb.cli.tree:command",
        "undelete": "sessiondb.cli.undelete:command",
        "verify": "sessiondb.cli.verify:command",
    },
}


def load(kind: str, name: str) -> Any:
    """The object registered under `name`. Raises Invalid for an unknown name, naming the known ones."""
    place = _table(kind).get(name)
    if place is not None:
        module, _, attribute = place.partition(":")
        part = import_module(module)
        return getattr(part, attribute) if attribute else part
    found = _entry_points(kind).get(name)
    if found is None:
        raise Invalid(f"unknown {kind.removesuffix('s')} {name!r}; known: {', '.join(names(kind))}")
    return _load_foreign(kind, found)


def names(kind: str) -> list[str]:
    """All names of a kind, our own and those of other distributions, sorted."""
    return sorted({*_table(kind), *_entry_points(kind)})


def has(kind: str, name: str) -> bool:
    """Whether `load` would find something under this name; imports no part."""
    return name in _table(kind) or name in _entry_points(kind)


def _table(kind: str) -> dict[str, str]:
    try:
        return TABLES[kind]
    except KeyError:
        raise Invalid(f"nothing of kind {kind!r} is registered; kinds: {', '.join(sorted(TABLES))}") from None


def _entry_points(kind: str) -> dict[str, EntryPoint]:
    # Reading the metadata of all installed distributions takes longer than a whole command: only on a miss.
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=f"sessiondb.{kind}")}


def _load_foreign(kind: str, point: EntryPoint) -> Any:
    try:
        return point.load()
    except Exception as exc:
        shipped_by = point.dist.name if point.dist else "an unknown distribution"
        raise SessionDBError(
            f"the {kind.removesuffix('s')} {point.name!r} of {shipped_by} is broken: {type(exc).__name__}: {exc}; "
            f"update or uninstall {shipped_by}"
        ) from exc
