"""`sessiondb optimize`"""

from __future__ import annotations

from dataclasses import asdict

from ..upkeep import Upkeep
from . import answers, options, output
from .progress import Progress
from .upkeep import looking_after


@options.command("optimize")
@options.flag("--full", help="Write the file anew; only while nobody has it open.")
@options.flag("--reindex", help="Build the search index anew.")
@options.answers
@looking_after
def command(keeper: Upkeep, path: str, full: bool, reindex: bool, form: answers.Form) -> None:
    """Give space back to the disk.

    In small steps while others write; Ctrl-C at any time leaves what is done.

    \b
    Example:
        sessiondb optimize
        sessiondb optimize --reindex
    """
    with Progress(noun="pages given back") as progress:
        done = keeper.optimize(path, full=full, tick=progress)
    index = _reindexed(keeper, path) if reindex else None
    if form:
        answers.give(form, "optimize", {**asdict(done), "index_bytes": index})
        return
    output.say(f"{output.size(done.before)} before, {output.size(done.after)} after.")
    if done.note:
        output.say(done.note)
    if index is not None:
        output.say(f"The search index was built anew: {output.size(index)}.")


def _reindexed(keeper: Upkeep, path: str) -> int:
    with Progress() as progress:
        return keeper.reindex(path, progress.reached)
