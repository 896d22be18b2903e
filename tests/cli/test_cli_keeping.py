"""tag, pin, archive, undelete, tree: what they change and show."""

from __future__ import annotations

import json

import pytest


def test_tags_come_and_go(run, session) -> None:
    session("a", "hello", title="my work")
    assert run("tag", "my work", "work", "urgent").out == "a: urgent, work\n"
    assert run("tag", "a", "--remove", "urgent").out == "a: work\n"
    assert run("tag", "latest").out == "a: work\n"
    assert json.loads(run("tag", "a", "--remove", "work", "--json").out)["tags"] == []
    assert run("tag", "a", "x" * 65).code == 2


def test_a_title_of_several_words_needs_no_quotes_before_other_words(run, session, db) -> None:
    session("a", "hello", title="my work")
    session("b", "hello", title="my work at home")
    assert run("tag", "my", "work", "urgent").out == "a: urgent\n"
    assert run("tag", "my", "work", "at", "home").out == "b: no tags\n"
    assert run("rename", "my", "work", "new", "name").out == "a is now 'new name'.\n"
    assert run("rename", "my", "work", "new").code == 3
    done = run("tag", "my", "wok", "urgent")
    assert (done.code, "'my'" in done.err) == (3, True)


def test_a_pinned_session_is_not_pruned_until_it_is_let_go(run, session, db) -> None:
    session("a", "hello", started_at=1_000_000.0)
    db.end_session("a", "done")
    assert run("pin", "a").out == "a: pinned, and never pruned.\n"
    assert run("prune", "--yes").out.startswith("Moved 0 sessions")
    assert run("pin", "a", "--undo").out == "a: no longer pinned.\n"
    assert run("prune", "--yes").out.startswith("Moved 1 session ")


def test_an_archived_session_leaves_the_list_and_comes_back(run, session) -> None:
    session("a", "hello")
    assert run("archive", "a").out == "a: archived; `list --archived` shows it.\n"
    assert run("list").out == "No sessions yet.\n"
    assert "a · cli" in run("search", "hello").out
    assert run("archive", "a", "--undo").out == "a: in lists again.\n"
    assert run("list").lines[-1].endswith(" a")


class TestUndelete:
    @pytest.mark.parametrize("name", ["abc", "ab", "work", "latest", "-1"])
    def test_it_comes_back_as_it_was(self, run, session, db, name: str) -> None:
        session("abc", "hello", "world", title="work")
        db.delete_session("abc")
        assert run("undelete", name).out == "abc is back: work.\n"
        assert len(db.get_messages("abc")) == 2

    def test_several_come_back_at_once(self, run, session, db) -> None:
        for name in ("abc", "abd", "x"):
            session(name, "hello")
        session("y", "hello", title="long ago")
        for name in ("abc", "abd", "x", "y"):
            db.delete_session(name)
        assert run("undelete", "long", "ago").out == "y is back: long ago.\n"
        assert run("undelete", "-1", "abd").out == "x is back.\nabd is back.\n"
        assert run("undelete", "abc", "nothing").code == 3
        assert json.loads(run("undelete", "abc", "--json").out)["sessions"] == [{"id": "abc", "title": None}]

    def test_one_id_is_not_for_several(self, run, session, db) -> None:
        for name in ("a", "b"):
            session(name, "hello")
            db.delete_session(name)
        assert run("undelete", "a", "b", "--as", "c").code == 2

    def test_an_id_or_title_in_use_is_a_conflict_with_a_way_out(self, run, session, db) -> None:
        session("a", "old", title="work")
        db.delete_session("a")
        session("a", "new", title="work")
        assert run("undelete", "a").code == 4
        done = run("undelete", "a", "--as", "a2", "--new-title")
        assert done.out == "a2 is back: work #2.\n"

    def test_what_is_not_there_is_not_found(self, run, session) -> None:
        session("a", "hello")
        done = run("undelete", "a")
        assert (done.code, "`sessiondb list --trash`" in done.err) == (3, True)


class TestTree:
    def test_the_whole_family_is_drawn(self, run, session, db) -> None:
        session("a", "hello", title="work")
        db.rotate_session("a", new_id="a2")
        db.create_session("helper", "cli", parent_session_id="a2")
        db.fork_session("a", new_id="fork")
        assert run("tree", "fork").lines == [
            "work · a · just now · 1 message",
            "├─ compression: work #2 · a2 · just now · 0 messages",
            "│  └─ subagent: helper · just now · 0 messages",
            "└─ fork: fork · just now · 1 message ←",
        ]

    def test_as_json(self, run, session, db) -> None:
        session("a", "hello")
        db.fork_session("a", new_id="b")
        document = json.loads(run("tree", "b", "--json").out)
        assert (document["root"], [row["id"] for row in document["sessions"]]) == ("a", ["a", "b"])

    def test_a_long_chain_is_no_trouble(self, run, session, db) -> None:
        session("s0", "hello", title="work")
        for number in range(300):
            db.rotate_session(f"s{number}", new_id=f"s{number + 1}")
        assert len(run("tree", "s300").lines) == 301


def test_the_index_of_a_store_without_files_is_made_up_too(run) -> None:
    done = run("--db", "memory://", "optimize", "--reindex")
    assert (done.code, done.out) == (0, "The search index is up to date.\n")
    assert run("--db", "memory://", "optimize").code != 0
