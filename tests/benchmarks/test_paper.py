"""What is written about the figures: files that keep what was not measured again, plots, and the queue on paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from benchmarks.arrivals import Provider, arriving, measured, served
from benchmarks.stores import Stores

from benchmarks import profiles, projection, publish, svg

DISK = {"sessiondb, 1,000": {"disk MB": 2.0}}
SEARCH = {"rare": {"sessiondb ms": 1.0}, "50 % word": {"sessiondb ms": 5.0}, "path": {"sessiondb ms": 20.0}}
BATCH = {"sessiondb, import, with its index": {"messages/s": 10_000.0}}
COMMITS = {
    "sqlite, 1 at once": {"commits/s": 1000.0},
    "sqlite, 11 at once": {"commits/s": 5500.0},
    "postgres, 8 at once": {"commits/s": 800.0},
    "galera, 8 at once": {"commits/s": 400.0},
}


def entry(name: str, figures: dict[str, dict[str, float]], plot: str = "") -> dict[str, Any]:
    comparison = {
        "label": "rate",
        "value": {"middle": 2.0, "lowest": 1.0, "highest": 3.0},
        "unit": "x",
        "target": {"bound": 1.5, "least": False},
        "met": False,
    }
    common = {"comparisons": [comparison], "notes": ["seen"], "durability": {}, "size": "tiny", "conditions": "here"}
    return {"name": name, "what": "what", "figures": figures, "plot": plot, "held": 1000, **common}


class TestArrivals:
    def test_come_in_order_and_at_their_rate(self) -> None:
        times = arriving(1000, 10.0, 60.0)
        assert times == sorted(times)
        assert len(times) == pytest.approx(6000, rel=0.05)

    def test_a_lonely_writer_waits_for_its_own_commit_only(self) -> None:
        assert served(Provider("alone", 0.25), [0.0, 1.0, 2.0]).longest == 0.25

    def test_one_lane_serves_one_after_the_other(self) -> None:
        assert served(Provider("gate", 1.0), [0.0, 0.0, 0.0]).longest == 3.0
        assert served(Provider("pool", 1.0, lanes=3), [0.0, 0.0, 0.0]).longest == 1.0

    def test_who_waits_joins_a_shared_commit(self) -> None:
        crowd = [0.0] + [0.5] * 100
        assert served(Provider("group", 1.0, shared=True), crowd).longest == 1.5
        assert served(Provider("gate", 1.0), crowd).longest > 100

    def test_more_than_it_can_do_keeps_a_provider_busy_and_the_last_waiting(self) -> None:
        found = served(Provider("gate", 0.01), arriving(2000, 10.0, 10.0))
        assert found.busy > 0.99
        assert found.longest > 5

    def test_a_session_written_through_all_nodes_costs_every_refused_attempt(self) -> None:
        crowd = [0.0] * 4
        assert served(Provider("apart", 1.0, lanes=4), crowd).longest == 1.0
        assert served(Provider("hot", 1.0, lanes=4, hot=1.0), crowd).longest == 4.0

    def test_costs_come_from_measured_rates(self) -> None:
        found = {each.name: each for each in measured([entry("commits", COMMITS)])}
        group = found["sqlite, one process, shared commits"]
        assert group.cost(1) == pytest.approx(1 / 1000)
        assert group.cost(11) == pytest.approx(11 / 5500)
        assert found["postgres, pool of 8"].fixed == pytest.approx(0.01)
        assert [each.hot for name, each in found.items() if name.startswith("galera")] == [0.0, 0.1]

    def test_what_was_not_measured_is_left_out(self) -> None:
        assert measured([entry("list", {})]) == []


class TestPublished:
    def test_scenarios_not_run_again_keep_their_figures(self, tmp_path: Path) -> None:
        publish.write(tmp_path, [entry("append", {"a": {"p50": 1.0}}), entry("list", {"a": {"p50": 2.0}})])
        again = [entry("list", {"a": {"p50": 3.0}})]
        kept = publish.merged(publish.known(tmp_path), again, ["append", "list"])
        assert [(each["name"], each["figures"]["a"]["p50"]) for each in kept] == [("append", 1.0), ("list", 3.0)]

    def test_a_missed_target_stands_on_top(self, tmp_path: Path) -> None:
        publish.write(tmp_path, [entry("append", {"a": {"p50": 1.0}})])
        page = (tmp_path / "results.md").read_text(encoding="utf-8")
        assert page.index("missed: append, rate: 2.00 x") < page.index("## append")

    def test_a_plot_is_xml_with_a_bar_for_each(self, tmp_path: Path) -> None:
        publish.write(tmp_path, [entry("append", {"a & b": {"p50": 1.0}, "c": {"p50": 20.0}}, plot="p50")])
        root = ElementTree.parse(tmp_path / "append.svg").getroot()
        texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
        assert {"a & b", "c"} <= set(texts)

    @pytest.mark.parametrize("values", [{}, {"none": 0.0}, {"one": 1.0}, {"tiny": 1e-9, "huge": 1e9}])
    def test_any_values_can_be_drawn(self, values: dict[str, float]) -> None:
        ElementTree.fromstring(svg.bars("title", values))

    def test_a_longer_bar_is_a_larger_value(self) -> None:
        root = ElementTree.fromstring(svg.bars("title", {"small": 1.0, "large": 50.0}))
        widths = [float(each.attrib["width"]) for each in root.iter("{http://www.w3.org/2000/svg}rect")][1:]
        assert widths[0] < widths[1]


def test_the_projection_shows_its_arithmetic(tmp_path: Path) -> None:
    found = {"disk": DISK, "commits": COMMITS, "search": SEARCH, "batch": BATCH}
    projection.write(tmp_path, [entry(name, figures) for name, figures in found.items()])
    page = (tmp_path / "scale.md").read_text(encoding="utf-8")
    assert "100,000,000 x 2,000 B = 200 GB" in page
    assert "20.0 ms x 100,000 = 2,000.0 s" in page
    assert "10,000 messages/s of one process: 2.8 hours" in page
    assert "| postgres, pool of 8 | 60 s | 167 |" in page


def test_the_projection_says_what_was_not_measured(tmp_path: Path) -> None:
    projection.write(tmp_path, [])
    page = (tmp_path / "scale.md").read_text(encoding="utf-8")
    assert all(f"run the scenario `{name}`" in page for name in ("disk", "search", "batch"))


def test_profiles_name_functions_of_the_package(tmp_path: Path) -> None:
    home = Stores(tmp_path / "stores")
    (tmp_path / "stores").mkdir()
    profiles.write(tmp_path, home, seconds=0.05, sessions=4)
    page = (tmp_path / "profiles.md").read_text(encoding="utf-8")
    assert all(f"## {kind}" in page for kind in profiles.PATHS)
    assert "db/" in page or "backends/" in page
