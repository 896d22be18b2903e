"""Lineage: continuations after compression, forks, sub-agents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..drafts import check_text, restored
from ..errors import AlreadyExists
from ..ids import new_session_id
from ..models import Draft, SessionRow
from .messages import Messages
from .sessions import session_values

_LONGEST_CHAIN = 100
# What a fork takes over from its original; the rest (times, tokens, costs, title) is its own.
_FORKED = (
    "user_id", "model", "model_config", "system_prompt", "chat_id", "chat_type", "thread_id",
    "display_name", "cwd", "git_branch", "character_id",
)  # fmt: skip


class Lineage(Messages):
    def ancestors(self, session_id: str) -> list[SessionRow]:
        """The parent, its parent, and so on up to the root; safe on cycles."""
        check_text(session_id, "session_id")
        return self.provider.ancestors(session_id)

    def descendants(self, session_id: str) -> list[SessionRow]:
        """Every session below, parents before children; safe on cycles."""
        check_text(session_id, "session_id")
        return self.provider.descendants(session_id)

    def lineage_root(self, session_id: str) -> str:
        """The id of the first session of the lineage; the id itself when it has no parent or is unknown."""
        check_text(session_id, "session_id")
        above = self.provider.ancestors(session_id)
        return above[-1]["id"] if above else session_id

    def family(self, session_id: str) -> list[SessionRow]:
        """The whole tree the session belongs to, root first. Raises NotFound."""
        root = self._require(self.lineage_root(session_id))
        return [root, *self.provider.descendants(root["id"])]

    def get_compression_tip(self, session_id: str) -> str:
        """The newest continuation of a compressed session; the id itself when there is none."""
        check_text(session_id, "session_id")
        tip = session_id
        for _ in range(_LONGEST_CHAIN):
            following = self._continuation(tip)
            if following is None:
                break
            tip = following
        return tip

    def _continuation(self, session_id: str) -> str | None:
        session = self.provider.get_session(session_id)
        if session is None or session["end_reason"] != "compression":
            return None
        children = [row for row in self.provider.descendants(session_id) if row["parent_session_id"] == session_id]
        return next((row["id"] for row in children if row["relation"] == "compression"), None)

    def resolve_resume_session_id(self, session_id: str) -> str:
        """Where to go on: the id itself if it has messages, else the newest descendant that has some."""
        check_text(session_id, "session_id")
        if self.provider.count_messages(session_id):
            return session_id
        below = [row for row in self.provider.descendants(session_id) if row["message_count"]]
        return max(below, key=lambda row: row["last_message_id"] or 0)["id"] if below else session_id

    def rotate_session(
        self,
        session_id: str,
        *,
        new_id: str | None = None,
        system_prompt: str | None = None,
        messages: Iterable[Mapping[str, Any]] = (),
        **fields: Any,
    ) -> str:
        """Continue a compressed conversation in a new session, in one transaction, and return its id.

        The old one ends with reason "compression", the new one gets the next title of the lineage and begins with
        `messages`, such as a summary. Called twice, it returns the continuation that exists. Raises NotFound.
        """
        session = self._require(session_id)
        now = self._clock()
        values = session_values(
            self._new_id(new_id, now), session["source"], now, {"system_prompt": system_prompt, **fields}
        )
        return self.provider.rotate(session_id, values, self._drafts(messages))

    def _new_id(self, given: str | None, now: float) -> str:
        return new_session_id(now) if given is None else given

    def fork_session(
        self, session_id: str, *, at_message: int | None = None, new_id: str | None = None, source: str | None = None
    ) -> str:
        """Copy a conversation, up to and including `at_message`, into a new session, and return its id.

        Raises NotFound for an unknown session or message.
        """
        session = self._require(session_id)
        now = self._clock()
        fields: dict[str, Any] = {name: session.get(name) for name in _FORKED}
        fields |= {"parent_session_id": session_id, "relation": "fork", "metadata": session["metadata"]}
        if source in (None, session["source"]):
            # A copy belongs to the same chat; without its key nobody there would see it.
            fields["session_key"] = session["session_key"]
        values = session_values(self._new_id(new_id, now), source or session["source"], now, fields)
        if not self.provider.create_session(values, self._copies(session_id, at_message)):
            raise AlreadyExists(f"session {values['id']!r} exists; give another new_id")
        return str(values["id"])

    def _copies(self, session_id: str, at_message: int | None) -> list[Draft]:
        last = None if at_message is None else self._position(session_id, at_message) + 1
        rows = self.provider.get_messages(session_id, before=last)
        media = self._media_by_message(session_id)
        limit = self.features.max_content_bytes
        copies = [restored(row, max_bytes=limit, media_refs=media.get(row["id"], ())) for row in rows]
        for copy in copies:
            copy.seq = None
        return copies
