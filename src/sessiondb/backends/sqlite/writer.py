"""The writer: threads of one process share commits.

Whoever finds the writer free leads: he passes the gate, runs his own work and that of everybody who queued meanwhile,
each in a savepoint of its own, and commits once. All are answered after the COMMIT, none before. Works must be
re-runnable: when an error has rolled the whole transaction back (disk full, I/O), the others run again without the
culprit, who runs alone, last.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

import apsw

from ... import errors
from ...sql.driver import Tx
from .connection import SQLiteTx, translated
from .crash import kill_point
from .gate import Gate

R = TypeVar("R")

# Writers that wait the same time collide again: spread them.
RETRY_MIN, RETRY_MAX = 0.020, 0.150
LARGEST_GROUP = 128
# Stands for the error of a work that nobody came to; an error of its own is made only for whoever raises it.
NOT_RUN = errors.Unavailable("the write was not run; try again")


class Job:
    """A work with its outcome; `turn` is released when it is done, or when its owner must lead."""

    __slots__ = ("alone", "deadline", "done", "error", "result", "turn", "until", "work")

    def __init__(self, work: Callable[[Tx], Any], deadline: float, *, alone: bool = False) -> None:
        self.alone = alone
        self.work = work
        self.deadline = deadline
        self.until = time.monotonic() + deadline
        self.result: Any = None
        self.error: BaseException | None = NOT_RUN
        self.done = False
        self.turn: threading.Lock | None = None

    def outcome(self) -> Any:
        if self.error is None:
            return self.result
        if self.error is NOT_RUN:
            raise errors.Unavailable("the write was not run; try again")
        raise self.error


class Writer:
    def __init__(self, connection: apsw.Connection, gate: Gate | None, path: str) -> None:
        self.connection = connection
        self.gate = gate
        self.path = path
        self.commits = 0
        self.jobs = 0
        self.last_commit: float | None = None
        self._cursor = connection.cursor()
        self._tx = SQLiteTx(connection, self._cursor)
        self._mutex = threading.Lock()
        self._queue: deque[Job] = deque()
        self._leader: Job | None = None
        self._closed = False

    def write(self, work: Callable[[Tx], R], deadline: float, after: Callable[[], None]) -> R:
        """Run `work` in a transaction and return after the commit; `after` runs once all are answered."""
        job = Job(work, deadline)
        try:
            try:
                if self._must_wait(job):
                    self._wait(job)
                if not job.done:
                    self._lead(job, after)
            finally:
                self._let_go(job)
        finally:
            # Ctrl-C may have come in the middle of letting go.
            self._let_go(job)
        result: R = job.outcome()
        return result

    def retire(self, deadline: float) -> None:
        """Wait for those who write, refuse those who come later; the connection can be closed then."""
        job = Job(_nothing, deadline, alone=True)
        try:
            if self._must_wait(job):
                self._wait(job)
            self._refuse_all(job)
        except BaseException:
            self._let_go(job)
            raise

    # --- who leads ---

    def _must_wait(self, job: Job) -> bool:
        with self._mutex:
            if self._closed:
                raise errors.Closed("the store is closed; open it again")
            if self._leader is None:
                self._leader = job
                return False
            job.turn = threading.Lock()
            job.turn.acquire()
            self._queue.append(job)
            return True

    def _refuse_all(self, own: Job) -> None:
        with self._mutex:
            self._closed = True
            refused = [job for job in self._queue if job is not own]
            self._queue.clear()
        for job in refused:
            job.error = errors.Closed("the store was closed; open it again")
        self._answer(refused, own)

    def _wait(self, job: Job) -> None:
        """Until the job is done or its owner must lead; raises Busy when it is still queued at its deadline."""
        assert job.turn is not None
        if job.turn.acquire(timeout=max(0.0, job.until - time.monotonic())):
            return
        if self._withdrawn(job):
            raise self._busy(job)
        job.turn.acquire()  # somebody is at it; his own deadline bounds this

    def _withdrawn(self, job: Job) -> bool:
        with self._mutex:
            if self._leader is not job and job in self._queue:
                self._queue.remove(job)
                return True
            return False

    def _let_go(self, job: Job) -> None:
        """Neither lead nor wait any more, whatever happened; a second call changes nothing."""
        if self._leader is not job and (job.done or self._withdrawn(job) or self._leader is not job):
            return
        if self.connection.in_transaction:
            self._roll_back()
        if self.gate is not None:
            self.gate.leave()
        self._pass_on(job)

    def _pass_on(self, job: Job) -> None:
        # Signals are looked for after calls only: between the first line and the release there is none.
        with self._mutex:
            if self._queue and self._queue[0] is job:
                del self._queue[0]
            self._leader = self._queue[0] if self._queue else None
            if self._leader is not None and self._leader.turn is not None:
                self._leader.turn.release()

    def _take_group(self, own: Job) -> list[Job]:
        # The main thread gets Ctrl-C; others must not be in doubt about their commit because of it.
        if not self._queue or threading.current_thread() is threading.main_thread():
            return [own]
        with self._mutex:
            if self._queue[0] is own:
                del self._queue[0]
            group = [own]
            while self._queue and not self._queue[0].alone and len(group) < LARGEST_GROUP:
                group.append(self._queue.popleft())
            return group

    # --- transactions ---

    def _lead(self, own: Job, after: Callable[[], None]) -> None:
        try:
            if self.gate is not None and not self.gate.enter(own.until):
                raise self._busy(own)
            self._begin(own)
            group = self._take_group(own)
            try:
                if len(group) == 1:
                    self._run_alone(own)
                else:
                    self._run_all(group)
            finally:
                self._answer(group, own)
            # Behind the gate: a checkpoint takes SQLite's write lock for a moment, and the next writer would find it
            # taken and sleep by the clock, with everybody behind him.
            after()
        except apsw.Error as exc:
            raise translated(exc, self.path) from exc

    def _begin(self, job: Job) -> None:
        while True:
            try:
                self._cursor.execute("BEGIN IMMEDIATE")
                return
            except apsw.BusyError as exc:
                self._pause(job, exc)

    def _pause(self, job: Job, exc: apsw.BusyError) -> None:
        left = job.until - time.monotonic()
        if left <= 0:
            raise self._busy(job) from exc
        import random

        time.sleep(min(left, random.uniform(RETRY_MIN, RETRY_MAX)))

    def _busy(self, job: Job) -> errors.Busy:
        return errors.Busy(f"other writers held {self.path} for {job.deadline:g} s; try again")

    def _run_all(self, group: list[Job]) -> None:
        """Run a group whose transaction has begun; every job has its result or its own error afterwards."""
        culprits: list[Job] = []
        while len(group) > 1:
            culprit = self._run_group(group)
            if culprit is None:
                group = []
            else:
                culprits.append(culprit)
                group = [job for job in group if job is not culprit]
                self._begin(group[0])
        for number, job in enumerate([*group, *culprits]):
            if number or not group:
                self._begin(job)
            self._run_alone(job)

    def _run_alone(self, job: Job) -> None:
        try:
            job.result = job.work(self._tx)
            self._commit(job)
            job.error = None
        except BaseException as exc:
            self._roll_back()
            job.error = self._typed(exc)
            if not isinstance(exc, Exception):
                raise

    def _run_group(self, group: list[Job]) -> Job | None:
        """Run and commit a group; a job whose error took the whole transaction with it is returned, nothing done."""
        failed: dict[int, BaseException] = {}
        for job in group:
            try:
                self.connection.execute("SAVEPOINT job")
                job.result = job.work(self._tx)
                self.connection.execute("RELEASE job")
            except Exception as exc:  # noqa: BLE001  every caller gets his own error back
                if not self.connection.in_transaction:
                    return job
                self.connection.execute("ROLLBACK TO job")
                self.connection.execute("RELEASE job")
                failed[id(job)] = self._typed(exc)
        try:
            self._commit(group[0])
        except Exception as exc:  # noqa: BLE001  a failed COMMIT raises in every caller
            self._roll_back()
            failed = {id(job): self._typed(exc) for job in group}
        for job in group:
            job.error = failed.get(id(job))
        return None

    def _commit(self, job: Job) -> None:
        kill_point("before commit")
        while True:
            try:
                self._cursor.execute("COMMIT")
                break
            except apsw.BusyError as exc:
                # Only with the rollback journal: readers are still at it, the transaction stands.
                self._pause(job, exc)
        self.last_commit = time.monotonic()
        self.commits += 1
        kill_point("after commit")

    def _roll_back(self) -> None:
        # Some errors have rolled everything back already.
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def _typed(self, exc: BaseException) -> BaseException:
        if isinstance(exc, apsw.Error):
            error = translated(exc, self.path)
            error.__cause__ = exc
            return error
        return exc

    def _answer(self, group: list[Job], own: Job) -> None:
        self.jobs += len(group)
        for job in group:
            job.done = True
            if job is not own and job.turn is not None:
                job.turn.release()


def _nothing(tx: Tx) -> None:
    """The work of whoever only wants to be alone."""
