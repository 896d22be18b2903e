"""Messages of OpenCode and their parts, in whatever form they were kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .base import Message, Record, Session, Skipped
from .parts import Totals, object_of, price_of, said, tool_call
from .source import decode
from .texts import count_of, when, words_of

# Named so until the first answer, or for want of a better name.
_NO_TITLES = ("New session - ", "Child session - ")
_KNOWN = frozenset({"step-start", "step-finish", "snapshot", "patch", "text", "reasoning", "tool", "file"})


class Conversation:
    """One session; `carry` where its messages come in pieces."""

    def __init__(self, info: Mapping[str, Any], carry: dict[str, Any] | None = None) -> None:
        self.info = info
        self.carry = {} if carry is None else carry
        self.carry.setdefault("totals", {})
        self.carry.setdefault("begun", False)

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Conversation:
        """A row of the database, in the shape of the files."""
        times = {
            "created": row.get("time_created"),
            "updated": row.get("time_updated"),
            "archived": row.get("time_archived"),
        }
        names = {"parentID": "parent_id", "directory": "directory", "title": "title", "version": "version", "id": "id"}
        info = {name: row.get(column) for name, column in names.items()}
        return cls(info | {"time": times, "revert": _json(row.get("revert")), "model": _json(row.get("model"))})

    def message_row(self, path: Path, row: Mapping[str, Any], parts: Iterable[Mapping[str, Any]]) -> Iterator[Record]:
        data = _json(row.get("data"))
        if not isinstance(data, dict):
            yield Skipped(path, None, f"message {row.get('id')}: not a JSON object")
            return
        found = []
        for part in parts:
            value = _json(part.get("data"))
            if isinstance(value, dict):
                found.append({**value, "id": part.get("id")})
            else:
                yield Skipped(path, None, f"part {part.get('id')}: not a JSON object")
        yield from self.message({**data, "id": row.get("id")}, found)

    def unknown_row(self, row: Mapping[str, Any]) -> Iterator[Record]:
        data = _json(row.get("data"))
        yield from self._begin()
        yield self._made(
            "meta", {"type": row.get("type"), "data": data}, row.get("id"), row.get("time_created"), injected=True
        )

    def message(self, info: Mapping[str, Any], parts: Iterable[Any], last: bool = False) -> Iterator[Record]:
        yield from self._begin()
        known = [part for part in parts if isinstance(part, dict)]
        if info.get("role") == "user":
            yield from self._user(info, known)
        else:
            yield from self._assistant(info, known, last)
        for part in known:
            if words_of(part.get("type")) not in _KNOWN:
                yield self._made("meta", part, part.get("id"), _time(info, "created"), info, injected=True)

    def rest(self) -> Iterator[Record]:
        if self.carry["begun"]:
            yield self._session()
            totals = {**self.carry["totals"]}
            if self.carry.get("open"):
                Totals.add(totals, self.carry["open"])
            if totals:
                yield Totals.usage(totals, self._id(), "opencode")

    def _begin(self) -> Iterator[Record]:
        if not self.carry["begun"]:
            self.carry["begun"] = True
            yield self._session()

    def _id(self) -> str:
        return str(self.info.get("id"))

    def _session(self) -> Session:
        title, parent = words_of(self.info.get("title")), words_of(self.info.get("parentID"))
        title = None if title is None or title.startswith(_NO_TITLES) else title
        version, model = words_of(self.info.get("version")), object_of(self.info.get("model"))
        return Session(
            self._id(),
            source="subagent" if parent else None,
            title=title,
            title_source="agent" if title else None,
            started_at=_time(self.info, "created"),
            archived_at=_time(self.info, "archived"),
            cwd=words_of(self.info.get("directory")),
            model=self.carry.get("model") or words_of(model.get("id")),
            parent_native_id=parent,
            relation="subagent" if parent else None,
            metadata={"version": version} if version else None,
        )

    def _is_active(self, info: Mapping[str, Any]) -> bool:
        """Messages behind the point that was gone back to are kept, but are no longer part of the conversation."""
        point = words_of(object_of(self.info.get("revert")).get("messageID"))
        name = words_of(info.get("id"))
        return point is None or name is None or name < point

    def _made(
        self, role: str, content: Any, name: Any, moment: Any, info: Mapping[str, Any] | None = None, **fields: Any
    ) -> Message:
        active = self._is_active(info or {})
        return Message(role, content, when(moment), words_of(name), self._id(), active=active, **fields)

    def _user(self, info: Mapping[str, Any], parts: list[dict[str, Any]]) -> Iterator[Record]:
        moment, name = _time(info, "created"), words_of(info.get("id"))
        said_parts = [part for part in parts if _text(part) and not part.get("ignored")]
        own = [part for part in said_parts if not part.get("synthetic")]
        notes = [part for part in said_parts if part.get("synthetic")]
        files = [_file(part) for part in parts if part.get("type") == "file"]
        is_typed = not self.info.get("parentID")
        if own or (files and not notes):
            content: Any = said(map(_text, own))
            blocks = [block for block, _ in files if block is not None]
            if blocks:
                content = [*([{"type": "text", "text": content}] if content else []), *blocks]
            media = [reference for _, reference in files if reference is not None]
            yield self._made("user", content, name, moment, info, injected=not is_typed, media=media)
        if notes:
            tail = f"{name}#note" if name and own else name
            yield self._made("user", said(map(_text, notes)), tail, moment, info, injected=True)

    def _assistant(self, info: Mapping[str, Any], parts: list[dict[str, Any]], last: bool) -> Iterator[Record]:
        used = self._count(info, parts, last)
        model = words_of(info.get("modelID"))
        self.carry["model"] = model or self.carry.get("model")
        tools = [part for part in parts if part.get("type") == "tool"]
        facts = {"agent": words_of(info.get("agent") or info.get("mode")), "error": info.get("error")}
        if info.get("summary") is True:
            facts["kind"] = "compaction summary"
        yield self._made(
            "assistant",
            said(_text(part) for part in parts if not part.get("ignored")) or None,
            info.get("id"),
            _time(info, "created"),
            info,
            reasoning=said(words_of(part.get("text")) or "" for part in parts if part.get("type") == "reasoning")
            or None,
            tool_calls=[_call(part) for part in tools] or None,
            model=model,
            provider=words_of(info.get("providerID")),
            input_tokens=used.get("input_tokens"),
            output_tokens=used.get("output_tokens"),
            finish_reason=words_of(info.get("finish")),
            metadata={name: value for name, value in facts.items() if value} or None,
        )
        for part in tools:
            yield from self._result(info, part)

    def _result(self, info: Mapping[str, Any], part: dict[str, Any]) -> Iterator[Record]:
        state = object_of(part.get("state"))
        if state.get("status") not in ("completed", "error"):
            return
        about = object_of(state.get("metadata"))
        facts = {"is_error": state["status"] == "error" or bool(about.get("exit")), "exit_code": about.get("exit")}
        facts["session"] = words_of(about.get("sessionId") or about.get("sessionID"))
        content = state.get("output", state.get("error"))
        yield self._made(
            "tool",
            content if content is None or isinstance(content, str) else [content],
            part.get("id") or part.get("callID"),
            _time(state, "end") or _time(info, "created"),
            info,
            tool_call_id=words_of(part.get("callID")),
            tool_name=words_of(part.get("tool")),
            metadata={name: value for name, value in facts.items() if value} or None,
        )

    def _count(self, info: Mapping[str, Any], parts: list[dict[str, Any]], last: bool) -> dict[str, Any]:
        """What the message used: as it says itself, else as its steps do."""
        counted = (
            [info] if isinstance(info.get("tokens"), dict) else [p for p in parts if p.get("type") == "step-finish"]
        )
        used: dict[str, Any] = {}
        for each in counted:
            Totals.add(used, _used(each.get("tokens")) | {"cost": price_of(each.get("cost"))})
        if last:
            # It may still grow.
            self.carry["open"] = used
        elif used:
            Totals.add(self.carry["totals"], used)
        return used


def _time(info: Mapping[str, Any], name: str) -> float | None:
    return when(object_of(info.get("time")).get(name))


def _json(text: Any) -> Any:
    if not isinstance(text, str | bytes):
        return text
    try:
        values, _ = decode(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    except ValueError:
        return None
    return values[0] if len(values) == 1 else None


def _text(part: Mapping[str, Any]) -> str:
    text = words_of(part.get("text")) or "" if part.get("type") == "text" else ""
    return text if text.strip() else ""


def _call(part: Mapping[str, Any]) -> dict[str, Any]:
    return tool_call(part.get("callID"), part.get("tool"), object_of(part.get("state")).get("input"))


def _file(part: Mapping[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """A block that carries the file, or a reference to where it is."""
    url, mime, name = words_of(part.get("url")) or "", words_of(part.get("mime")), words_of(part.get("filename"))
    kind = "image" if (mime or "").startswith("image/") else "file"
    if url.startswith("data:"):
        return {"type": kind, "url": url, "name": name}, None
    return None, {"kind": kind, "path": url.removeprefix("file://") or name, "mime_type": mime}


def _used(tokens: Any) -> dict[str, Any]:
    if not isinstance(tokens, dict):
        return {}
    cache = object_of(tokens.get("cache"))
    names = {"input": tokens, "output": tokens, "reasoning": tokens, "read": cache, "write": cache}
    counts = {name: count_of(place.get(name)) for name, place in names.items()}
    # Output without reasoning, unless the total says that it is in there.
    apart = tokens.get("total") != sum(counts.values()) - counts["reasoning"]
    return {
        "input_tokens": counts["input"],
        "output_tokens": counts["output"] + (counts["reasoning"] if apart else 0),
        "cache_read_tokens": counts["read"],
        "cache_write_tokens": counts["write"],
        "reasoning_tokens": counts["reasoning"],
    }
