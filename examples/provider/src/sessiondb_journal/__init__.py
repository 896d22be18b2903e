"""Sessions in memory, kept by a journal: every change is one line of JSON, replayed when the store is opened.

The rows themselves are the memory provider's. A line is on disk before its change is made; a change that is refused
takes its line back. Nothing here depends on how sessions are stored, only on the contract of `SessionDBProvider`.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from threading import RLock
from typing import Any, BinaryIO

from sessiondb.backends.memory import MemoryProvider
from sessiondb.errors import Busy, Closed, Corrupt, DiskFull, Invalid, NotSupported, Unavailable
from sessiondb.models import Draft, Filter
from sessiondb.provider import Features, SessionDBProvider

__all__ = ["JournalProvider"]

KINDS: dict[str, type[Any]] = {"Draft": Draft, "Filter": Filter}


def _encoded(value: Any) -> Any:
    if not is_dataclass(value) or isinstance(value, type):
        raise TypeError(f"{type(value).__name__} has no place in the journal")
    return {f"${type(value).__name__}": asdict(value)}


def _decoded(value: dict[str, Any]) -> Any:
    name = next(iter(value), "")
    return KINDS[name[1:]](**value[name]) if len(value) == 1 and name[1:] in KINDS else value


def _written(name: str) -> Callable[..., Any]:
    """The primitive of the memory provider, with its line in the journal."""

    def primitive(self: JournalProvider, *args: Any, **kwargs: Any) -> Any:
        change = getattr(super(JournalProvider, self), name)
        with self._turn:
            start = self._write({"call": name, "args": args, "kwargs": kwargs})
            try:
                return change(*args, **kwargs)
            except BaseException:
                self._take_back(start)
                raise

    primitive.__name__ = name
    return primitive


class JournalProvider(MemoryProvider):
    """One process at a time; opening takes as long as reading the journal."""

    name = "journal"
    features = Features(persistent=True, multi_process=False, read_only=False)

    def __init__(self) -> None:
        super().__init__()
        self.path: str | None = None
        self._turn = RLock()
        self._journal: BinaryIO | None = None

    def initialize(self, *, path: str | os.PathLike[str] | None = None, dsn: str | None = None, **kwargs: Any) -> None:
        """Open the journal at `path`, or at what follows `journal://` in `dsn`, and replay it."""
        if kwargs.pop("read_only", False):
            raise NotSupported("a journal cannot be opened for reading only; open it without read_only")
        if self._journal is not None:
            return
        place = path or (dsn or "").removeprefix("journal://")
        if not place:
            raise Invalid("a journal needs a file: give path=, or a URL such as journal:///var/lib/agent.jsonl")
        self.path, self.media_directory = os.fspath(place), f"{os.fspath(place)}.media"
        file = _locked(Path(place))
        try:
            super().initialize()
            self._replay(file)
        except BaseException:
            super().shutdown()
            file.close()
            raise
        self._journal = file

    def shutdown(self) -> None:
        with self._turn:
            if self._journal is not None:
                self._journal.close()
                self._journal = None
            super().shutdown()

    def _replay(self, file: BinaryIO) -> None:
        end = 0
        for line in file:
            # A line without its end was being written when the power went: its change was never acknowledged.
            if not line.endswith(b"\n"):
                break
            try:
                entry = json.loads(line, object_hook=_decoded)
                change, args, kwargs = getattr(super(), entry["call"]), entry["args"], entry["kwargs"]
            except (ValueError, LookupError, TypeError, AttributeError) as exc:
                raise Corrupt(f"{self.path} is no journal, or damaged at byte {end}: {exc}") from exc
            change(*args, **kwargs)
            end += len(line)
        file.truncate(end)
        file.seek(end)

    def _write(self, entry: dict[str, Any]) -> int:
        """Put a line on disk and return where it begins."""
        if self._journal is None:
            raise Closed("the store is closed; open it again")
        start = self._journal.tell()
        try:
            self._journal.write(json.dumps(entry, default=_encoded).encode() + b"\n")
            self._journal.flush()
            os.fsync(self._journal.fileno())
        except OSError as exc:
            self._take_back(start)
            raise DiskFull(f"the journal {self.path} cannot be written: {exc.strerror}") from exc
        return start

    def _take_back(self, start: int) -> None:
        if self._journal is not None:
            os.ftruncate(self._journal.fileno(), start)
            self._journal.seek(start)

    # What takes a function has no place in the journal.
    revise = SessionDBProvider.revise
    revise_trash = SessionDBProvider.revise_trash

    add_usage = _written("add_usage")
    append = _written("append")
    clear_messages = _written("clear_messages")
    create_session = _written("create_session")
    delete_sessions = _written("delete_sessions")
    empty_trash = _written("empty_trash")
    merge = _written("merge")
    put_import_files = _written("put_import_files")
    replace_messages = _written("replace_messages")
    restore = _written("restore")
    rotate = _written("rotate")
    set_active = _written("set_active")
    set_meta = _written("set_meta")
    set_title = _written("set_title")
    update_session = _written("update_session")
    _change_tags = _written("change_tags")

    def change_tags(self, session_id: str, add: Sequence[str], remove: Sequence[str]) -> list[str]:
        # Without tags to change this is a question, and questions have no line.
        return self._change_tags(session_id, add, remove) if add or remove else super().change_tags(session_id, (), ())


def _locked(path: Path) -> BinaryIO:
    """The file, created if need be, for us alone."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b")
    except OSError as exc:
        raise Unavailable(f"{path} cannot be opened as a journal: {exc.strerror}") from exc
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as exc:
        file.close()
        raise Busy(f"another process uses {path}; close it there first") from exc
    return file
