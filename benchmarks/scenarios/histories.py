"""Histories of another agent coming in: files read, parsed, stored and indexed; and read again, unchanged.

The floor says to SQLite what the import said, without parsing anything: the same statements on the same schema.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from sessiondb import SessionDB
from sessiondb.importers import known
from sessiondb.importers.runner import Runner

from .. import corpus, tape
from ..figures import Rounds, mean, ratio
from ..results import Comparison, Result, Target
from ..setting import SECOND, Setting

STORAGE_TO_FLOOR = Target(0.6, least=True)
UNCHANGED_PER_THOUSAND = Target(1.0)
WRITES = ("create_session", "merge", "put_import_files", "add_usage", "update_session")


def histories(setting: Setting) -> Result:
    sizes = setting.sizes
    place = setting.stores.new().parent
    files = _written(place, sizes.imported_files, sizes.imported_messages)
    rounds = [_round(setting, place) for _ in range(setting.rounds)]
    times = {name: Rounds([[each[name]] for each in rounds]) for name in rounds[0]}
    total = times["whole"].typical(mean) / SECOND
    messages, size = len(files) * sizes.imported_messages, sum(path.stat().st_size for path in files)
    result = Result("histories", f"{len(files)} files of {sizes.imported_messages} messages, {size / 1e6:.1f} MB")
    result.figures["import, indexed"] = {
        "files/s": len(files) / total, "MB/s": size / 1e6 / total, "messages/s": messages / total,
    }  # fmt: skip
    storage = times["storage"].typical(mean) / SECOND
    result.figures["storage part"] = {"messages/s": messages / storage, "MB/s": size / 1e6 / storage}
    floor = times["floor"].typical(mean) / SECOND
    result.figures["floor"] = {"messages/s": messages / floor, "MB/s": size / 1e6 / floor}
    result.comparisons = _comparisons(times, len(files))
    result.notes.append("storage part: the time inside the store's writes, digests and JSON of messages excluded")
    return result


def _comparisons(times: dict[str, Rounds], files: int) -> list[Comparison]:
    thousand = ratio(times["again"], Rounds([[SECOND * files / 1000]] * len(times["again"].rounds)), mean)
    return [
        Comparison("storage: rate / floor", ratio(times["floor"], times["storage"], mean), target=STORAGE_TO_FLOOR),
        Comparison("storage: cpu rate / floor", ratio(times["floor cpu"], times["storage cpu"], mean)),
        Comparison("unchanged: seconds per 1,000 files", thousand, target=UNCHANGED_PER_THOUSAND),
    ]


def _written(place: Path, files: int, messages: int) -> list[Path]:
    written = []
    for number in range(files):
        lines: list[dict[str, Any]] = [{"_type": "metadata", "key": f"cli:{number}", "metadata": {}}]
        document = corpus.document(f"h{number}", number, messages)
        for row in document["messages"]:
            lines.append({("name" if key == "tool_name" else key): value for key, value in row.items()})
        path = place / f"cli_{number}.jsonl"
        path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
        written.append(path)
    return written


def _round(setting: Setting, place: Path) -> dict[str, float]:
    found = list(known.at_paths([place], known.chosen(["nanobot"])))
    store = setting.stores.new()
    with SessionDB(store) as db:
        whole = _timed(lambda: Runner(db).run(found))
        again = _timed(lambda: Runner(db).run(known.at_paths([place], known.chosen(["nanobot"]))))
    setting.stores.discard(store)
    storage, cpu = _storage(setting, found)
    floor, floor_cpu = _floor(setting, found)
    return {"whole": whole, "again": again, "storage": storage, "storage cpu": cpu, "floor": floor,
            "floor cpu": floor_cpu}  # fmt: skip


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter_ns()
    work()
    return float(time.perf_counter_ns() - begun)


def _storage(setting: Setting, found: list[known.Found]) -> tuple[float, float]:
    """The time and the processor's work inside the provider's writes."""
    spent = [0, 0]

    def watched(primitive: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            begun = time.perf_counter_ns(), time.process_time_ns()
            try:
                return primitive(*args, **kwargs)
            finally:
                spent[0] += time.perf_counter_ns() - begun[0]
                spent[1] += time.process_time_ns() - begun[1]

        return call

    store = setting.stores.new()
    with SessionDB(store) as db:
        for name in WRITES:
            setattr(db.provider, name, watched(getattr(db.provider, name)))
        _unindexed(db)
        Runner(db).run(found)
    setting.stores.discard(store)
    return float(spent[0]), float(spent[1])


def _unindexed(db: SessionDB) -> None:
    db.provider.update_index = lambda tick=None: None  # type: ignore[method-assign]
    db.provider._index_along = lambda engine, brought: None  # type: ignore[attr-defined]


def _floor(setting: Setting, found: list[known.Found]) -> tuple[float, float]:
    """The writing connection's statements once more, by a bare loop on an empty store."""
    store = setting.stores.new()
    with SessionDB(store):
        pass
    rehearsal = setting.stores.copy(store)
    recorder = tape.Recorder()
    with recorder.listening(), SessionDB(rehearsal) as db:
        _unindexed(db)
        said = recorder.during(lambda: Runner(db).run(found))
    writers = {each.connection for each in said if each.sql.lstrip().upper().startswith(("INSERT", "BEGIN IMMEDIATE"))}
    script = tape.steps([each for each in said if each.connection in writers])
    connection = apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READWRITE)
    for line in recorder.settings(next(iter(writers))):
        connection.execute(line).fetchall()
    begun = time.perf_counter_ns(), time.process_time_ns()
    tape.play(connection.cursor(), script)
    spent = time.perf_counter_ns() - begun[0], time.process_time_ns() - begun[1]
    connection.close()
    for each in (store, rehearsal):
        shutil.rmtree(each.parent)
    return float(spent[0]), float(spent[1])
