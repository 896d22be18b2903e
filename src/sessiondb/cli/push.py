"""`sessiondb push`"""

from __future__ import annotations

from . import answers, exchange, options


@options.command("push")
@options.words("url", metavar="URL")
@exchange.repeating
@options.answers
@options.common
def command(url: str, watch: bool, every: float, dry_run: bool, form: answers.Form) -> None:
    """Bring this store's conversations to another store.

    What the other has already is left as it is; sessions that grew here are continued there. Run it as often as you
    like: nothing comes twice. Sessions that both sides wrote to are told, and left alone (exit code 4). URL is a
    store, or ssh://user@host/path/to/state.db for one on another machine that has sessiondb.

    \b
    Example:
        sessiondb push copy.db
        sessiondb push copy.db --dry-run
    """
    exchange.exchange(options.state().place, url, "push", watch=watch, every=every, dry_run=dry_run, form=form)
