"""Commands, paths, URLs, decisions and open items are told by form and cues; measured on labelled sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sessiondb.models import MessageRow
from sessiondb.search.filters import KINDS
from sessiondb.search.kinds import extract, items

HERE = Path(__file__).parent / "kinds"
LETTERS = {"c": "command", "p": "path", "u": "url", "d": "decision", "t": "todo"}
PRECISION, RECALL = 0.85, 0.7
SETS = ("tuning", "held_out", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


def labelled(name: str) -> Iterator[tuple[frozenset[str], str]]:
    for line in (HERE / f"{name}.txt").read_text(encoding="utf-8").splitlines():
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


@pytest.mark.parametrize("name", SETS)
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


def calling(name: str, arguments: str) -> MessageRow:
    return {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": name, "arguments": arguments}}]}


@pytest.mark.parametrize(
    ("name", "arguments", "found"),
    [
        ("Read", '{"file_path": "/srv/data/zebra.csv", "limit": 5}', [("path", "/srv/data/zebra.csv")]),
        ("edit_file", '{"path": "README.md", "new_text": "see /etc/hosts\\nand more"}', [("path", "README.md")]),
        ("notebook", '{"notebookPath": "My Notes/a b.ipynb"}', [("path", "My Notes/a b.ipynb")]),
        ("fetch", '{"url": "https://example.org/x"}', [("url", "https://example.org/x")]),
        ("login", '{"profile": "work", "file": "https://example.org/x"}', [("url", "https://example.org/x")]),
        ("bash", '{"command": "cat ~/notes/a.txt"}', [("command", "cat ~/notes/a.txt"), ("path", "~/notes/a.txt")]),
        ("apply", "not JSON at /srv/x/y.py", [("path", "/srv/x/y.py")]),
        ("odd", "[1, 2]", []),
    ],
)
def test_files_and_addresses_named_to_a_tool_are_found(name: str, arguments: str, found: list[tuple[str, str]]) -> None:
    assert [tuple(item) for item in items(calling(name, arguments))] == found
