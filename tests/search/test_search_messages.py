"""`search_messages` beyond words: filters, titles, other ways to search, and what the answer knows about itself."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sessiondb
from sessiondb import SessionDB, errors
from sessiondb.backends.memory import MemoryProvider
from sessiondb.provider import Features
from sessiondb.search import modes, near
from sessiondb.search.query import parse


@pytest.fixture(params=["memory", "sqlite"])
def db(request: pytest.FixtureRequest, fast_path: Path) -> Iterator[SessionDB]:
    url = "memory://" if request.param == "memory" else f"sqlite:///{fast_path}/state.db"
    with sessiondb.open(url) as db:
        yield db


def say(db: SessionDB, session_id: str, *texts: str, **fields: Any) -> None:
    db.create_session(session_id, fields.pop("source", "cli"), **fields)
    db.append_messages(session_id, [{"role": "user", "content": text} for text in texts])


def sessions(hits: list[Any]) -> list[str]:
    return [hit["session_id"] for hit in hits]


class TestFilters:
    @pytest.fixture(autouse=True)
    def told(self, db: SessionDB) -> None:
        for name, fields in (("a", {"user_id": "ada"}), ("b", {"chat_id": "c9"}), ("c", {})):
            db.create_session(name, "cli", **fields)
            db.append_message(name, "user", "needle", timestamp=100.0 + ord(name))
        db.tag_session("c", "work")

    @pytest.mark.parametrize(
        ("wishes", "expected"),
        [
            ({"user_id": "ada"}, "a"),
            ({"chat_id": "c9"}, "b"),
            ({"tags": ["work"]}, "c"),
            ({"since": 100.0 + ord("b")}, "bc"),
            ({"until": 100.0 + ord("b")}, "a"),
            ({"since": 100.0 + ord("b"), "until": 100.0 + ord("c")}, "b"),
            ({"user_id": "ada", "tags": ["work"]}, ""),
            ({"where": sessiondb.Filter(user_id="ada"), "session_id": "a"}, "a"),
            ({"where": sessiondb.Filter(user_id="ada"), "session_id": "b"}, ""),
        ],
    )
    def test_a_wish_narrows(self, db: SessionDB, wishes: dict[str, Any], expected: str) -> None:
        found = db.search_messages("needle", **wishes)
        assert (sorted(sessions(found)), found.total) == (list(expected), len(expected))

    def test_a_time_that_is_none_is_refused(self, db: SessionDB) -> None:
        with pytest.raises(errors.Invalid, match="since"):
            db.search_messages("needle", since="yesterday")  # type: ignore[arg-type]


class TestTitles:
    @pytest.fixture(autouse=True)
    def told(self, db: SessionDB) -> None:
        for name, title in (("a", "Deploy the gateway"), ("b", "Café du Monde"), ("c", "getUserName"), ("d", None)):
            say(db, name, "some words", "more words")
            if title:
                db.set_session_title(name, title)
        say(db, "e", "we deploy on Friday")

    @pytest.mark.parametrize(
        ("box", "expected"),
        [
            ("deploy", ["a", "e"]),
            ("deploy gateway", ["a"]),
            ('"the gateway"', ["a"]),
            ("cafe", ["b"]),
            ("user", ["c"]),
            ("gate*", ["a"]),
            ("deploy -gateway", ["e"]),
            ("deploy source:web", []),
            ("gateway OR monde", ["b", "a"]),
        ],
    )
    def test_sessions_whose_title_matches_come_first(self, db: SessionDB, box: str, expected: list[str]) -> None:
        assert sessions(db.search_messages(box)) == expected

    def test_a_title_hit_is_marked_and_points_to_the_first_message(self, db: SessionDB) -> None:
        hit, other = db.search_messages("deploy")
        first = db.get_messages("a")[0]["id"]
        assert (hit["matched"], hit["role"], hit["id"], hit["title"]) == ("title", "title", first, "Deploy the gateway")
        assert hit["snippet"] == ">>>Deploy<<< the gateway"
        assert [line["content"] for line in hit["context"]] == ["some words", "more words"]
        assert other["matched"] == "message"

    def test_a_session_without_messages_is_found_by_its_title(self, db: SessionDB) -> None:
        db.create_session("empty", "cli")
        db.set_session_title("empty", "Nothing yet")
        assert [(hit["session_id"], hit["id"]) for hit in db.search_messages("nothing")] == [("empty", 0)]

    def test_pages_go_through_titles_and_messages(self, db: SessionDB) -> None:
        say(db, "f", "deploy again")
        db.set_session_title("f", "deploy twice")
        whole = [(hit["matched"], hit["id"]) for hit in db.search_messages("deploy")]
        pages = [db.search_messages("deploy", limit=1, offset=offset) for offset in range(5)]
        assert [(hit["matched"], hit["id"]) for page in pages for hit in page] == whole
        assert [page.total for page in pages] == [4] * 5

    def test_roles_and_orders_by_time_leave_titles_out(self, db: SessionDB) -> None:
        assert sessions(db.search_messages("deploy", role_filter=["user"])) == ["e"]
        assert sessions(db.search_messages("deploy", order="newest")) == ["e"]

    def test_a_time_filter_holds_for_the_sessions_activity(self, db: SessionDB) -> None:
        assert sessions(db.search_messages("gateway", until=5.0)) == []
        assert sessions(db.search_messages("gateway", since=5.0)) == ["a"]


class TestOtherModes:
    @pytest.fixture(autouse=True)
    def told(self, db: SessionDB) -> None:
        say(db, "a", "the serialSessionToken is here", "connect to postgresql", "100% of it", "Straße und Öl")
        call = {"id": "c1", "function": {"name": "read_file", "arguments": '{"path": "/srv/app.py"}'}}
        db.append_message("a", "assistant", None, tool_calls=[call])

    def found(self, db: SessionDB, pattern: str, mode: str) -> list[str]:
        return [hit["snippet"] for hit in db.search_messages(pattern, mode=mode)]

    @pytest.mark.parametrize(
        ("mode", "pattern", "expected"),
        [
            ("substring", "SESSIONTOK", ["the serial>>>SessionTok<<<en is here"]),
            ("substring", "0% o", ["10>>>0% o<<<f it"]),
            ("substring", "ÖL", ["Straße und >>>Öl<<<"]),
            ("substring", "/srv/app", ["\nread_file\npath\n>>>/srv/app<<<.py"]),
            ("substring", "absent", []),
            ("substring", " ", []),
            ("fuzzy", "postgersql", ["connect to >>>postgresql<<<"]),
            ("fuzzy", "conect postgresqll", [">>>connect<<< to >>>postgresql<<<"]),
            ("fuzzy", "mysql", []),
            ("fuzzy", "***", []),
            ("regex", r"post\w+l\b", ["connect to >>>postgresql<<<"]),
            ("regex", r"^\d+%", [">>>100%<<< of it"]),
            ("regex", r"(?-i:CONNECT)", []),
        ],
    )
    def test_a_pattern_is_found_and_marked(self, db: SessionDB, mode: str, pattern: str, expected: list[str]) -> None:
        assert self.found(db, pattern, mode) == expected

    def test_newest_first_or_oldest_first_page_by_page(self, db: SessionDB) -> None:
        say(db, "b", "token", "tokens")
        newest = [hit["id"] for hit in db.search_messages("token", mode="substring", order="newest")]
        assert newest == sorted(newest, reverse=True)
        oldest = [hit["id"] for hit in db.search_messages("token", mode="substring", order="oldest", limit=2, offset=1)]
        assert oldest == newest[::-1][1:]

    @pytest.mark.parametrize("mode", ["substring", "fuzzy", "regex"])
    def test_people_come_before_machines(self, db: SessionDB, mode: str) -> None:
        for number in range(3):
            say(db, f"person{number}", "many tokens")
            say(db, f"machine{number}", "many tokens", source="cron")
        wanted = ["person2", "person1", "person0", "machine2", "machine1", "machine0"]
        assert sessions(db.search_messages("tokens", mode=mode)) == wanted
        pages = [db.search_messages("tokens", mode=mode, limit=2, offset=offset) for offset in range(0, 7, 2)]
        assert [sessions(page) for page in pages] == [wanted[:2], wanted[2:4], wanted[4:], []]
        by_age = sessions(db.search_messages("tokens", mode=mode, order="newest"))
        assert by_age == ["machine2", "person2", "machine1", "person1", "machine0", "person0"]

    @pytest.mark.parametrize("mode", ["substring", "fuzzy", "regex"])
    def test_of_no_hits_none_are_given(self, db: SessionDB, mode: str) -> None:
        say(db, "b", "token")
        assert [list(db.search_messages("token", mode=mode, limit=0, offset=offset)) for offset in (0, 1)] == [[], []]

    def test_filters_hold(self, db: SessionDB) -> None:
        say(db, "b", "token", source="web")
        assert sessions(db.search_messages("token", mode="substring", source_filter=["web"])) == ["b"]

    def test_an_unknown_mode_is_refused(self, db: SessionDB) -> None:
        with pytest.raises(errors.Invalid, match="use one of words, substring, fuzzy, regex"):
            db.search_messages("x", mode="glob")

    def test_a_broken_expression_is_refused(self, db: SessionDB) -> None:
        with pytest.raises(errors.Invalid, match="broken"):
            db.search_messages("(", mode="regex")

    def test_a_deadline_must_be_positive(self, db: SessionDB) -> None:
        with pytest.raises(errors.Invalid, match="deadline"):
            db.search_messages("x", mode="substring", deadline=0)

    def test_the_deadline_stops_an_expression_that_would_never_end(self, db: SessionDB) -> None:
        say(db, "b", "a" * 200 + "!")
        begun = time.monotonic()
        found = db.search_messages(r"(?:a|aa)+$", mode="regex", deadline=0.1)
        assert time.monotonic() - begun < 2.0
        assert (list(found), len(found.notices)) == ([], 1)

    @pytest.mark.parametrize("mode", ["substring", "fuzzy", "regex"])
    def test_the_deadline_stops_a_long_scan(self, db: SessionDB, mode: str) -> None:
        say(db, "b", *["many words " * 100] * 200)
        found = db.search_messages("absent", mode=mode, deadline=0.0001)
        assert (list(found), found.notices[0][:23]) == ([], "stopped after 0.0001 s:")

    def test_without_the_package_it_says_what_to_install(self, db: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
        def missing(name: str) -> None:
            raise ImportError(name)

        monkeypatch.setattr(modes, "import_module", missing)
        with pytest.raises(errors.MissingExtra, match=r"sessiondb\[regex\]"):
            db.search_messages("x", mode="regex")
        assert importlib.import_module("regex")


@pytest.mark.parametrize("mode", ["substring", "fuzzy", "regex"])
def test_a_provider_that_does_not_offer_a_mode_says_so(mode: str) -> None:
    class Plain(MemoryProvider):
        features = Features(substring_search=False, fuzzy_search=False, regex_search=False)

    provider = Plain()
    provider.initialize()
    with SessionDB(provider=provider) as db, pytest.raises(errors.NotSupported, match=mode):
        db.search_messages("x", mode=mode)


class TestTheAnswer:
    def test_it_is_a_list_that_knows_more(self, db: SessionDB) -> None:
        say(db, "a", *["needle"] * 30)
        found = db.search_messages("needle", limit=5)
        assert isinstance(found, list)
        assert (len(found), found.total, found.index_lag, found.notices, found.did_you_mean) == (5, 30, 0, (), None)

    def test_notices_of_the_query_are_told(self, db: SessionDB) -> None:
        assert db.search_messages("x kind:y").notices == parse("x kind:y").notices
        assert db.search_messages("").notices == ("the query is empty",)

    @pytest.mark.parametrize(
        ("box", "suggestion"),
        [
            ("kubernets", "kubernetes"),
            ("Kuberntes cluster", "kubernetes cluster"),
            ("kubrenets", "kubernetes"),
            ("ckuster", "cluster"),
            ("пирвет", "привет"),
            ("/etc/ngnix.conf", "/etc/nginx.conf"),
            ("kubernetes OR cluster", None),
            ("completely different", None),
            ("kubernetes absent", None),
            ("1233", None),
            ("ab", None),
        ],
    )
    def test_a_slip_is_guessed_when_nothing_is_found(self, db: SessionDB, box: str, suggestion: str | None) -> None:
        say(db, "a", "a kubernetes cluster", "привет", "/etc/nginx.conf 1234 abc")
        assert db.search_messages(box).did_you_mean == suggestion

    @pytest.mark.parametrize(
        ("box", "suggestion"),
        [("terafrom", "terraform"), ("terraform kubernetse", "terraform kubernetes"), ("clustre", "cluster")],
    )
    def test_words_of_titles_are_guessed_too(self, db: SessionDB, box: str, suggestion: str) -> None:
        say(db, "a", "a kubernetes cluster")
        db.set_session_title("a", "Terraform and clusters")
        assert db.search_messages(box).did_you_mean == suggestion

    def test_people_are_not_crowded_out_by_machines(self, db: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
        from sessiondb.backends.sqlite.index import answer
        from sessiondb.search import scan

        monkeypatch.setattr(scan, "WEIGHED", 5)
        monkeypatch.setattr(answer, "WEIGHED", 5)
        say(db, "person", "needle")
        say(db, "job", *["needle needle"] * 50, source="cron")
        found = db.search_messages("needle", limit=3)
        assert (sessions(found), found.total) == (["person", "job", "job"], 51)

    def test_deep_pages_miss_nothing(self, db: SessionDB, monkeypatch: pytest.MonkeyPatch) -> None:
        from sessiondb.backends.sqlite.index import answer
        from sessiondb.search import scan

        monkeypatch.setattr(scan, "WEIGHED", 7)
        monkeypatch.setattr(answer, "WEIGHED", 7)
        say(db, "person", *["needle", "needle needle"] * 10)
        say(db, "job", *["needle"] * 10, source="cron")
        pages = [db.search_messages("needle", limit=4, offset=offset) for offset in range(0, 32, 4)]
        found = [hit["id"] for page in pages for hit in page]
        assert len(found) == len(set(found)) == 30
        assert [hit["source"] for page in pages for hit in page] == ["cli"] * 20 + ["cron"] * 10


class TestPlans:
    """However the index is asked, it answers what reading all messages answers."""

    @pytest.fixture
    def both(self, fast_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[SessionDB]]:
        from sessiondb.backends.sqlite.index import answer, beginnings, few
        from sessiondb.search import scan

        for module in (scan, answer):
            monkeypatch.setattr(module, "WEIGHED", 20)
        for name, value in {"LARGE": 0, "COSTLY": 0, "SAMPLED": 10}.items():
            monkeypatch.setattr(beginnings, name, value)
        for name, value in {"PROBED_FROM": 0, "ESTIMATED_FROM": 5}.items():
            monkeypatch.setattr(answer, name, value)
        monkeypatch.setattr(few, "LARGE", 0)
        with sessiondb.open("memory://") as oracle, sessiondb.open(f"sqlite:///{fast_path}/plans.db") as db:
            for each in (oracle, db):
                say(each, "old", *[f"plan {n} meets seldom" if n % 29 == 0 else f"plain word {n}" for n in range(200)])
                say(each, "job", *["plane for machines"] * 30, source="cron")
                say(each, "new", *[f"plan number {n} " * (1 + n % 4) for n in range(100)])
                each.rewind_to_message("new", each.get_messages("new")[80]["id"])
            yield [oracle, db]

    @pytest.mark.parametrize("order", ["relevance", "newest", "oldest"])
    @pytest.mark.parametrize(
        "box",
        [
            "pl*", "p*", "plane*", '"plan meets"', '"meets seldom"', "plan seldom", "word -plan", "plan OR word",
            "seldom pl*", "pl* number", '"plan nu*"', '"plan nu"*', "number -pl*", "plain -w*", "p* pl*",
            "p* OR seldom", "source:cron pl*", "source:cron plane", "source:cli plan",
            "session:new pl* number", "role:user plan", "source:nobody plan", "title:nothing pl*",
        ],
    )  # fmt: skip
    def test_every_plan_finds_the_same(self, both: list[SessionDB], box: str, order: str) -> None:
        expected, found = (db.search_messages(box, order=order, limit=15) for db in both)
        assert [(hit["session_id"], hit["snippet"]) for hit in found] == [
            (hit["session_id"], hit["snippet"]) for hit in expected
        ]

    def test_what_older_code_wrote_is_found_among_the_newest(self, both: list[SessionDB]) -> None:
        import apsw

        store = both[1]
        store.append_message("old", "user", "plain", timestamp=1.0)
        with apsw.Connection(store.provider.path) as older:  # type: ignore[attr-defined]
            older.execute(
                "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('old', 'user', 'plankton', 9e9)"
            )
        assert [hit["snippet"] for hit in store.search_messages("plankton", since=8e9)] == [">>>plankton<<<"]

    def test_of_a_beginning_that_is_too_common_not_all_are_looked_at_and_that_is_said(
        self, both: list[SessionDB], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from sessiondb.backends.sqlite.index import answer

        monkeypatch.setattr(answer, "LOOKED_AT", 10)
        found = both[1].search_messages("word nu*", limit=5)
        assert not found
        assert found.notices == (answer.NOT_ALL_READ,)

    def test_a_message_that_came_later_is_found_by_a_broad_beginning(self, both: list[SessionDB]) -> None:
        both[1].search_messages("pl*")
        both[1].append_message("new", "user", "plenty plenty")
        assert ">>>plenty<<<" in both[1].search_messages("pl*", order="newest")[0]["snippet"]

    def test_large_stores_are_merged_without_loss(self, both: list[SessionDB], monkeypatch: pytest.MonkeyPatch) -> None:
        from sessiondb.backends.sqlite.index import merging

        monkeypatch.setattr(merging, "LEAST_ROWS", 1)
        monkeypatch.setattr(merging, "STEP_PAGES", 1)
        before = both[1].search_messages("plan", limit=300).total
        for number in range(8):
            both[1].append_message("new", "user", f"plan again {number}")
            both[1].index()
        found = both[1].search_messages("plan", limit=300)
        assert (found.total, found.notices) == (before + 8, ())


class TestSlips:
    @pytest.mark.parametrize(
        ("word", "other", "most", "expected"),
        [
            ("nginx", "nginx", 1, 0),
            ("ngnix", "nginx", 1, 1),
            ("nginxx", "nginx", 1, 1),
            ("ginx", "nginx", 1, 1),
            ("mginx", "nginx", 1, 1),
            ("xnign", "nginx", 1, None),
            ("kitten", "sitting", 2, None),
            ("kitten", "sittin", 2, 2),
            ("", "a", 1, 1),
        ],
    )
    def test_they_are_counted(self, word: str, other: str, most: int, expected: int | None) -> None:
        assert near.distance(word, other, most) == expected

    @pytest.mark.parametrize("word", ["nginx", "привет", "λόγοσ", "straße"])
    def test_one_slip_makes_words_of_distance_one(self, word: str) -> None:
        assert {near.distance(word, other, 1) for other in near.slipped(word)} == {1}

    def test_the_usual_word_is_closest(self) -> None:
        assert near.closest("porr", [("port", 5), ("pore", 9), ("for", 90)]) == "pore"
