"""From what came in to what is stored, and from an answer to what a person reads; pure."""

from __future__ import annotations

from typing import Any

from ..chat.talk import Reply
from .channels.base import Event, Media


def is_command(text: str) -> bool:
    """`/title x` is one; `/etc/hosts is wrong` is not."""
    first = text.strip().split(maxsplit=1)[0] if text.strip() else ""
    return first.startswith("/") and len(first) > 1 and "/" not in first[1:]


def stored(event: Event) -> dict[str, Any]:
    """A message as it is stored: its text, its files by path and hash, the platform's id."""
    names = [_named(each) for each in event.media]
    message: dict[str, Any] = {
        "content": "\n".join(part for part in (event.text, *names) if part),
        "metadata": {"platform_message_id": event.message_id, **event.details},
    }
    if event.media:
        message["media_refs"] = [
            {
                "kind": each.kind, "path": each.path, "mime_type": each.mime_type, "sha256": each.sha256,
                "size": each.size, "metadata": {"name": each.name} if each.name else None,
            }
            for each in event.media
        ]  # fmt: skip
    return message


def _named(media: Media) -> str:
    name = f"{media.kind}: {media.name}" if media.name else media.kind
    return f"[{name}]" if media.path is not None else f"[{name}, which could not be fetched]"


def told(reply: Reply) -> str:
    """What the person reads: the answer, and what went wrong with it."""
    if not reply.problem:
        return reply.text
    problem = f"I could not answer: {reply.problem}. What you wrote is kept; /retry asks again."
    return f"{reply.text}\n\n[{problem}]" if reply.text.strip() else problem
