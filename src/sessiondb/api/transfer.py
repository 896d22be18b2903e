"""Export to plain dicts, and back with ids, lineage, positions and ledger kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .. import titles
from ..drafts import check_filter, check_id, check_session, check_text, check_time, latest, restored, to_json
from ..errors import Invalid, SessionDBError
from ..models import SESSION_COLUMNS, Draft, Filter, Page, SessionRow
from ..rows import message_row
from ..values import dataclass, field
from .messages import Messages, listed

EXPORT_FORMAT = "sessiondb/1"
_PAGE = 200
_SAME, _BEGUN = "the same", "begun"
_NO_PARENT = "its parent {} is not here; imported without"
# Derived from the messages on the way in, or meaningless in another store.
_NOT_IMPORTED = frozenset({"message_count", "tool_call_count", "last_message_id", "ledger", "deleted_at", "title"})


@dataclass(slots=True)
class ImportReport:
    """What an import did: ids that came in, and what was left out or changed, with the reason."""

    imported: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    messages: int = 0


class Transfer(Messages):
    def export_session(self, session_id: str) -> dict[str, Any] | None:
        """The session's columns with `messages` (rewound ones too, active = 0), `tags` and `media_refs`; or None."""
        check_text(session_id, "session_id")
        session = self.provider.get_session(session_id)
        return None if session is None else self._document(session)

    def _document(self, session: SessionRow) -> dict[str, Any]:
        media = self._media_by_message(session["id"])
        messages: list[dict[str, Any]] = []
        for row in self.provider.stored_messages(session["id"]):
            message: dict[str, Any] = dict(message_row(row))
            if references := media.get(message["id"]):
                message["media_refs"] = references
            messages.append(message)
        tags = self.provider.change_tags(session["id"], (), ())
        return {**session, "tags": tags, "messages": messages, "format": EXPORT_FORMAT}

    def export_all(self, source: str | None = None) -> list[dict[str, Any]]:
        """Every session with its messages, in memory at once; `iter_export` streams."""
        check_text(source, "source")
        return list(self.iter_export(Filter(sources=None if source is None else (source,))))

    def iter_export(self, where: Filter | None = None) -> Iterator[dict[str, Any]]:
        """Sessions with their messages, one at a time, oldest first, parents before children where they can be."""
        for session_id in self._ids(check_filter(where)):
            document = self.export_session(session_id)
            # A session deleted meanwhile is no longer part of the store.
            if document is not None:
                yield document

    def _ids(self, where: Filter) -> list[str]:
        ids: list[str] = []
        while page := self.provider.list_sessions(where, Page(_PAGE, len(ids)), "started"):
            ids.extend(row["id"] for row in page)
        return ids[::-1]

    def import_native(
        self, session: Mapping[str, Any], messages: Iterable[Mapping[str, Any]] = (), *, tags: Sequence[str] = ()
    ) -> bool:
        """Begin a session of another agent with its first messages, in one transaction; False when the id exists.

        `session` holds columns: id, source, started_at, origin and native_id at least. Each message needs a
        `message_key`. Raises Conflict when the origin's session is here under another id.
        """
        if not isinstance(session, Mapping):
            raise Invalid(f"session must be a dict, not {type(session).__name__}")
        check_id(session.get("id"), "id")
        check_id(session.get("source"), "source")
        check_session(session)
        now = float(self._clock())
        drafts = [self._merging(number, message, now) for number, message in enumerate(listed(messages))]
        return self.provider.create_session(self._columns(session), latest(drafts), tags=tags)

    def import_sessions(self, documents: Iterable[Mapping[str, Any]], *, dry_run: bool = False) -> ImportReport:
        """Take in what `export_session` gave: same ids, lineage, positions and ledger; each session all or nothing.

        A session that exists is skipped and reported, never changed. A taken title gets the next number of its lineage.
        A parent that is nowhere is left out and noted.
        """
        if isinstance(documents, str | bytes | Mapping) or not isinstance(documents, Iterable):
            raise Invalid(f"sessions must be a list of dicts, not {type(documents).__name__}")
        self._raise_if_closed()
        report = ImportReport()
        parents: dict[str, str] = {}
        for number, document in enumerate(documents):
            name = _name(document, number)
            try:
                self._import_one(document, parents, report, dry_run)
            except Invalid as exc:
                report.failed[name] = str(exc)
        (self._foresee if dry_run else self._link)(parents, report)
        return report

    def _import_one(
        self, document: Mapping[str, Any], parents: dict[str, str], report: ImportReport, dry_run: bool
    ) -> None:
        if not isinstance(document, Mapping):
            raise Invalid(f"a session must be a dict, not {type(document).__name__}")
        if "part_of" in document:
            self._import_part(document, report, dry_run)
            return
        if "media" in document:
            self._import_media(document, dry_run)
            return
        values, drafts = self._parsed(document)
        name = values["id"]
        existing = self.provider.get_session(name)
        if existing is not None:
            report.skipped[name] = _collision(existing, document)
            self._mend_link(existing, document, parents, report)
            return
        tags = _tags(document)
        parent = values.pop("parent_session_id", None)
        values["title"] = self._free_title(document, report)
        if parent:
            parents[name] = parent
        if dry_run or self.provider.create_session(self._columns(values), drafts, tags=tags):
            report.imported.append(name)
            report.messages += len(drafts)
        else:
            report.skipped[name] = "another process created this id meanwhile"

    def _mend_link(
        self, existing: SessionRow, document: Mapping[str, Any], parents: dict[str, str], report: ImportReport
    ) -> None:
        """An import that was broken off has made sessions without linking them."""
        parent = document.get("parent_session_id")
        if parent and existing["parent_session_id"] is None and report.skipped[existing["id"]].endswith(_SAME):
            parents[existing["id"]] = str(parent)

    def _import_part(self, document: Mapping[str, Any], report: ImportReport, dry_run: bool) -> None:
        """Further messages of a session that was too long for one line."""
        name = document["part_of"]
        check_id(name, "part_of")
        existing = self.provider.get_session(name)
        if existing is None or (name in report.skipped and not report.skipped[name].endswith(_BEGUN)):
            return
        drafts = [draft for draft in self._restored(document) if (draft.seq or 0) > existing["last_seq"]]
        if drafts and not dry_run:
            self.provider.append(name, drafts)
            report.messages += len(drafts)

    def _import_media(self, document: Mapping[str, Any], dry_run: bool) -> None:
        """A file that messages name by its hash."""
        import base64
        from hashlib import sha256

        name, encoded = document["media"], document.get("data")
        try:
            data = base64.b64decode(encoded if isinstance(encoded, str) else "", validate=True)
        except ValueError as exc:
            raise Invalid(f"media {name} is not base64: {exc}") from exc
        if sha256(data).hexdigest() != name:
            raise Invalid(f"media {name} is damaged: its bytes have another hash")
        if not dry_run:
            self._media_store().put(name, data)

    def _restored(self, document: Mapping[str, Any]) -> list[Draft]:
        rows = document.get("messages") or []
        if not isinstance(rows, list):
            raise Invalid(f"messages must be a list, not {type(rows).__name__}")
        limit = self.features.max_content_bytes
        drafts: list[Draft] = []
        try:
            for row in map(self._message, rows) if self._redacting else rows:
                drafts.append(restored(row, max_bytes=limit))
        except Invalid as exc:
            raise Invalid(f"message {len(drafts)}: {exc}") from exc
        return drafts

    def _parsed(self, document: Mapping[str, Any]) -> tuple[dict[str, Any], list[Draft]]:
        check_id(document.get("id"), "id")
        check_id(document.get("source"), "source")
        values = {name: document.get(name) for name in SESSION_COLUMNS if name not in _NOT_IMPORTED}
        values["started_at"] = check_time(document.get("started_at"), "started_at")
        for name in ("metadata", "model_config"):
            if values[name] is not None and not isinstance(values[name], str):
                values[name] = to_json(values[name], name) or "{}"
        check_session(values)
        drafts = self._restored(document)
        if "parts" in document:
            # Positions go on in the lines that follow.
            values["last_seq"] = None
        return values, drafts

    def _free_title(self, document: Mapping[str, Any], report: ImportReport) -> str | None:
        title = self._title(document.get("title"))
        if title is None or not any(row["title"] == title for row in self.provider.find_titles(title)):
            return title
        base, _ = titles.split(title)
        taken = [row["title"] or "" for row in self.provider.find_titles(titles.lineage_prefix(base))]
        free = titles.next_in_lineage(base, taken)
        report.notes.append(f"{document['id']}: the title {title!r} is taken; imported as {free!r}")
        return free

    def _foresee(self, parents: Mapping[str, str], report: ImportReport) -> None:
        """Note the parents that an import would not find."""
        imported = set(report.imported)
        for child, parent in parents.items():
            if parent not in imported and self.provider.get_session(parent) is None:
                report.notes.append(f"{child}: {_NO_PARENT.format(parent)}")

    def _link(self, parents: Mapping[str, str], report: ImportReport) -> None:
        imported = set(report.imported)
        for child, parent in parents.items():
            if child not in imported and not report.skipped.get(child, "").endswith(_SAME):
                continue
            if self.provider.get_session(parent) is None:
                self._orphan(child, _NO_PARENT.format(parent), report)
            elif child == parent or child in {row["id"] for row in self.provider.ancestors(parent)}:
                self._orphan(child, f"its parent {parent} is also its descendant; imported without", report)
            else:
                self._link_one(child, parent, report)

    def _link_one(self, child: str, parent: str, report: ImportReport) -> None:
        try:
            self.provider.update_session(child, {"parent_session_id": parent})
        except SessionDBError as exc:
            self._orphan(child, f"could not be linked to its parent {parent}: {exc}", report)

    def _orphan(self, child: str, note: str, report: ImportReport) -> None:
        report.notes.append(f"{child}: {note}")
        self.provider.update_session(child, {"relation": "root"})


def _collision(existing: SessionRow, document: Mapping[str, Any]) -> str:
    if (existing["ledger"], existing["last_seq"]) == (document.get("ledger"), document.get("last_seq")):
        return f"already here, {_SAME}"
    begun = "parts" in document and _is_beginning(existing, document)
    return f"already here, {_BEGUN}" if begun else "the id is taken by a session with other messages"


def _is_beginning(existing: SessionRow, document: Mapping[str, Any]) -> bool:
    """Whether the session is what an earlier import of the same export had brought when it was broken off."""
    known = [existing[name] for name in ("source", "started_at", "origin", "native_id")]
    return known == [document.get(name) for name in ("source", "started_at", "origin", "native_id")] and existing[
        "last_seq"
    ] < (document.get("last_seq") or 0)


def _name(document: Any, number: int) -> str:
    """What a report calls a document."""
    known = document if isinstance(document, Mapping) else {}
    return str(known.get("id") or known.get("part_of") or known.get("media") or f"document {number}")


def _tags(document: Mapping[str, Any]) -> list[str]:
    tags = document.get("tags") or []
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise Invalid(f"tags must be a list of texts, not {tags!r}")
    return tags
