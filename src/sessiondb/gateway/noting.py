"""Commands are noted in the conversation before they are obeyed: delivered again, they are not obeyed again."""

from __future__ import annotations

from typing import Any

from ..bindings import Handover
from .keys import Source
from .router import Router
from .table import View


def noted(router: Router, source: Source, text: str, key: str, metadata: dict[str, Any]) -> bool:
    """Store a command; False when it was there. A running turn goes on."""
    router.resolve(source)
    message = {"role": "session_meta", "content": text, "message_key": key, "metadata": metadata, "injected": True}

    def note(view: View) -> tuple[bool] | None:
        if router.stored_in(view, key) is not None:
            return (False,)
        if view.session is None:
            router.resolve(source)
            return None
        handover = Handover(messages=[router.draft(message)])
        done = router.swap(view, view.state.next(), view.session["id"], handover)
        return None if done is None else (True,)

    return router.until_done(router.key(source), note)[0]
