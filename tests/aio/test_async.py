"""What only the asynchronous facade must do: order, cancellation, and a loop that is never stopped."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import sessiondb
from sessiondb import AsyncSessionDB, Filter, SessionDB
from sessiondb.backends.memory import MemoryProvider
from sessiondb.errors import Closed
from sessiondb.models import Draft
from sessiondb.testing.laws.closed import API

ROOT = Path(__file__).parents[2]
PATIENCE = 10.0


class SlowProvider(MemoryProvider):
    """Memory whose appends wait for a word, and tell when they begin."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.begun = threading.Semaphore(0)

    def append(self, session_id: str, messages: Sequence[Draft], *, expected_seq: int | None = None) -> list[int]:
        self.begun.release()
        assert self.go.wait(PATIENCE)
        return super().append(session_id, messages, expected_seq=expected_seq)

    async def beginning(self) -> None:
        assert await asyncio.to_thread(self.begun.acquire, timeout=PATIENCE)


@pytest.fixture
def slow() -> Iterator[SlowProvider]:
    provider = SlowProvider()
    provider.initialize()
    yield provider
    provider.go.set()
    provider.shutdown()


def run(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(work(), PATIENCE))


async def texts(db: AsyncSessionDB, session_id: str = "s") -> list[Any]:
    return [row["content"] async for row in db.iter_messages(session_id)]


def generator() -> Any:
    spec = importlib.util.spec_from_file_location("make_async", ROOT / "tools" / "make_async.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class TestFacade:
    def test_its_files_are_current(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert generator().main(["--check"]) == 0, capsys.readouterr().out

    def test_it_has_every_method_with_the_same_parameters(self) -> None:
        for name in {*API, "close", "sanitize_title"}:
            ours, awaited = (inspect.signature(getattr(kind, name)) for kind in (SessionDB, AsyncSessionDB))
            assert ours.parameters == awaited.parameters, name

    def test_it_lacks_no_public_name(self) -> None:
        named = {name for name in dir(SessionDB) if not name.startswith("_")}
        assert named - set(dir(AsyncSessionDB)) == set()
        assert AsyncSessionDB.MAX_TITLE_LENGTH == SessionDB.MAX_TITLE_LENGTH

    def test_it_is_a_public_name(self) -> None:
        assert sessiondb.AsyncSessionDB is AsyncSessionDB

    def test_what_is_not_called_a_write_needs_no_right_to_write(self, fast_path: Path) -> None:
        path = fast_path / "state.db"
        with SessionDB(path) as db:
            db.create_session("s", "cli")
            db.append_message("s", "user", "x")

        async def read() -> None:
            async with AsyncSessionDB(path, read_only=True) as db:
                for name in API.keys() - generator().WRITES:
                    args, kwargs = API[name]
                    answer = getattr(db, name)(*args, **kwargs)
                    if hasattr(answer, "__anext__"):
                        assert [row async for row in answer]
                    else:
                        await answer

        run(read)


class TestOrder:
    def test_writes_to_a_session_happen_in_the_order_they_were_asked_for(self, fast_path: Path) -> None:
        async def work() -> None:
            async with AsyncSessionDB(fast_path / "state.db", threads=8) as db:
                await db.create_session("s", "cli")
                await asyncio.gather(*(db.append_message("s", "user", str(number)) for number in range(200)))
                assert await texts(db) == [str(number) for number in range(200)]

        run(work)

    def test_sessions_do_not_wait_for_each_other(self, slow: SlowProvider) -> None:
        async def work() -> None:
            async with AsyncSessionDB(provider=slow) as db:
                for name in "ab":
                    await db.create_session(name, "cli")
                both = [asyncio.create_task(db.append_message(name, "user", "x")) for name in "ab"]
                await slow.beginning()
                await slow.beginning()
                slow.go.set()
                await asyncio.gather(*both)

        run(work)

    def test_reads_do_not_wait_for_writes_and_the_loop_goes_on(self, slow: SlowProvider) -> None:
        async def work() -> None:
            async with AsyncSessionDB(provider=slow, threads=1) as db:
                await db.create_session("s", "cli")
                writing = asyncio.create_task(db.append_message("s", "user", "x"))
                await slow.beginning()
                assert await db.session_count() == 1
                assert not writing.done()
                slow.go.set()
                await writing

        run(work)


class TestCancellation:
    def test_a_write_that_waits_in_its_lane_never_happens(self, slow: SlowProvider) -> None:
        async def work() -> None:
            async with AsyncSessionDB(provider=slow) as db:
                await db.create_session("s", "cli")
                first = asyncio.create_task(db.append_message("s", "user", "first"))
                await slow.beginning()
                second = asyncio.create_task(db.append_message("s", "user", "second"))
                third = asyncio.create_task(db.append_message("s", "user", "third"))
                await asyncio.sleep(0)
                second.cancel()
                slow.go.set()
                await asyncio.gather(first, third)
                assert second.cancelled()
                assert await texts(db) == ["first", "third"]

        run(work)

    def test_a_write_that_waits_for_a_thread_never_happens(self, slow: SlowProvider) -> None:
        async def work() -> None:
            async with AsyncSessionDB(provider=slow, threads=1) as db:
                for name in "ab":
                    await db.create_session(name, "cli")
                first = asyncio.create_task(db.append_message("a", "user", "first"))
                await slow.beginning()
                second = asyncio.create_task(db.append_message("b", "user", "second"))
                await asyncio.sleep(0)
                second.cancel()
                await asyncio.wait([second])
                slow.go.set()
                await first
                assert await texts(db, "b") == []

        run(work)

    def test_a_write_that_has_begun_is_awaited_to_its_end(self, slow: SlowProvider) -> None:
        async def work() -> None:
            async with AsyncSessionDB(provider=slow) as db:
                await db.create_session("s", "cli")
                writing = asyncio.create_task(db.append_message("s", "user", "x"))
                await slow.beginning()
                for _ in range(3):
                    writing.cancel()
                    await asyncio.sleep(0)
                assert not writing.done()
                slow.go.set()
                with pytest.raises(asyncio.CancelledError):
                    await writing
                assert await texts(db) == ["x"]

        run(work)

    def test_an_error_of_a_cancelled_write_is_not_lost(self, slow: SlowProvider) -> None:
        async def work() -> None:
            async with AsyncSessionDB(provider=slow) as db:
                writing = asyncio.create_task(db.append_message("ghost", "user", "x"))
                await slow.beginning()
                writing.cancel()
                slow.go.set()
                with pytest.raises(asyncio.CancelledError) as caught:
                    await writing
                cause = caught.value.__cause__ or (caught.value.__context__ and caught.value.__context__.__cause__)
                assert isinstance(cause, sessiondb.NotFound)

        run(work)

    def test_a_timeout_leaves_a_store_that_works(self, slow: SlowProvider) -> None:
        async def work() -> None:
            loop = asyncio.get_running_loop()

            async def expire(scope: asyncio.Timeout) -> None:
                await slow.beginning()
                scope.reschedule(loop.time())
                loop.call_later(0.05, slow.go.set)

            async def append_late(db: AsyncSessionDB) -> None:
                async with asyncio.timeout(None) as scope, asyncio.TaskGroup() as tasks:
                    tasks.create_task(expire(scope))
                    await db.append_message("s", "user", "late, and stored")

            async with AsyncSessionDB(provider=slow) as db:
                await db.create_session("s", "cli")
                with pytest.raises(TimeoutError):
                    await append_late(db)
                await db.append_message("s", "user", "next")
                assert await texts(db) == ["late, and stored", "next"]

        run(work)


class TestLife:
    def test_closing_waits_for_what_has_begun(self, slow: SlowProvider) -> None:
        async def work() -> None:
            db = AsyncSessionDB(provider=slow)
            await db.create_session("s", "cli")
            writing = asyncio.create_task(db.append_message("s", "user", "x"))
            await slow.beginning()
            closing = asyncio.create_task(db.close())
            await asyncio.sleep(0.01)
            assert not closing.done()
            slow.go.set()
            assert await writing
            await closing
            with pytest.raises(Closed):
                await db.get_session("s")

        run(work)

    def test_the_first_call_opens(self, fast_path: Path) -> None:
        async def work() -> None:
            db = AsyncSessionDB(fast_path / "state.db")
            with pytest.raises(Closed, match="not open yet"):
                _ = db.features
            await asyncio.gather(*(db.create_session(str(number), "cli") for number in range(5)))
            assert (db.db_path, db.redacts_on_write) == (str(fast_path / "state.db"), False)
            await db.close()

        run(work)

    def test_a_store_whose_opening_was_cancelled_is_closed(self, slow: SlowProvider) -> None:
        async def work() -> None:
            db = AsyncSessionDB(provider=slow)
            opened = db._open
            begun = threading.Event()

            def slowly() -> SessionDB:
                begun.set()
                assert slow.go.wait(PATIENCE)
                return opened()

            db._open = slowly
            entering = asyncio.create_task(db.__aenter__())
            assert await asyncio.to_thread(begun.wait, PATIENCE)
            entering.cancel()
            slow.go.set()
            with pytest.raises(asyncio.CancelledError):
                await entering
            assert db._db is not None
            with pytest.raises(Closed):
                db._db.session_count()

        run(work)

    def test_exports_come_one_by_one(self, fast_path: Path) -> None:
        async def work() -> None:
            async with AsyncSessionDB(fast_path / "state.db") as db:
                for name in ("a", "b", "c"):
                    await db.create_session(name, "cli")
                found = [document["id"] async for document in db.iter_export(Filter(ids=["a", "c"]))]
                assert sorted(found) == ["a", "c"]

        run(work)

    def test_an_error_of_opening_is_the_errors_own(self, fast_path: Path) -> None:
        (fast_path / "state.db").write_bytes(b"no database" * 100)

        async def work() -> None:
            with pytest.raises(sessiondb.SessionDBError):
                async with AsyncSessionDB(fast_path / "state.db"):
                    pass

        run(work)

    def test_a_search_that_finds_nothing_brings_its_suggestion(self, fast_path: Path) -> None:
        async def work() -> None:
            async with AsyncSessionDB(fast_path / "state.db") as db:
                await db.create_session("s", "cli")
                await db.append_message("s", "user", "deployment")
                found = await db.search_messages("deploymant")
                assert found.__dict__["did_you_mean"] == "deployment"

        run(work)
