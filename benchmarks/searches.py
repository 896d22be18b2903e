"""What is searched for, by kind; the same texts for every contender; standard library only."""

from __future__ import annotations

from typing import Any

from . import corpus
from .works import filled_session

LIMIT = 20
QUESTION = "plain question"
_RARE = "quokkafinch"
_URL = "https://docs.example.org/setup/install?lang=en#top"
_SENTENCE = "We moved the payment gateway to port 8443 because the old proxy dropped connections."
_ASKED = "When did we move the payment gateway to port 8443?"
_CJK = "数据库连接失败了"
_RARE_MESSAGES = 10


def planted() -> list[dict[str, Any]]:
    """Messages with words that the made-up history lacks."""
    rare = [
        f"the {_RARE} number {number} {corpus.messages(_RARE, 1)[0]['content']}" for number in range(_RARE_MESSAGES)
    ]
    other = [_SENTENCE, *[f"see {_URL}", f"日志：{_CJK}，请检查配置"] * _RARE_MESSAGES]
    return [{"role": "user", "content": text} for text in (*rare, *other)]


def queries() -> dict[str, str]:
    """By kind; words of the history have ranks, and the eighth is in about half of all messages."""
    half, tenth, common = (corpus.word(rank) for rank in (8, 60, 3))
    content = corpus.messages(filled_session(0, 1), 1)[0]["content"]
    path = next((word for word in content.split() if word.startswith("/")), "/etc/hosts")
    return {
        "rare": _RARE,
        "10 % word": tenth,
        "50 % word": half,
        "AND": f"{half} {tenth}",
        "OR": f"{tenth} OR {_RARE}",
        "NOT": f"{half} NOT {common}",
        "phrase": f'"{common} {half}"',
        "prefix": f"{_RARE[:5]}*",
        "word, short prefix": f"{tenth} {half[:2]}*",
        "path": path,
        "URL": _URL,
        "CJK 1": _CJK[0],
        "CJK 2": _CJK[:2],
        "CJK 4": _CJK[:4],
        QUESTION: _ASKED,
        "no hit": "xyzzyplugh",
    }


def text_bytes(sessions: int, messages_each: int) -> float:
    """The UTF-8 of all texts and tool calls of a filled store, from a sample."""
    sample = [corpus.messages(filled_session(number, sessions), messages_each) for number in range(min(sessions, 50))]
    sizes = [_size(row) for rows in sample for row in rows]
    return sum(sizes) / len(sizes) * sessions * messages_each


def _size(row: dict[str, Any]) -> int:
    calls = row.get("tool_calls") or []
    return len(row["content"].encode()) + sum(len(str(call["function"])) for call in calls)
