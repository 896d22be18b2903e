"""The packages in examples/, installed as a third party's would be."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def wheel(example: Path, directory: Path) -> Path:
    """A wheel of an example as its build backend would make it: building must not need the network."""
    project = tomllib.loads((example / "pyproject.toml").read_text())["project"]
    name, version = project["name"].replace("-", "_"), project["version"]
    metadata = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "entry_points.txt": "".join(map(_section, project["entry-points"].items())),
        "RECORD": "",
    }
    target = directory / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(target, "w") as archive:
        for source in (example / "src").rglob("*.py"):
            archive.write(source, source.relative_to(example / "src"))
        for file, text in metadata.items():
            archive.writestr(f"{name}-{version}.dist-info/{file}", text)
    return target


def _section(points: tuple[str, dict[str, str]]) -> str:
    group, named = points
    return f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in named.items())


def environment_with(example: Path, directory: Path) -> dict[str, str]:
    """The environment of a process that has an example installed, below `directory`."""
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-cache-dir"]
    target = directory / "installed"
    subprocess.run([*install, "--target", target, wheel(example, directory)], check=True, timeout=120)
    return {**os.environ, "PYTHONPATH": str(target), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def run_its_tests(example: Path, environment: dict[str, str], place: Path) -> str:
    """The example's own tests with the installed package; what pytest said."""
    pytest_run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0"]
    options = ["--rootdir", example, f"--basetemp={place}", "-c", os.devnull]
    answer = subprocess.run(
        [*pytest_run, *options, example / "tests"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert answer.returncode == 0, answer.stdout[-4000:]
    assert "skipped" not in answer.stdout
    return answer.stdout
