"""Children of other agents' sessions find their parents, also when those arrive later."""

from __future__ import annotations

import json
from collections.abc import Iterable

from ..db import SessionDB
from ..errors import Conflict, NotFound
from ..models import SessionRow

META = "import.unlinked"
_MOST = 10_000

# The session here, the origin, the native id of its parent there, what it is to it.
Wish = tuple[str, str, str, str]


class Links:
    """Parents that are still to come are remembered between imports."""

    def __init__(self, db: SessionDB) -> None:
        self.db = db
        self._wishes: dict[str, Wish] = {}
        for child, origin, parent, relation in json.loads(db.get_meta(META) or "[]"):
            self._wishes[child] = (child, origin, parent, relation)
        self._saved = dict(self._wishes)

    def add(self, origin: str, links: Iterable[tuple[str, str, str]]) -> None:
        for child, parent, relation in links:
            self._wishes[child] = (child, origin, parent, relation)

    def settle(self) -> None:
        """Link those whose parents are here; remember the rest."""
        for child, origin, native_id, relation in list(self._wishes.values()):
            parent = self.db.provider.find_native(origin, native_id)
            if parent is not None:
                del self._wishes[child]
                self._link(child, parent, relation)
        if self._wishes != self._saved:
            kept = list(self._wishes.values())[-_MOST:]
            self.db.set_meta(META, json.dumps(kept) if kept else None)
            self._saved = dict(self._wishes)

    def _link(self, child: str, parent: SessionRow, relation: str) -> None:
        row = self.db.provider.get_session(child)
        if row is None or row["parent_session_id"] == parent["id"]:
            return
        above = {parent["id"], *(each["id"] for each in self.db.provider.ancestors(parent["id"]))}
        if child in above:
            return
        change = self.db.provider.update_session
        try:
            change(child, {"parent_session_id": parent["id"], "relation": relation})
        except NotFound:
            return
        except Conflict:
            # A conversation goes on in one place; what else grew out of it is a fork.
            change(child, {"parent_session_id": parent["id"], "relation": "fork"})
