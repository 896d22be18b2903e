"""`sessiondb scrub`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import config
from ..errors import Busy
from . import answers, consent, options, output
from .progress import Progress
from .store import open_store

if TYPE_CHECKING:
    from ..scrub import Scrubbed

_IN_USE = (
    "The file was not written anew: {}. Until `sessiondb optimize --full` has run, its free space and its log "
    "may still hold what was there."
)
_COPIES = "Backups, exports and the agents' own files are not touched; make new backups, and change what was leaked."


@options.command("scrub")
@options.flag("--dry-run", help="Tell what would go; change nothing.")
@consent.yes
@options.answers
@options.common
def command(dry_run: bool, yes: bool, form: answers.Form) -> None:
    """Replace credentials in the store by what they were, for good.

    Messages, reasoning, tool calls, results, titles, prompts and the trash are cleaned; `[redacted: github token]`
    stands where a token was. A file is then written anew and its search index made again, so that no byte of them is
    left in it.

    \b
    Example:
        sessiondb scrub --dry-run
        sessiondb scrub --yes
    """
    place = options.state().place
    if not dry_run:
        consent.require("Take the credentials out of the whole store? This cannot be undone.", yes=yes)
    report = _scrubbed(place, dry_run)
    # Also where no row holds one: free pages may, of what was deleted, or of a run that was broken off.
    notes = [] if dry_run else [*_rewritten(place), _COPIES]
    if form:
        answers.give(form, "scrub", {"dry_run": dry_run, **_facts(report), "notes": notes})
        return
    _tell(report, dry_run)
    for note in notes:
        output.say(note)


def _scrubbed(place: str | None, dry_run: bool) -> Scrubbed:
    from ..scrub import scrub

    with open_store(place, read_only=False) as db, Progress(db.session_count(), "sessions") as progress:
        return scrub(db, dry_run=dry_run, tick=progress)


def _rewritten(place: str | None) -> list[str]:
    """Write the files anew, where the store has files; what remains to be said."""
    from .. import registry, upkeep

    settings = config.load(place)
    path = settings.options.get("path")
    if path is None or not registry.has("upkeep", settings.provider):
        return ["The server gives the space of old rows free when it cleans its tables; its own backups and logs stay."]
    keeper = upkeep.of(settings.provider)
    notes = []
    try:
        keeper.optimize(str(path), full=True)
    except Busy as exc:
        notes.append(_IN_USE.format(exc))
    with Progress() as progress:
        keeper.reindex(str(path), progress.reached)
    return notes


def _facts(report: Scrubbed) -> dict[str, Any]:
    kinds = dict(sorted(report.kinds.items(), key=lambda counted: (-counted[1], counted[0])))
    return {
        "credentials": report.total,
        "kinds": {name: count for name, count in kinds.items() if count > 0},
        "sessions": report.sessions,
        "messages": report.messages,
        "facts": report.facts,
        "trash": report.trash,
    }


def _tell(report: Scrubbed, dry_run: bool) -> None:
    if not report.total:
        output.say("No credentials found.")
        return
    for name, count in _facts(report)["kinds"].items():
        output.say(f"{count:>7,}  {name}")
    done = "would be replaced" if dry_run else "replaced"
    where = [output.count(report.sessions, "session")]
    if report.trash:
        where.append(f"{report.trash:,} in the trash")
    output.say(f"{output.count(report.total, 'credential')} {done}, in {' and '.join(where)}.")
