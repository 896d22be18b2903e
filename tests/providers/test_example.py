"""The example provider, installed as a third party would: found by name, run by the laws."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "provider"

USE = """
import sessiondb, sys
url = "journal://" + sys.argv[1]
with sessiondb.open(url) as db:
    db.append_message(db.create_session("s", "cli"), "user", "hello")
with sessiondb.open(url) as db:
    print(db.provider.name, db.get_messages("s")[0]["content"], db.db_path)
"""


def wheel(directory: Path) -> Path:
    """A wheel of the example as its build backend would make it: building must not need the network."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    name, version = project["name"].replace("-", "_"), project["version"]
    points = project["entry-points"]["sessiondb.providers"]
    metadata = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "entry_points.txt": "[sessiondb.providers]\n" + "".join(f"{key} = {value}\n" for key, value in points.items()),
        "RECORD": "",
    }
    target = directory / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(target, "w") as archive:
        for source in (EXAMPLE / "src").rglob("*.py"):
            archive.write(source, source.relative_to(EXAMPLE / "src"))
        for file, text in metadata.items():
            archive.writestr(f"{name}-{version}.dist-info/{file}", text)
    return target


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a process that has the example installed."""
    directory = tmp_path_factory.mktemp("installed")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-cache-dir"]
    subprocess.run([*install, "--target", directory, wheel(tmp_path_factory.mktemp("wheel"))], check=True, timeout=120)
    return {**os.environ, "PYTHONPATH": str(directory), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def test_an_installed_provider_is_opened_by_its_name(installed: dict[str, str], tmp_path: Path) -> None:
    place = tmp_path / "agent.jsonl"
    answer = subprocess.run(
        [sys.executable, "-c", USE, place], env=installed, capture_output=True, text=True, check=True, timeout=60
    )
    assert answer.stdout == f"journal hello {place}\n"


def test_without_it_the_name_is_unknown(tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", USE, tmp_path / "x"], capture_output=True, text=True, check=False, timeout=60
    )
    last_line = answer.stderr.splitlines()[-1]
    assert answer.returncode == 1
    assert last_line.startswith("sessiondb.errors.Invalid: unknown")
    assert "journal" in last_line


def test_an_installed_provider_passes_the_laws(installed: dict[str, str], fast_path: Path) -> None:
    pytest_run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0"]
    options = ["--rootdir", EXAMPLE, f"--basetemp={fast_path / 'laws'}", "-c", os.devnull]
    answer = subprocess.run(
        [*pytest_run, *options, EXAMPLE / "tests"],
        env=installed,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert answer.returncode == 0, answer.stdout[-4000:]
    assert "skipped" not in answer.stdout
