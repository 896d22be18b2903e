"""Three hundred damaged files: what changes an answer is found, what is not touched is saved, nothing breaks."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import damaged
import pytest
from damaged import Answers, Damage, Say

from sessiondb import upkeep
from sessiondb.upkeep import Finding

Inflict = Callable[[Path, random.Random], Damage]

PLAN: list[tuple[str, Inflict, int]] = [
    ("calm", damaged.flip, 90),
    ("calm", damaged.zero, 40),
    ("calm", damaged.scramble, 40),
    ("calm", damaged.truncate, 28),
    ("calm", damaged.zero_header, 6),
    ("calm", damaged.zero_all, 3),
    ("calm", damaged.empty, 3),
    ("crashed", damaged.flip, 10),
    ("crashed", damaged.lose_wal, 10),
    ("crashed", damaged.lose_shm, 5),
    ("crashed", damaged.flip_wal, 30),
    ("crashed", damaged.cut_wal, 15),
    ("crashed", damaged.zero_wal, 10),
    ("crashed", damaged.swap_wal, 10),
]
CASES = [(state, inflict) for state, inflict, count in PLAN for _ in range(count)]
BLOCK = 50
# The same kinds again with other seeds: a few for every change, thousands in the long form.
MORE = 2_700 if os.environ.get("SESSIONDB_TORTURE") == "1" else 30


@dataclass(frozen=True)
class Stores:
    """The stores before they are damaged, what they answer, and which sessions lie on which page."""

    place: Path
    truth: dict[str, Answers]
    pages: dict[str, dict[int, set[str]]]

    def damaged(self, number: int) -> tuple[Path, Damage]:
        state, inflict = CASES[number % len(CASES)]
        path = damaged.copy(self.place / f"{state}.db", self.place / f"case-{number}.db")
        return path, inflict(path, random.Random(number))

    def sound(self, state: str, damage: Damage) -> set[str]:
        """The sessions that the damage cannot have touched; those of the WAL count as touched by all it can suffer."""
        hurt = set().union(*(self.pages[state].get(page, set()) for page in damage.pages))
        return {name for name in self.truth["calm"] if name not in ("trash", "count")} - hurt


@pytest.fixture(scope="session")
def stores(workshop: Path) -> Stores:
    place = workshop / "damage"
    place.mkdir()
    for state, sessions in (("calm", 12), ("crashed", 12), ("other", 9)):
        damaged.build(place / f"{state}.db", checksums=True, sessions=sessions)
        if state != "calm":
            damaged.crash(place / f"{state}.db", state)
    truth = {}
    for state in ("calm", "crashed"):
        copy = damaged.copy(place / f"{state}.db", place / f"{state}-read.db")
        truth[state] = damaged.answers(copy)
    known = set(truth["calm"])
    pages = {state: damaged.sessions_on_pages(place / f"{state}.db", known) for state in truth}
    return Stores(place, truth, pages)


@dataclass
class Tally:
    changed: int = 0
    found: int = 0
    sound: int = 0
    saved: int = 0
    missed: list[str] = field(default_factory=list)
    unsaved: list[str] = field(default_factory=list)
    answered: Counter[str] = field(default_factory=Counter)


def contents(path: Path) -> dict[str, bytes]:
    return {
        suffix: Path(f"{path}{suffix}").read_bytes() for suffix in damaged.FILES if os.path.exists(f"{path}{suffix}")
    }


def alarms(path: Path) -> list[Finding]:
    found = upkeep.of("sqlite").doctor(str(path)).findings
    assert all(finding.message and (finding.next_step or finding.severity != "damage") for finding in found)
    return [finding for finding in found if finding.area == "data" and finding.severity != "note"]


def one(stores: Stores, number: int, tally: Tally) -> None:
    state, inflict = CASES[number % len(CASES)]
    path, damage = stores.damaged(number)
    before = contents(path)
    found = alarms(path)
    repaired = path.with_suffix(".repaired")
    upkeep.of("sqlite").repair(str(path), str(repaired))
    assert contents(path) == before
    saved = damaged.answers(repaired)
    answer = damaged.answers_or_error(path)
    tally.found += bool(found)
    tally.changed += answer != stores.truth[state]
    if answer != stores.truth[state] and not found:
        tally.missed.append(f"{number}: {state} {damage.what}")
    sound = stores.sound(state, damage)
    kept = {name for name in sound if saved.get(name) == stores.truth[state][name]}
    tally.sound += len(sound)
    tally.saved += len(kept)
    tally.unsaved.extend(f"{number}: {state} {damage.what}: {name}" for name in sorted(sound - kept))
    tally.answered[inflict.__name__] += 1
    for left in stores.place.glob(f"case-{number}.*"):
        left.unlink()


def all_of(stores: Stores, numbers: range, say: Say) -> None:
    tally = Tally()
    for number in numbers:
        one(stores, number, tally)
    kinds = ", ".join(f"{count} {name}" for name, count in tally.answered.items())
    say(
        f"damaged files {numbers[0] + 1}-{numbers[-1] + 1} ({kinds}): {tally.changed} answer otherwise, "
        f"{tally.found} found, {len(tally.missed)} missed; {tally.saved} of {tally.sound} untouched sessions saved"
    )
    assert tally.missed == []
    assert tally.saved >= 0.99 * tally.sound, tally.unsaved


@pytest.mark.parametrize("first", range(0, len(CASES), BLOCK))
def test_damage_is_found_and_the_rest_is_saved(stores: Stores, first: int, say: Say) -> None:
    all_of(stores, range(first, first + BLOCK), say)


@pytest.mark.alone
def test_and_with_other_seeds(stores: Stores, say: Say) -> None:
    step = len(CASES) * 9 // MORE if len(CASES) > MORE else 1
    all_of(stores, range(len(CASES), len(CASES) + MORE * step, step), say)


def test_there_are_three_hundred() -> None:
    assert len(CASES) == 300


class TestTwins:
    """The same damage with the protection off."""

    @pytest.fixture
    def silent(self, workshop: Path) -> Callable[..., tuple[Answers | str, list[Finding]]]:
        """Change one letter of a session's prompt, which no ledger covers; answer and alarms afterwards."""

        def change(*, checksums: bool) -> tuple[Answers | str, list[Finding]]:
            path = workshop / f"silent-{checksums}.db"
            damaged.build(path, checksums=checksums, sessions=4)
            data = path.read_bytes()
            assert data.count(b"You are number 1.") > 0
            path.write_bytes(data.replace(b"You are number 1.", b"You are number 9."))
            return damaged.answers_or_error(path), alarms(path)

        return change

    def test_with_checksums_a_changed_letter_is_an_error_and_an_alarm(
        self, silent: Callable[..., tuple[Answers | str, list[Finding]]]
    ) -> None:
        answer, found = silent(checksums=True)
        assert isinstance(answer, str)
        assert answer.startswith("Corrupt")
        assert found

    def test_without_them_it_is_believed(
        self, silent: Callable[..., tuple[Answers | str, list[Finding]]], say: Say
    ) -> None:
        answer, found = silent(checksums=False)
        assert isinstance(answer, dict)
        assert answer["session-01"]["system_prompt"].startswith("You are number 9.")
        assert found == []
        say("checksums off: 1 of 1 changed letters of a prompt believed, 0 alarms")

    def test_a_deleted_wal_shows_only_by_the_mark(self, stores: Stores, say: Say) -> None:
        path = damaged.copy(stores.place / "crashed.db", stores.place / "twin.db")
        for suffix in ("-wal", "-shm"):
            os.unlink(f"{path}{suffix}")
        assert [finding.severity for finding in alarms(path)] == ["warning"]
        os.unlink(f"{path}.lock")
        assert alarms(path) == []
        lost = set(stores.truth["crashed"]) - set(damaged.answers(path))
        assert lost == {f"late-{number}" for number in range(6)}
        say(f"mark off: a deleted WAL takes {len(lost)} sessions along, 0 alarms")
