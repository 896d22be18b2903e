"""Titles: how they are cleaned, and how a lineage numbers them; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .errors import Invalid
from .models import MAX_TITLE_LENGTH

# Left as text, and compiled at first use: most commands only read titles.
# Controls (tab and line ends become blanks below), zero-width and bidirectional marks, interlinear anchors.
_INVISIBLE = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffc\ufff9-\ufffb]"
_NUMBER = r"(?s)(.*?) #([0-9]+)"


def clean(title: str | None) -> str | None:
    """The title as it is stored; None when nothing visible is left. Never truncates."""
    if title is None:
        return None
    if not isinstance(title, str):
        raise Invalid(f"a title must be text, not {type(title).__name__}")
    cleaned = re.sub(r"\s+", " ", re.sub(_INVISIBLE, "", title)).strip()
    if len(cleaned) > MAX_TITLE_LENGTH:
        raise Invalid(f"the title has {len(cleaned)} characters; at most {MAX_TITLE_LENGTH} are allowed")
    return cleaned or None


def split(title: str) -> tuple[str, int | None]:
    """('my project', 3) for 'my project #3'; the number is None for a title without one."""
    found = re.fullmatch(_NUMBER, title)
    return (found[1], int(found[2])) if found else (title, None)


def numbered(base: str, number: int) -> str:
    """The title of the number-th session of a lineage; a base too long for its number is shortened."""
    suffix = f" #{number}"
    return base[: MAX_TITLE_LENGTH - len(suffix)].rstrip() + suffix


def lineage_number(base: str, title: str) -> int | None:
    """Which number `title` has in the lineage of `base`, 1 for the base itself; None when it is no part of it."""
    if title == base:
        return 1
    _, number = split(title)
    return number if number is not None and numbered(base, number) == title else None


def lineage_prefix(base: str) -> str:
    """What all titles of the lineage start with, shortened ones included."""
    return base[: MAX_TITLE_LENGTH - 12]


def next_in_lineage(base: str, taken: Iterable[str]) -> str:
    """The title after the highest of `taken`; `base` itself when nobody holds a title of this lineage."""
    numbers = [number for title in taken if (number := lineage_number(base, title)) is not None]
    return numbered(base, max(numbers) + 1) if numbers else base
