"""What a scheduled agent stores: every run brings the same system prompt and much the same tool output.

The same stream goes into a store that keeps large texts once, one that compresses them as well, and one that keeps
each where it was said. A second stream has large texts that never come again: what looking for them costs. Appends are
single and durable; every size is that of the files after a checkpoint.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from sessiondb import SessionDB

from .. import corpus
from ..figures import Rounds, mean, p50, ratio, summary
from ..results import Comparison, Result, Target
from ..setting import MICROSECOND, Setting

BYTES_LEFT = Target(0.5)
APPEND_COST = Target(1.1)
KEPT = ("off", "plain", "zlib")
# A run: its prompt, what it looked at, what it thought of it. Of six tool outputs two are new every time.
MESSAGES_PER_RUN = 24
OUTPUTS = (6, 8, 12)
_SEED = 11


def bodies(setting: Setting) -> Result:
    runs = max(2, setting.sizes.appends // 5)
    rounds = [{kept: _round(setting, kept, runs) for kept in _turn(number)} for number in range(setting.rounds)]
    result = Result("bodies", f"{runs} runs of a scheduled agent, {MESSAGES_PER_RUN} messages each, synchronous=FULL")
    wall = {kept: Rounds([each[kept][0] for each in rounds]) for kept in KEPT}
    cpu = {kept: Rounds([[each[kept][1]] for each in rounds]) for kept in KEPT}
    size = {kept: [each[kept][2] for each in rounds] for kept in KEPT}
    for kept in KEPT:
        result.figures[kept] = {
            "p50 us": wall[kept].typical(p50) / MICROSECOND,
            "mean us": wall[kept].typical(mean) / MICROSECOND,
            "cpu us": cpu[kept].typical(mean) / MICROSECOND,
            "MB": sum(size[kept]) / len(size[kept]) / 1e6,
        }
    for kept in KEPT[1:]:
        left = summary([ours / plain for ours, plain in zip(size[kept], size["off"], strict=True)])
        result.comparisons += [
            Comparison(f"{kept}: bytes left", left, target=BYTES_LEFT),
            Comparison(f"{kept}: append p50", ratio(wall[kept], wall["off"], p50), target=APPEND_COST),
            Comparison(f"{kept}: append mean", ratio(wall[kept], wall["off"], mean), target=APPEND_COST),
            Comparison(f"{kept}: append cpu", ratio(cpu[kept], cpu["off"], mean), target=APPEND_COST),
        ]
    result.comparisons += _unique(setting, runs)
    return result


def _unique(setting: Setting, runs: int) -> list[Comparison]:
    """The price where nothing is gained: every text is large and new."""
    rounds = [{kept: _round(setting, kept, runs, _new) for kept in _turn(number)} for number in range(setting.rounds)]
    wall = {kept: Rounds([each[kept][0] for each in rounds]) for kept in KEPT}
    cpu = {kept: Rounds([[each[kept][1]] for each in rounds]) for kept in KEPT}
    return [
        comparison
        for kept in KEPT[1:]
        for comparison in (
            Comparison(f"{kept}: append of new large texts, p50", ratio(wall[kept], wall["off"], p50)),
            Comparison(f"{kept}: append of new large texts, cpu", ratio(cpu[kept], cpu["off"], mean)),
        )
    ]


def _turn(number: int) -> tuple[str, ...]:
    """Nobody is always first."""
    shift = number % len(KEPT)
    return KEPT[shift:] + KEPT[:shift]


def _round(
    setting: Setting, kept: str, runs: int, run: Callable[[int], Iterator[dict[str, Any]]] | None = None
) -> tuple[list[float], float, int]:
    """The time of each append, the processor's work per append, the size of the store."""
    store = setting.stores.new()
    times: list[float] = []
    with SessionDB(store) as db:
        db.provider.set_meta("bodies", kept)
        # What is measured is storing; the index has files of its own.
        db.provider.driver.engine.index_in_background = lambda: None  # type: ignore[attr-defined]
        prompt, cpu = _text(_SEED, 14_000), 0
        for number in range(runs):
            said = list((run or _run)(number))
            begun = time.thread_time_ns()
            db.create_session(f"cron-{number}", "cron", system_prompt=prompt)
            for message in said:
                at = time.perf_counter_ns()
                db.append_message(f"cron-{number}", **message)
                times.append(float(time.perf_counter_ns() - at))
            cpu += time.thread_time_ns() - begun
    size = _size(store)
    setting.stores.discard(store)
    return times, cpu / len(times), size


def _size(store: Path) -> int:
    return sum(each.stat().st_size for each in store.parent.glob(f"{store.name}*") if "-search-" not in each.name)


def _text(seed: int, size: int) -> str:
    source = random.Random(seed)
    parts: list[str] = []
    while sum(map(len, parts)) < size:
        parts.append(corpus.message(0, source)["content"])
    return "\n".join(parts)[:size]


def _run(number: int) -> Iterator[dict[str, Any]]:
    """Short talk with six large outputs in it: four files that rarely change, two answers that always do."""
    yield {"role": "user", "content": f"Run {number}: look whether all is well."}
    for step in range(MESSAGES_PER_RUN - 1):
        if step % 4 == 2:
            kind = step // 4
            seed = _SEED + kind if kind < 4 else _SEED + 1000 * number + kind
            text = _text(seed, OUTPUTS[kind % len(OUTPUTS)] * 1024)
            yield {"role": "tool", "content": text, "tool_name": "read", "tool_call_id": f"{number}.{step}"}
        else:
            yield {"role": "assistant", "content": _text(1_000_000 + 100 * number + step, 400)}


def _new(number: int) -> Iterator[dict[str, Any]]:
    """As large as the outputs above, each said once."""
    for step in range(MESSAGES_PER_RUN // 3):
        text = _text(_SEED + 10_000 * number + step, OUTPUTS[step % len(OUTPUTS)] * 1024)
        yield {"role": "tool", "content": text, "tool_name": "read", "tool_call_id": f"{number}.{step}"}
