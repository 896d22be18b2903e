"""`sessiondb pull`"""

from __future__ import annotations

from . import answers, exchange, options


@options.command("pull")
@options.words("url", metavar="URL")
@exchange.repeating
@options.answers
@options.common
def command(url: str, watch: bool, every: float, dry_run: bool, form: answers.Form) -> None:
    """Bring another store's conversations to this one.

    The opposite of `push`; the other store is only read. The local store is made if there is none.

    \b
    Example:
        sessiondb pull state.db.20250305-091523.bak
    """
    exchange.exchange(url, options.state().place, "pull", watch=watch, every=every, dry_run=dry_run, form=form)
