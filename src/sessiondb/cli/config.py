"""`sessiondb config`"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from .. import config
from ..config import Settings
from . import answers, ink, options, output
from .table import Column, show

# What may hold a secret is shown as the names of its keys only.
_SECRET = ("password", "passwd", "secret", "token", "api_key", "apikey")


@options.command("config")
@options.answers
@options.common
def command(form: answers.Form) -> None:
    """Show the settings in effect, and where each came from.

    The first that is given counts: --db; the environment (SESSIONDB_URL, SESSIONDB_HOME); config.yaml in the home; the
    default. Passwords are not shown. The store is not opened.

    \b
    Example:
        sessiondb config
        sessiondb config --json
    """
    settings = config.load(options.state().place)
    for warning in settings.warnings:
        output.complain(warning)
    found = [{"key": key, "value": value, "from": origin} for key, value, origin in effective(settings)]
    if form:
        answers.give(form, "config", {"settings": found}, records="settings")
        return
    columns = (Column("Setting"), Column("Value", share=1, least=16), Column("From", style=ink.dim))
    show(columns, [[each["key"], shown(each["value"]), each["from"]] for each in found])


def effective(settings: Settings) -> Iterator[tuple[str, Any, str]]:
    """Every setting with its value, secrets hidden, and its origin."""
    env = os.environ
    file = os.path.join(settings.home, "config.yaml")
    yield "home", settings.home, "SESSIONDB_HOME" if env.get("SESSIONDB_HOME") else "default"
    yield "config.yaml", file, "found" if os.path.exists(file) else "not there"
    yield "sessiondb.provider", settings.provider, settings.origins["sessiondb.provider"]
    for key, value in settings.options.items():
        name = f"sessiondb.{settings.provider}.{key}"
        yield name, hidden(key, value), settings.origins[name]
    for source, rule in settings.retention.items():
        yield f"sessiondb.retention.{source}", rule, file
    yield "display.resume_display", settings.resume_display, settings.origins["display.resume_display"]
    yield "redact.on_write", settings.redact_on_write, settings.origins["redact.on_write"]
    for name in ("NO_COLOR", "FORCE_COLOR", "SESSIONDB_PAGER", "PAGER"):
        if name in env:
            yield name, env[name], "environment"


def hidden(key: str, value: Any) -> Any:
    if any(word in key.lower() for word in _SECRET):
        return "***"
    return config.redact(value) if isinstance(value, str) else value


def shown(value: Any) -> str:
    if value is None:
        return "off"
    return str(value).lower() if isinstance(value, bool) else str(value)
