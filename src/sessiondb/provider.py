"""The contract of a backend: some fifty primitives, each one transaction, and the features that may differ.

`SessionDB` checks and prepares what callers give, and composes these primitives; a provider stores and finds.
A primitive either happens entirely or not at all, and raises only errors of `sessiondb.errors`.
The laws in `sessiondb.testing` say what each must do; the memory provider is the shortest text that obeys them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .bindings import Bindable
from .errors import NotSupported
from .models import (
    SESSION_FACTS,
    Activity,
    Draft,
    Filter,
    ImportFileRow,
    ListedSession,
    MediaRefRow,
    Merged,
    MessageFilter,
    MessageRow,
    Order,
    Page,
    SessionRow,
    ToolCallRow,
)
from .moving import Movable
from .replay import TURN_COLUMNS, Turn, turn
from .searchable import Searchable
from .values import dataclass

# The name of a table and a row of it as stored, to the columns that become different.
Change = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Features:
    """What may differ between providers, each a named fact with a law on both sides."""

    # Does the store survive the process?
    persistent: bool = True
    # May several processes use it at once?
    multi_process: bool = True
    # Can it be opened for reading only?
    read_only: bool = True
    # Is there a full-text index, or does every search read all rows?
    indexed_search: bool = False
    # Which other ways to search are offered: parts of words, words with slips, regular expressions.
    substring_search: bool = True
    fuzzy_search: bool = True
    regex_search: bool = True
    # Are the bindings of a gateway kept, each change and all that belongs to it in one transaction?
    bindings: bool = False
    # Is there an index for parts of words and words with slips, or are messages read until the deadline? Of each store.
    indexed_text_search: bool = False
    # Can texts be changed where they stand, in the trash too? What `scrub` needs.
    revision: bool = False
    # Are texts over 4 KB that come again kept once?
    shared_bodies: bool = False
    # The longest text of one message, in bytes of UTF-8.
    max_content_bytes: int = 64 * 1024 * 1024


def activity_order(counted: Activity) -> tuple[float, str, str]:
    return counted.since, counted.role, counted.tool_name or ""


class SessionDBProvider(Searchable, Movable, Bindable, ABC):
    """Stores sessions and messages; one instance per store, safe to use from many threads."""

    name: str
    features: Features = Features()
    # Where files named by their hash are kept for this store; None: nowhere of its own.
    media_directory: str | None = None

    # --- life ---

    @classmethod
    @abstractmethod
    def is_available(cls) -> bool:
        """Whether what this provider needs (driver, library version) is installed; touches no store."""

    @abstractmethod
    def initialize(self, **kwargs: Any) -> None:
        """Open the store, create or upgrade its schema; raises a typed error when it cannot be used."""

    @abstractmethod
    def shutdown(self) -> None:
        """Release everything; a second call changes nothing."""

    @abstractmethod
    def health(self) -> dict[str, Any]:
        """Facts for operators: schema, effective settings, sizes, age of the last durable commit."""

    # --- sessions ---

    @abstractmethod
    def create_session(
        self, row: Mapping[str, Any], messages: Sequence[Draft] = (), *, tags: Sequence[str] = ()
    ) -> bool:
        """Insert a session with its messages; False, and nothing changed, when the id exists.

        Raises NotFound for an unknown parent, TitleTaken for a taken title. Counters and ledger follow from `messages`;
        `last_seq` of the row counts when it is higher than the last position.
        """

    @abstractmethod
    def get_session(self, session_id: str) -> SessionRow | None: ...

    @abstractmethod
    def update_session(self, session_id: str, changes: Mapping[str, Any], *, unless_set: str | None = None) -> bool:
        """Set columns; False when there is no such session, or when the column `unless_set` is not NULL."""

    @abstractmethod
    def add_usage(
        self, session_id: str, amounts: Mapping[str, float | None], facts: Mapping[str, str | None], *, absolute: bool
    ) -> bool:
        """Add token and cost `amounts` (or set them), keep billing facts; False when there is no such session.

        An amount of None leaves its column alone. Of `facts`, model and billing_* only fill a NULL; the others replace.
        """

    @abstractmethod
    def set_title(self, session_id: str, title: str | None, source: str | None, *, only_if_empty: bool = False) -> bool:
        """Set or clear a title; False when there is no such session, or a title stands and `only_if_empty`.

        Raises TitleTaken, naming the holder.
        """

    @abstractmethod
    def find_titles(self, prefix: str) -> list[SessionRow]:
        """Sessions whose title starts with `prefix`, exactly, by case; newest started first."""

    @abstractmethod
    def find_ids(self, prefix: str, limit: int) -> list[str]:
        """Session ids that start with `prefix`, in order of id."""

    @abstractmethod
    def list_sessions(self, where: Filter, page: Page, order: Order) -> list[ListedSession]:
        """Sessions, newest first, with `preview` and `last_active` filled in."""

    @abstractmethod
    def count_sessions(self, where: Filter) -> int: ...

    @abstractmethod
    def change_tags(self, session_id: str, add: Sequence[str], remove: Sequence[str]) -> list[str]:
        """Change the tags of a session and return what it has now, sorted; raises NotFound."""

    # --- lineage ---

    @abstractmethod
    def ancestors(self, session_id: str) -> list[SessionRow]:
        """The parent, its parent, and so on; ends at a cycle."""

    @abstractmethod
    def descendants(self, session_id: str) -> list[SessionRow]:
        """All below, parents before children, by start within a generation; each once."""

    @abstractmethod
    def rotate(self, session_id: str, child: Mapping[str, Any], messages: Sequence[Draft] = ()) -> str:
        """End the session with reason "compression" and create `child` with the next title of its lineage.

        It begins with `messages`. The title moves on only when the parent has one. Returns the id of the
        continuation: the existing one, as it is, when there is one already. Raises NotFound.
        """

    # --- messages ---

    @abstractmethod
    def append(self, session_id: str, messages: Sequence[Draft], *, expected_seq: int | None = None) -> list[int]:
        """Append in order, all or nothing, and return the ids.

        A message whose key the session already has is not stored again: its id is returned. Raises NotFound, and
        Conflict when `expected_seq` is not the last position (keys that are all known are answered first).
        """

    @abstractmethod
    def get_messages(
        self,
        session_id: str,
        *,
        after: int | None = None,
        before: int | None = None,
        limit: int | None = None,
        newest: bool = False,
        include_inactive: bool = False,
    ) -> list[MessageRow]:
        """Messages in order, with positions above `after` and below `before`; `newest` keeps the last `limit`."""

    def get_turns(self, session_id: str) -> list[Turn]:
        """The active messages in the form of `replay.turn`; providers may have a shorter way."""
        rows = self.stored_messages(session_id)
        return [turn(*(row[name] for name in TURN_COLUMNS)) for row in rows if row["active"]]

    @abstractmethod
    def get_message(self, message_id: int) -> MessageRow | None: ...

    def found_messages(self, message_ids: Sequence[int]) -> list[tuple[MessageRow, SessionRow]]:
        """Those of these messages that are still there, in any order, each with facts as in `scan_messages`."""
        rows = filter(None, map(self.get_message, message_ids))
        return [(row, session) for row in rows if (session := self.get_session(row["session_id"])) is not None]

    @abstractmethod
    def count_messages(self, session_id: str | None = None) -> int: ...

    def find_keys(self, session_ids: Sequence[str], keys: Sequence[str]) -> dict[str, str]:
        """Of these message keys those that one of the sessions has, with that session."""
        found = {
            row["message_key"]: session_id
            for session_id in session_ids
            for row in self.get_messages(session_id, include_inactive=True)
        }
        return {key: found[key] for key in keys if key in found}

    @abstractmethod
    def replace_messages(self, session_id: str, messages: Sequence[Draft]) -> list[int]:
        """Put `messages` in the place of all there are; positions go on, none is used twice. Raises NotFound."""

    @abstractmethod
    def merge(self, session_id: str, messages: Sequence[Draft], hidden: Sequence[str] = ()) -> Merged:
        """Append the messages whose keys are new, rewrite in place those whose content differs. Raises NotFound.

        A rewritten message keeps its position and gets a new id. Messages with the keys `hidden`, and those given as
        inactive, become inactive; nothing inactive becomes active here.
        """

    @abstractmethod
    def clear_messages(self, session_id: str) -> None:
        """Remove all messages and zero their counts; tokens, costs and title stay. An unknown id is ignored."""

    @abstractmethod
    def set_active(self, session_id: str, after: int, active: bool) -> int:
        """Hide or show the messages with positions above `after`; returns how many changed."""

    @abstractmethod
    def stored_messages(self, session_id: str) -> Iterator[dict[str, Any]]:
        """Every row of a session as stored, inactive ones too, in order; rows not adopted yet come last, seq None.

        Read in batches: no transaction stays open while the caller works.
        """

    @abstractmethod
    def get_tool_calls(self, session_id: str) -> list[ToolCallRow]: ...

    @abstractmethod
    def get_media_refs(self, session_id: str) -> list[MediaRefRow]: ...

    @abstractmethod
    def scan_messages(
        self, where: Filter, messages: MessageFilter, *, newest: bool = True, batch: int = 500
    ) -> Iterator[tuple[MessageRow, SessionRow]]:
        """All messages of the selected sessions in order of id, each with facts of its session.

        The facts are id, source, model, title and started_at.

        Read in batches: no transaction stays open while the caller works.
        """

    # --- revision ---

    def revise(self, session_id: str, positions: Sequence[int], change: Change) -> int:
        """Give the messages at these positions the columns that `change` says; returns how many changed.

        All media references of the session are shown to `change` too. A changed message keeps its position and gets a
        new id; its tool calls follow, and the session keeps its place among the others. Raises NotFound.
        """
        self.get_session(session_id)
        raise NotSupported(f"{self.name} cannot change what is stored; `export --redact` and import into a new store")

    def revise_trash(self, change: Change) -> int:
        """The same for everything in the trash, sessions and tool calls included; returns how many sessions changed."""
        self.list_trash(Page(1))
        raise NotSupported(f"{self.name} cannot change what is in the trash; empty it")

    # --- deletion ---

    @abstractmethod
    def delete_sessions(self, where: Filter, *, deleted_at: float, hard: bool = False) -> list[str]:
        """Move the selected sessions with all they own to the trash, or destroy them if `hard`; returns their ids.

        Children that stay lose their parent, and the trash remembers them.
        """

    @abstractmethod
    def list_trash(self, page: Page) -> list[SessionRow]:
        """Deleted sessions, the last deleted first; `deleted_at` tells when."""

    @abstractmethod
    def restore(self, session_id: str, *, new_id: str | None = None, new_title: bool = False) -> str:
        """Bring back the last deleted session of this id and return its id.

        Raises NotFound; AlreadyExists when the id is in use and no `new_id` is given; TitleTaken when the title is in
        use and not `new_title` (the next number of the lineage). Links to parent and orphaned children are restored.
        """

    @abstractmethod
    def empty_trash(self, deleted_before: float) -> int:
        """Destroy what was deleted before that time; returns the number of sessions."""

    # --- facts ---

    @abstractmethod
    def usage_by_model(self, where: Filter) -> list[dict[str, Any]]:
        """Per model: session_count and the sums of tokens and costs (NULL while unknown), dearest first."""

    @abstractmethod
    def top_sessions_by_tokens(self, where: Filter, limit: int) -> list[SessionRow]: ...

    @abstractmethod
    def stats(self) -> dict[str, Any]:
        """`sessions`, `messages`, `sources` (name -> sessions, most first), `size_bytes`, `index_bytes` or None,
        `large_texts` or None."""

    @abstractmethod
    def get_meta(self, key: str) -> str | None: ...

    @abstractmethod
    def set_meta(self, key: str, value: str | None) -> None:
        """Keep a value under a key; None removes it."""

    # --- imports ---

    @abstractmethod
    def find_native(self, origin: str, native_id: str) -> SessionRow | None:
        """The session that was imported from `origin` under this id there."""

    @abstractmethod
    def list_import_files(self) -> list[ImportFileRow]:
        """All files that were read, by path."""

    @abstractmethod
    def put_import_files(self, files: Sequence[ImportFileRow], *, forget: Sequence[str] = ()) -> None:
        """Remember how far files were read, in the place of what was known of them; drop the paths in `forget`."""

    def list_tags(self) -> dict[str, int]:
        """Every tag that sessions have, with how many have it."""
        rows = self.list_sessions(Filter(), Page(None), "started")
        return dict(Counter(tag for row in rows for tag in self.change_tags(row["id"], (), ())))

    def place_sessions(self, places: Mapping[str, int]) -> None:
        """Where sessions stand in lists by activity: each as if its newest message had this number."""
        for session_id, place in places.items():
            self.update_session(session_id, {"last_message_id": place})

    def session_facts(self, where: Filter) -> list[SessionRow]:
        """The selected sessions, the last begun first, with the columns `SESSION_FACTS` only."""
        rows = self.list_sessions(where, Page(None), "started")
        return [{name: row[name] for name in SESSION_FACTS} for row in rows]  # type: ignore[literal-required,misc]

    def activity(self, where: Filter, messages: MessageFilter, step: float) -> list[Activity]:
        """Messages of the selected sessions, counted by steps of so many seconds since 1970, in order of time."""
        counts = Counter(
            (message["timestamp"] // step * step, message["role"], message["tool_name"])
            for message, _ in self.scan_messages(where, messages)
        )
        return sorted((Activity(*key, count) for key, count in counts.items()), key=activity_order)

    def tool_usage(self, where: Filter, since: float | None, until: float | None) -> dict[str, int]:
        """How often each tool was called from `since` to before `until`, most first; calls without a name as ""."""
        calls = (call for row in self.session_facts(where) for call in self.get_tool_calls(row["id"]))
        counts = Counter(
            call["tool_name"] or ""
            for call in calls
            if (since is None or call["created_at"] >= since) and (until is None or call["created_at"] < until)
        )
        return dict(sorted(counts.items(), key=lambda counted: (-counted[1], counted[0])))
