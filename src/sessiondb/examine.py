"""A store on a server, examined through its provider: what it says of itself, a real search, every ledger."""

from __future__ import annotations

from . import registry
from .models import Filter, MessageFilter, MessageRow, Page
from .provider import SessionDBProvider
from .upkeep import Diagnosis, Tick
from .verify import verify

_MOST_SHOWN = 20
_REINDEX = "sessiondb optimize --reindex"


def examine(provider: SessionDBProvider, name: str, tick: Tick | None = None) -> Diagnosis:
    """What is wrong, and the next step for each; nothing is changed."""
    diagnosis = Diagnosis(name, provider.health())
    if registry.has("checkups", provider.name):
        diagnosis.findings += registry.load("checkups", provider.name)(provider)
    _search(provider, diagnosis)
    _prove(provider, diagnosis, tick)
    return diagnosis


def _search(provider: SessionDBProvider, diagnosis: Diagnosis) -> None:
    """The newest message that has a word must be found by it."""
    from .search.nodes import Term
    from .search.query import Query

    found = _newest_word(provider)
    if found is None:
        return
    message, word = found
    where = Filter(ids=(message["session_id"],))
    answer = provider.search(Query(word, Term(word)), where, MessageFilter(), Page(None), "newest", 0.0)
    for notice in answer.notices:
        diagnosis.add("index", "warning", notice, _REINDEX)
    if all(hit.message["id"] != message["id"] for hit in answer.hits):
        diagnosis.add("index", "warning", f"message {message['id']} is not found by a word that it has", _REINDEX)


def _newest_word(provider: SessionDBProvider) -> tuple[MessageRow, str] | None:
    from .search.text import words

    for message, _ in provider.scan_messages(Filter(), MessageFilter()):
        body, _ = words(message)
        if body:
            return message, body[0]
    return None


def _prove(provider: SessionDBProvider, diagnosis: Diagnosis, tick: Tick | None) -> None:
    report = verify(provider, tick=tick)
    for problem in report.problems[:_MOST_SHOWN]:
        step = f"restore session {problem.session_id} from a backup of the server"
        diagnosis.add("data", "damage", f"{problem.session_id}: {problem.message}", step)
    if len(report.problems) > _MOST_SHOWN:
        more = len(report.problems) - _MOST_SHOWN
        diagnosis.add("data", "damage", f"{more} more problems of this kind", "sessiondb verify")
    if report.not_adopted:
        diagnosis.add("data", "note", f"{report.not_adopted} messages of older code not adopted yet")
