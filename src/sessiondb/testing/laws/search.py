"""Search: every word typed, exactly, with its surroundings."""

from __future__ import annotations

from typing import Any

import pytest

from ...db import SessionDB
from ...errors import Invalid
from ...models import Filter
from ..clock import FakeClock
from .base import LawBase, NewSession, say

SENTENCES = {
    "docker": "restart the docker container on port 8080",
    "nginx": "edit /etc/nginx/nginx.conf and reload nginx",
    "apostrophe": "it's broken again, the build fails",
    "url": "see https://example.org/docs/setup?lang=en for details",
    "command": "run git commit -m 'fix login' --no-verify",
    "python": "docker for python developers",
    "identifier": "the value of MAX_RETRY_COUNT is 15",
    "cjk": "数据库连接失败了",
    "accents": "Crème brûlée at the café",
}


def found(db: SessionDB, query: str, **wishes: Any) -> list[str]:
    return sorted(hit["session_id"] for hit in db.search_messages(query, **wishes))


class WordLaws(LawBase):
    @pytest.fixture
    def corpus(self, db: SessionDB) -> SessionDB:
        """One session per sentence, named like it."""
        for name, sentence in SENTENCES.items():
            say(db, db.create_session(name, "cli"), sentence)
        return db

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("docker", ["docker", "python"]),
            ("DOCKER", ["docker", "python"]),
            ("docker python", ["python"]),
            ("python docker", ["python"]),
            ("docker AND port", ["docker"]),
            ('"docker container"', ["docker"]),
            ('"container docker"', []),
            ("container OR nginx", ["docker", "nginx"]),
            ("docker NOT python", ["docker"]),
            ("docker -python", ["docker"]),
            ("dock*", ["docker", "python"]),
            ("dock", []),
            ("(port OR python) docker", ["docker", "python"]),
            ("8080", ["docker"]),
            ("/etc/nginx/nginx.conf", ["nginx"]),
            ("nginx.conf", ["nginx"]),
            ("https://example.org/docs/setup?lang=en", ["url"]),
            ("example.org", ["url"]),
            ("it's broken", ["apostrophe"]),
            ("what? it's", []),
            ("git commit -m 'fix login'", ["command"]),
            ("--no-verify", ["command"]),
            ("MAX_RETRY_COUNT", ["identifier"]),
            ("数据库", ["cjk"]),
            ("连接", ["cjk"]),
            ("creme brulee", ["accents"]),
            ("CAFÉ", ["accents"]),
            ("absent", []),
            ("docker absent", []),
            ('docker"', ["docker", "python"]),
            ("docker AND", ["docker", "python"]),
        ],
    )
    def test_a_query_finds_what_it_says(self, corpus: SessionDB, query: str, expected: list[str]) -> None:
        assert found(corpus, query) == expected

    @pytest.mark.parametrize("query", ["", "   ", "***", '"', "NOT docker", "-docker", "()", "\x00", "source:cli"])
    def test_a_query_without_words_finds_nothing(self, corpus: SessionDB, query: str) -> None:
        assert corpus.search_messages(query) == []

    @pytest.mark.parametrize(
        "query", ["a AND OR b", "((((", '"a" "', "[1,2]", "x=1; y=2", "100%", "\\d+", "`c`", "\ud800"]
    )
    def test_no_query_is_an_error(self, corpus: SessionDB, query: str) -> None:
        assert isinstance(corpus.search_messages(query), list)


class KindLaws(LawBase):
    @pytest.fixture
    def talk(self, db: SessionDB, session: NewSession) -> SessionDB:
        say(db, session("choice"), "Which proxy do we take?", "We decided to keep the old proxy.")
        say(db, session("chore"), "TODO: renew the certificate of the proxy")
        say(db, session("place", source="telegram"), "The proxy reads /etc/nginx/nginx.conf")
        return db

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("kind:decision", ["choice"]),
            ("kind:todo", ["chore"]),
            ("kind:path", ["place"]),
            ("kind:path source:cli", []),
            ("kind:path source:telegram", ["place"]),
            ("proxy kind:decision", ["choice"]),
            ("certificate kind:decision", []),
            ("proxy kind:todo", ["chore"]),
            ("proxy kind:todo kind:decision", []),
            ("kind:url", []),
        ],
    )
    def test_only_messages_that_hold_such_a_thing_are_found(
        self, talk: SessionDB, query: str, expected: list[str]
    ) -> None:
        assert found(talk, query) == expected
        assert found(talk, query, order="newest") == expected

    def test_a_kind_alone_lists_the_newest_first(self, db: SessionDB, session: NewSession) -> None:
        first, _, last = say(db, session(), "TODO: one", "nothing", "TODO: three")
        assert [hit["id"] for hit in db.search_messages("kind:todo")] == [last, first]
        assert [hit["id"] for hit in db.search_messages("kind:todo", order="oldest")] == [first, last]
        assert [hit["id"] for hit in db.search_messages("kind:todo", limit=1, offset=1)] == [first]

    def test_what_is_held_is_marked(self, talk: SessionDB) -> None:
        assert talk.search_messages("kind:path")[0]["snippet"] == "The proxy reads >>>/etc/nginx/nginx.conf<<<"

    def test_a_few_among_many_with_the_word_are_found(self, db: SessionDB, session: NewSession) -> None:
        wanted, *_ = say(db, session(), "TODO: paint the fence", *["the fence is green"] * 30)
        assert [hit["id"] for hit in db.search_messages("fence kind:todo", limit=2, order="newest")] == [wanted]

    def test_a_deadline_ends_a_list_with_a_notice(self, talk: SessionDB) -> None:
        stopped = talk.search_messages("kind:url", deadline=1e-9)
        assert "stopped" in "".join(stopped.notices)


class HitLaws(LawBase):
    def test_a_hit_tells_where_it_is(self, db: SessionDB, session: NewSession, clock: FakeClock) -> None:
        (message_id,) = say(db, session(model="m", started_at=5.0), "a needle", role="assistant")
        db.set_session_title("s", "deploy")
        (hit,) = db.search_messages("needle")
        assert (hit["id"], hit["session_id"], hit["role"]) == (message_id, "s", "assistant")
        assert (hit["timestamp"], hit["session_started"]) == (clock.now, 5.0)
        assert (hit["source"], hit["model"], hit["title"], hit["tool_name"]) == ("cli", "m", "deploy", None)

    def test_a_hit_has_no_whole_content(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "a needle")
        assert "content" not in db.search_messages("needle")[0]

    def test_the_snippet_marks_the_match(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "before a Needle after")
        assert db.search_messages("needle")[0]["snippet"] == "before a >>>Needle<<< after"

    def test_a_snippet_is_cut_around_the_match(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "word " * 500 + "needle" + " word" * 500)
        snippet = db.search_messages("needle")[0]["snippet"]
        assert ">>>needle<<<" in snippet
        assert len(snippet.split()) <= 45

    def test_the_context_is_the_neighbours(self, db: SessionDB, session: NewSession) -> None:
        say(db, session("a"), "before")
        say(db, session("b"), "stranger")
        say(db, "a", "needle", role="assistant")
        say(db, "b", "stranger")
        say(db, "a", "after", "far away")
        assert db.search_messages("needle")[0]["context"] == [
            {"role": "user", "content": "before"},
            {"role": "assistant", "content": "needle"},
            {"role": "user", "content": "after"},
        ]

    def test_a_first_message_has_no_neighbour_before(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "needle", "after")
        assert [line["content"] for line in db.search_messages("needle")[0]["context"]] == ["needle", "after"]

    def test_context_is_cut_at_200_characters(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), "x" * 500, "needle")
        assert db.search_messages("needle")[0]["context"][0]["content"] == "x" * 200

    def test_hidden_neighbours_are_no_context(self, db: SessionDB, session: NewSession) -> None:
        first, _ = say(db, session(), "needle", "hidden")
        db.rewind_to_message("s", first)
        say(db, "s", "shown")
        assert [line["content"] for line in db.search_messages("needle")[0]["context"]] == ["needle", "shown"]

    def test_structured_content_is_searched_by_its_text(self, db: SessionDB, session: NewSession) -> None:
        say(db, session(), [{"type": "text", "text": "a needle"}, {"type": "image_url", "image_url": {"url": "hay"}}])
        (hit,) = db.search_messages("needle")
        assert hit["snippet"] == "a >>>needle<<<"

    def test_tool_names_and_arguments_are_searched(self, db: SessionDB, session: NewSession) -> None:
        call = {"id": "c1", "function": {"name": "weather", "arguments": '{"city": "Ulm"}'}}
        db.append_message(session(), "assistant", None, tool_calls=[call])
        assert (found(db, "weather"), found(db, "Ulm")) == (["s"], ["s"])

    def test_a_new_message_is_found_at_once(self, db: SessionDB, session: NewSession) -> None:
        assert db.search_messages("needle") == []
        say(db, session(), "needle")
        assert found(db, "needle") == ["s"]

    def test_hidden_messages_are_found_only_on_request(self, db: SessionDB, session: NewSession) -> None:
        first, _ = say(db, session(), "anchor", "needle")
        db.rewind_to_message("s", first)
        assert (found(db, "needle"), found(db, "needle", include_inactive=True)) == ([], ["s"])

    def test_replaced_cleared_and_deleted_messages_are_gone(self, db: SessionDB, session: NewSession) -> None:
        for name in ("replaced", "cleared", "deleted"):
            say(db, session(name), "needle")
        db.replace_messages("replaced", [{"role": "user", "content": "hay"}])
        db.clear_messages("cleared")
        db.delete_session("deleted")
        assert db.search_messages("needle") == []


class NarrowLaws(LawBase):
    @pytest.fixture
    def corpus(self, db: SessionDB, session: NewSession) -> SessionDB:
        for name, source in (("a", "cli"), ("b", "web"), ("c", "cron")):
            say(db, session(name, source), "needle")
            say(db, name, "needle", role="assistant")
        return db

    @pytest.mark.parametrize(
        ("wishes", "expected"),
        [
            ({}, "aabbcc"),
            ({"source_filter": ["cli", "web"]}, "aabb"),
            ({"source_filter": []}, ""),
            ({"source_filter": None}, "aabbcc"),
            ({"exclude_sources": ["cron"]}, "aabb"),
            ({"exclude_sources": []}, "aabbcc"),
            ({"role_filter": ["user"]}, "abc"),
            ({"role_filter": []}, "aabbcc"),
            ({"role_filter": ["system"]}, ""),
            ({"source_filter": ["cli", "cron"], "exclude_sources": ["cron"], "role_filter": ["user"]}, "a"),
            ({"session_id": "b"}, "bb"),
            ({"session_id": "ghost"}, ""),
            ({"where": Filter(sources=("web",))}, "bb"),
        ],
    )
    def test_filters_narrow(self, corpus: SessionDB, wishes: dict[str, Any], expected: str) -> None:
        assert found(corpus, "needle", **wishes) == list(expected)

    @pytest.mark.parametrize("wish", ["source_filter", "exclude_sources", "role_filter", "tags"])
    def test_a_single_text_is_no_list_of_names(self, corpus: SessionDB, wish: str) -> None:
        wishes: dict[str, Any] = {wish: "cli"}
        with pytest.raises(Invalid, match=rf"{wish} must be a list of texts, such as \['cli'\]"):
            corpus.search_messages("needle", **wishes)

    @pytest.mark.parametrize(
        ("query", "expected"),
        [("needle source:web", "bb"), ("needle role:user -source:cron", "ab"), ("needle session:a", "aa")],
    )
    def test_filters_may_be_typed(self, corpus: SessionDB, query: str, expected: str) -> None:
        assert found(corpus, query) == list(expected)

    def test_typed_and_given_filters_hold_together(self, corpus: SessionDB) -> None:
        assert found(corpus, "needle source:web", source_filter=["cli"]) == []


class SearchOrderLaws(LawBase):
    @pytest.fixture
    def corpus(self, db: SessionDB, session: NewSession, clock: FakeClock) -> SessionDB:
        for number in range(7):
            say(db, session(f"s{number}"), f"needle number {number}")
            clock.move(60)
        return db

    @pytest.mark.parametrize(("order", "first"), [("newest", "s6"), ("oldest", "s0")])
    def test_hits_come_by_time(self, corpus: SessionDB, order: str, first: str) -> None:
        hits = [hit["session_id"] for hit in corpus.search_messages("needle", order=order)]
        assert (hits[0], sorted(hits)) == (first, [f"s{number}" for number in range(7)])

    def test_newest_and_oldest_are_each_other_reversed(self, corpus: SessionDB) -> None:
        newest = [hit["id"] for hit in corpus.search_messages("needle", order="newest")]
        assert newest == [hit["id"] for hit in corpus.search_messages("needle", order="oldest")][::-1]

    @pytest.mark.parametrize("order", ["relevance", "newest", "oldest"])
    def test_pages_do_not_overlap_and_miss_nothing(self, corpus: SessionDB, order: str) -> None:
        pages = [corpus.search_messages("needle", limit=3, offset=offset, order=order) for offset in (0, 3, 6, 9)]
        assert [len(page) for page in pages] == [3, 3, 1, 0]
        whole = [hit["id"] for hit in corpus.search_messages("needle", order=order)]
        assert [hit["id"] for page in pages for hit in page] == whole

    def test_relevance_is_the_default_and_scores_never_rise(self, corpus: SessionDB) -> None:
        scores = [hit["score"] for hit in corpus.search_messages("needle")]
        assert scores == sorted(scores, reverse=True)

    def test_people_come_before_automation(self, corpus: SessionDB, session: NewSession) -> None:
        say(corpus, session("job", "cron"), "needle needle needle")
        assert corpus.search_messages("needle")[-1]["session_id"] == "job"

    def test_a_limit_of_zero_finds_nothing(self, corpus: SessionDB) -> None:
        assert corpus.search_messages("needle", limit=0) == []

    @pytest.mark.parametrize("deadline", [0, -1.0, 10**400, float("inf"), float("nan"), True])
    def test_a_time_that_cannot_be_kept_is_refused(self, corpus: SessionDB, deadline: float) -> None:
        with pytest.raises(Invalid, match="deadline must be a number of seconds"):
            corpus.search_messages("needle", mode="substring", deadline=deadline)

    def test_a_page_beyond_all_numbers_is_refused(self, corpus: SessionDB) -> None:
        with pytest.raises(Invalid, match="limit and offset together"):
            corpus.search_messages("needle", limit=2**62, offset=2**62)

    def test_an_unknown_order_is_refused(self, corpus: SessionDB) -> None:
        with pytest.raises(Invalid, match="size"):
            corpus.search_messages("needle", order="size")
