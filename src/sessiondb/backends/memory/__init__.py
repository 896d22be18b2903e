"""Sessions in plain dicts and lists: the oracle that other providers are compared with.

One lock, no index, nothing kept when the process ends. Every primitive checks first and changes afterwards, so that
an error leaves no trace.
"""

from __future__ import annotations

from typing import Any

from ...errors import NotSupported
from ...provider import Features
from .bindings import Bindings
from .facts import Facts
from .lineage import Lineage
from .merging import Merging
from .messages import Messages
from .revision import Revision
from .sessions import Sessions
from .tables import Tables
from .trash import Trash

__all__ = ["MemoryProvider"]


class MemoryProvider(Sessions, Lineage, Messages, Merging, Revision, Trash, Facts, Bindings):
    """Keeps sessions as long as it is open."""

    name = "memory"
    features = Features(persistent=False, multi_process=False, read_only=False, bindings=True, revision=True)

    @classmethod
    def is_available(cls) -> bool:
        return True

    def initialize(self, *, read_only: bool = False, **kwargs: Any) -> None:
        """Open an empty store; a second call changes nothing."""
        if read_only:
            raise NotSupported("a store in memory cannot be opened for reading only; open it without read_only")
        with self._lock:
            self._tables = self._tables or Tables()

    def shutdown(self) -> None:
        with self._lock:
            self._tables = None
