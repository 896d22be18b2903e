"""The old import name: its names and values, and errors that old code catches."""

from __future__ import annotations

import inspect
import pickle
import sqlite3
from pathlib import Path

import apsw
import pytest

import sessiondb
from sessiondb import errors
from sessiondb.compat import faults, hermes_state
from sessiondb.compat.hermes_state import SCHEMA_SQL, SCHEMA_VERSION, SessionDB

ERA = {
    "create_session": "session_id source model model_config system_prompt user_id parent_session_id",
    "ensure_session": "session_id source model",
    "get_session": "session_id",
    "end_session": "session_id end_reason",
    "reopen_session": "session_id",
    "update_system_prompt": "session_id system_prompt",
    "update_token_counts": "session_id input_tokens output_tokens model cache_read_tokens cache_write_tokens "
    "reasoning_tokens estimated_cost_usd actual_cost_usd cost_status cost_source pricing_version billing_provider "
    "billing_base_url billing_mode absolute",
    "resolve_session_id": "id_or_prefix",
    "sanitize_title": "title",
    "set_session_title": "session_id title",
    "get_session_title": "session_id",
    "get_session_by_title": "title",
    "resolve_session_by_title": "title",
    "get_next_title_in_lineage": "base_title",
    "list_sessions_rich": "source exclude_sources limit offset include_children project_compression_tips",
    "get_compression_tip": "session_id",
    "append_message": "session_id role content tool_name tool_calls tool_call_id token_count finish_reason reasoning "
    "reasoning_details codex_reasoning_items",
    "get_messages": "session_id",
    "get_messages_as_conversation": "session_id",
    "resolve_resume_session_id": "session_id",
    "search_messages": "query source_filter exclude_sources role_filter limit offset",
    "search_sessions": "source limit offset",
    "session_count": "source",
    "message_count": "session_id",
    "export_session": "session_id",
    "export_all": "source",
    "clear_messages": "session_id",
    "delete_session": "session_id",
    "prune_sessions": "older_than_days source",
    "close": "",
}


def positional(method: object) -> str:
    parameters = inspect.signature(method).parameters.values()  # type: ignore[arg-type]
    return " ".join(each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD and each.name != "self")


class TestNames:
    @pytest.mark.parametrize("name", ERA)
    def test_every_method_of_the_era_takes_its_parameters_in_order(self, name: str) -> None:
        assert positional(getattr(SessionDB, name)) == ERA[name]

    def test_class_attributes_have_their_values(self) -> None:
        assert SessionDB.MAX_TITLE_LENGTH == 100
        assert (SessionDB._WRITE_MAX_RETRIES, SessionDB._CHECKPOINT_EVERY_N_WRITES) == (15, 50)
        assert (SessionDB._WRITE_RETRY_MIN_S, SessionDB._WRITE_RETRY_MAX_S) == (0.020, 0.150)

    def test_schema_text_builds_a_store_of_version_6(self) -> None:
        memory = apsw.Connection(":memory:")
        memory.execute(SCHEMA_SQL)
        memory.execute(SCHEMA_SQL)
        tables = {name for (name,) in memory.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        assert SCHEMA_VERSION == 6
        assert {"sessions", "messages", "messages_fts", "schema_version"} <= tables
        memory.close()

    def test_path_is_a_path_as_it_was_given(self, path: Path) -> None:
        with SessionDB(str(path)) as db:
            assert db.db_path == path

    def test_default_path_can_be_replaced(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(hermes_state, "DEFAULT_DB_PATH", path)
        with SessionDB() as db:
            assert db.db_path == path

    def test_it_is_the_same_store_as_ours(self, db: SessionDB, path: Path) -> None:
        db.create_session("s", "cli")
        with sessiondb.open(path) as ours:
            assert ours.get_session("s") == db.get_session("s")
        assert isinstance(db, sessiondb.SessionDB)


class TestQueryCleaning:
    @pytest.mark.parametrize(
        ("query", "cleaned"),
        [
            ("hello world", "hello world"),
            ("hello AND", "hello"),
            ("OR world", "world"),
            ("not this or", "this"),
            ("a AND b", "a AND b"),
            ("AND", ""),
            ("***", ""),
            ("deploy*", "deploy*"),
            ("deploy***", "deploy*"),
            ("*deploy", "deploy"),
            ("chat-send", '"chat-send"'),
            ("chat-send*", '"chat-send"*'),
            ("my-app.config.ts", '"my-app.config.ts"'),
            ('"chat-send" now', '"chat-send" now'),
            ('"exact phrase"', '"exact phrase"'),
            ('"an AND"', '"an AND"'),
            ("C++", "C"),
            ('hello "world', "hello world"),
            ('"', ""),
            ("TODO: fix", "TODO fix"),
            ("{a} (b) ^c", "a b c"),
            ("", ""),
        ],
    )
    def test_cleaned(self, query: str, cleaned: str) -> None:
        assert SessionDB._sanitize_fts5_query(query) == cleaned

    @pytest.mark.parametrize("query", ["hello AND", "*x", "chat-send", 'C++ "x y" z*', "deploy* OR b.c", "TODO: fix"])
    def test_cleaned_queries_are_understood_by_fts5(self, query: str) -> None:
        memory = apsw.Connection(":memory:")
        memory.execute("CREATE VIRTUAL TABLE t USING fts5 (content)")
        cleaned = SessionDB._sanitize_fts5_query(query)
        assert memory.execute("SELECT * FROM t WHERE t MATCH ?", (cleaned,)).fetchall() == []
        memory.close()

    @pytest.mark.parametrize("text", ["設定", "ひらがな", "カタカナ", "한국어", "mixed 字 text", "。", "\U00020000"])
    def test_cjk_is_seen(self, text: str) -> None:
        assert SessionDB._contains_cjk(text)

    @pytest.mark.parametrize("text", ["", "hello", "Привет", "ünï", "🚀", "ไทย"])
    def test_other_scripts_are_not_cjk(self, text: str) -> None:
        assert not SessionDB._contains_cjk(text)


class TestOldFiles:
    @pytest.fixture
    def old(self, path: Path) -> Path:
        connection = apsw.Connection(str(path), vfs="unix")
        connection.execute(SCHEMA_SQL)
        connection.execute("INSERT INTO schema_version VALUES (6)")
        connection.execute("INSERT INTO sessions (id, source, started_at) VALUES ('old', 'cli', 1.0)")
        connection.execute(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('old', 'user', 'hi', 2.0)"
        )
        connection.close()
        return path

    def test_file_of_the_original_is_refused_untouched_naming_both_ways(self, old: Path) -> None:
        before = old.read_bytes()
        with pytest.raises(sessiondb.SchemaOutdated, match=r"upgrade=True.*sessiondb import"):
            SessionDB(old)
        assert old.read_bytes() == before

    def test_upgrade_takes_it_over(self, old: Path) -> None:
        with SessionDB(old, upgrade=True) as db:
            assert [row["content"] for row in db.get_messages("old")] == ["hi"]
        with SessionDB(old) as db:
            assert db.search_messages("hi")[0]["session_id"] == "old"

    @pytest.mark.parametrize("prepare", [lambda path: None, Path.touch])
    def test_missing_and_empty_files_become_stores(self, prepare: object, path: Path) -> None:
        prepare(path)  # type: ignore[operator]
        with SessionDB(path) as db:
            assert db.session_count() == 0

    def test_read_only_reads(self, db: SessionDB, path: Path) -> None:
        db.create_session("s", "cli")
        with SessionDB(path, read_only=True) as reader:
            assert reader.session_count() == 1
            with pytest.raises(sqlite3.OperationalError, match="read-only"):
                reader.create_session("t", "cli")


class TestErrors:
    def test_unknown_session_is_an_integrity_error(self, db: SessionDB) -> None:
        with pytest.raises(sqlite3.IntegrityError, match="'nobody'") as caught:
            db.append_message("nobody", "user", "hello")
        assert isinstance(caught.value, errors.NotFound)
        assert type(caught.value.__cause__) is errors.NotFound

    def test_unknown_parent_is_an_integrity_error(self, db: SessionDB) -> None:
        with pytest.raises(sqlite3.IntegrityError):
            db.create_session("s", "cli", parent_session_id="nobody")

    def test_taken_title_stays_a_value_error(self, db: SessionDB) -> None:
        for name in ("a", "b"):
            db.create_session(name, "cli")
        db.set_session_title("a", "taken")
        with pytest.raises(ValueError, match="taken") as caught:
            db.set_session_title("b", "taken")
        assert not isinstance(caught.value, sqlite3.Error)

    def test_too_long_title_stays_a_value_error(self) -> None:
        with pytest.raises(ValueError, match="101"):
            SessionDB.sanitize_title("x" * 101)

    def test_use_after_close_is_what_it_was_and_says_so(self, db: SessionDB) -> None:
        db.close()
        db.close()
        with pytest.raises(AttributeError, match="closed") as caught:
            db.session_count()
        assert isinstance(caught.value, errors.Closed)
        assert isinstance(caught.value, sqlite3.ProgrammingError)

    def test_streams_raise_the_same_errors(self, db: SessionDB) -> None:
        stream = db.iter_export()
        db.close()
        with pytest.raises(sqlite3.ProgrammingError):
            next(stream)

    def test_busy_store_is_an_operational_error(self, db: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
        def busy(*args: object, **kwargs: object) -> None:
            raise errors.Busy("in use")

        monkeypatch.setattr(db.provider, "create_session", busy)
        with pytest.raises(sqlite3.OperationalError, match="in use") as caught:
            db.ensure_session("s")
        assert isinstance(caught.value, errors.Busy)

    def test_text_file_is_a_database_error(self, path: Path) -> None:
        path.write_text("this is no database, only text of some length\n" * 50)
        with pytest.raises(sqlite3.DatabaseError) as caught:
            SessionDB(path)
        assert isinstance(caught.value, errors.Corrupt)

    def test_directory_is_an_operational_error(self, tmp_path: Path) -> None:
        with pytest.raises(sqlite3.OperationalError, match="is a directory"):
            SessionDB(tmp_path)

    def test_missing_file_cannot_be_read_only(self, path: Path) -> None:
        with pytest.raises(sqlite3.OperationalError, match="no store at"):
            SessionDB(path, read_only=True)

    def test_our_own_class_raises_plain_errors(self, path: Path) -> None:
        with sessiondb.open(path) as ours, pytest.raises(errors.NotFound) as caught:
            ours.append_message("nobody", "user", "hello")
        assert not isinstance(caught.value, sqlite3.Error)

    @pytest.mark.parametrize("twin", faults.OPENING.values())
    def test_errors_travel_between_processes(self, twin: type[errors.SessionDBError]) -> None:
        copy = pickle.loads(pickle.dumps(twin("a sentence")))
        assert (type(copy), str(copy)) == (twin, "a sentence")

    def test_every_error_of_a_store_on_sqlite_has_a_twin(self) -> None:
        all_kinds = {kind for kind in vars(errors).values() if isinstance(kind, type)}
        were_value_errors = {errors.Invalid, errors.TitleTaken}
        never_raised_here = {errors.ConnectionLost, errors.ImportProblem, errors.MissingExtra, errors.SchemaError}
        assert all_kinds - faults.TWINS.keys() == were_value_errors | never_raised_here

    @pytest.mark.parametrize(("kind", "twin"), faults.OPENING.items())
    def test_twins_are_both(self, kind: type[Exception], twin: type[Exception]) -> None:
        assert issubclass(twin, kind)
        assert issubclass(twin, sqlite3.Error)
