"""A state machine that calls a provider and the memory provider alike, at random, and compares."""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from ..backends.memory import MemoryProvider
from ..bindings import Binding, Handover
from ..db import SessionDB
from ..drafts import draft
from ..models import Filter, SearchHit
from ..provider import SessionDBProvider
from .clock import FakeClock
from .twins import Call, Twins, nth_message, positions_of

# The same sequences in every run: a test that fails by chance proves nothing.
SETTINGS = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=40,
    stateful_step_count=40,
    suppress_health_check=list(HealthCheck),
    print_blob=False,
    report_multiple_bugs=False,
)

NAMES = ("a", "b", "c", "A", "a ")
ids = st.sampled_from(NAMES)
texts = st.sampled_from(["needle", "hay stack", "", "a\x00b", "\ud800", "漢字", "x" * 300, "it's /etc/hosts"])
title_texts = st.sampled_from(["deploy", "Deploy", "deploy #2", "deploy #9", "x" * 100, "", " two  words "])
relations = st.sampled_from([None, None, "root", "fork", "compression", "subagent"])
sources = st.sampled_from(["cli", "web", "cron"])
keys = st.sampled_from([None, None, "k1", "k2", ""])
numbers = st.integers(0, 7)
calls = st.sampled_from([None, [{"id": "c1", "name": "shell", "input": {"cmd": "ls"}}], [{"id": "c2"}, {"id": "c1"}]])
contents = st.one_of(texts, texts, st.just([{"type": "text", "text": "needle"}]), st.none())
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool"]), "content": contents},
    optional={
        "message_key": keys,
        "tool_calls": calls,
        "tool_call_id": st.sampled_from(["c1", "c2"]),
        "timestamp": st.sampled_from([0.0, 1.5, 1_750_000_100.25]),
        "injected": st.booleans(),
        "metadata": st.sampled_from([None, {"a": [1]}]),
        "media_refs": st.just([{"kind": "image", "path": "x.png"}]),
    },
)
batches = st.lists(messages, max_size=4)


class Machine(RuleBasedStateMachine):
    """Subclassed by `compare_with_memory`, which says how to open the subject."""

    open_subject: Callable[[], SessionDBProvider]

    @initialize()
    def open(self) -> None:
        self.clock = FakeClock()
        oracle = MemoryProvider()
        oracle.initialize()
        subject = type(self).open_subject()
        self.twins = Twins(SessionDB(provider=subject, clock=self.clock), SessionDB(provider=oracle, clock=self.clock))
        self.agree = self.twins.agree
        for name in NAMES[:2]:
            self.begin(name)

    def begin(self, name: str) -> None:
        self.agree(lambda db: db.create_session(name, "cli"))

    def teardown(self) -> None:
        if hasattr(self, "twins"):
            with self.twins.subject, self.twins.oracle:
                self.twins.agree_on_everything()

    @invariant()
    def the_lists_agree(self) -> None:
        self.agree(lambda db: db.list_sessions_rich(include_children=True, where=Filter()))
        self.agree(lambda db: (db.message_count(), db.session_count(), [row["id"] for row in db.list_trash()]))

    @rule(seconds=st.sampled_from([1.0, 86_400.0, -7_200.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.move(seconds)

    # --- sessions ---

    @rule(name=ids, source=sources, parent=st.one_of(st.none(), ids), relation=relations)
    def create(self, name: str, source: str, parent: str | None, relation: str | None) -> None:
        self.agree(lambda db: db.create_session(name, source, "m1", parent_session_id=parent, relation=relation))

    @rule(name=ids, reason=st.sampled_from(["user_exit", "compression", "branched", "session_reset"]))
    def end(self, name: str, reason: str) -> None:
        self.agree(lambda db: db.end_session(name, reason))

    @rule(name=ids)
    def reopen(self, name: str) -> None:
        self.agree(lambda db: db.reopen_session(name))

    @rule(name=ids, cwd=st.sampled_from([None, "/a", "/a/b"]), metadata=st.sampled_from([None, {}, {"x": 1}]))
    def describe(self, name: str, cwd: str | None, metadata: dict[str, Any] | None) -> None:
        self.agree(lambda db: db.update_session(name, cwd=cwd, metadata=metadata))

    @rule(name=ids, count=numbers, cost=st.sampled_from([None, 0.0, 0.5]), absolute=st.booleans(), model=keys)
    def use(self, name: str, count: int, cost: float | None, absolute: bool, model: str | None) -> None:
        self.agree(
            lambda db: db.update_token_counts(
                name,
                count,
                count,
                model,
                estimated_cost_usd=cost,
                cost_status=model,
                billing_mode=model,
                absolute=absolute,
            )
        )

    @rule(name=ids, on=st.booleans())
    def shelve(self, name: str, on: bool) -> None:
        self.agree(lambda db: db.archive_session(name, on))
        self.agree(lambda db: db.pin_session(name, on))

    @rule(name=ids, add=st.sampled_from(["x", "y"]), remove=st.sampled_from(["x", "y"]))
    def tag(self, name: str, add: str, remove: str) -> None:
        self.agree(lambda db: db.untag_session(name, remove))
        self.agree(lambda db: db.tag_session(name, add))

    @rule(name=ids, title=title_texts)
    def rename(self, name: str, title: str) -> None:
        self.agree(lambda db: db.set_session_title(name, title))

    @rule(name=ids, title=title_texts)
    def name_it(self, name: str, title: str) -> None:
        self.agree(lambda db: db.set_auto_title_if_empty(name, title))

    # --- messages ---

    @rule(name=ids, batch=batches, expected=st.one_of(st.none(), numbers))
    def append(self, name: str, batch: list[dict[str, Any]], expected: int | None) -> None:
        self.agree(lambda db: positions_of(db, db.append_messages(name, batch, expected_seq=expected)))

    @rule(name=ids, message=messages)
    def say(self, name: str, message: dict[str, Any]) -> None:
        self.agree(lambda db: positions_of(db, [db.append_message(name, **message)]))

    @rule(name=ids, batch=batches)
    def replace(self, name: str, batch: list[dict[str, Any]]) -> None:
        self.agree(lambda db: positions_of(db, db.replace_messages(name, batch)))

    @rule(name=ids)
    def clear(self, name: str) -> None:
        self.agree(lambda db: db.clear_messages(name))

    @rule(name=ids, number=numbers)
    def rewind(self, name: str, number: int) -> None:
        self.agree(lambda db: db.rewind_to_message(name, nth_message(db, name, number)))

    @rule(name=ids)
    def unwind(self, name: str) -> None:
        self.agree(lambda db: db.restore_rewound(name))

    # --- lineage ---

    @rule(name=ids, new_id=ids)
    def rotate(self, name: str, new_id: str) -> None:
        self.agree(lambda db: db.rotate_session(name, new_id=new_id))

    @rule(name=ids, new_id=ids, number=st.one_of(st.none(), numbers))
    def fork(self, name: str, new_id: str, number: int | None) -> None:
        def forked(db: SessionDB) -> str:
            return db.fork_session(
                name, new_id=new_id, at_message=None if number is None else nth_message(db, name, number)
            )

        self.agree(forked)

    # --- deletion and transfer ---

    @rule(name=ids, hard=st.sampled_from([False, False, True]))
    def delete(self, name: str, hard: bool) -> None:
        self.agree(lambda db: db.delete_session(name, hard=hard))

    @rule(days=st.sampled_from([0, 1, 90]))
    def prune(self, days: int) -> None:
        self.agree(lambda db: db.prune_sessions(days))

    @rule(name=ids, new_id=st.one_of(st.none(), ids), new_title=st.booleans())
    def restore(self, name: str, new_id: str | None, new_title: bool) -> None:
        self.agree(lambda db: db.restore_deleted(name, new_id=new_id, new_title=new_title))

    @rule(days=st.sampled_from([0, 30]))
    def empty_trash(self, days: int) -> None:
        self.agree(lambda db: db.empty_trash(days))

    @rule(names=st.lists(ids, max_size=3, unique=True))
    def move_away_and_back(self, names: list[str]) -> None:
        def moved(db: SessionDB) -> Any:
            documents = list(db.iter_export(Filter(ids=names)))
            db.provider.delete_sessions(Filter(ids=names), deleted_at=1.0, hard=True)
            report = db.import_sessions(documents)
            return report.imported, report.skipped, report.failed, report.notes

        self.agree(moved)

    @rule(key=ids, value=st.one_of(st.none(), texts))
    def note(self, key: str, value: str | None) -> None:
        self.agree(lambda db: db.set_meta(key, value))
        self.agree(lambda db: db.get_meta(key))

    # --- bindings ---

    @rule(key=ids, name=st.one_of(st.none(), ids), rev=numbers, left=ids, end=ids, batch=batches, begin=st.booleans())
    def bind(
        self, key: str, name: str | None, rev: int, left: str, end: str, batch: list[dict[str, Any]], begin: bool
    ) -> None:
        def swapped(db: SessionDB) -> Any:
            known = db.provider.get_binding(key)
            # Sometimes somebody was faster.
            old = None if rev == 0 else known
            new = Binding(key, "telegram", "dm", "1", None, None, name, f'{{"rev":{rev}}}', 1.0, 1.0)
            drafts = [draft(each, 1.0, 10_000) for each in batch]
            last_words = [draft(each, 1.0, 10_000) for each in batch[:1]]
            created = {"id": name, "source": "telegram", "started_at": 2.0} if begin and name else None
            handover = Handover((left, last_words) if rev > 4 else None, (end, "reset", 3.0), None, created, drafts)
            return db.provider.swap_binding(old, new, handover), db.provider.list_bindings()

        if self.twins.subject.features.bindings:
            self.agree(swapped)

    # --- questions ---

    @rule(name=ids, after=st.one_of(st.none(), numbers), limit=st.one_of(st.none(), numbers), newest=st.booleans())
    def read(self, name: str, after: int | None, limit: int | None, newest: bool) -> None:
        self.agree(lambda db: db.get_messages(name, after=after, limit=limit, newest=newest, include_inactive=newest))
        self.agree(lambda db: db.get_messages_as_conversation(name, repair=newest))

    @rule(name=ids)
    def ask_for_relatives(self, name: str) -> None:
        questions: list[Call] = [
            lambda db: db.ancestors(name),
            lambda db: db.descendants(name),
            lambda db: (db.get_compression_tip(name), db.resolve_resume_session_id(name)),
        ]
        for question in questions:
            self.agree(question)

    @rule(title=title_texts)
    def ask_for_titles(self, title: str) -> None:
        self.agree(lambda db: (db.resolve_session_by_title(title), db.get_next_title_in_lineage(title)))

    @rule(
        sources=st.one_of(st.none(), st.lists(sources, max_size=2)),
        tags=st.lists(st.sampled_from(["x", "y"]), max_size=2),
        cwd=st.sampled_from([None, "/a"]),
        ended=st.sampled_from([None, True, False]),
        order=st.sampled_from(["started", "activity"]),
        children=st.booleans(),
        tips=st.booleans(),
        offset=st.integers(0, 2),
    )
    def list_some(
        self,
        sources: list[str] | None,
        tags: list[str],
        cwd: str | None,
        ended: bool | None,
        order: str,
        children: bool,
        tips: bool,
        offset: int,
    ) -> None:
        where = Filter(sources=sources, tags=tags, cwd=cwd, ended=ended)
        self.agree(lambda db: db.list_sessions_rich(None, None, 3, offset, children, tips, order_by=order, where=where))
        self.agree(lambda db: db.session_count(where=where))

    @rule(
        query=st.sampled_from(["needle", "hay stack", "needle OR hay", "hosts", "漢字", "shell", "absent"]),
        order=st.sampled_from(["newest", "oldest"]),
        offset=st.integers(0, 1),
    )
    def search(self, query: str, order: str, offset: int) -> None:
        if order == "relevance":
            # What matches is a law; how well is each index's own estimate.
            self.agree(lambda db: _unscored(sorted(db.search_messages(query, limit=1000), key=itemgetter("id"))))
        else:
            self.agree(lambda db: _unscored(db.search_messages(query, limit=3, offset=offset, order=order)))


def _unscored(hits: list[SearchHit]) -> list[dict[str, Any]]:
    return [{name: value for name, value in hit.items() if name != "score"} for hit in hits]


def compare_with_memory(
    provider: type[SessionDBProvider], new_store: Callable[[], dict[str, Any]], config: settings = SETTINGS
) -> None:
    """Run random sequences of calls on stores of `provider` and on memory; they must not differ."""

    def open_subject() -> SessionDBProvider:
        subject = provider()
        subject.initialize(**new_store())
        return subject

    machine = type("Comparison", (Machine,), {"open_subject": staticmethod(open_subject)})
    run_state_machine_as_test(machine, settings=config)
