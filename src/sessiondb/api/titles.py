"""Titles of sessions, and the numbered titles of a lineage."""

from __future__ import annotations

from .. import titles
from ..drafts import check_text
from ..errors import Invalid
from ..models import MAX_TITLE_LENGTH, SessionRow
from .handle import Handle


class Titles(Handle):
    MAX_TITLE_LENGTH = MAX_TITLE_LENGTH

    @staticmethod
    def sanitize_title(title: str | None) -> str | None:
        """The title as it would be stored; None when nothing visible is left. Raises Invalid above 100 characters."""
        return titles.clean(title)

    def set_session_title(self, session_id: str, title: str | None) -> bool:
        """Set a title, or clear it with an empty one; False for an unknown id. Raises TitleTaken, naming the holder."""
        check_text(session_id, "session_id")
        cleaned = self._title(title)
        return self.provider.set_title(session_id, cleaned, "user" if cleaned else None)

    def set_auto_title_if_empty(self, session_id: str, title: str, source: str = "llm") -> bool:
        """Give a title only to a session that has none: a person's choice is never overwritten.

        A taken title gets the next number of its lineage.
        """
        check_text(session_id, "session_id")
        if source not in ("agent", "llm", "first_prompt"):
            raise Invalid(f"unknown title source {source!r}; use agent, llm or first_prompt")
        cleaned = self._title(title)
        if cleaned is None:
            return False
        free = self.get_next_title_in_lineage(cleaned)
        return self.provider.set_title(session_id, free, source, only_if_empty=True)

    def get_session_title(self, session_id: str) -> str | None:
        check_text(session_id, "session_id")
        session = self.provider.get_session(session_id)
        return session["title"] if session else None

    def get_session_by_title(self, title: str) -> SessionRow | None:
        check_text(title, "title")
        return next((row for row in self.provider.find_titles(title or "") if row["title"] == title), None)

    def resolve_session_by_title(self, title: str) -> str | None:
        """The newest session of a lineage, or the one with exactly this title."""
        check_text(title, "title")
        found = self.provider.find_titles(titles.lineage_prefix(title)) if title else []
        numbered = [row for row in found if row["title"] != title and _number(title, row) is not None]
        exact = [row for row in found if row["title"] == title]
        return next((row["id"] for row in numbered or exact), None)

    def get_next_title_in_lineage(self, base_title: str) -> str:
        """The next free title: "x" when nobody has it, else "x #2", "x #3"; never longer than a title may be."""
        if not isinstance(base_title, str):
            raise Invalid(f"base_title must be text, not {type(base_title).__name__}")
        base, _ = titles.split(base_title)
        found = self.provider.find_titles(titles.lineage_prefix(base))
        return titles.next_in_lineage(base, [row["title"] or "" for row in found])


def _number(base: str, row: SessionRow) -> int | None:
    return titles.lineage_number(base, row["title"] or "")
