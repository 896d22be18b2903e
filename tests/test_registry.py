"""Names lead to parts: our own, then those of other distributions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sessiondb import registry
from sessiondb.errors import Invalid, SessionDBError


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A distribution `acme-store` that ships the providers `acme` and `torn`, and a `memory` of its own."""
    (tmp_path / "acme_store.py").write_text("class AcmeProvider:\n    name = 'acme'\n")
    metadata = tmp_path / "acme_store-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-store\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[sessiondb.providers]\n"
        "acme = acme_store:AcmeProvider\n"
        "torn = acme_store:Missing\n"
        "memory = acme_store:AcmeProvider\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", sorted(registry.TABLES["providers"]))
def test_every_provider_of_ours_loads_and_bears_its_name(name: str) -> None:
    assert registry.load("providers", name).name == name


@pytest.mark.parametrize("name", sorted(registry.TABLES["commands"]))
def test_every_command_of_ours_loads_and_bears_its_name(name: str) -> None:
    assert registry.load("commands", name).name == name


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Invalid, match=r"unknown provider 'oracle'; known: .*memory.*sqlite"):
        registry.load("providers", "oracle")


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Invalid, match=r"'gizmos'.*commands, .*providers"):
        registry.names("gizmos")


@pytest.mark.usefixtures("foreign")
class TestOtherDistributions:
    def test_a_part_is_found_by_its_entry_point(self) -> None:
        assert registry.load("providers", "acme").__name__ == "AcmeProvider"

    def test_names_lists_it(self) -> None:
        assert {"acme", "memory", "sqlite"} <= set(registry.names("providers"))

    def test_has_knows_it_without_importing_it(self) -> None:
        sys.modules.pop("acme_store", None)
        assert registry.has("providers", "acme")
        assert "acme_store" not in sys.modules

    def test_ours_cannot_be_replaced(self) -> None:
        assert registry.load("providers", "memory").__module__.startswith("sessiondb.")

    def test_a_broken_one_is_named_with_its_distribution(self) -> None:
        with pytest.raises(SessionDBError, match=r"provider 'torn' of acme-store is broken: AttributeError") as caught:
            registry.load("providers", "torn")
        assert isinstance(caught.value.__cause__, AttributeError)


def test_the_metadata_of_installed_packages_is_read_only_on_a_miss() -> None:
    code = (
        "import sys; from sessiondb import registry; registry.has('providers', 'sqlite'); "
        "print('importlib.metadata' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
