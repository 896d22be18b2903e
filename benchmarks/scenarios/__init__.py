"""The scenarios by name; a new one gets a line here."""

from __future__ import annotations

from ..setting import Scenario
from . import (
    appending,
    bodies,
    browsing,
    commands,
    commits,
    disk,
    histories,
    listing,
    loading,
    mariadb,
    memory,
    moving,
    opening,
    recalling,
    searching,
    servers,
    writers,
)

SCENARIOS: dict[str, Scenario] = {
    "append": appending.append,
    "growth": appending.growth,
    "batch": appending.batch,
    "bodies": bodies.bodies,
    "histories": histories.histories,
    "load": loading.load,
    "list": listing.list_by_activity,
    "open": opening.open_and_import,
    "search": searching.search,
    "recall": recalling.recall,
    "disk": disk.disk,
    "memory": memory.memory,
    "commands": commands.commands,
    "browse": browsing.browse,
    "writers": writers.writers,
    "postgres": servers.postgres,
    "mysql": mariadb.mysql,
    "commits": commits.commits,
    "moving": moving.moving,
}
