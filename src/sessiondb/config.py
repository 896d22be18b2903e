"""Which store to open, and how: argument, environment, config.yaml, defaults; nothing is read at import.

Each value is taken from the first place that has it:

1. the explicit argument (`sessiondb.open(…)`, `--db`),
2. `SESSIONDB_URL` in the environment,
3. `config.yaml` in the home, which is `$SESSIONDB_HOME` or `~/.sessiondb`; its keys are in `config_file`,
4. the defaults: SQLite, `state.db` in the home.

An argument or `SESSIONDB_URL` names the provider and the place; how that provider is tuned still comes from its
section of `config.yaml`. An unknown provider is an error: falling back to another store would split a history.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import registry
from .errors import Invalid
from .values import dataclass, field

if TYPE_CHECKING:
    from .config_file import ConfigFile

Env = Mapping[str, str]
Place = str | os.PathLike[str]

# URL scheme -> provider. A scheme that is not listed names a provider of its own.
SCHEMES = {
    "mariadb": "mysql",
    "memory": "memory",
    "mysql": "mysql",
    "postgres": "postgresql",
    "postgresql": "postgresql",
    "sqlite": "sqlite",
    "ssh": "ssh",
}
_SERVER_DEFAULTS = {"pool_size": 10, "max_overflow": 5}
_DEFAULTS: dict[str, dict[str, Any]] = {"postgresql": _SERVER_DEFAULTS, "mysql": _SERVER_DEFAULTS}

# Greedy: a password may hold an unescaped "@", and hiding too much is the safe side.
_URL_PASSWORD = r"(?s)(://[^:/?#@\s]*):.*@"
_QUOTED = r"""'(?:\\.|[^'\\])*(?:'|$) | "(?:\\.|[^"\\])*(?:"|$)"""
_KEY_PASSWORD = rf"(?ix) ( (?:ssl)?password | passwd | pwd ) ( \s*=\s* ) (?: {_QUOTED} | [^\s&;]+ )"


@dataclass(frozen=True, repr=False)
class Settings:
    """What to open. `origins` tells for every value where it came from, `warnings` what was not understood."""

    provider: str
    options: Mapping[str, Any]
    home: str
    resume_display: str = "full"
    retention: Mapping[str, Any] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    redact_on_write: bool = False

    def __repr__(self) -> str:
        options = {key: redact(value) if isinstance(value, str) else value for key, value in self.options.items()}
        return f"Settings(provider={self.provider!r}, options={options!r}, home={self.home!r})"


def redact(url_or_dsn: str) -> str:
    """The same text with every password as `***`: in URLs, in key=value DSNs and in `?password=`."""
    import re

    return re.sub(_KEY_PASSWORD, r"\1\2***", re.sub(_URL_PASSWORD, r"\1:***@", url_or_dsn))


def spelled(url: str) -> str:
    """The same URL with its password percent-encoded, for what reads it strictly; other texts stay as they are.

    A password that is written as it is may hold "@", "/" or "#", and would be taken for a host, a path or a port. The
    last "@" before the options ends it. "%" with two hex digits is taken for an escape that is there already.
    """
    import re
    from urllib.parse import quote

    scheme, found, rest = url.partition("://")
    options = re.search(r"\?\w+=", rest)
    before = rest[: options.start()] if options else rest
    user, colon, password = before.rpartition("@")[0].partition(":")
    if not found or not colon or re.search(r"[\s='/?#]", scheme + user):
        return url
    is_escaped = not re.search("%(?![0-9A-Fa-f]{2})", password)
    encoded = quote(password, "%" if is_escaped else "", errors="surrogateescape")
    return f"{scheme}://{user}:{encoded}{rest[len(user) + 1 + len(password) :]}"


def load(place: Place | None = None, *, env: Env | None = None) -> Settings:
    """The settings for `place`, or for what the environment and config.yaml name. Raises Invalid."""
    from . import config_file

    env = os.environ if env is None else env
    home = home_directory(env)
    file = config_file.read(home, env)
    provider, location, origin = _choose(place, env, file)
    if not registry.has("providers", provider):
        known = ", ".join(registry.names("providers"))
        raise Invalid(f"unknown provider {provider!r} (from {origin}); known: {known}")
    tuning = file.section(provider)
    options = {**_defaults(provider, home), **tuning, **location}
    if provider in _DEFAULTS and not options.get("dsn"):
        raise Invalid(f"{provider} needs a server: set SESSIONDB_URL, or sessiondb.{provider}.dsn in {file.name}")
    origins = {f"sessiondb.{provider}.{key}": "default" for key in options}
    origins |= {f"sessiondb.{provider}.{key}": file.name for key in tuning}
    origins |= {f"sessiondb.{provider}.{key}": origin for key in location}
    resume, resume_origin = file.resume_display()
    redacting, redact_origin = file.redact_on_write()
    origins |= {
        "sessiondb.provider": origin,
        "display.resume_display": resume_origin,
        "redact.on_write": redact_origin,
    }
    return Settings(provider, options, home, resume, file.retention(), origins, tuple(file.warnings()), redacting)


def part(name: str, checks: Mapping[str, Any], *, env: Env | None = None) -> dict[str, Any]:
    """The checked section of config.yaml that a part of the program reads for itself, such as `llm`. Raises Invalid."""
    from . import config_file

    env = os.environ if env is None else env
    return config_file.read(home_directory(env), env).part(name, checks)


def _choose(place: Place | None, env: Env, file: ConfigFile) -> tuple[str, dict[str, Any], str]:
    """Provider, location, and where they were named."""
    if place is not None:
        return *target(place, env), "argument"
    if env.get("SESSIONDB_URL"):
        return *target(env["SESSIONDB_URL"], env), "SESSIONDB_URL"
    provider = file.provider()
    return (provider, {}, file.name) if provider else ("sqlite", {}, "default")


def _defaults(provider: str, home: str) -> dict[str, Any]:
    return {"path": os.path.join(home, "state.db")} if provider == "sqlite" else _DEFAULTS.get(provider, {})


def home_directory(env: Env) -> str:
    """`$SESSIONDB_HOME`, else `~/.sessiondb`; not created here."""
    return expand_user(env.get("SESSIONDB_HOME") or "~/.sessiondb", env)


def expand_user(path: str, env: Env) -> str:
    """`~` as the home of `env`, not of the process."""
    if (path == "~" or path.startswith("~/")) and env.get("HOME"):
        return env["HOME"] + path[1:]
    return os.path.expanduser(path)


def target(place: Place, env: Env | None = None) -> tuple[str, dict[str, Any]]:
    """Provider and location of a URL or path: `("sqlite", {"path": …})`, `("postgresql", {"dsn": …})`.

    What follows `sqlite://` is the path, so `sqlite:///var/x.db` and `sqlite:////var/x.db` are both /var/x.db, and
    `sqlite:x.db` is in the working directory. `memory://` and `:memory:` are a store that ends with the process.
    Other URLs go to their provider as `dsn`. Everything else is the path of a SQLite file; `~` is expanded.
    """
    env = os.environ if env is None else env
    text = os.fspath(place) if isinstance(place, str | os.PathLike) else place
    if not isinstance(text, str) or not text.strip() or "\0" in text:
        raise Invalid(f"a store is named by a URL or a path, not {text!r}")
    scheme, rest = _split(text)
    if scheme is None:
        return _file(text, env)
    if scheme == "sqlite":
        return _file(_sqlite_path(rest, text), env)
    if scheme == "memory":
        return _memory(rest)
    return _provider_of(scheme), {"dsn": text}


def _split(text: str) -> tuple[str | None, str]:
    """Scheme and rest of a URL; `sqlite:x.db` is one too, `C:/x.db` and `notes:2.db` are paths."""
    scheme, found, rest = text.partition("://")
    if not found:
        scheme, _, rest = text.partition(":")
        return (scheme.lower(), rest) if scheme.lower() in ("sqlite", "memory") else (None, text)
    plain = scheme.translate({ord(character): None for character in "+-."})
    return (scheme.lower(), rest) if plain.isalnum() and plain.isascii() else (None, text)


def _file(path: str, env: Env) -> tuple[str, dict[str, Any]]:
    return ("memory", {}) if path == ":memory:" else ("sqlite", {"path": expand_user(path, env)})


def _sqlite_path(rest: str, url: str) -> str:
    if "?" in rest:
        raise Invalid(f"{url!r} has options after '?'; they belong into config.yaml")
    path = "/" + rest.lstrip("/") if rest.startswith("/") else rest
    # A directory "/~" would surprise everybody who writes `sqlite:///~/x.db`.
    path = path[1:] if path.startswith(("/~", "/:memory:")) else path
    if not path.strip("/"):
        raise Invalid(f"{url!r} names no file; write sqlite:///path/to/state.db")
    return path


def _memory(rest: str) -> tuple[str, dict[str, Any]]:
    if rest.strip("/"):
        raise Invalid("a store in memory has no name or path; write memory://")
    return "memory", {}


def _provider_of(scheme: str) -> str:
    if scheme in SCHEMES:
        return SCHEMES[scheme]
    if registry.has("providers", scheme):
        return scheme
    known = ", ".join(f"{name}://" for name in sorted({*SCHEMES, *registry.names("providers")}))
    raise Invalid(f"unknown kind of store '{scheme}://'; known: {known}")
