"""Text that a database cannot hold as it is, stored lossless.

Lone surrogates (and NUL, where the engine refuses it) become U+FDD0, a code point that means nothing, and four hex
digits; U+FDD0 itself is written the same way.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

MARK = "\ufdd0"


@cache
def surrogates() -> re.Pattern[str]:
    """Compiled at first use, as all patterns here: most processes that read never need one."""
    return re.compile(f"[\ud800-\udfff{MARK}]")


@cache
def _escaped() -> re.Pattern[str]:
    return re.compile(MARK + "([0-9a-f]{4})")


def escape(text: str, unsafe: re.Pattern[str] | None = None) -> str:
    return (unsafe or surrogates()).sub(lambda found: f"{MARK}{ord(found[0]):04x}", text)


def unescape(text: str) -> str:
    return _escaped().sub(lambda found: chr(int(found[1], 16)), text) if MARK in text else text


def storable(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same parameters, escaped where needed; NUL is kept (SQLite holds it)."""
    # Most columns are NULL, and isascii() is a flag on the string: the usual case costs next to nothing.
    for value in filter(None, params.values()):
        if value.__class__ is str and not value.isascii() and surrogates().search(value):
            return {name: escape(item) if isinstance(item, str) else item for name, item in params.items()}
    return params
