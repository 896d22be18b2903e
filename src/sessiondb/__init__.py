"""Keeps the conversations of AI agents, and finds them again.

import sessiondb
db = sessiondb.open()                  # ~/.sessiondb/state.db
db = sessiondb.open("sqlite:///tmp/x.db")
"""

from __future__ import annotations

# Spelled out: `typing` costs more to import than this whole module.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import errors as errors
    from .aio import AsyncSessionDB as AsyncSessionDB
    from .db import SessionDB as SessionDB
    from .db import open_store as open
    from .models import Filter as Filter
    from .models import Page as Page

__version__ = "0.1.0"
__all__ = ["AsyncSessionDB", "Filter", "Page", "SessionDB", "errors", "open"]

# Loaded when asked for: `import sessiondb` alone costs nothing and touches no driver.
_PUBLIC = {
    "AsyncSessionDB": "aio:AsyncSessionDB",
    "SessionDB": "db:SessionDB",
    "open": "db:open_store",
    "Filter": "models:Filter",
    "Page": "models:Page",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "errors":
        return import_module(".errors", __name__)
    if name in _PUBLIC:
        module, _, attribute = _PUBLIC[name].partition(":")
        return getattr(import_module("." + module, __name__), attribute)
    # Every error type is a public name too: `sessiondb.NotFound`.
    found = getattr(import_module(".errors", __name__), name, None) if name[:1].isupper() else None
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
