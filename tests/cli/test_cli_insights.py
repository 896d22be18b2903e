"""`sessiondb insights` as people and programs see it."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from sessiondb.cli.charts import bar, calendar, dollars, duration, hours, number, spark
from sessiondb.cli.text import width
from sessiondb.db import SessionDB

Run = Callable[..., Any]
DAY = 86_400.0


@pytest.fixture
def month(db: SessionDB) -> SessionDB:
    now = time.time()
    for day in range(0, 20, 2):
        name = f"s{day}"
        db.create_session(
            name,
            ("cli", "telegram")[day % 4 == 2],
            model=("gpt-4o", "our own model")[day % 4 == 2],
            cwd="/srv/天气" if day % 4 else None,
            started_at=now - day * DAY - 60,
        )
        call = {"id": "1", "function": {"name": "terminal"}}
        db.append_message(name, "user", "x", timestamp=now - day * DAY - 50)
        db.append_message(name, "assistant", "y", tool_calls=[call], timestamp=now - day * DAY - 40)
        db.update_token_counts(name, 12_000, 3_000, cache_read_tokens=100_000, reasoning_tokens=500)
    db.set_session_title("s0", "the \x1b[31mred\u202e one 👩‍💻")
    db.update_token_counts("s2", actual_cost_usd=1.5)
    return db


def section(text: str, heading: str) -> list[str]:
    lines = text.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(heading))
    return lines[start : start + lines[start:].index("") if "" in lines[start:] else None]


class TestText:
    def test_every_section_is_there(self, run: Run, month: SessionDB) -> None:
        shown = run("insights").out
        for heading in ("Last 30 days", "Overview", "Tokens and costs", "Model ", "Source ", "Project ", "Tool "):
            assert section(shown, heading), heading
        for heading in ("By weekday", "By hour", "Calendar", "Notable "):
            assert section(shown, heading), heading

    def test_costs_are_told_apart_and_the_unknown_counted(self, run: Run, month: SessionDB) -> None:
        facts = dict(re.findall(r"^  (\w+) +(\S+)", run("insights").out, re.MULTILINE))
        assert (facts["Reported"], facts["Unknown"]) == ("$1.50", "4")
        assert float(facts["Estimated"].removeprefix("$")) > 0

    def test_the_table_of_prices_is_named_with_its_date(self, run: Run, month: SessionDB) -> None:
        last = run("insights").lines[-1]
        assert re.fullmatch(r"Estimates with the prices of genai-prices [\d.]+, the newest of 20\d\d-\d\d-\d\d\.", last)

    def test_without_the_package_the_way_to_it_is_told(self, run: Run, month: SessionDB, tmp_path: Path) -> None:
        (tmp_path / "genai_prices.py").write_text("raise ImportError\n")
        done = run("insights", PYTHONPATH=str(tmp_path))
        assert done.lines[-1] == (
            "Costs are what was reported; estimating costs needs an optional package: pip install 'sessiondb[cost]'"
        )
        facts = dict(re.findall(r"^  (\w+) +(\S+)", done.out, re.MULTILINE))
        assert (facts["Reported"], facts["Unknown"], facts.get("Estimated")) == ("$1.50", "9", None)

    @pytest.mark.parametrize("by", ["model", "source", "tool", "day", "project"])
    def test_one_table_alone(self, run: Run, month: SessionDB, by: str) -> None:
        shown = run("insights", "--by", by).out
        assert section(shown, by.capitalize())
        assert "Overview" not in shown

    def test_few_days_and_one_source(self, run: Run, month: SessionDB) -> None:
        shown = run("insights", "--days", "3", "--source", "cli").out
        assert "· cli" in shown.splitlines()[0]
        assert re.search(r"^  Sessions +1$", shown, re.MULTILINE)

    def test_nothing_is_one_sentence(self, run: Run, db: SessionDB) -> None:
        assert run("insights").out == "No sessions in the last 30 days; --days looks further back.\n"
        assert run("insights", "--days", "1", "--source", "x").out == (
            "No sessions of source 'x' in the last 1 day; --days looks further back.\n"
        )

    @pytest.mark.parametrize("days", ["0", "-1", "x", "99999999999"])
    def test_days_that_are_none_are_refused(self, run: Run, month: SessionDB, days: str) -> None:
        assert run("insights", "--days", days).code == 2


class TestJson:
    def test_one_document(self, run: Run, month: SessionDB) -> None:
        shown = json.loads(run("insights", "--json").out)
        assert shown["schema"] == "sessiondb.insights.v1"
        assert shown["total"]["sessions"] == 10
        assert shown["total"]["tokens"] == {
            "input": 120_000, "output": 30_000, "cache_read": 1_000_000, "cache_write": 0, "reasoning": 5_000,
        }  # fmt: skip
        assert shown["tools"] == {"terminal": 10}
        assert shown["prices"]["name"].startswith("genai-prices")
        assert len(shown["by_day"]) == 10

    @pytest.mark.parametrize(("by", "rows"), [("model", 2), ("source", 2), ("tool", 1), ("day", 10), ("project", 2)])
    def test_groups_as_lines(self, run: Run, month: SessionDB, by: str, rows: int) -> None:
        lines = [json.loads(line) for line in run("insights", "--by", by, "--jsonl").lines]
        assert len(lines) == rows
        assert all("name" in line for line in lines)

    def test_the_zone_is_that_of_the_environment(self, run: Run, db: SessionDB) -> None:
        db.create_session("a", "cli")
        noon = time.time() // DAY * DAY - DAY / 2
        db.append_message("a", "user", "x", timestamp=noon)
        for zone, hour in (("UTC", 12), ("Asia/Tokyo", 21), ("America/New_York", None)):
            by_hour = json.loads(run("insights", "--json", TZ=zone).out)["by_hour"]
            assert by_hour.index(1) == hour if hour else by_hour.index(1) in (7, 8)


def on_screen(arguments: list[str], columns: int, environment: dict[str, str]) -> str:
    terminal, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "sessiondb", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**environment, "COLUMNS": str(columns), "TERM": "xterm", "SESSIONDB_PAGER": ""},
    )
    os.close(theirs)
    shown = b""
    while select.select([terminal], [], [], 30)[0]:
        try:
            shown += os.read(terminal, 65536)
        except OSError:
            break
    assert process.wait(timeout=30) == 0, shown
    os.close(terminal)
    return re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())


@pytest.mark.parametrize("columns", [160, 88, 60])
def test_tables_and_charts_fit_the_terminal(month: SessionDB, environment: dict[str, str], columns: int) -> None:
    shown = on_screen(["insights"], columns, environment)
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    charts = [line for line in shown.splitlines() if not line.startswith(("  Active on", "Estimates"))]
    assert max(map(width, charts)) <= columns


class TestCharts:
    def test_bars_grow_with_the_amount(self) -> None:
        lengths = [width(bar(amount, 100, 10)) for amount in range(101)]
        assert lengths == sorted(lengths)
        assert (bar(0, 100, 10), bar(100, 100, 10), bar(0.001, 100, 10)) == ("", "█" * 10, "▏")

    def test_a_spark_shows_whatever_is_above_zero(self) -> None:
        assert spark([0, 1, 1000, 500], 1) == " ▁█▄"
        assert spark([0, 0], 1) == "  "

    def test_hours_stand_below_their_columns(self) -> None:
        assert [hours(2).index(hour) for hour in ("00", "06", "12", "18")] == [0, 12, 24, 36]

    def test_the_calendar_has_its_days_in_place(self) -> None:
        # Wednesday 14 October to Monday 26 October 2026.
        lines = list(calendar({date(2026, 10, 14): 4, date(2026, 10, 26): 1}, date(2026, 10, 14), date(2026, 10, 26)))
        assert lines[0] == "     Oct"
        assert lines[1] == "Mon    ··░░"
        assert lines[3] == "Wed  ██··"
        assert lines[7] == "Sun  ····"

    def test_months_are_named_where_there_is_room(self) -> None:
        first = next(calendar({}, date(2026, 9, 1), date(2026, 12, 31)))
        assert re.findall(r"\w+", first) == ["Sep", "Oct", "Nov", "Dec"]

    @pytest.mark.parametrize(
        ("amount", "shown"),
        [
            (0, "0"),
            (999, "999"),
            (1000, "1.0k"),
            (99_949, "99.9k"),
            (999_499, "999k"),
            (999_500, "1.0M"),
            (5e12, "5000G"),
        ],
    )
    def test_numbers_are_short(self, amount: float, shown: str) -> None:
        assert number(amount) == shown

    @pytest.mark.parametrize(
        ("amount", "shown"), [(None, ""), (0.0, "$0.00"), (0.0021, "$0.0021"), (0.5, "$0.50"), (1234.5, "$1,234.50")]
    )
    def test_money(self, amount: float | None, shown: str) -> None:
        assert dollars(amount) == shown

    @pytest.mark.parametrize(("seconds", "shown"), [(59, "1m"), (3600, "1h 00m"), (200_000, "2d 7h")])
    def test_durations(self, seconds: float, shown: str) -> None:
        assert duration(seconds) == shown
