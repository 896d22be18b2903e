"""The harness runs, compares and tells; what it measures here means nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest
from benchmarks.__main__ import observed
from benchmarks.arena import SESSIONDB as OURS
from benchmarks.arena import ContenderFailed, Lane, Process, race
from benchmarks.figures import Ratio, Rounds, p50, pooled_ratio, ratio
from benchmarks.peers import Contestant
from benchmarks.results import Comparison, Result, Target
from benchmarks.scenarios import SCENARIOS
from benchmarks.setting import Setting
from benchmarks.sizes import TINY
from benchmarks.stores import Stores

from benchmarks import lineup, peers, report, tape

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "benchmarks", *arguments], cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    home = tmp_path_factory.mktemp("stores")
    done = run("--tiny", "--no-peer", "--json", "--dir", str(home))
    assert done.returncode == 0, done.stderr
    assert list(home.iterdir()) == [], "stores were left behind"
    return {result["name"]: result for result in json.loads(done.stdout)["results"]}


@pytest.mark.parametrize("name", SCENARIOS)
class TestEveryScenario:
    def test_measures_somebody(self, results: dict[str, dict[str, Any]], name: str) -> None:
        figures = results[name]["figures"]
        assert figures
        assert all(value > 0 for row in figures.values() for value in row.values())

    def test_prints_a_target_beside_a_ratio(self, results: dict[str, dict[str, Any]], name: str) -> None:
        assert any(comparison["target"] for comparison in results[name]["comparisons"])

    def test_compares_equals(self, results: dict[str, dict[str, Any]], name: str) -> None:
        assert not [note for note in results[name]["notes"] if "differ" in note or "less durable" in note]


@pytest.mark.parametrize("name", ["append", "growth", "batch", "load", "list"])
def test_the_floor_takes_part(results: dict[str, dict[str, Any]], name: str) -> None:
    assert any(label.startswith("floor") for label in results[name]["figures"])


def test_the_floor_commits_as_durably_as_the_store(results: dict[str, dict[str, Any]]) -> None:
    said = "\n".join(results["append"]["notes"])
    assert "BEGIN IMMEDIATE" in said
    assert "INSERT INTO" in said
    assert "COMMIT" in said


def test_an_unknown_scenario_is_named(tmp_path: Path) -> None:
    done = run("no-such-thing", "--dir", str(tmp_path))
    assert done.returncode == 2
    assert "unknown scenario 'no-such-thing'; known: append" in done.stderr


class TestContenders:
    def test_an_error_is_reported_with_who_and_what(self) -> None:
        with pytest.raises(ContenderFailed, match="sessiondb failed at 'fly'"), Process(OURS) as process:
            process.ask("fly")

    def test_a_peer_that_gives_up_ends_nothing(self, tmp_path: Path) -> None:
        broken = Contestant("peer", sys.executable, "benchmarks.no_such_module", is_peer=True)
        (tmp_path / "ours").mkdir()
        lanes = [Lane("ours", OURS, tmp_path / "ours" / "a.db"), Lane("peer", broken, tmp_path / "b.db")]
        found = race(lanes, "append", count=2, rounds=1)
        assert list(found.times) == ["ours"]
        assert "peer failed at 'open'" in found.failures["peer"]

    def test_a_library_that_does_not_run_is_a_note(self, tmp_path: Path) -> None:
        broken = Contestant("peer", sys.executable, "benchmarks.no_such_module", is_peer=True)
        setting = Setting(replace(TINY, weighed=10, searched=10), 1, Stores(tmp_path), (broken,))
        found = observed(SCENARIOS["disk"], setting)
        assert list(found.figures) == ["sessiondb, 10"]
        assert any(note.startswith("gave up: peer failed at 'fill'") for note in found.notes)

    def test_what_cannot_be_installed_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(peers, "HOME", tmp_path / "a file" / "in the way")
        (tmp_path / "a file").touch()
        found = lineup.gathered(Stores(tmp_path))
        assert (found.peers, found.others) == ((), ())
        assert len(found.notes) == 1 + len(peers.OTHERS)
        assert all("is not available" in note for note in found.notes)


class TestTape:
    def test_what_was_said_is_said_again(self) -> None:
        recorder = tape.Recorder()
        with recorder.listening():
            heard = apsw.Connection("")
            said = recorder.during(lambda: _talk(heard))
        again = apsw.Connection("")
        tape.play(again.cursor(), tape.steps(said))
        assert again.execute("SELECT a, b FROM t ORDER BY a").fetchall() == [(1, "x"), (2, "y"), (3, "z")]

    def test_runs_of_a_statement_are_sent_together(self) -> None:
        said = [tape.Said(1, "INSERT", (1,)), tape.Said(1, "INSERT", (2,)), tape.Said(1, "COMMIT", None)]
        assert tape.steps(said) == [("INSERT", [(1,), (2,)]), ("COMMIT", [None])]

    def test_settings_and_checkpoints_are_heard(self) -> None:
        recorder = tape.Recorder()
        with recorder.listening():
            heard = apsw.Connection("")
            heard.execute("PRAGMA synchronous = FULL")
            heard.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        assert recorder.settings(id(heard)) == ["PRAGMA synchronous = FULL"]
        assert recorder.said[-1].sql == "PRAGMA wal_checkpoint(PASSIVE)"


def _talk(connection: Any) -> None:
    connection.execute("CREATE TABLE t (a, b)")
    connection.execute("INSERT INTO t VALUES (:a, :b)", {"a": 1, "b": "x"})
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(2, "y"), (3, "z")])


class TestFigures:
    def test_a_disturbed_round_does_not_count(self) -> None:
        slow = Rounds([[2.0], [2.0], [900.0]])
        assert ratio(slow, Rounds([[1.0], [1.0], [1.0]]), p50) == Ratio(2.0, 2.0, 900.0)

    def test_a_pooled_ratio_counts_every_stall(self) -> None:
        stalls = Rounds([[1.0], [1.0], [28.0]])
        assert pooled_ratio(stalls, Rounds([[1.0], [1.0], [1.0]]), lambda values: sum(values)).middle == 10.0

    def test_a_table_tells_whether_a_target_is_met(self) -> None:
        result = Result("append", "one message", {"sessiondb": {"p50 µs": 1234.5}})
        result.comparisons = [
            Comparison("p50 / floor", Ratio(1.25, 1.2, 1.31), target=Target(1.3)),
            Comparison("rate / peer", Ratio(2.0, 1.9, 2.1), target=Target(2.5, least=True)),
        ]
        text = "\n".join(report.lines(result))
        assert "1,234" in text
        assert "1.25 x  (1.20 to 1.31)        target <= 1.3 x  met" in text
        assert "target >= 2.5 x  MISSED" in text
