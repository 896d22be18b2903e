"""Answers are stored first and delivered after; a record says that they were, and under which ids.

An answer without its record, whose process is gone or had its time, is delivered by another. It is claimed first, so
that two processes never deliver it both; a claim ends like a lease.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..bindings import Binding, Handover
from .router import Router
from .state import Lease
from .table import View, key_of
from .turn import is_alive

_LAST = 12
# Ids of messages that show the answer as unfinished, and the room they leave for a cursor.
Begun = tuple[Sequence[str], int]


@dataclass(frozen=True, slots=True)
class Undelivered:
    """An answer that is stored, and did not arrive for all that is known."""

    session_id: str
    key: str
    text: str
    begun: Begun


def marked(
    words: Iterable[Mapping[str, Any]], router: Router, answer_key: str, begun: Begun = ((), 0)
) -> list[dict[str, Any]]:
    """Last words that say who delivers them, until when that is believed, and which messages are begun already."""
    found = [dict(each) for each in words]
    if found:
        given = found[-1].get("metadata") or {}
        promise = {**_promise(router, answer_key), "ids": list(begun[0]), "room": begun[1]}
        found[-1]["metadata"] = {**given, "delivery": promise}
    return found


def record(router: Router, session_id: str, answer_key: str, ids: Sequence[str]) -> None:
    """Store that an answer arrived."""
    router.db.append_messages(session_id, [_record(answer_key, ids)])


def _record(answer_key: str, ids: Sequence[str]) -> dict[str, Any]:
    return {
        "role": "session_meta",
        "content": "[delivered]",
        "message_key": f"sent:{answer_key}",
        "metadata": {"delivered": answer_key, "platform_message_ids": list(ids)},
        "injected": True,
    }


def claim_undelivered(router: Router, binding: Binding) -> Undelivered | None:
    """The last answer of a conversation, when nobody delivers it: claimed, so deliver it."""

    def claim(view: View) -> tuple[Undelivered | None] | None:
        waiting = _undelivered(router, view)
        if waiting is None or view.session is None:
            return (None,)
        handover = Handover(messages=[router.draft(_claim(router, waiting.key))])
        done = router.swap(view, view.state.next(), view.session["id"], handover)
        return None if done is None else (waiting,)

    return router.until_done(key_of(binding), claim)[0]


def _claim(router: Router, answer_key: str) -> dict[str, Any]:
    return {
        "role": "session_meta",
        "content": "[delivering]",
        "metadata": {"delivery": _promise(router, answer_key)},
        "injected": True,
    }


def _undelivered(router: Router, view: View) -> Undelivered | None:
    """The last answer, when it did not arrive and nobody alive promised to deliver it."""
    if view.session is None:
        return None
    rows = router.db.get_messages(view.session["id"], limit=_LAST, newest=True)
    answers = [row for row in rows if row["role"] == "assistant" and "delivery" in _metadata(row)]
    if not answers:
        return None
    mark = _metadata(answers[-1])["delivery"]
    answer_key = mark["key"]
    if any(_metadata(row).get("delivered") == answer_key for row in rows):
        return None
    promises = [each for row in rows if (each := _metadata(row).get("delivery")) and each["key"] == answer_key]
    if any(is_alive(Lease(each["by"], 0, each["until"]), router.clock()) for each in promises):
        return None
    begun = (mark.get("ids") or (), mark.get("room") or 0)
    return Undelivered(view.session["id"], answer_key, str(answers[-1]["content"] or ""), begun)


def _promise(router: Router, answer_key: str) -> dict[str, Any]:
    return {"key": answer_key, "by": router.holder, "until": router.clock() + router.lease_seconds}


def _metadata(row: Mapping[str, Any]) -> dict[str, Any]:
    found = row.get("metadata")
    return found if isinstance(found, dict) else {}
