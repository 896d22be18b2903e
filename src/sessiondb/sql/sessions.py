"""Sessions: create, change, title, tag, list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import titles
from ..errors import Conflict, NotFound, TitleTaken
from ..models import SESSION_COLUMNS, TOKEN_COLUMNS, Draft, Filter, ListedSession, Order, Page, SessionRow
from ..provider import SessionDBProvider
from ..rows import preview
from ..values import replace
from . import appends, rows
from .driver import Driver, Tx, read, write
from .escape import unescape
from .filters import marks, sessions_where, starts_with

if TYPE_CHECKING:
    from ..search.nodes import Node
    from ..search.query import Query

GET = f"""
    SELECT {rows.SESSION_LIST}
      FROM sessions
     WHERE id = :id
"""
CREATE = f"""
    INSERT INTO sessions ({rows.SESSION_LIST})
    VALUES ({", ".join(f":{name}" for name in SESSION_COLUMNS)})
"""
STATE = """
    SELECT id, end_reason, ended_at
      FROM sessions
     WHERE id = :id
    {for_update}
"""
CONTINUATION = """
    SELECT id
      FROM sessions
     WHERE parent_session_id = :id
       AND relation = 'compression'
     ORDER BY started_at, id
     LIMIT 1
"""
NEWEST_MESSAGE = """
    SELECT {newest_message_id}
"""
TITLE_HOLDER = """
    SELECT id
      FROM sessions
     WHERE title = :title
"""
TITLED = f"""
    SELECT {rows.SESSION_LIST}
      FROM sessions
     WHERE %s
"""
IDS = """
    SELECT id
      FROM sessions
     WHERE %s
     ORDER BY id
"""
TITLE_OF = """
    SELECT title
      FROM sessions
     WHERE id = :id
    {for_update}
"""
SET_TITLE = """
    UPDATE sessions
       SET title = :title, title_source = :source
     WHERE id = :id
"""
PLACE = """
    UPDATE sessions
       SET last_message_id = :place
     WHERE id = :id
"""
ADD_TAG = """
    INSERT INTO tags (session_id, tag)
    VALUES (:id, :tag)
    {no_tag_conflict}
"""
REMOVE_TAG = """
    DELETE FROM tags
     WHERE session_id = :id
       AND tag = :tag
"""
TAGS = """
    SELECT tag
      FROM tags
     WHERE session_id = :id
     ORDER BY tag
"""
ALL_TAGS = """
    SELECT tag, COUNT(*)
      FROM tags
     GROUP BY tag
     ORDER BY tag
"""
_FIRST_PROMPT = """(
           SELECT m.id
             FROM messages m
            WHERE m.session_id = s.id
              AND m.role = 'user'
              AND m.active = 1
              AND m.injected = 0
              AND m.content IS NOT NULL
            ORDER BY m.seq
            LIMIT 1)"""
_HEADS = """
    SELECT m.id, {head} AS content, m.content_type
      FROM messages m
     WHERE m.id IN (%s)
"""
_ORDERS: dict[Order, str] = {
    "started": "s.started_at DESC, s.id DESC",
    "activity": "s.last_message_id DESC, s.started_at DESC, s.id DESC",
}
_FILLED = ("model", "billing_provider", "billing_base_url", "billing_mode")
_ZERO = dict.fromkeys(("message_count", "tool_call_count", "last_seq", "ledger", *TOKEN_COLUMNS), 0)
_BLANK: dict[str, Any] = dict.fromkeys(SESSION_COLUMNS) | _ZERO


def no_session(session_id: str) -> NotFound:
    return NotFound(f"no session {session_id!r}; `sessiondb list --all` shows what there is")


def check_title(tx: Tx, title: str, session_id: str) -> None:
    """Raise TitleTaken when another session has the title; the unique index would only say that one does."""
    holder = tx.row(TITLE_HOLDER, {"title": title})
    if holder is not None and unescape(holder[0]) != session_id:
        raise TitleTaken(
            f"the title {title!r} belongs to session {unescape(holder[0])}; choose another or rename that one"
        )


def inferred_relation(tx: Tx, row: Mapping[str, Any]) -> str:
    """What a new session is to its parent, told by how the parent ended. Raises NotFound for an unknown parent."""
    parent = row.get("parent_session_id")
    if parent is None:
        return row.get("relation") or "root"
    state = tx.row(STATE, {"id": parent})
    if state is None:
        raise NotFound(f"no session {parent!r} to be the parent of {row['id']!r}; create it first")
    given = row.get("relation")
    continued = tx.row(CONTINUATION, {"id": parent})
    if given == "compression" and continued:
        raise Conflict(f"session {parent!r} is already continued by {continued[0]!r}; append to that one")
    if given and given != "root":
        return str(given)
    by_reason = {
        "compression": "subagent" if continued else "compression",
        "branched": "fork",
        "session_reset": "reset",
    }
    return by_reason.get(state[1], "subagent")


def insert_session(tx: Tx, row: Mapping[str, Any], messages: Sequence[Draft], tags: Sequence[str]) -> bool:
    if tx.row(STATE, {"id": row["id"]}) is not None:
        return False
    relation = inferred_relation(tx, row)
    if row.get("title") is not None:
        check_title(tx, row["title"], row["id"])
    last_seq = row.get("last_seq") or 0
    values = _BLANK | dict(row) | _ZERO_COUNTERS | {"relation": relation}
    if messages:
        values["last_active"] = None
    values |= {name: row.get(name) or 0 for name in TOKEN_COLUMNS}
    newest = tx.row(NEWEST_MESSAGE)
    values["last_message_id"] = newest[0] if newest else 0
    tx.run(CREATE, values)
    appends.place(tx, row["id"], 0, 0, appends.fresh(messages, ()), last_seq)
    for tag in tags:
        tx.run(ADD_TAG, {"id": row["id"], "tag": tag})
    return True


_ZERO_COUNTERS = dict.fromkeys(("message_count", "tool_call_count", "last_seq", "ledger"), 0)


class SessionPrimitives(SessionDBProvider):
    driver: Driver

    @write
    def create_session(
        self, tx: Tx, row: Mapping[str, Any], messages: Sequence[Draft] = (), *, tags: Sequence[str] = ()
    ) -> bool:
        return insert_session(tx, row, messages, tags)

    @read
    def get_session(self, tx: Tx, session_id: str) -> SessionRow | None:
        found = tx.row(GET, {"id": session_id})
        return None if found is None else rows.session(found)

    @write
    def update_session(
        self, tx: Tx, session_id: str, changes: Mapping[str, Any], *, unless_set: str | None = None
    ) -> bool:
        parent = changes.get("parent_session_id")
        if parent is not None:
            self._check_parent(tx, session_id, parent)
        assignments = ", ".join(f"{name} = :{name}" for name in changes)
        condition = f" AND {unless_set} IS NULL" if unless_set else ""
        return tx.run(f"UPDATE sessions SET {assignments} WHERE id = :id{condition}", {**changes, "id": session_id}) > 0

    @write
    def place_sessions(self, tx: Tx, places: Mapping[str, int]) -> None:
        for session_id, place in places.items():
            tx.run(PLACE, {"id": session_id, "place": place})

    def _check_parent(self, tx: Tx, session_id: str, parent: str) -> None:
        if tx.row(STATE, {"id": parent}) is None:
            raise no_session(parent)
        session = tx.row(GET, {"id": session_id})
        continued = tx.row(CONTINUATION, {"id": parent})
        if (
            session
            and continued
            and unescape(continued[0]) != session_id
            and rows.session(session)["relation"] == "compression"
        ):
            raise Conflict(f"session {parent!r} is already continued by {continued[0]!r}")

    @write
    def add_usage(
        self,
        tx: Tx,
        session_id: str,
        amounts: Mapping[str, float | None],
        facts: Mapping[str, str | None],
        *,
        absolute: bool,
    ) -> bool:
        changes = [
            f"{name} = :{name}" if absolute else f"{name} = COALESCE({name}, 0) + :{name}"
            for name, amount in amounts.items()
            if amount is not None
        ]
        changes += [
            f"{name} = COALESCE({name}, :{name})" if name in _FILLED else f"{name} = :{name}"
            for name, fact in facts.items()
            if fact is not None
        ]
        if not changes:
            return tx.row(STATE, {"id": session_id}) is not None
        params = {name: value for name, value in {**amounts, **facts}.items() if value is not None}
        return tx.run(f"UPDATE sessions SET {', '.join(changes)} WHERE id = :id", {**params, "id": session_id}) > 0

    @write
    def set_title(
        self, tx: Tx, session_id: str, title: str | None, source: str | None, *, only_if_empty: bool = False
    ) -> bool:
        current = tx.row(TITLE_OF, {"id": session_id})
        if current is None or (only_if_empty and current[0] is not None):
            return False
        if title is not None:
            check_title(tx, title, session_id)
        tx.run(SET_TITLE, {"id": session_id, "title": title, "source": source if title else None})
        return True

    @read
    def find_titles(self, tx: Tx, prefix: str) -> list[SessionRow]:
        return titled(tx, prefix)

    def search_titles(self, query: Query, where: Filter) -> list[SessionRow]:
        if query.node is None:
            return []
        ids = self._titles_with(query.node)
        kept = ids if where.ids is None else [each for each in ids if each in where.ids]
        return list(self.list_sessions(replace(where, ids=kept), Page(None), "activity")) if kept else []

    @read
    def _titles_with(self, tx: Tx, node: Node) -> list[str]:
        from .titles import titled

        return titled(tx, node)

    @read
    def find_ids(self, tx: Tx, prefix: str, limit: int) -> list[str]:
        condition, params = starts_with("id", prefix)
        found = (unescape(row[0]) for row in tx.rows(IDS % condition, params))
        return [name for name in found if name.startswith(prefix)][:limit]

    @read
    def list_sessions(self, tx: Tx, where: Filter, page: Page, order: Order) -> list[ListedSession]:
        chosen = sessions_where(where)
        found = tx.rows(
            f"""
            SELECT {rows.prefixed(SESSION_COLUMNS, "s")}, {_FIRST_PROMPT}
              FROM sessions s
             WHERE {chosen.sql}
             ORDER BY {_ORDERS[order]}
             {{page}}
            """,
            chosen.params | {"limit": -1 if page.limit is None else page.limit, "offset": page.offset},
        )
        previews = _previews(tx, [row[-1] for row in found if row[-1] is not None])
        return [_listed(rows.session(row), previews.get(row[-1], "")) for row in found]

    @read
    def count_sessions(self, tx: Tx, where: Filter) -> int:
        chosen = sessions_where(where)
        found = tx.row(f"SELECT COUNT(*) FROM sessions s WHERE {chosen.sql}", chosen.params)
        return int(found[0]) if found else 0

    def change_tags(self, session_id: str, add: Sequence[str], remove: Sequence[str]) -> list[str]:
        # Only looking must not need the right to write.
        return self._changed_tags(session_id, add, remove) if add or remove else self._tags(session_id)

    @write
    def _changed_tags(self, tx: Tx, session_id: str, add: Sequence[str], remove: Sequence[str]) -> list[str]:
        if tx.row(STATE, {"id": session_id}) is None:
            raise no_session(session_id)
        for tag in add:
            tx.run(ADD_TAG, {"id": session_id, "tag": tag})
        for tag in remove:
            tx.run(REMOVE_TAG, {"id": session_id, "tag": tag})
        return tags_of(tx, session_id)

    @read
    def list_tags(self, tx: Tx) -> dict[str, int]:
        return {unescape(tag): int(count) for tag, count in tx.rows(ALL_TAGS)}

    @read
    def _tags(self, tx: Tx, session_id: str) -> list[str]:
        if tx.row(GET, {"id": session_id}) is None:
            raise no_session(session_id)
        return tags_of(tx, session_id)


def titled(tx: Tx, prefix: str) -> list[SessionRow]:
    condition, params = starts_with("title", prefix)
    found = rows.sessions(tx.rows(TITLED % condition, params))
    # Sorted here: a database that is told the order walks all sessions by it, and few have a title that begins so.
    newest_first = sorted(found, key=lambda row: (row["started_at"], row["id"]), reverse=True)
    return [row for row in newest_first if (row["title"] or "").startswith(prefix)]


def next_title(tx: Tx, title: str) -> str:
    base, _ = titles.split(title)
    return titles.next_in_lineage(base, [row["title"] or "" for row in titled(tx, titles.lineage_prefix(base))])


def tags_of(tx: Tx, session_id: str) -> list[str]:
    # Sorted here: databases order text by their own rules.
    return sorted(unescape(row[0]) for row in tx.rows(TAGS, {"id": session_id}))


def _previews(tx: Tx, ids: Sequence[int]) -> dict[int, str]:
    found: dict[int, str] = {}
    for start in range(0, len(ids), 500):
        names, params = marks("id", ids[start : start + 500])
        for message_id, head, content_type in tx.rows(_HEADS % names, params):
            text = head.decode("utf-8", "ignore") if isinstance(head, bytes) else head or ""
            found[message_id] = preview(unescape(text), content_type)
    return found


def _listed(session: SessionRow, text: str) -> ListedSession:
    if session["last_active"] is None:
        session["last_active"] = session["started_at"]
    return {**session, "preview": text}
