"""A model behind any endpoint that speaks the OpenAI chat protocol, for titles and summaries; absent unless configured.

llm:
  base_url: http://localhost:11434/v1
  model: small-model
  api_key: ${LLM_API_KEY}     # where the endpoint wants one
  timeout: 30                 # seconds for one answer
  retries: 2
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from . import config, config_file
from .errors import Invalid, MissingExtra, Unavailable

KEYS: dict[str, config_file.Check] = {
    "base_url": config_file.text,
    "model": config_file.text,
    "api_key": config_file.text,
    "timeout": config_file.seconds,
    "retries": config_file.whole,
}

_HINTS = {
    401: " (is llm.api_key right?)",
    403: " (is llm.api_key right?)",
    404: " (are llm.base_url and llm.model right?)",
}


class NoAnswer(Unavailable):
    """The endpoint did not answer in time, failed, or said nothing of use."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to ask, and whom; the key is never shown."""

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    timeout: float = 30.0
    retries: int = 2

    @property
    def place(self) -> str:
        """Its address as it may be shown and stored: without a password."""
        return config.redact(self.base_url)

    def client(self) -> Any:
        """A client for one request, to be closed. Raises MissingExtra without the package."""
        openai = package()
        return openai.OpenAI(
            base_url=self.base_url,
            api_key=self.api_key or "none",
            timeout=self.timeout,
            max_retries=self.retries,
            http_client=openai.DefaultHttpxClient(verify=_certificates()),
        )

    def complete(self, messages: Sequence[Mapping[str, Any]], *, max_tokens: int = 1000) -> str:
        """What the model says. Raises NoAnswer with the reason, MissingExtra without the package."""
        openai = package()
        client = self.client()
        try:
            with client:
                answer = client.chat.completions.create(
                    model=self.model, messages=sendable(messages), max_tokens=max_tokens, temperature=0.1
                )
        # The package lets the ValueError of an answer that is no JSON through.
        except (openai.OpenAIError, ValueError) as exc:
            raise NoAnswer(f"{self.place} did not answer: {reason(exc)}") from exc
        text = _text(answer)
        if not text:
            raise NoAnswer(f"{self.model} at {self.place} answered without text")
        return text


def endpoint(*, env: Mapping[str, str] | None = None) -> Endpoint | None:
    """The endpoint of config.yaml; None when none is configured. Raises Invalid for half of one."""
    given = config.part("llm", KEYS, env=env)
    if not given:
        return None
    missing = [name for name in ("base_url", "model") if name not in given]
    if missing:
        raise Invalid(f"llm.{missing[0]} is missing in config.yaml; base_url and model belong together")
    return Endpoint(**given)


@cache
def _certificates() -> Any:
    """What is trusted, read once: a client of its own for each request would hold most of a megabyte until it is
    collected, and that is late."""
    import httpx

    return httpx.create_ssl_context()


def package() -> Any:
    """The SDK. Raises MissingExtra."""
    try:
        import openai
    except ImportError:
        raise MissingExtra("asking a model", "llm") from None
    return openai


def sendable(messages: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Messages that UTF-8 can say: one torn character, wherever it came from, must not end a conversation for good."""
    return [_whole(message) for message in messages]


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else whole(value)
    if isinstance(value, Mapping):
        return {key: _whole(each) for key, each in value.items()}
    return [_whole(each) for each in value] if isinstance(value, list) else value


def whole(text: str) -> str:
    """Halves of a character that came one after the other made one; those left alone are shown as unreadable."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def reason(error: Exception) -> str:
    """What happened, without the body of the answer: it may quote what was sent."""
    status = getattr(error, "status_code", None)
    cause = error.__cause__
    kind = type(error).__name__
    if status is not None:
        return f"status {status}{_HINTS.get(status, '')}"
    if isinstance(error, ValueError):
        return "what came is no JSON"
    if kind == "APIError":
        return "it told of an error of its own in mid-answer"
    return f"{kind} ({cause})" if cause is not None and str(cause) else kind


def _text(answer: Any) -> str:
    """The text of the first choice; endpoints that speak nonsense give none."""
    choices = getattr(answer, "choices", None)
    message = getattr(choices[0], "message", None) if isinstance(choices, list) and choices else None
    content = getattr(message, "content", None)
    return without_thoughts(content).strip() if isinstance(content, str) else ""


def without_thoughts(text: str) -> str:
    """The text without what some models think aloud before they answer."""
    return re.sub(r"(?s)<think>.*?(?:</think>|\Z)", "", text)
