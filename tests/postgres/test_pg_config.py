"""config.yaml reaches the server; the example is one that works."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sessiondb
from servers.postgres import PostgreSQL
from sessiondb import config
from sessiondb.errors import Invalid

EXAMPLE = (Path(__file__).parents[2] / "examples" / "config.yaml").read_text("utf-8")


def load(home: Path, text: str, **env: str) -> config.Settings:
    (home / "config.yaml").write_text(text)
    return config.load(env={"SESSIONDB_HOME": str(home), **env})


@pytest.mark.parametrize("provider", ["sqlite", "postgresql"])
def test_the_example_is_understood(tmp_path: Path, provider: str) -> None:
    text = EXAMPLE.replace("provider: sqlite", f"provider: {provider}")
    settings = load(tmp_path, text, SESSIONDB_PASSWORD="hunter2")
    assert (settings.provider, settings.warnings) == (provider, ())


def test_the_password_of_the_example_comes_from_the_environment(tmp_path: Path) -> None:
    text = EXAMPLE.replace("provider: sqlite", "provider: postgresql")
    assert "hunter2" in load(tmp_path, text, SESSIONDB_PASSWORD="hunter2").options["dsn"]
    with pytest.raises(Invalid, match="SESSIONDB_PASSWORD"):
        load(tmp_path, text)


@pytest.mark.parametrize(
    ("written", "option"),
    [
        ("schema: agents", {"schema": "agents"}),
        ("deadline: 5", {"deadline": 5.0}),
        ("synchronous_commit: off", {"synchronous_commit": "off"}),
        ("synchronous_commit: remote_apply", {"synchronous_commit": "remote_apply"}),
        ("prepare_threshold: off", {"prepare_threshold": None}),
        ("prepare_threshold: 3", {"prepare_threshold": 3}),
        ("media_directory: /srv/media", {"media_directory": "/srv/media"}),
    ],
)
def test_options_are_read(tmp_path: Path, written: str, option: dict[str, Any]) -> None:
    text = f"sessiondb: {{provider: postgresql, postgresql: {{dsn: 'postgresql://h/db', {written}}}}}"
    assert option.items() <= load(tmp_path, text).options.items()


@pytest.mark.parametrize("written", ["synchronous_commit: maybe", "prepare_threshold: -1", "prepare_threshold: x"])
def test_bad_options_are_refused_by_name(tmp_path: Path, written: str) -> None:
    text = f"sessiondb: {{provider: postgresql, postgresql: {{dsn: 'postgresql://h/db', {written}}}}}"
    with pytest.raises(Invalid, match=written.split(":")[0]):
        load(tmp_path, text)


def test_a_url_opens_a_store(postgres: PostgreSQL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSIONDB_HOME", str(tmp_path))
    postgres.execute("CREATE DATABASE by_url")
    with sessiondb.open(f"postgresql://admin@127.0.0.1:{postgres.port}/by_url") as db:
        db.append_message(db.create_session("s", "cli"), "user", "hello")
        assert db.health()["provider"] == "postgresql"
