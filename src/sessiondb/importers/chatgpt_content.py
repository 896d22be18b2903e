"""The contents of ChatGPT's messages, by their type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .parts import blocks_of, body, list_of, object_of, said
from .texts import words_of

_CONTEXT = frozenset({"user_editable_context", "model_editable_context"})
_CONTEXT_TEXTS = ("user_profile", "user_instructions", "model_set_context")
_TEXTS = ("title", "name", "text", "result", "summary", "content", "url")


@dataclass(frozen=True, slots=True)
class Content:
    # Text, or the blocks of a message with pictures or sound in it.
    body: Any
    thoughts: str = ""
    # Custom instructions and memories, which the person did not type here.
    is_context: bool = False
    # What the interface says about an answer ("Thought for 5 seconds").
    is_note: bool = False

    @property
    def text(self) -> str:
        return self.body if isinstance(self.body, str) else said(str(block.get("text") or "") for block in self.body)


def content_of(content: Any) -> Content:
    values = object_of(content)
    kind = words_of(values.get("content_type"))
    if kind in ("text", "multimodal_text"):
        return Content(body([_block(part) for part in list_of(values.get("parts")) if part not in ("", None)]))
    if kind == "thoughts":
        return Content("", said(map(_thought, list_of(values.get("thoughts")))))
    if kind in _CONTEXT:
        return Content(said(words_of(values.get(name)) or "" for name in _CONTEXT_TEXTS), is_context=True)
    if kind in ("code", "execution_output"):
        return Content(words_of(values.get("text")) or "")
    if kind == "reasoning_recap":
        return Content(words_of(values.get("content")) or "", is_note=True)
    texts = said(words_of(values.get(name)) or "" for name in _TEXTS)
    return Content(texts or (blocks_of(values) if values else ""))


def _block(part: Any) -> dict[str, Any]:
    if not isinstance(part, dict):
        return {"type": "text", "text": str(part)}
    if part.get("content_type") == "audio_transcription":
        return {"type": "text", "text": words_of(part.get("text")) or ""}
    kind = "image" if part.get("content_type") == "image_asset_pointer" else words_of(part.get("content_type"))
    return {"type": kind or "file", **part}


def _thought(thought: Any) -> str:
    values = object_of(thought)
    return "\n".join(filter(None, (words_of(values.get("summary")), words_of(values.get("content")))))
