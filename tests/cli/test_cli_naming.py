"""A session is named by id, prefix, title, `latest` or a number from the end; dates as people write them."""

from __future__ import annotations

import json
import time

import pytest

from sessiondb.cli import dates

DAY = 86_400.0


@pytest.fixture
def three(session, db) -> None:
    session("20250305_091523_a1b2c3d4", "one", title="my project")
    session("20250306_101500_ffffffff", "two", title="nginx 502")
    session("20250305_101500_eeeeeeee", "three", title="my project #2")


def named(run, *words: str) -> str:
    done = run("show", *words, "--json")
    return json.loads(done.out)["session"]["id"] if done.code == 0 else done.err


def test_the_last_of_none_is_told_as_none(run, db) -> None:
    assert "there are no sessions yet" in named(run, "latest")
    assert "there are fewer than 2 sessions" in named(run, "-2")


@pytest.mark.usefixtures("three")
class TestOne:
    @pytest.mark.parametrize(
        ("words", "found"),
        [
            (["20250305_091523_a1b2c3d4"], "20250305_091523_a1b2c3d4"),
            (["20250305_09"], "20250305_091523_a1b2c3d4"),
            (["nginx 502"], "20250306_101500_ffffffff"),
            (["nginx", "502"], "20250306_101500_ffffffff"),
            (["my", "project"], "20250305_101500_eeeeeeee"),
            (["my project #2"], "20250305_101500_eeeeeeee"),
            (["latest"], "20250305_101500_eeeeeeee"),
            (["-1"], "20250305_101500_eeeeeeee"),
            (["-2"], "20250306_101500_ffffffff"),
            (["-3"], "20250305_091523_a1b2c3d4"),
        ],
    )
    def test_is_found(self, run, words: list[str], found: str) -> None:
        assert named(run, *words) == found

    def test_a_prefix_of_several_is_a_conflict_that_lists_them(self, run) -> None:
        done = run("show", "20250305")
        assert (done.code, done.out) == (4, "")
        sentence, *candidates = done.err.splitlines()
        assert sentence == "sessiondb: 2 sessions begin with '20250305'; give more of the id"
        assert [each.split("  ")[1] for each in candidates] == ["20250305_101500_eeeeeeee", "20250305_091523_a1b2c3d4"]
        assert candidates[0].endswith("my project #2")

    @pytest.mark.parametrize("name", ["nothing", "", "%", "my project #3", "-4"])
    def test_an_unknown_one_is_not_found(self, run, name: str) -> None:
        done = run("show", name)
        assert (done.code, done.out) == (3, "")
        assert "`sessiondb list" in done.err

    def test_a_part_of_a_title_is_answered_with_what_is_similar(self, run) -> None:
        done = run("show", "project")
        assert done.code == 3
        assert [each.split()[0] for each in done.err.splitlines()[1:]] == [
            "20250305_101500_eeeeeeee",
            "20250305_091523_a1b2c3d4",
        ]

    def test_a_title_wins_over_a_keyword_and_a_prefix(self, run, session) -> None:
        session("x1", "four", title="latest")
        session("x2", "five", title="20250306")
        assert named(run, "latest") == "x1"
        assert named(run, "20250306") == "x2"

    def test_several_words_are_one_title_or_several_sessions(self, run, db) -> None:
        assert json.loads(run("pin", "nginx", "502", "--json").out)["sessions"] == [
            {"id": "20250306_101500_ffffffff", "pinned": True}
        ]
        found = json.loads(run("archive", "-1", "-2", "--json").out)["sessions"]
        assert [each["id"] for each in found] == ["20250305_101500_eeeeeeee", "20250306_101500_ffffffff"]


def test_a_compressed_conversation_is_counted_once(run, session, db) -> None:
    session("a", "one", title="work")
    session("b", "other")
    db.rotate_session("a", new_id="a2")
    db.append_message("a2", "user", "go on")
    assert [named(run, "-1"), named(run, "-2")] == ["a2", "b"]


class TestDates:
    def test_ages_and_days(self) -> None:
        now = time.time()
        assert dates.since("12h") == pytest.approx(now - DAY / 2, abs=5)
        assert dates.since("2w") == pytest.approx(now - 14 * DAY, abs=5)
        midnight = time.mktime((*time.localtime(now)[:3], 0, 0, 0, 0, 0, -1))
        assert dates.since("today") == midnight
        assert dates.until("yesterday") == pytest.approx(midnight, abs=0.001)

    def test_iso(self) -> None:
        assert dates.since("2025-03-05T14:30") == time.mktime((2025, 3, 5, 14, 30, 0, 0, 0, -1))
        assert dates.since("2025-03-05T14:30+00:00") == 1741185000.0

    @pytest.mark.parametrize(("text", "days"), [("30", 30), ("30d", 30), ("2w", 14), ("12h", 0.5), ("1.5", 1.5)])
    def test_durations(self, text: str, days: float) -> None:
        assert dates.days(text) == days

    @pytest.mark.parametrize("text", ["soon", "", "-3", "7x", "2025-13-01"])
    def test_anything_else_is_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match="write 2025-03-05"):
            dates.since(text)
        with pytest.raises(ValueError, match="write 30 for days"):
            dates.days(text)
