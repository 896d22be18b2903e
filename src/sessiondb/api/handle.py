"""What every part of `SessionDB` shares: the provider, the clock, the media files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import titles
from ..drafts import check_text
from ..errors import NotFound
from ..ids import Clock
from ..media import MediaStore
from ..models import MAX_TITLE_LENGTH, MediaRefRow, SessionRow
from ..provider import Features, SessionDBProvider

if TYPE_CHECKING:
    import tempfile


class Handle:
    """An open store."""

    provider: SessionDBProvider
    _clock: Clock
    # Whether credentials are left out of what is stored.
    _redacting = False
    _media: MediaStore | None = None
    _scratch: tempfile.TemporaryDirectory[str] | None = None

    @property
    def features(self) -> Features:
        return self.provider.features

    @property
    def redacts_on_write(self) -> bool:
        """Whether credentials are left out of what is stored; config.yaml says so with `redact.on_write`."""
        return self._redacting

    def health(self) -> dict[str, Any]:
        """Facts for operators: schema, effective settings, sizes, age of the last durable commit."""
        return self.provider.health()

    def close(self) -> None:
        """Release the store; a second call changes nothing, any other use raises `Closed`."""
        self.provider.shutdown()
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None

    def _columns(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Columns of a session as they are to be stored."""
        if not self._redacting:
            return values
        from .. import clean_rows

        return clean_rows.session(values)

    def _title(self, title: str | None) -> str | None:
        """A title as it is to be stored."""
        cleaned = titles.clean(title)
        if cleaned is None or not self._redacting:
            return cleaned
        from ..redact import redact

        return titles.clean(redact(cleaned)[:MAX_TITLE_LENGTH])

    def _raise_if_closed(self) -> None:
        """For what needs no question to the store, such as a search for nothing."""
        self.provider.find_ids("", 1)

    def _require(self, session_id: str) -> SessionRow:
        check_text(session_id, "session_id")
        session = self.provider.get_session(session_id)
        if session is None:
            raise no_session(session_id)
        return session

    def _position(self, session_id: str, message_id: int) -> int:
        check_text(session_id, "session_id")
        known = isinstance(message_id, int) and 0 < message_id < 1 << 63
        message = self.provider.get_message(message_id) if known else None
        if message is None or message["session_id"] != session_id or message["seq"] is None:
            raise NotFound(f"no message {message_id} in session {session_id!r}")
        return message["seq"]

    def _media_by_message(self, session_id: str) -> dict[int, list[MediaRefRow]]:
        found: dict[int, list[MediaRefRow]] = {}
        for reference in self.provider.get_media_refs(session_id):
            found.setdefault(reference["message_id"], []).append(reference)
        return found

    def _media_store(self) -> MediaStore:
        if self._media is None:
            directory = self.provider.media_directory
            if directory is None:
                import tempfile

                self._scratch = tempfile.TemporaryDirectory(prefix="sessiondb-media-")
                directory = self._scratch.name
            self._media = MediaStore(directory)
        return self._media


def no_session(session_id: str) -> NotFound:
    return NotFound(f"no session {session_id!r}; `sessiondb list --all` shows what there is")
