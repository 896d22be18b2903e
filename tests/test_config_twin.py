"""The JSON twin of config.yaml: faster, never wrong, never needed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sessiondb import config, config_file, config_twin
from sessiondb.errors import Invalid

YAML = "sessiondb:\n  sqlite:\n    deadline: 7\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(config_twin, "SETTLED", 0)
    (tmp_path / "config.yaml").write_text(YAML)
    return tmp_path


def deadline(home: Path, **env: str) -> Any:
    return config.load(env={"SESSIONDB_HOME": str(home), **env}).options["deadline"]


@pytest.fixture
def no_yaml(monkeypatch: pytest.MonkeyPatch) -> Any:
    """From its call on, reading YAML fails."""

    def refuse(name: str, text: bytes) -> Any:
        raise AssertionError("YAML was read")

    return lambda: monkeypatch.setattr(config_file, "_parsed", refuse)


def test_the_second_look_reads_no_yaml(home: Path, no_yaml: Any) -> None:
    first = deadline(home)
    no_yaml()
    assert deadline(home) == first == 7


def test_commands_with_a_twin_do_not_import_yaml(home: Path) -> None:
    deadline(home)
    code = "import sys; from sessiondb import config; config.load(); print('yaml' in sys.modules)"
    environment = {**os.environ, "SESSIONDB_HOME": str(home)}
    environment.pop("SESSIONDB_URL", None)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True, timeout=60)
    assert done.stdout == b"False\n"


def test_a_change_is_seen_at_once(home: Path) -> None:
    deadline(home)
    (home / "config.yaml").write_text(YAML.replace("7", "8"))
    assert deadline(home) == 8


def test_another_file_with_the_same_size_and_time_is_seen(home: Path) -> None:
    deadline(home)
    times = (home / "config.yaml").stat()
    other = home / "other.yaml"
    other.write_text(YAML.replace("7", "8"))
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    other.replace(home / "config.yaml")
    assert deadline(home) == 8


def test_a_file_that_changed_just_now_gets_no_twin(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config_twin, "SETTLED", 60_000_000_000)
    deadline(home)
    assert not (home / config_twin.NAME).exists()


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b"\xff\xfe", b'{"values": {}}', b'{"of": null, "values": {}}', b"null"]
)
def test_a_damaged_twin_is_ignored(home: Path, damage: bytes) -> None:
    deadline(home)
    (home / config_twin.NAME).write_bytes(damage)
    assert deadline(home) == 7


def test_half_a_twin_is_ignored_and_made_again(home: Path, no_yaml: Any) -> None:
    deadline(home)
    twin = home / config_twin.NAME
    twin.write_bytes(twin.read_bytes()[:-9])
    assert deadline(home) == 7
    no_yaml()
    assert deadline(home) == 7


def test_the_twin_is_for_its_owner_only(home: Path) -> None:
    deadline(home)
    assert (home / config_twin.NAME).stat().st_mode & 0o777 == 0o600


def test_the_twin_holds_no_secret_of_the_environment(home: Path) -> None:
    (home / "config.yaml").write_text("sessiondb:\n  sqlite:\n    path: /srv/${SECRET}/x.db\n    deadline: 7\n")
    assert deadline(home, SECRET="hunter2") == 7
    twin = (home / config_twin.NAME).read_text()
    assert "hunter2" not in twin
    assert "${SECRET}" in twin
    env = {"SESSIONDB_HOME": str(home), "SECRET": "other"}
    assert config.load(env=env).options["path"] == "/srv/other/x.db"


def test_a_home_that_cannot_be_written_works(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    assert deadline(home) == deadline(home) == 7
    assert [path.name for path in home.iterdir()] == ["config.yaml"]


@pytest.mark.parametrize("extra", ["1: x", "since: 2026-11-18", "share: .nan", "on: yes"])
def test_what_json_cannot_say_is_left_to_yaml(home: Path, extra: str) -> None:
    (home / "config.yaml").write_text(YAML + extra + "\n")
    assert deadline(home) == 7
    assert not (home / config_twin.NAME).exists()


def test_a_file_of_comments_has_a_twin(home: Path, no_yaml: Any) -> None:
    (home / "config.yaml").write_text("# sessiondb:\n")
    env = {"SESSIONDB_HOME": str(home)}
    config.load(env=env)
    no_yaml()
    assert config.load(env=env).provider == "sqlite"


def test_a_wrong_file_stays_wrong(home: Path) -> None:
    (home / "config.yaml").write_text("sessiondb: 3\n")
    for _ in range(2):
        with pytest.raises(Invalid, match="sessiondb must hold keys"):
            config.load(env={"SESSIONDB_HOME": str(home)})


def test_the_twin_is_json_of_the_file(home: Path) -> None:
    deadline(home)
    assert json.loads((home / config_twin.NAME).read_text())["values"] == {"sessiondb": {"sqlite": {"deadline": 7}}}
