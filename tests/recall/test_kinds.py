"""Commands, paths, URLs, decisions and open items are told by form and cues; measured on labelled sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sessiondb.search.filters import KINDS
from sessiondb.search.kinds import extract

HERE = Path(__file__).parent / "kinds"
LETTERS = {"c": "command", "p": "path", "u": "url", "d": "decision", "t": "todo"}
PRECISION, RECALL = 0.85, 0.7


def labelled(name: str) -> Iterator[tuple[frozenset[str], str]]:
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            letters, _, sentence = line.partition("\t")
            yield frozenset(LETTERS[letter] for letter in letters if letter != "-"), sentence


def measured(name: str) -> dict[str, tuple[int, int, int]]:
    """Per kind: found and right, found and wrong, missed."""
    counts = {kind: [0, 0, 0] for kind in KINDS}
    for wanted, sentence in labelled(name):
        found = {item.kind for item in extract(sentence)}
        for kind in KINDS:
            if kind in found:
                counts[kind][0 if kind in wanted else 1] += 1
            elif kind in wanted:
                counts[kind][2] += 1
    return {kind: (right, wrong, missed) for kind, (right, wrong, missed) in counts.items()}


@pytest.mark.parametrize(
    "name", ["tuning.txt", "held_out.txt", "second.txt", "third.txt", "fourth.txt", "fifth.txt", "sixth.txt"]
)
def test_most_are_found_and_few_are_wrong(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    counts = measured(name)
    with capsys.disabled():
        print(f"\n{name}")
        for kind, (right, wrong, missed) in counts.items():
            print(f"  {kind:9} precision {right / (right + wrong):.2f} recall {right / (right + missed):.2f}")
    for right, wrong, missed in counts.values():
        assert right / (right + wrong) >= PRECISION
        assert right / (right + missed) >= RECALL


@pytest.mark.parametrize(
    "piece", ["not ", "a", "a/", "/", "x.", "`", "```", "ok ", "kita pakai ", "以后", "http://", "$ ", "- [ ] ", "\\"]
)
def test_long_noise_is_read_in_one_go(piece: str) -> None:
    text = (piece * 40_000)[:40_000] + " /etc/hosts"
    assert all(item.kind in KINDS for item in extract(text))
