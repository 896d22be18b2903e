"""Three nodes that take writes, one of which dies and comes back: nothing lost, nothing doubled, on any of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymysql
import pytest
from cluster_writers import Found, Writers, compare, writers
from scale import scaled  # type: ignore[import-not-found]

from servers.galera import Galera, cluster, wait_for
from sessiondb.backends.mysql import MySQLProvider
from sessiondb.db import SessionDB

pytestmark = pytest.mark.alone
SOME, MORE = scaled(20, 500), scaled(15, 300)
PAUSE = 0.02
# Lane -> the node it prefers, and the session: its own, one that is written from one node, one from three.
LANES = {
    "one": (0, "one"),
    "two": (1, "two"),
    "three": (2, "three"),
    "warm 1": (0, "warm"),
    "warm 2": (0, "warm"),
    "hot 1": (0, "hot"),
    "hot 2": (1, "hot"),
    "hot 3": (2, "hot"),
}


def options(nodes: Galera, first: int, **more: Any) -> dict[str, Any]:
    order = [(first + step) % 3 for step in range(3)]
    return {"dsn": nodes.url(*order), "deadline": 30.0, "pool_size": 2, "max_overflow": 0, **more}


def opened(nodes: Galera, number: int) -> SessionDB:
    provider = MySQLProvider()
    provider.initialize(**nodes.options(number))
    return SessionDB(provider=provider)


def prepare(nodes: Galera) -> None:
    connection = pymysql.connect(**nodes.nodes[0].options(), ssl_disabled=True, autocommit=True)
    with connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE agents CHARACTER SET utf8mb4")
    connection.close()
    with opened(nodes, 0) as db:
        for _, session in LANES.values():
            db.ensure_session(session, "cli")
        db.ensure_session("batch", "cli")


def found_on_every_node(nodes: Galera, running: Writers) -> list[Found]:
    """Once all have applied what all have: what each of them holds."""
    found = []
    for number in range(3):
        with opened(nodes, number) as db:
            wait_for(lambda: not compare(db, running).lost, f"node {number + 1} to have everything")
            assert db.verify().ok
            found.append(compare(db, running))
    return found


def append_a_batch(db: SessionDB) -> int:
    """Several rows in one statement; their ids go in steps as wide as the cluster. Returns the step."""
    ids = db.append_messages("batch", [{"role": "user", "content": f"needle {number}"} for number in range(5)])
    assert [row["id"] for row in db.get_messages("batch")][-5:] == ids
    assert {hit["id"] for hit in db.search_messages("needle")} >= set(ids)
    return ids[1] - ids[0]


def test_a_node_dies_and_comes_back_under_load(tmp_path: Path, say: Callable[[str], None]) -> None:
    with cluster() as nodes, writers(tmp_path) as running:
        prepare(nodes)
        for lane, (node, session) in LANES.items():
            running.start(lane, ("mysql", options(nodes, node)), session=session, pause=PAUSE)
        running.wait_for_each(SOME)
        # Open before the loss: a handle must notice that the cluster has changed.
        watching = opened(nodes, 0)
        steps = [append_a_batch(watching)]
        nodes.nodes[2].kill()
        killed = time.monotonic()
        running.wait_for_each(MORE)
        recovery = running.first_ack_after(killed)
        steps.append(append_a_batch(watching))
        joining = time.monotonic()
        nodes.nodes[2].join(nodes.nodes)
        rejoined = time.monotonic() - joining
        wait_for(lambda: nodes.size() == "3", "three nodes")
        running.wait_for_each(MORE)
        running.end()
        watching.close()
        found = found_on_every_node(nodes, running)
    say(f"Galera, 3 nodes: {found[0]}; on after {recovery:.1f} s, the node was back after {rejoined:.1f} s")
    assert steps == [3, 2]
    assert [(each.lost, each.doubled, each.out_of_order) for each in found] == [(0, 0, 0)] * 3
