"""`sessiondb optimize`"""

from __future__ import annotations

from dataclasses import asdict

from ..upkeep import Upkeep
from . import answers, options, output
from .upkeep import looking_after


@options.command("optimize")
@options.flag("--full", help="Write the file anew; only while nobody has it open.")
@options.answers
@looking_after
def command(keeper: Upkeep, path: str, full: bool, form: answers.Form) -> None:
    """Give space back to the disk.

    In small steps while others write; Ctrl-C at any time leaves what is done.

    \b
    Example:
        sessiondb optimize
    """
    done = keeper.optimize(path, full=full)
    if form:
        answers.give(form, "optimize", asdict(done))
        return
    output.say(f"{output.size(done.before)} before, {output.size(done.after)} after.")
    if done.note:
        output.say(done.note)
