"""`sessiondb optimize`"""

from __future__ import annotations

from dataclasses import asdict

from ..upkeep import Upkeep
from . import answers, options, output
from .progress import Progress
from .store import open_store
from .upkeep import has_files, place


@options.command("optimize")
@options.flag("--full", help="Write the file anew; only while nobody has it open.")
@options.flag("--reindex", help="Build the search index anew.")
@options.option("--large", metavar="HOW", help="How to keep texts over 4 KB: plain (each once), zlib, off.")
@options.answers
@options.common
def command(full: bool, reindex: bool, large: str | None, form: answers.Form) -> None:
    """Give space back to the disk.

    In small steps while others write; Ctrl-C at any time leaves what is done. On a server only --reindex is done from
    here: the server looks after its space itself.

    \b
    Example:
        sessiondb optimize
        sessiondb optimize --reindex
        sessiondb optimize --large zlib
    """
    store = options.state().place
    if reindex and not full and not has_files(store):
        _index_server(store, form)
        return
    keeper, path = place(store)
    with Progress(noun="pages given back") as progress:
        done = keeper.optimize(path, full=full, large=large, tick=progress)
    index = _reindexed(keeper, path) if reindex else None
    if form:
        answers.give(form, "optimize", {**asdict(done), "index_bytes": index})
        return
    output.say(f"{output.size(done.before)} before, {output.size(done.after)} after.")
    if done.note:
        output.say(done.note)
    if index is not None:
        output.say(f"The search index was built anew: {output.size(index)}.")


def _index_server(store: str | None, form: answers.Form) -> None:
    with open_store(store, read_only=False) as db, Progress() as progress:
        db.index(progress.reached)
    if form:
        answers.give(form, "optimize", {"before": None, "after": None, "note": None, "index_bytes": None})
    else:
        output.say("The search index is up to date.")


def _reindexed(keeper: Upkeep, path: str) -> int:
    with Progress() as progress:
        return keeper.reindex(path, progress.reached)
