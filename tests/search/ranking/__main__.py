"""Print the tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from .corpus import Corpus, built
from .stories import HELD_OUT, TUNED
from .tables import ablation, comparison, held_out


def show(table: Callable[[Corpus], Iterator[str]], *folders: str) -> None:
    with TemporaryDirectory() as directory:
        corpus = built(Path(directory), *folders)
        print(f"\n{table.__doc__}\n")
        print("\n".join(table(corpus)))
        corpus.db.close()


show(comparison)
show(held_out, TUNED, HELD_OUT)
show(ablation)
