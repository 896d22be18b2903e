"""Index files are harmed while others write: no append fails, no answer is wrong without a notice."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections import Counter
from pathlib import Path
from statistics import median

import pytest
from index_story import asked, ids, process, say, scanned, told

import sessiondb

BLOWS = ("delete", "truncate", "noise", "flip", "put_back")
BOXES = ("anchor", "alpha", "东京", "/etc/hosts", "n7", "user -beta", "gamma OR delta", "alp*")
LONG = os.environ.get("SESSIONDB_TORTURE") == "1"
COUNT = 500 if LONG else 100
# Each answer is checked against all rows, twice: they must not become too many.
PAUSE = 0.03 if LONG else 0.005


def finished(writer: subprocess.Popen[str]) -> dict[str, list[float]]:
    assert writer.stdin is not None
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    writer.stdin.close()
    answer: dict[str, list[float]] = json.loads(writer.stdout.readline())
    writer.wait()
    return answer


def figures(took: list[float]) -> str:
    ordered = sorted(took)
    return (
        f"p50 {median(took) * 1e3:.2f}, p99 {ordered[len(took) * 99 // 100] * 1e3:.1f}, max {ordered[-1] * 1e3:.1f} ms"
    )


def check(db: sessiondb.SessionDB, box: str) -> str:
    """What came of a search among writers: right, noticed, or wrong."""
    before = scanned(db, box)
    answer = asked(db, box)
    after = scanned(db, box)
    if before & after <= ids(answer) <= before | after:
        return "right, noticed" if answer.notices else "right"
    return "noticed" if answer.notices else "WRONG"


@pytest.mark.alone
def test_harm_to_the_index_is_never_harm_to_the_store(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    chance = random.Random(11)
    outcomes: Counter[str] = Counter()
    with sessiondb.open(path) as db:
        say(db, db.create_session("old", "cli"), *[f"anchor {number} getUserName" for number in range(300)])
        with process("index_writer.py", path, "calm", PAUSE) as calm:
            for _ in range(50):
                outcomes[check(db, chance.choice(BOXES))] += 1
            usual = finished(calm)
        with (
            process("index_writer.py", path, "one", PAUSE) as one,
            process("index_writer.py", path, "two", PAUSE) as two,
            process("index_vandal.py", path, 13) as vandal,
        ):
            for number in range(COUNT):
                if number % 10 == 0:
                    told(vandal, "keep")
                told(vandal, chance.choice(BLOWS))
                outcomes[check(db, chance.choice(BOXES))] += 1
            harmed = [finished(one), finished(two)]
        final = [(box, ids(asked(db, box)) == scanned(db, box)) for box in BOXES]
        notices = asked(db, "anchor").notices
    print(f"\n{COUNT} blows: {dict(outcomes)}")
    print(f"append, nobody harmed: {figures(usual['took'])}")
    for writer in harmed:
        print(f"append, index harmed:  {figures(writer['took'])}, {len(writer['took'])} appended")
    assert usual["errors"] == harmed[0]["errors"] == harmed[1]["errors"] == []
    assert outcomes["WRONG"] == 0
    assert [box for box, right in final if not right] == []
    assert notices == ()
