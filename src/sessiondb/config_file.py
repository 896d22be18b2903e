"""config.yaml: its keys, their checks, and `${VAR}` in its texts.

    sessiondb:
      provider: postgresql            # default: sqlite
      sqlite:
        path: ~/agents/state.db       # a relative path is taken from the home
        synchronous: full             # or normal
        deadline: 30                  # seconds a write waits for other writers
      postgresql:                     # mysql: dsn, pool_size, max_overflow, deadline
        dsn: postgresql://agent:${PGPASSWORD}@db.example/agents
        pool_size: 10
        max_overflow: 5
        schema: public
        deadline: 30
        synchronous_commit: on        # or off, local, remote_write, remote_apply
        prepare_threshold: 5          # or off, behind a transaction pooler
        trigrams: auto                # or on, off: the index for parts of words and words with slips
    display:
      resume_display: full            # or minimal
    redact:
      on_write: false                 # or true: credentials are left out of what is stored

`${VAR}` is replaced from the environment, in the values that are used; each of its variables must be set.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO

from . import registry
from .config import expand_user
from .errors import Invalid

Check = Callable[[Any], Any]


def text(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("text")
    return value


def whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).isdecimal():
        raise ValueError("a whole number")
    return int(value)


def seconds(value: Any) -> float:
    try:
        number = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not 0 <= number < float("inf"):
        raise ValueError("a number of seconds")
    return number


def _one_of(*choices: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if str(value).lower() not in choices:
            raise ValueError(" or ".join(choices))
        return str(value).lower()

    return check


def flag(value: Any) -> bool:
    words = {"true": True, "yes": True, "false": False, "no": False}
    if str(value).lower() not in words:
        raise ValueError("true or false")
    return words[str(value).lower()]


def count_or_off(value: Any) -> int | None:
    # YAML reads `off` as false.
    if value is False or str(value).lower() == "off":
        return None
    try:
        return whole(value)
    except ValueError:
        raise ValueError("a whole number or off") from None


def _synchronous_commit(value: Any) -> str:
    # YAML reads `on` and `off` as true and false.
    named = ("on" if value else "off") if isinstance(value, bool) else value
    return _one_of("on", "off", "local", "remote_write", "remote_apply")(named)


def _trigrams(value: Any) -> str:
    named = ("on" if value else "off") if isinstance(value, bool) else value
    return _one_of("auto", "on", "off")(named)


_SERVER: dict[str, Check] = {
    "dsn": text,
    "pool_size": whole,
    "max_overflow": whole,
    "deadline": seconds,
    "media_directory": text,
}
KEYS: dict[str, dict[str, Check]] = {
    "sqlite": {
        "path": text,
        "synchronous": _one_of("full", "normal"),
        "deadline": seconds,
        "checksums": flag,
    },
    "postgresql": {
        **_SERVER,
        "read_dsn": text,
        "schema": text,
        "synchronous_commit": _synchronous_commit,
        "prepare_threshold": count_or_off,
        "trigrams": _trigrams,
    },
    "mysql": _SERVER,
    "ssh": {"program": text},
    "memory": {},
}


class ConfigFile:
    """The values of a file, each checked when it is asked for; an absent file has none."""

    def __init__(self, name: str, values: Any, env: Mapping[str, str]) -> None:
        self.name = name
        self._env = env
        top = self._top = self._mapping(values, "the file")
        self._values = self._mapping(top.get("sessiondb"), "sessiondb")
        self._display = self._mapping(top.get("display"), "display")
        self._redact = self._mapping(top.get("redact"), "redact")

    def provider(self) -> str | None:
        named = self._values.get("provider")
        return None if named is None else str(self._value(text, named, "sessiondb.provider"))

    def resume_display(self) -> tuple[str, str]:
        """How much of a resumed conversation is shown, and where that was said."""
        given = self._display.get("resume_display")
        if given is None:
            return "full", "default"
        return self._value(_one_of("full", "minimal"), given, "display.resume_display"), self.name

    def redact_on_write(self) -> tuple[bool, str]:
        """Whether credentials are left out of what is stored, and where that was said."""
        given = self._redact.get("on_write")
        if given is None:
            return False, "default"
        return self._value(flag, given, "redact.on_write"), self.name

    def retention(self) -> dict[str, Any]:
        """How long the sessions of each source are kept, by source; nothing is ever removed by itself."""
        rules = self._mapping(self._values.get("retention"), "sessiondb.retention")
        return {str(source): self._value(None, rule, f"sessiondb.retention.{source}") for source, rule in rules.items()}

    def section(self, provider: str) -> dict[str, Any]:
        """The options of a provider; those of a provider that others ship are passed on as they are."""
        given = self._mapping(self._values.get(provider), f"sessiondb.{provider}")
        checks = KEYS.get(provider, dict.fromkeys(given))
        values = {
            key: self._value(checks[key], value, f"sessiondb.{provider}.{key}")
            for key, value in given.items()
            if value is not None and key in checks
        }
        if provider == "sqlite" and "path" in values:
            values["path"] = os.path.join(os.path.dirname(self.name), expand_user(values["path"], self._env))
        return values

    def part(self, name: str, checks: Mapping[str, Check]) -> dict[str, Any]:
        """The section of a part of the program, such as `llm`, beside `sessiondb`. Raises Invalid for unknown keys."""
        given = self._mapping(self._top.get(name), name)
        unknown = sorted(map(str, given.keys() - checks.keys()))
        if unknown:
            raise Invalid(f"{self.name}: unknown key {name}.{unknown[0]}; known: {', '.join(sorted(checks))}")
        return {
            key: self._value(checks[key], value, f"{name}.{key}") for key, value in given.items() if value is not None
        }

    def parts(self, name: str, checks: Mapping[str, Check]) -> dict[str, dict[str, Any]]:
        """Sections by name below a section, such as the policies of `reset_by_platform`."""
        given = self._mapping(self._top.get(name), name)
        inner = ConfigFile(self.name, {f"{name}.{key}": value for key, value in given.items()}, self._env)
        return {str(key): inner.part(f"{name}.{key}", checks) for key in given}

    def within(self, name: str) -> tuple[ConfigFile, list[str]]:
        """What is below a section, for `part("<name>.<key>", …)` where each has keys of its own; and their names."""
        given = self._mapping(self._top.get(name), name)
        inner = ConfigFile(self.name, {f"{name}.{key}": value for key, value in given.items()}, self._env)
        return inner, list(map(str, given))

    def single(self, name: str, check: Check) -> Any:
        """A value beside `sessiondb`; None when it is not set."""
        given = self._top.get(name)
        return None if given is None else self._value(check, given, name)

    def warnings(self) -> Iterator[str]:
        """What nobody reads, so that a misspelt key is seen."""
        for key in self._unknown():
            yield f"{self.name}: unknown key sessiondb.{key} is ignored"
        for key in self._redact:
            if key != "on_write":
                yield f"{self.name}: unknown key redact.{key} is ignored"

    def _unknown(self) -> Iterator[str]:
        for key, value in self._values.items():
            if key in KEYS and isinstance(value, dict):
                yield from (f"{key}.{name}" for name in value if name not in KEYS[key])
            elif key not in KEYS and key not in ("provider", "retention") and not registry.has("providers", str(key)):
                yield key

    def _mapping(self, value: Any, key: str) -> dict[str, Any]:
        if value is not None and not isinstance(value, dict):
            raise Invalid(f"{self.name}: {key} must hold keys and values, not {type(value).__name__}")
        return value or {}

    def _value(self, check: Check | None, written: Any, key: str) -> Any:
        value = self._substituted(written, key) if isinstance(written, str) else written
        try:
            return check(value) if check else value
        except ValueError as exc:
            # The value as written: what a variable holds may be a secret.
            raise Invalid(f"{self.name}: {key} must be {exc}, not {written!r}") from None

    def _substituted(self, text: str, key: str) -> str:
        if "${" not in text:
            return text
        import re

        variable = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
        unset = [name for name in dict.fromkeys(variable.findall(text)) if name not in self._env]
        if unset:
            raise Invalid(f"{self.name}: {key} needs {', '.join(unset)} in the environment; not set")
        return variable.sub(lambda found: self._env[found[1]], text)


def read(home: str, env: Mapping[str, str]) -> ConfigFile:
    """The file in this home; one without values when there is none. Raises Invalid."""
    name = os.path.join(home, "config.yaml")
    try:
        with open(name, "rb") as stream:
            return ConfigFile(name, _values(name, stream), env)
    except (FileNotFoundError, NotADirectoryError):
        return ConfigFile(name, None, env)
    except OSError as exc:
        raise Invalid(f"{name} cannot be read: {exc.strerror}") from exc


def _values(name: str, stream: BinaryIO) -> Any:
    from . import config_twin

    state = os.fstat(stream.fileno())
    known = config_twin.read(name, state)
    if known is not None:
        return known
    values = _parsed(name, stream.read())
    config_twin.write(name, state, values)
    return values


def _parsed(name: str, text: bytes) -> Any:
    import yaml

    try:
        return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as exc:
        line = f", line {exc.problem_mark.line + 1}" if exc.problem_mark else ""
        raise Invalid(f"{name}{line}: {exc.problem or 'not YAML'}") from exc
    except yaml.YAMLError as exc:
        raise Invalid(f"{name} is not YAML: {str(exc).splitlines()[0]}") from exc
