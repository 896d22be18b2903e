"""People, chats, and short ways to say things."""

from __future__ import annotations

from typing import Any

from sessiondb import SessionDB
from sessiondb.gateway.keys import Source

ANN = Source("telegram", chat_id="1", user_id="ann")
BOB = Source("telegram", chat_id="2", user_id="bob")
ROOM = Source("telegram", "group", "-1", user_id="ann")


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def texts(db: SessionDB, session_id: str) -> list[Any]:
    return [row["content"] for row in db.get_messages(session_id)]
