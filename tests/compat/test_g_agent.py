"""G-Agent's session classes on a store: files stay readable, everything new is stored once, nothing stale is found."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from sessiondb import Invalid
from sessiondb.compat.g_agent import Session, SessionManager, SessionSQLiteStore

KEY = "telegram:42"


@pytest.fixture
def manager(fast_path: Path) -> Iterator[SessionManager]:
    made = SessionManager(fast_path)
    yield made
    made.store.close()


@pytest.fixture
def store(manager: SessionManager) -> SessionSQLiteStore:
    return manager.store


def old_file(manager: SessionManager, key: str, *texts: str) -> None:
    manager.sessions_dir.mkdir(parents=True, exist_ok=True)
    head = {"_type": "metadata", "key": key, "created_at": "2026-01-02T03:04:05", "metadata": {"title": "old"}}
    lines = [head, *({"role": "user", "content": text, "timestamp": "2026-01-02T03:04:05"} for text in texts)]
    manager.path(key).write_text("".join(json.dumps(line) + "\n" for line in lines))


def say(manager: SessionManager, key: str, *texts: str) -> Session:
    session = manager.get_or_create(key)
    for text in texts:
        session.add_message("user", text)
    manager.save(session)
    return session


def stored(manager: SessionManager, key: str = KEY) -> list[str]:
    return [message["content"] for message in manager.store.get_history(key, 1000)]


class TestManager:
    def test_what_is_said_is_stored_once(self, manager: SessionManager) -> None:
        session = say(manager, KEY, "one")
        manager.save(session)
        say(manager, KEY, "two")
        manager.save(session)
        assert stored(manager) == ["one", "two"]

    def test_another_manager_goes_on(self, manager: SessionManager) -> None:
        say(manager, KEY, "one")
        other = SessionManager(manager.workspace, manager.store)
        assert other.get_or_create(KEY).get_history() == [{"role": "user", "content": "one"}]
        say(other, KEY, "two")
        assert stored(manager) == ["one", "two"]

    def test_without_files_the_store_is_enough(self, manager: SessionManager) -> None:
        plain = SessionManager(manager.workspace, manager.store, jsonl=False)
        say(plain, KEY, "one")
        again = SessionManager(manager.workspace, manager.store, jsonl=False)
        say(again, KEY, "two")
        assert (stored(manager), list(manager.workspace.glob("sessions/*"))) == (["one", "two"], [])

    def test_messages_put_into_the_list_by_hand_are_stored(self, manager: SessionManager) -> None:
        session = manager.get_or_create(KEY)
        session.messages.append({"role": "assistant", "content": "by hand"})
        manager.save(session)
        assert stored(manager) == ["by hand"]

    def test_history_is_the_last_messages(self, manager: SessionManager) -> None:
        session = say(manager, KEY, "one", "two", "three")
        assert [each["content"] for each in session.get_history(2)] == ["two", "three"]
        assert [each["content"] for each in manager.store.get_history(KEY, 2)] == ["two", "three"]

    def test_a_key_used_again_has_nothing_of_before(self, manager: SessionManager) -> None:
        say(manager, KEY, "needle of old")
        kept = manager.archive(KEY)
        assert kept is not None
        say(manager, KEY, "fresh")
        assert (stored(manager), manager.store.search_messages("needle")) == (["fresh"], [])
        assert "needle of old" in kept.read_text()

    def test_a_deleted_session_is_gone(self, manager: SessionManager) -> None:
        say(manager, KEY, "needle")
        assert (manager.delete(KEY), manager.delete(KEY)) == (True, False)
        assert (manager.get_or_create(KEY).messages, manager.store.search_messages("needle")) == ([], [])

    def test_a_cleared_session_starts_over(self, manager: SessionManager) -> None:
        session = say(manager, KEY, "needle")
        session.clear()
        session.add_message("user", "fresh")
        manager.save(session)
        assert (stored(manager), manager.store.search_messages("needle")) == (["fresh"], [])

    def test_keys_with_one_file_name_do_not_mix(self, manager: SessionManager) -> None:
        say(manager, "a:b", "one")
        assert manager.get_or_create("a_b").messages == []

    @pytest.mark.parametrize("key", ["../../x", "/etc/passwd", ".hidden", "a/b"])
    def test_hostile_keys_stay_in_their_directory(self, manager: SessionManager, key: str) -> None:
        assert manager.path(key).parent == manager.sessions_dir

    @pytest.mark.parametrize("key", ["", None, 5])
    def test_what_is_no_key_is_refused(self, manager: SessionManager, key: object) -> None:
        with pytest.raises(Invalid, match="session key"):
            manager.store.append_message(key, "user", "x")  # type: ignore[arg-type]

    def test_a_very_long_key_is_a_key(self, manager: SessionManager) -> None:
        manager.store.append_message("telegram:" + "x" * 400, "user", "one")
        assert stored(manager, "telegram:" + "x" * 400) == ["one"]


class TestOldFiles:
    def test_they_are_read_without_a_migration(self, manager: SessionManager) -> None:
        old_file(manager, KEY, "old")
        session = manager.get_or_create(KEY)
        assert ([each["content"] for each in session.messages], session.metadata) == (["old"], {"title": "old"})

    def test_search_finds_them_only_after_an_import(self, manager: SessionManager) -> None:
        old_file(manager, KEY, "ancient needle")
        say(manager, KEY, "new")
        assert (stored(manager), manager.store.search_messages("ancient")) == (["new"], [])
        assert (manager.import_history(), manager.import_history()) == (1, 0)
        assert stored(manager) == ["ancient needle", "new"]
        assert [hit["session_key"] for hit in manager.store.search_messages("ancient")] == [KEY]
        say(manager, KEY, "newer")
        assert stored(manager) == ["ancient needle", "new", "newer"]

    def test_damaged_lines_are_passed_over(self, manager: SessionManager) -> None:
        old_file(manager, KEY, "old")
        with manager.path(KEY).open("ab") as file:
            file.write(b"\xff not json\n[]\n5\n")
        assert [each["content"] for each in manager.get_or_create(KEY).messages] == ["old"]

    def test_all_sessions_are_listed(self, manager: SessionManager) -> None:
        old_file(manager, "cli:direct", "old")
        say(manager, KEY, "new")
        assert [row["key"] for row in manager.list_sessions()] == [KEY, "cli:direct"]


class TestStore:
    def test_the_schema_is_made_once(self, store: SessionSQLiteStore) -> None:
        store.init_schema()
        store.init_schema()
        assert store.list_sessions() == []

    def test_a_message_keeps_where_it_came_from(self, store: SessionSQLiteStore) -> None:
        store.append_message(KEY, "user", "needle", channel="telegram", chat_id="42", user_id="7", model="m")
        row = store.list_sessions()[0]
        assert (row["key"], row["channel"], row["chat_id"], row["user_id"]) == (KEY, "telegram", "42", "7")
        hit = store.search_messages("needle")[0]
        assert (hit["session_key"], hit["channel"], hit["chat_id"], hit["role"]) == (KEY, "telegram", "42", "user")

    def test_search_is_narrowed_by_channel_and_current_session(self, store: SessionSQLiteStore) -> None:
        for key in ("telegram:1", "discord:1", "telegram:2"):
            store.append_message(key, "user", "needle")
        assert {hit["session_key"] for hit in store.search_messages("needle", 10, channel="telegram")} == {
            "telegram:1", "telegram:2",
        }  # fmt: skip
        found = store.search_messages("needle", 10, exclude_session="telegram:1")
        assert {hit["session_key"] for hit in found} == {"discord:1", "telegram:2"}

    @pytest.mark.parametrize(
        "text", ["/etc/nginx/nginx.conf", "https://example.org/a?b=1", "git rebase -i HEAD~3", "sudah selesai"]
    )
    def test_paths_urls_commands_and_languages_are_found(self, store: SessionSQLiteStore, text: str) -> None:
        store.append_message(KEY, "user", f"see {text} please")
        assert len(store.search_messages(text)) == 1

    def test_sessions_are_listed_by_their_last_update(self, store: SessionSQLiteStore) -> None:
        for key in ("a:1", "b:1", "a:1"):
            store.append_message(key, "user", "x")
        assert [row["key"] for row in store.list_sessions()] == ["a:1", "b:1"]
        assert [row["key"] for row in store.list_sessions(channel="b")] == ["b:1"]

    def test_many_threads_write_at_once(self, store: SessionSQLiteStore) -> None:
        def write(name: str) -> None:
            for number in range(20):
                store.append_message(f"cli:{name}", "user", f"{name} {number}")

        store.init_schema()
        threads = [Thread(target=write, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [row["message_count"] for row in store.list_sessions()] == [20] * 4
        assert store.db.verify().ok
