"""A conversation on each channel with the store on a server, a gateway killed in the middle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gateways import Gateway, configure, until
from model_server import ModelServer
from platforms import Platform

from servers import mysql_stores
from servers.postgres import schemas
from sessiondb import SessionDB, registry
from sessiondb.models import Filter


@pytest.fixture(scope="session")
def mysql() -> Iterator[mysql_stores.Stores]:
    with mysql_stores.opened() as opened:
        yield opened


@pytest.fixture(params=["postgresql", "mysql"])
def server(request: pytest.FixtureRequest) -> Iterator[tuple[str, dict[str, Any]]]:
    """A provider, and what config.yaml says of it."""
    if request.param == "postgresql":
        with schemas.lent() as lent:
            options = lent.options()
            yield "postgresql", {"dsn": options["dsn"], "schema": options["schema"]}
        return
    stores: mysql_stores.Stores = request.getfixturevalue("mysql")
    options = stores.new()
    yield "mysql", {"dsn": f"mysql://root@127.0.0.1:{options['port']}/{options['database']}"}
    stores.recycle()


def test_nothing_is_lost_or_doubled(
    platform: Platform, server: tuple[str, dict[str, Any]], model: ModelServer, home: Path
) -> None:
    name, options = server
    store = {"sessiondb": {"provider": name, name: options}}
    configure(home, model.url, {platform.name: platform.config()}, **store)

    def ask(number: int, text: str, answer: str) -> None:
        until(lambda: platform.say(number, text) == 200, f"{text} is taken")
        until(lambda: answer in platform.heard(), f"{answer}; {platform.heard()}")

    with Gateway(home) as first:
        platform.gateway = first.url
        ask(1, "question one", "answer to question one")
        ask(2, "/title my project", "This session is called 'my project' now.")
        model.pause = 0.5
        until(lambda: platform.say(3, "question two") == 200, "taken")
        until(lambda: len(model.asked) == 2, "the model is asked")
        first.kill()
    model.pause = 0.0
    with Gateway(home) as second:
        platform.gateway = second.url
        platform.say(3, "question two")
        until(lambda: "answer to question two" in platform.heard(), f"the answer; {platform.heard()}")
        until(lambda: platform.say(4, "/new") == 200, "taken")
        ask(5, "question three", "answer to question three")
        assert second.stop() == 0
    provider = registry.load("providers", name)()
    provider.initialize(**options)
    with SessionDB(provider=provider) as db:
        assert db.verify().ok
        found = db.list_sessions_rich(limit=10, include_children=True, where=Filter())
        talks = [[row for row in db.get_messages(each["id"]) if not row["injected"]] for each in found]
        assert {each["source"] for each in found} == {platform.name}
        assert {each["title"] for each in found} >= {"my project"}
    texts = sorted([row["content"] for row in talk if row["role"] in ("user", "assistant")] for talk in talks)
    assert texts == [
        ["question one", "answer to question one", "question two", "answer to question two"],
        ["question three", "answer to question three"],
    ]
