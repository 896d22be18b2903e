"""What somebody in a chat may see: a filter that goes into every question, so the database itself leaves the rest out.

Fails closed: whoever is not known sees nothing. In rooms where others read along, only what was said there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from ..db import SessionDB
from ..errors import Invalid, NotFound, TitleTaken
from ..models import Filter, ListedSession, MessageFilter, MessageRow, Page, SearchHit
from ..search.recall import Recalled, ranked
from ..titles import clean, lineage_number
from . import titling
from .keys import DM, Key

Visibility = Literal["chat", "user", "all"]
TITLES = ("store", "user")
VISIBILITIES = ("chat", "user", "all")
NOTHING = Filter(ids=())


def scope_of(
    db: SessionDB, key: Key, user_id: str | None, visibility: Visibility = "chat", titles: str = "store"
) -> Scope:
    """The sessions of a chat; with "user", in a direct message, all of this person on the platform; or "all".

    `titles` says over what they are unique: the "store", or for each "user".
    """
    if titles not in TITLES:
        raise Invalid(f"titles.scope must be one of {', '.join(TITLES)}, not {titles!r}")
    whose = titling.owner(key, user_id) if titles == "user" else None
    return Scope(db, visible(key, user_id, visibility), whose)


def visible(key: Key, user_id: str | None, visibility: Visibility) -> Filter:
    if visibility not in VISIBILITIES:
        raise Invalid(f"visibility must be one of {', '.join(VISIBILITIES)}, not {visibility!r}")
    if visibility == "all":
        return Filter()
    if visibility == "user" and key.chat_type == DM:
        return Filter(user_id=user_id, session_key_prefix=key.prefix) if user_id else NOTHING
    if key.chat_type == DM and key.chat_id and user_id:
        # A chat that the platform gave to somebody else since shows nothing of before.
        return Filter(session_key=key.text, user_id=user_id)
    return Filter(session_key=key.text)


class Scope:
    """A store as one person sees it."""

    def __init__(self, db: SessionDB, where: Filter, titles_of: str | None = None) -> None:
        self._db, self._where, self._titles_of = db, where, titles_of

    @property
    def is_everything(self) -> bool:
        """Whether nothing of the store is left out."""
        return self._where == Filter()

    def _seen(self, rows: list[ListedSession]) -> list[ListedSession]:
        return rows if self._titles_of is None else [titling.as_seen(row) for row in rows]

    def _listed(self, where: Filter, limit: int | None = None) -> list[ListedSession]:
        return self._seen(self._db.provider.list_sessions(where, Page(limit), "started"))

    def sessions(self, limit: int = 20, offset: int = 0) -> list[ListedSession]:
        """The conversations, the last active first."""
        where = replace(self._where, archived=False)
        return self._seen(self._db.list_sessions_rich(limit=limit, offset=offset, order_by="activity", where=where))

    def search(self, query: str, limit: int = 20, offset: int = 0, **wishes: Any) -> list[SearchHit]:
        """Messages that match; a plain list, because a guess at another spelling would use everybody's words."""
        if "where" in wishes:
            raise Invalid("a scope has its own filter; use session_id, tags, since or until to narrow a search")
        hits = list(self._db.search_messages(query, limit=limit, offset=offset, where=self._where, **wishes))
        if self._titles_of is None:
            return hits
        rows = self._listed(replace(self._where, ids=tuple({hit["session_id"] for hit in hits})))
        titles = {row["id"]: row["title"] for row in rows}
        return [{**hit, "title": titles.get(hit["session_id"])} for hit in hits]

    def narrowed(self, sources: Sequence[str] = (), tags: Sequence[str] = ()) -> Scope:
        """The part of it that has these sources and tags."""
        where = replace(self._where, tags=(*self._where.tags, *tags))
        if sources:
            known = self._where.sources
            where = replace(where, sources=tuple(each for each in sources if known is None or each in known))
        return Scope(self._db, where, self._titles_of)

    def recall(self, question: str, limit: int, messages: MessageFilter) -> list[Recalled]:
        """Messages that answer a question best, those with some of its words included."""
        return list(ranked(self._db, question, limit, self._where, messages))

    def get(self, session_id: str) -> ListedSession:
        """A session by its id. Raises NotFound, with the same words for one that is not there and one of others."""
        found = self.having(session_id)
        if found is None:
            raise NotFound(f"no session {session_id!r} in this chat")
        return found

    def having(self, session_id: str) -> ListedSession | None:
        """A session by its id; None for one that is not there or is of others."""
        found = self._listed(replace(self._where, ids=self._ids(session_id)), 1)
        return found[0] if found else None

    def _ids(self, session_id: str) -> tuple[str, ...]:
        if self._where.ids is not None and session_id not in self._where.ids:
            return ()
        return (session_id,)

    def messages(self, session_id: str, **paging: Any) -> list[MessageRow]:
        return self._db.get_messages(self.get(session_id)["id"], **paging)

    def find(self, name: str) -> ListedSession:
        """A session by its id, the start of its id, or its title: of a numbered title the newest. Raises NotFound."""
        if not isinstance(name, str) or not name.strip():
            raise NotFound("give the title or the id of a session")
        found = self._titled(name) or self._by_prefix(name)
        if found is None:
            raise NotFound(f"no session {name!r} in this chat")
        return found

    def _titled(self, title: str) -> ListedSession | None:
        where = replace(self._where, title_contains=title.strip()[:88])
        rows = self._listed(where)
        numbers = {row["id"]: lineage_number(title.strip(), row["title"] or "") for row in rows}
        exact = [row for row in rows if numbers[row["id"]] == 1]
        numbered = [row for row in rows if (numbers[row["id"]] or 0) > 1]
        return next(iter(numbered or exact), None)

    def _by_prefix(self, prefix: str) -> ListedSession | None:
        rows = self._listed(self._where)
        found = [row for row in rows if row["id"].startswith(prefix)]
        exact = [row for row in found if row["id"] == prefix]
        return exact[0] if exact else found[0] if len(found) == 1 else None

    def rename(self, session_id: str, title: str | None) -> None:
        """Give a session a title, or take it away. Raises TitleTaken without a word about who has it."""
        session, cleaned = self.get(session_id), clean(title)
        if self._titles_of is not None:
            titling.rename(self._db, self._titles_of, session, cleaned)
            return
        try:
            self._db.set_session_title(session["id"], cleaned)
        except TitleTaken:
            raise TitleTaken(f"the title {cleaned!r} is taken; choose another") from None
