"""`sessiondb restore`"""

from __future__ import annotations

from dataclasses import asdict

from ..errors import Invalid
from ..upkeep import Upkeep
from . import answers, options, output
from .upkeep import CopyProgress, looking_after


@options.command("restore")
@options.words("backup", metavar="BACKUP")
@options.option("--to", "target", metavar="FILE", help="Restore into this new file.")
@options.flag("--over", help="Restore in the place of the store, which is kept aside.")
@options.answers
@looking_after
def command(keeper: Upkeep, path: str, backup: str, target: str | None, over: bool, form: answers.Form) -> None:
    """Make a BACKUP a store again.

    It is verified first. A store is replaced only while nobody has it open, and its files are kept under another
    name.

    \b
    Example:
        sessiondb restore state.db.20250305-091523.bak --to look.db
        sessiondb restore state.db.20250305-091523.bak --over
    """
    if (target is None) == (not over):
        raise Invalid("say where: --to FILE for a new file, or --over for the store's place")
    place = path if target is None else target
    with CopyProgress() as progress:
        restored = keeper.restore(backup, place, over=over, copied=progress.reached, tick=progress.checked)
    if form:
        answers.give(form, "restore", asdict(restored))
        return
    counts = f"{output.count(restored.sessions, 'session')}, {output.count(restored.messages, 'message')}"
    output.say(f"Restored {counts} to {restored.path}.")
    if restored.kept_aside:
        output.say(f"What was there is now {restored.kept_aside}.")
