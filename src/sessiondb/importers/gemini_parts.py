"""Parts of messages as Google's API has them; forks of Gemini CLI keep them so."""

from __future__ import annotations

from typing import Any

from .parts import blocks_of
from .texts import words_of


def words_in(content: Any) -> str:
    return "".join(words_of(part.get("text")) or "" for part in blocks_of(content))


def as_block(part: dict[str, Any]) -> dict[str, Any]:
    if isinstance(part.get("inlineData"), dict):
        return {"type": "image", **part["inlineData"]}
    return part


def answers(result: Any) -> Any:
    """The text of what a tool answered; the answer itself where it is more than text."""
    texts = []
    for part in blocks_of(result):
        response = part.get("functionResponse")
        answer = response.get("response") if isinstance(response, dict) else part.get("text")
        if isinstance(answer, dict):
            words = answer.get("output", answer.get("error"))
            if not isinstance(words, str):
                return answer
            answer = words
        if answer is not None:
            texts.append(str(answer))
    return "\n".join(texts)
