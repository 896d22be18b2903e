"""`SessionDB`: the API, put together from its parts."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from .api.lineage import Lineage
from .api.messages import Messages
from .api.search import Search
from .api.sessions import Sessions
from .api.stats import Stats
from .api.titles import Titles
from .api.transfer import Transfer
from .api.trash import Trash
from .errors import Invalid
from .ids import Clock
from .provider import SessionDBProvider

if TYPE_CHECKING:
    from .config import Settings


class SessionDB(Sessions, Titles, Transfer, Lineage, Messages, Search, Trash, Stats):
    """The conversations of agents: sessions, messages, titles, lineage, counters, search, export.

    Safe to use from many threads; several processes may open the same store.
    """

    def __init__(
        self,
        db_path: str | os.PathLike[str] | None = None,
        *,
        read_only: bool = False,
        clock: Clock = time.time,
        provider: SessionDBProvider | None = None,
        redact_on_write: bool | None = None,
        **options: Any,
    ) -> None:
        """Open a path or URL; without one, what SESSIONDB_URL or config.yaml name, or `~/.sessiondb/state.db`.

        `provider` takes one that is initialised already. `redact_on_write` leaves credentials out of what is stored;
        without it config.yaml says. Further options go to the provider.
        """
        self._clock = clock
        if provider is None:
            from . import config

            settings = config.load(db_path)
            provider = _opened(settings, read_only, options)
            redact_on_write = settings.redact_on_write if redact_on_write is None else redact_on_write
        self.provider = provider
        self._redacting = bool(redact_on_write)

    @property
    def db_path(self) -> str | None:
        """The file of the store, where it is one."""
        return getattr(self.provider, "path", None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<SessionDB {self.provider.name} {self.db_path or ''}>".replace(" >", ">")


def _opened(settings: Settings, read_only: bool, options: dict[str, Any]) -> SessionDBProvider:
    from . import registry

    provider: SessionDBProvider = registry.load("providers", settings.provider)()
    given = {**settings.options, **options, **({"read_only": True} if read_only else {})}
    try:
        provider.initialize(**given)
    except TypeError as exc:
        raise _unknown_option(provider, given) or exc from None
    return provider


def _unknown_option(provider: SessionDBProvider, given: Iterable[str]) -> Invalid | None:
    import inspect

    known = inspect.signature(provider.initialize).parameters
    takes_any = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in known.values())
    unknown = [] if takes_any else sorted(set(given) - set(known))
    if not unknown:
        return None
    return Invalid(f"{provider.name} has no option {unknown[0]!r}; known: {', '.join(sorted(known))}")


def open_store(target: str | os.PathLike[str] | None = None, **options: Any) -> SessionDB:
    """Open a store by URL or path: `sqlite:///…`, `postgresql://…`, `mysql://…`, or a file."""
    return SessionDB(target, **options)
