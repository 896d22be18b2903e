"""`sessiondb pull`"""

from __future__ import annotations

import click

from . import answers, exchange, options


@options.command("pull")
@click.argument("url", metavar="URL")
@exchange.repeating
@options.answers
@options.common
def command(url: str, watch: bool, every: float, dry_run: bool, form: answers.Form) -> None:
    """Bring another store's conversations to this one.

    The opposite of `push`; the other store is only read. The local store is made if there is none.

    \b
    Example:
        sessiondb pull ssh://laptop
        sessiondb pull postgresql://me@db.example/agents --watch --every 30
    """
    exchange.exchange(url, options.state().place, "Pulled", watch=watch, every=every, dry_run=dry_run, form=form)
