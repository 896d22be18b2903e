"""Gateways are told from other programs, also when the system gave one of those the number of a gateway that died."""

from __future__ import annotations

import os
from pathlib import Path

from sessiondb.gateway import processes
from sessiondb.gateway.processes import Process

NOWHERE = "http://127.0.0.1:9/health"


def test_a_process_is_known_while_it_runs(tmp_path: Path) -> None:
    ours = Process(os.getpid(), NOWHERE, 1.0, processes.birth(os.getpid()))
    processes.announce(str(tmp_path), ours)
    assert list(processes.known(str(tmp_path))) == [ours]


def test_another_program_with_its_number_is_left_alone(tmp_path: Path) -> None:
    file = processes.announce(str(tmp_path), Process(os.getpid(), NOWHERE, 1.0, "another boot:1"))
    assert list(processes.known(str(tmp_path))) == []
    assert not file.exists()


def test_a_file_that_does_not_tell_is_believed(tmp_path: Path) -> None:
    processes.announce(str(tmp_path), Process(os.getpid(), NOWHERE, 1.0))
    assert [each.pid for each in processes.known(str(tmp_path))] == [os.getpid()]


def test_a_damaged_file_is_removed(tmp_path: Path) -> None:
    (tmp_path / "gateway").mkdir()
    (tmp_path / "gateway" / "7.json").write_text("{half")
    assert list(processes.known(str(tmp_path))) == []
    assert list((tmp_path / "gateway").iterdir()) == []
