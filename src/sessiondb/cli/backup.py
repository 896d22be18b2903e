"""`sessiondb backup`"""

from __future__ import annotations

from dataclasses import asdict

from ..upkeep import Upkeep, seconds
from . import answers, options, output
from .upkeep import CopyProgress, looking_after, messages_in


@options.command("backup")
@options.words("directory", metavar="[DIRECTORY]", required=False)
@options.option(
    "--keep", convert=options.whole(1), metavar="N", help="Afterwards remove all but the N newest; default: none."
)
@options.option("--every", metavar="TIME", help="Do nothing while the newest backup is younger, such as 24h; for cron.")
@options.answers
@looking_after
def command(
    keeper: Upkeep, path: str, directory: str | None, keep: int | None, every: str | None, form: answers.Form
) -> None:
    """Copy the store while it is used.

    The copy is verified, message by message, before it gets its name; older backups stay until then, and afterwards
    too unless --keep is given. DIRECTORY is STORE.backups by default. Media files are not copied.

    \b
    Example:
        sessiondb backup
        sessiondb backup backups --every 24h --keep 14
    """
    age = None if every is None else seconds(every)
    with CopyProgress(messages_in(path)) as progress:
        made = keeper.backup(path, directory, keep=keep, every=age, copied=progress.reached, tick=progress.checked)
    if form:
        answers.give(form, "backup", asdict(made))
    elif not made.made:
        output.say(f"{made.path} is young enough; nothing done.")
    else:
        counts = f"{output.count(made.sessions, 'session')}, {output.count(made.messages, 'message')}"
        output.say(f"Backed up and verified {counts}, {output.size(made.size)}: {made.path}")
        for name in made.removed:
            output.say(f"Removed {name}")
