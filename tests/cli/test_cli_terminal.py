"""What a person sees: real terminals of several widths, colours, the pager, and text that wants to command them."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import pytest

from sessiondb.cli import progress
from sessiondb.cli.text import width

DAY = 86_400.0
STYLE = re.compile(r"\x1b\[[0-9;]*m")
EVIL = "\x1b[2J\x1b]0;owned\x07 \x9b31m \u202e back \r over \x00 \ud800 tab\there"
WIDTHS = [40, 80, 120, 200]


def plain(shown: str) -> str:
    return STYLE.sub("", shown)


@pytest.fixture
def peopled(session, db):
    now = time.time()
    session(
        "20250301_101500_dddddddd", "東京の天気は？" * 9, "晴れです 🇯🇵", title="東京" * 20, started_at=now - 40 * DAY
    )
    session(
        "20250302_101500_eeeeeeee", EVIL + " owned " * 40, "ok " * 200, title="evil title", started_at=now - 3 * DAY
    )
    family = "👨\u200d👩\u200d👧\u200d👦"
    session("20250305_091523_a1b2c3d4", f"{family} docker compose nginx " * 20, "👍🏽" * 90, source="telegram")
    db.fork_session("20250301_101500_dddddddd", new_id="20250306_101500_ffffffff")
    db.set_session_title("20250306_101500_ffffffff", "a long title of a fork that is longer than the terminal " * 1)
    return db


COMMANDS = [
    ["list"],
    ["list", "--all"],
    ["search", "docker"],
    ["search", "owned", "-C", "1", "--explain"],
    ["show", "20250302"],
    ["show", "20250305", "--full"],
    ["tree", "20250301"],
    ["stats"],
    ["prune", "--older-than", "0", "--dry-run"],
]


@pytest.mark.parametrize("columns", WIDTHS)
def test_everything_fits_and_nothing_obeys(at_width, peopled, columns: int) -> None:
    for command in COMMANDS:
        code, shown = at_width(columns, *command)
        assert code == 0, shown
        # A list needs room for an id, a time and some words.
        room = max(columns, 62 if command[0] in ("list", "tree", "prune") else 0)
        lines = plain(shown).splitlines()
        assert [line for line in lines if width(line) > room and "Database size" not in line] == [], command
        assert not set(plain(shown)) & set("\x00\x07\r\x1b\x7f\x9b\u202e\ud800"), command


@pytest.mark.parametrize("columns", WIDTHS[1:])
def test_columns_stand_below_each_other_in_any_script(at_width, peopled, columns: int) -> None:
    shown = plain(at_width(columns, "list")[1]).splitlines()
    times = [re.search(r"just now|\dd ago|\d{4}-\d\d-\d\d ", line) for line in shown[2:]]
    places = {width(line[: found.start()]) for line, found in zip(shown[2:], times, strict=True) if found}
    assert len(places) == 1
    assert all(times)
    assert width(shown[0].partition("Last Active")[0]) in places


def test_the_ruler_is_as_long_as_the_longest_row(at_width, peopled) -> None:
    shown = plain(at_width(120, "list")[1]).splitlines()
    assert width(shown[1]) == max(map(width, shown[2:])) <= 120


class TestColour:
    def test_only_on_a_terminal(self, run, at_width, session) -> None:
        session("a", "docker here")
        assert "\x1b[" not in run("search", "docker").out
        assert "\x1b[1;33mdocker\x1b[0m here" in at_width(80, "search", "docker")[1]

    @pytest.mark.parametrize("how", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
    def test_not_where_it_is_unwanted(self, at_width, session, how: dict[str, str]) -> None:
        session("a", "docker here")
        shown = at_width(80, "search", "docker", **how)[1]
        assert "\x1b[" not in shown
        assert ">>>docker<<< here" in shown

    def test_the_option_wins(self, run, at_width, session) -> None:
        session("a", "docker here")
        assert "\x1b[1;33m" in run("search", "docker", "--color", "always", NO_COLOR="1").out
        assert "\x1b[" not in at_width(80, "--color", "never", "search", "docker")[1]
        assert "\x1b[1;33m" in run("search", "docker", FORCE_COLOR="1").out

    def test_stored_text_cannot_bring_its_own(self, run, session) -> None:
        session("a", "\x1b[31m docker \x1b[0m >>>x<<<")
        shown = run("search", "docker", "--color", "always").out
        assert "\x1b[31m" not in shown
        assert r"\x1b[31m" in plain(shown)


class TestPager:
    PAGER = f"{sys.executable} -c 'import sys; print(\"paged\", len(sys.stdin.readlines()))'"

    def test_only_what_does_not_fit_is_paged(self, at_width, session) -> None:
        session("a", *["word"] * 30)
        assert "paged 92" in at_width(80, "show", "a", "--full", rows=24, PAGER=self.PAGER)[1]
        assert "paged" not in at_width(80, "show", "a", "--last", "2", rows=24, PAGER=self.PAGER)[1]

    def test_not_without_a_terminal_nor_when_unwanted(self, run, at_width, session) -> None:
        session("a", *["word"] * 30)
        assert "paged" not in run("show", "a", "--full", PAGER=self.PAGER).out
        assert "paged" not in at_width(80, "show", "a", "--full", "--no-pager", rows=24, PAGER=self.PAGER)[1]
        for none in ("", "cat"):
            assert "#30" in at_width(80, "show", "a", "--full", rows=24, PAGER=none)[1]

    def test_ours_wins_over_the_general_one(self, at_width, session) -> None:
        session("a", *["word"] * 30)
        assert "paged" in at_width(80, "show", "a", "--full", rows=24, PAGER="false", SESSIONDB_PAGER=self.PAGER)[1]

    def test_one_that_ends_early_is_no_error(self, at_width, session) -> None:
        session("a", *["word " * 100] * 900)
        code, shown = at_width(80, "show", "a", "--full", rows=24, PAGER="head -1")
        assert (code, "Traceback" in shown, "internal" in shown) == (0, False, False)


PIPED = ["list", "show a --full", "search owned", "list --json", "show a --jsonl", "tree a", "export -"]


@pytest.mark.parametrize("command", PIPED)
def test_stored_text_cannot_command_a_pipe_either(run, session, command: str) -> None:
    session("a", EVIL, title="t")
    shown = run(*command.split()).out
    assert shown
    assert not set(shown) & set("\x00\x07\r\x1b\x7f\x9b\u202e\ud800")


def test_a_pipe_that_closes_early_is_quiet(session, environment: dict[str, str]) -> None:
    for number in range(300):
        session(f"s{number}", "word " * 50)
    line = f"{sys.executable} -m sessiondb list --limit 300 --json | head -1"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, env=environment, check=False, timeout=60)
    assert (done.stdout, done.stderr) == ("{\n", "")


class TestProgress:
    @pytest.fixture
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> list[float]:
        now = [0.0]
        monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
        monkeypatch.setattr(progress, "is_terminal", lambda stream: True)
        monkeypatch.setattr(progress, "columns", lambda stream: 100)
        return now

    def test_a_bar_with_rate_and_time_left_after_a_second(self, clock: list[float], capsys) -> None:
        with progress.Progress(1000) as told:
            told(200)
            assert capsys.readouterr().err == ""
            clock[0] = 2.0
            told(300)
            bar = "█" * 12 + "░" * 12
            assert capsys.readouterr().err == f"\r{bar}  50% · 500 of 1,000 messages · 250/s · 2 s left\x1b[K"
        assert capsys.readouterr().err == "\r\x1b[K"

    def test_without_a_total_the_count_and_the_rate(self, clock: list[float], capsys) -> None:
        told = progress.Progress(noun="files")
        clock[0] = 4.0
        told.reached(10)
        assert capsys.readouterr().err == "\r10 files · 2.5/s\x1b[K"

    @pytest.mark.parametrize(("seconds", "shown"), [(5, "5 s"), (75, "1 min 15 s"), (7265, "2 h 01 min")])
    def test_durations(self, seconds: float, shown: str) -> None:
        assert progress._duration(seconds) == shown

    def test_none_where_nobody_looks(self, clock: list[float], monkeypatch: pytest.MonkeyPatch, capsys) -> None:
        monkeypatch.setattr(progress, "is_terminal", lambda stream: False)
        told = progress.Progress()
        clock[0] = 5.0
        told(1)
        told.finish()
        assert capsys.readouterr().err == ""


def test_long_ids_give_way_on_a_narrow_terminal_and_still_name_the_session(session, run, at_width) -> None:
    ids = ("019c8a70-dda7-7f33-98ea-f30553347322", "019c8a70-dda7-7f33-98ea-000000000000", "20250305_091523_a1b2c3d4")
    for name in ids:
        session(name, "a question that is long enough to need a lot of room in the list", title=f"About {name[-4:]}")
    _, shown = at_width(70, "list", NO_COLOR="1")
    names = [each.split()[-1] for each in shown.splitlines()[2:]]
    assert sorted(names) == ["019c8a70-dda7-7f33-98ea-0000", "019c8a70-dda7-7f33-98ea-f305", ids[2]]
    assert all(run("show", name).code == 0 for name in names)
    assert ids[0] in run("list").out


def test_no_line_of_a_table_ends_in_blanks(session, run, at_width) -> None:
    session("a", "hello", title="One")
    session("b", "hello")
    for shown in (run("insights").out, at_width(80, "insights", "--days", "3", NO_COLOR="1", PAGER="cat")[1]):
        assert [each for each in shown.splitlines() if each != each.rstrip()] == []


@pytest.mark.parametrize("form", ["markdown", "html", "csv", "jsonl"])
def test_an_export_to_the_terminal_cannot_command_it(at_width, run, session, form: str) -> None:
    """A file or a pipe gets the text as it was said."""
    said = "\x1b[31mred\x07\x9b2J\u202egnp"
    session("a", said, title="work", source="s\x1b[2J")
    code, shown = at_width(80, "export", "-", "--format", form)
    assert code == 0
    assert not set(shown) & set("\x1b\x07\x9b\u202e")
    if form == "markdown":
        assert "\\x1b[31mred" in shown
        assert said in run("export", "-", "--format", form).out
