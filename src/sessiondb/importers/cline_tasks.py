"""Tasks of Cline and what grew out of it: a directory per task.

`api_conversation_history.json` has what was said, `ui_messages.json` what it cost. In older versions the calls and
results of tools are marked up inside the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .base import Message, Record, Session, Skipped, Usage
from .block_turns import Turn
from .databases import decoded
from .parts import Totals, blocks_of, list_of, object_of, price_of, text_of
from .source import Source
from .texts import count_of, is_injected, when, words_of

HISTORY = "api_conversation_history.json"
_BESIDE = ("ui_messages.json", "history_item.json")
_LARGEST = 64 * 1024 * 1024
_TYPED = re.compile(r"\s*<(task|feedback|user_message|answer)>\n?(.*?)\n?</\1>\s*", re.DOTALL)
_NOTES = ("<environment_details>", "[ERROR]", "[TASK RESUMPTION]", "<explicit_instructions")
_RESULT = re.compile(r"\[\w+( for .*)?\] Result:", re.DOTALL)


def tasks(root: Path) -> Iterator[Path]:
    yield from sorted(root.rglob(HISTORY))


def is_history(path: Path, head: bytes) -> bool:
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return path.name.endswith(HISTORY) and start.startswith(b"[") and b'"role"' in head


def stamp(path: Path) -> tuple[int, float]:
    """Size and time of all that belongs to a task."""
    stats = [file.stat() for file in (path, *(path.with_name(name) for name in _BESIDE)) if file.exists()]
    return sum(each.st_size for each in stats), max(each.st_mtime for each in stats)


def read(source: Source) -> Iterator[Record]:
    task = Task(source.path)
    yield task.session()
    for number, values in enumerate(source.elements()):
        yield from (values,) if isinstance(values, Skipped) else task.messages(number, values)
    yield task.session()
    yield task.usage()


class Task:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.id = path.parent.name if path.name == HISTORY else path.stem
        self.facts = _beside(path, "history_item.json") or _listed(path, self.id)
        self.model = words_of(object_of(self.facts).get("modelId"))

    def session(self) -> Session:
        facts = object_of(self.facts)
        title = words_of(facts.get("task"))
        parent = words_of(facts.get("parentTaskId"))
        return Session(
            self.id,
            source="vscode",
            title=title,
            title_source="first_prompt" if title else None,
            # The id of a task of Cline is the time it began.
            started_at=when(int(self.id)) if self.id.isdecimal() else when(facts.get("ts")),
            model=self.model,
            cwd=words_of(facts.get("cwdOnTaskInitialization")) or words_of(facts.get("workspace")),
            parent_native_id=parent,
            relation="subagent" if parent else None,
        )

    def messages(self, number: int, values: Mapping[str, Any]) -> Iterator[Message]:
        role = words_of(values.get("role"))
        about = object_of(values.get("modelInfo"))
        self.model = words_of(about.get("modelId")) or self.model
        fields: dict[str, Any] = {"timestamp": when(values.get("ts"))}
        if role == "assistant":
            fields |= {"model": words_of(about.get("modelId")), "provider": words_of(about.get("providerId"))}
        elif role != "user":
            yield Message("meta", dict(values), native_id=str(number), injected=True, **fields)
            return
        blocks = blocks_of(values.get("content"))
        if role == "user":
            blocks = _typed(blocks)
        yield from Turn(role, str(number), is_note=_is_note, **fields).messages(blocks)

    def usage(self) -> Usage:
        totals: dict[str, Any] = {}
        for each in map(object_of, list_of(_beside(self.path, "ui_messages.json"))):
            if each.get("say") == "api_req_started":
                Totals.add(totals, _used(object_of(decoded(each.get("text"))), "cost"))
        if not totals:
            Totals.add(totals, _used(object_of(self.facts), "totalCost"))
        return Totals.usage(totals, self.id, "agent")


def _typed(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a person typed, out of the marks around it; a tool's output joins the line that names the tool."""
    made: list[dict[str, Any]] = []
    heads_output = False
    for block in blocks:
        text = text_of(block)
        found = None if text is None else _TYPED.fullmatch(text)
        if found is not None:
            made.append({**block, "text": found.group(2)})
        elif heads_output and text is not None:
            made[-1] = {**made[-1], "text": f"{made[-1]['text']}\n{text}"}
        else:
            made.append(block)
        heads_output = text is not None and _RESULT.fullmatch(text.strip()) is not None
    return made


def _is_note(text: str) -> bool:
    return is_injected(text) or text.lstrip().startswith(_NOTES) or _RESULT.match(text.lstrip()) is not None


def _used(values: Mapping[str, Any], cost: str) -> dict[str, Any]:
    return {
        "input_tokens": count_of(values.get("tokensIn")),
        "output_tokens": count_of(values.get("tokensOut")),
        "cache_read_tokens": count_of(values.get("cacheReads")),
        "cache_write_tokens": count_of(values.get("cacheWrites")),
        "cost": price_of(values.get(cost)),
    }


def _beside(path: Path, name: str) -> Any:
    return read_json(path.with_name(name)) if path.name == HISTORY else None


def _listed(path: Path, native_id: str) -> dict[str, Any]:
    """What the list of all tasks tells about this one."""
    tasks_directory = path.parent.parent
    for place in (tasks_directory.parent / "state" / "taskHistory.json", tasks_directory / "_index.json"):
        whole = read_json(place)
        entries = list_of(object_of(whole).get("entries")) or list_of(whole)
        for each in map(object_of, entries):
            if str(each.get("id")) == native_id:
                return each
    return {}


def read_json(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            return decoded(file.read(_LARGEST).removeprefix(b"\xef\xbb\xbf"))
    except OSError:
        return None
