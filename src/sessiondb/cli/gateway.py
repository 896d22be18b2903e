"""`sessiondb gateway`"""

from __future__ import annotations

import os
from typing import Any

from ..errors import Busy, Invalid
from . import answers, ink, options, output
from .table import Column, show

_ACTIONS = ("run", "status", "stop")


@options.command("gateway")
@options.words("action", metavar="run|status|stop")
@options.option("--timeout", convert=options.whole(1), default=30, metavar="SECONDS", help="How long `stop` waits.")
@options.answers
@options.common
def command(action: str, timeout: int, form: answers.Form) -> None:
    """Answer people on the channels of config.yaml, see which gateways run, or end them.

    `run` stays until Ctrl-C or SIGTERM and logs JSON lines to stderr, without what people write. Turns that run then
    have gateway.grace_seconds to end; what is left is stored as interrupted, and the next start takes it up. Several
    may run on one store. `stop` ends those of this home.

    \b
    Example:
        sessiondb gateway status
        sessiondb gateway stop
    """
    if action not in _ACTIONS:
        raise Invalid(f"unknown action {action!r}; use one of {', '.join(_ACTIONS)}")
    if form and action != "status":
        raise Invalid("--json is for `gateway status`")
    if action == "run":
        _run()
    elif action == "status":
        _status(form)
    else:
        _stop(timeout)


def _run() -> None:
    from ..gateway.logs import to_lines
    from ..gateway.service import Service
    from .store import open_store

    to_lines()
    with open_store(options.state().place, read_only=False, create=True) as db:
        Service(db).run()


def _home() -> str:
    from ..config import home_directory

    return home_directory(os.environ)


def _status(form: answers.Form) -> None:
    from ..gateway import processes

    rows: list[dict[str, Any]] = []
    for each in processes.known(_home()):
        told = processes.health(each) or {"status": "silent", "turns": None, "channels": []}
        rows.append({"pid": each.pid, "started_at": each.started_at, "health": each.health, **_kept(told)})
    if form:
        answers.give(form, "gateway", {"gateways": rows}, records="gateways")
        return
    if not rows:
        output.say("No gateway is running.")
        return
    columns = [Column("Pid", style=ink.cyan), Column("Status"), Column("Turns"), Column("Channels", share=1, least=12)]
    show(columns, [[str(row["pid"]), row["status"], _shown(row["turns"]), _channels(row)] for row in rows])


def _kept(told: dict[str, Any]) -> dict[str, Any]:
    return {name: told.get(name) for name in ("status", "turns", "store", "listen", "channels")}


def _shown(turns: int | None) -> str:
    return "-" if turns is None else str(turns)


def _channels(row: dict[str, Any]) -> str:
    return ", ".join(f"{each['name']} {each['received']} in {each['sent']} out" for each in row["channels"])


def _stop(timeout: int) -> None:
    from ..gateway import processes

    found = list(processes.known(_home()))
    if not found:
        output.say("No gateway is running.")
        return
    left = processes.stop(_home(), found, timeout)
    if left:
        pids = ", ".join(str(each.pid) for each in left)
        raise Busy(f"still there after {timeout} seconds: {pids}; wait for its turns, or end it with kill")
    output.say(f"{output.count(len(found), 'gateway')} ended.")
