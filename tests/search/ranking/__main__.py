"""Print the tables."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from .corpus import built
from .tables import ablation, comparison

with TemporaryDirectory() as directory:
    corpus = built(Path(directory))
    for table in (comparison, ablation):
        print(f"\n{table.__doc__}\n")
        print("\n".join(table(corpus)))
    corpus.db.close()
