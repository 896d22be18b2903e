"""Where the server is: a URL or single values, as arguments of the driver's `connect`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from ...config import spelled
from ...errors import Invalid

SCHEMES = ("mysql", "mariadb")
_OPTIONS = ("unix_socket", "ssl_ca", "ssl_cert", "ssl_key", "ssl_disabled", "connect_timeout")


@dataclass(frozen=True)
class Address:
    """A database on a server. The password never shows."""

    host: str = "localhost"
    port: int = 3306
    user: str = ""
    password: str = field(default="", repr=False)
    database: str = ""
    unix_socket: str | None = None
    options: tuple[tuple[str, Any], ...] = ()
    # Further nodes of the same cluster, asked in this order when the first does not answer.
    others: tuple[tuple[str, int], ...] = ()

    @property
    def nodes(self) -> tuple[Address, ...]:
        return (self, *(replace(self, host=host, port=port, others=()) for host, port in self.others))

    def __str__(self) -> str:
        place = self.unix_socket or ",".join(f"{host}:{port}" for host, port in ((self.host, self.port), *self.others))
        return f"{self.database} at {self.user}@{place}" if self.user else f"{self.database} at {place}"

    def arguments(self) -> dict[str, Any]:
        return {
            "host": self.host,
            "port": self.port,
            "user": self.user or None,
            # Of a text the driver would take latin-1; clients of these servers say UTF-8.
            "password": self.password.encode("utf-8", "surrogateescape"),
            "database": self.database,
            "unix_socket": self.unix_socket,
            **dict(self.options),
        }


def address(dsn: str | None, **given: Any) -> Address:
    """The address that a URL and single values name; single values win. Raises Invalid."""
    values = _of_url(dsn) if dsn else {}
    values |= {name: value for name, value in given.items() if value is not None}
    if not values.get("database"):
        raise Invalid("no database is named; write mysql://user:password@host:3306/database")
    try:
        values["port"] = int(values.get("port", 3306))
    except (TypeError, ValueError):
        raise Invalid(f"port must be a number, not {values['port']!r}") from None
    return Address(**values)


def _of_url(dsn: str) -> dict[str, Any]:
    try:
        parts = urlsplit(spelled(dsn))
        first, others = _nodes(parts)
        port = first.port
    except ValueError as exc:
        raise Invalid(f"the server's URL cannot be read: {exc}") from None
    if parts.scheme not in SCHEMES:
        raise Invalid(f"the server's URL must begin with mysql:// or mariadb://, not {parts.scheme or 'nothing'!r}")
    named = {
        "host": first.hostname,
        "port": port,
        "others": others,
        "user": unquote(first.username or ""),
        "password": unquote(first.password or ""),
        "database": unquote(parts.path.lstrip("/")),
    }
    options = dict(parse_qsl(parts.query))
    unknown = sorted(set(options) - set(_OPTIONS))
    if unknown:
        raise Invalid(f"unknown option {unknown[0]!r} in the server's URL; known: {', '.join(_OPTIONS)}")
    values: dict[str, Any] = {name: value for name, value in named.items() if value}
    if "unix_socket" in options:
        values["unix_socket"] = options.pop("unix_socket")
    if options:
        values["options"] = tuple((name, _typed(name, value)) for name, value in sorted(options.items()))
    return values


def _nodes(parts: SplitResult) -> tuple[SplitResult, tuple[tuple[str, int], ...]]:
    """The first host of a URL, and the others: `mysql://me@one:3306,two:3307/agents`."""
    secret, at, hosts = parts.netloc.rpartition("@")
    first, *rest = (parts._replace(netloc=f"{secret}{at}{host}") for host in hosts.split(","))
    return first, tuple((each.hostname or "localhost", each.port or 3306) for each in rest)


def _typed(name: str, value: str) -> Any:
    if name == "connect_timeout":
        return int(value)
    return value.lower() in ("1", "true", "yes") if name == "ssl_disabled" else value
