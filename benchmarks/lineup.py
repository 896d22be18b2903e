"""Who takes part: the peer of the targets, made durable; and the other libraries as they come."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import peers, stores
from .arena import ContenderFailed, Contestant, Process
from .setting import DURABLE


@dataclass(slots=True)
class Lineup:
    peers: tuple[Contestant, ...] = ()
    others: tuple[Contestant, ...] = ()
    notes: list[str] = field(default_factory=list)


def hermes(home: stores.Stores) -> tuple[Contestant, ...]:
    """The peer made durable; and as it comes, when that is something else. Raises PeerUnavailable."""
    data = home.new().parent
    as_it_comes = peers.HERMES.contestant(data, "default", label=f"{peers.HERMES.label}, its default")
    with Process(as_it_comes) as process:
        process.ask("open", path=str(home.new()))
        default = process.ask("facts")["synchronous"]
        process.ask("close")
    durable = peers.HERMES.contestant(data, "full")
    return (durable,) if default == DURABLE else (durable, as_it_comes)


def gathered(home: stores.Stores, *, wanted: bool = True) -> Lineup:
    """All that can be installed; a library that is missing is named, and the rest is measured."""
    if not wanted:
        return Lineup(notes=["libraries from PyPI were left out"])
    found = Lineup()
    try:
        found.peers = hermes(home)
    except (peers.PeerUnavailable, ContenderFailed) as exc:
        found.notes.append(str(exc))
    for peer in peers.OTHERS:
        try:
            found.others += (peer.contestant(home.new().parent),)
        except peers.PeerUnavailable as exc:
            found.notes.append(str(exc))
    return found
