"""Where a slash command of a chat acts."""

from __future__ import annotations

from .keys import Source
from .router import Router


class ChatDesk:
    """The conversation of a person in a chat, and what they may see of the store."""

    def __init__(self, router: Router, source: Source) -> None:
        self.db, self._router, self._source = router.db, router, source
        self.scope = router.scope(source)
        # /new puts the transcript into the archive, too.
        self.transcripts = router.transcripts

    @property
    def session_id(self) -> str | None:
        session = self._router.view(self._router.key(self._source)).session
        return session["id"] if session is not None else None

    def begin(self, reason: str) -> str:
        return self._router.reset(self._source, reason).session_id

    def switch(self, session_id: str) -> None:
        self._router.switch(self._source, session_id)

    def title_later(self, title: str) -> None:
        """There is a session as soon as somebody gives one a name."""
        self.scope.rename(self._router.resolve(self._source).session_id, title)
