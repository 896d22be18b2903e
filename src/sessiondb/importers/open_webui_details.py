"""The `<details>` that Open WebUI writes into answers: what the model thought, and the tools it called."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from .databases import decoded
from .parts import said

_DETAILS = re.compile(r'<details type="(reasoning|tool_calls|code_interpreter)"([^>]*)>(.*?)</details>', re.DOTALL)
_SUMMARY = re.compile(r"<summary>.*?</summary>", re.DOTALL)
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')
_QUOTED = re.compile(r"^> ?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Call:
    id: str | None
    name: str
    arguments: str
    result: str | None


class Answer:
    """An answer taken apart."""

    def __init__(self, content: str) -> None:
        self.calls: list[Call] = []
        self._thoughts: list[str] = []
        self.text = _DETAILS.sub(self._take, content).strip()

    @property
    def reasoning(self) -> str:
        return said(self._thoughts)

    def numbered(self) -> Iterator[tuple[int, Call]]:
        return iter(enumerate(self.calls))

    def _take(self, found: re.Match[str]) -> str:
        kind, attributes, inner = found.groups()
        if kind == "code_interpreter":
            return found.group()
        if kind == "reasoning":
            self._thoughts.append(_QUOTED.sub("", html.unescape(_SUMMARY.sub("", inner).strip())))
            return ""
        given = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(attributes)}
        self.calls.append(
            Call(given.get("id"), given.get("name", "unknown"), given.get("arguments", "{}"), _result(given, inner))
        )
        return ""


def _result(given: dict[str, str], inner: str) -> str | None:
    """Older versions have the result as an attribute, in JSON."""
    if "result" not in given:
        return html.unescape(_SUMMARY.sub("", inner).strip()) or None
    value = decoded(given["result"])
    return value if isinstance(value, str) else given["result"]
