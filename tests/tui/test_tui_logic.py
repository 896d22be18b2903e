"""What the browser decides, without a screen."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import sessiondb
from sessiondb.cli.text import width
from sessiondb.errors import NotFound, SessionDBError, TitleTaken
from sessiondb.tui import changes
from sessiondb.tui.blocks import LONGEST, blocks, code_of, split
from sessiondb.tui.choice import Choice, completed, words
from sessiondb.tui.drawing import FOUND, drawn
from sessiondb.tui.lane import Lane, Queue
from sessiondb.tui.pages import PAGE, Pages
from sessiondb.tui.row import Row, lines, snippet
from sessiondb.tui.scope import Scope, named, repository, scopes
from sessiondb.tui.transcript import following_hit

TEXT = st.text(st.one_of(st.characters(), st.sampled_from("東京🇯🇵👨‍👩‍👧é\x1b[]<>`~#*|\n\t \x9b")), max_size=60)


# --- scopes ---


def test_scopes_of_a_directory_in_a_repository(tmp_path: Path) -> None:
    (tmp_path / "repo" / "src").mkdir(parents=True)
    (tmp_path / "repo" / ".git").write_text("gitdir: elsewhere")
    found = scopes(str(tmp_path / "repo" / "src"))
    assert [(scope.name, scope.cwd) for scope in found] == [
        ("directory", str(tmp_path / "repo" / "src")),
        ("repository", str(tmp_path / "repo")),
        ("all", None),
    ]
    assert named(found, "all") == 2


def test_the_root_of_a_repository_is_one_scope(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    found = scopes(str(tmp_path))
    assert [scope.name for scope in found] == ["directory", "all"]
    assert named(found, "repository") == 0
    assert repository(str(tmp_path)) == str(tmp_path)


# --- what is chosen ---


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("ngin", "ngin*"),
        ("docker comp", "docker comp*"),
        ("a", "a"),
        ("", ""),
        ("nginx ", "nginx "),
        ('"out of mem', '"out of mem'),
        ("source:cli", "source:cli"),
        ("one OR", "one OR"),
        ("deploy*", "deploy*"),
        ("/run/app.so", "/run/app.so"),
        ("天气", "天气"),
    ],
)
def test_the_last_word_may_go_on(typed: str, asked: str) -> None:
    assert completed(typed) == asked


def test_filters_and_operators_are_no_words() -> None:
    assert words('nginx OR "502" source:cli -not prefix* /a:b/') == ["nginx", "502", "prefix", "/a:b/"]


def test_a_search_finds_archived_sessions_and_a_list_hides_them() -> None:
    scope = Scope("all")
    assert Choice().where(scope).archived is False
    assert Choice(query="x").where(scope).archived is None
    assert Choice(view="archived").where(scope).archived is True
    assert Choice(view="all").where(scope).archived is None
    assert Choice(view="pinned").where(scope).pinned is True
    assert Choice(scope=0).where(Scope("directory", "/srv")).cwd == "/srv"


def test_orders_follow_one_another_and_come_back() -> None:
    chosen, seen = Choice(), []
    for _ in range(4):
        seen.append(chosen.order)
        chosen = chosen.next_order()
    assert seen == ["activity", "started", "tokens", "activity"]
    assert Choice(query="x").next_order().search_order == "newest"


# --- pages ---


def row(name: str = "s", **values) -> Row:
    return Row(name, values.pop("title", None), values.pop("preview", "words"), "cli", 0.0, **values)


def test_pages_are_asked_for_once_and_again_after_a_failure() -> None:
    pages = Pages()
    pages.put(0, [row(str(number)) for number in range(PAGE)], 1000)
    assert pages.missing(range(PAGE)) == []
    assert pages.missing([PAGE, PAGE + 1, 999, 5000, -3]) == [PAGE, 900]
    assert pages.missing([PAGE, 999]) == []
    pages.forget(900)
    assert pages.missing([999]) == [900]


def test_a_list_that_shrank_meanwhile_ends_where_it_ends() -> None:
    pages = Pages()
    pages.put(0, [row(str(number)) for number in range(PAGE)], 300)
    pages.put(PAGE, [row("last")], PAGE + 1)
    assert len(pages) == PAGE + 1
    pages.put(PAGE, [], 50)
    assert len(pages) == 50
    assert pages[60] is None
    assert pages.find("7") == 7


# --- lines of the list ---


@given(TEXT, TEXT, st.integers(1, 200), st.booleans(), st.booleans())
def test_a_row_fits_and_commands_nobody(title: str, found: str, columns: int, marked: bool, searching: bool) -> None:
    made = lines(
        row(title=title, snippet=f"{found}>>>{title}<<<", pinned=True, branch="└─ fork: "),
        columns, 1e9, marked=marked, found=searching,
    )  # fmt: skip
    assert len(made) == 1 + searching
    for pieces in made:
        text = "".join(text for text, _ in pieces)
        assert width(text) <= max(columns, 4)
        assert not any(letter in text for letter in "\x1b\x9b\n\t")


def test_what_was_found_is_marked() -> None:
    assert snippet("why >>>nginx<<< fails", 40) == [("why ", "dim"), ("nginx", "found"), (" fails", "dim")]


# --- messages ---


def message(content, **fields):
    return {
        "id": 1,
        "role": "user",
        "content": content,
        "timestamp": 0.0,
        "tool_calls": None,
        "reasoning": None,
        **fields,
    }


def text_of(made) -> str:
    return "\n".join("".join(piece.text for piece in each) for each in made)


def test_prose_and_code_are_told_apart() -> None:
    found = list(split("a\n```python\nx = 1\n```\nb\n~~~~\n```\n~~~~"))
    assert [(block.kind, block.text, block.label) for block in found] == [
        ("prose", "a", ""), ("code", "x = 1", "python"), ("prose", "b", ""), ("code", "```", ""),
    ]  # fmt: skip
    assert code_of(message("```\nopen \x1b[2J")) == ["open \x1b[2J"]


@given(TEXT, st.integers(10, 100), st.booleans())
def test_any_message_is_drawn_inside_its_columns(content: str, columns: int, opened: bool) -> None:
    made = drawn(message(content, reasoning=content, tool_calls=[content]), columns, opened=opened, found=[content])
    for each in made:
        text = "".join(piece.text for piece in each)
        assert cell_len(text) <= columns
        assert not any(letter in text for letter in "\x1b\x9b\n")
        assert all(piece.style is None or piece.style.link is None for piece in each)


def test_markdown_is_rendered_and_what_looks_like_html_stays() -> None:
    shown = text_of(
        drawn(
            message("# Head\n**bold** List<String> <b>x</b>\nnew line\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
            60,
            opened=False,
        )
    )
    told = [each.strip() for each in shown.splitlines()]
    assert [each for each in told[1:] if each][:3] == ["Head", "bold List<String> <b>x</b>", "new line"]
    assert "  Head" in shown.splitlines()[1][:8]


def test_long_messages_end_with_the_way_to_the_rest() -> None:
    made = blocks(message("x" * (LONGEST + 5)))
    assert "5 more characters: `sessiondb show --around 1`" in made[-1].text


def test_closed_blocks_tell_what_is_in_them() -> None:
    code = "```sh\n" + "\n".join(f"step {number}" for number in range(10)) + "\n```"
    closed, opened = (text_of(drawn(message(code), 60, opened=each)) for each in (False, True))
    assert "sh · 10 lines · 7 more" in closed
    assert ("step 9" in closed, "step 9" in opened) == (False, True)
    tool = message("line one\nline two", role="tool", tool_name="grep")
    closed, opened = (text_of(drawn(tool, 60, opened=each)) for each in (False, True))
    assert "▸ grep · 2 lines · line one line two" in closed
    assert "line two" in opened


def test_found_words_are_marked_across_styles() -> None:
    made = drawn(message("the **ngi**nx socket"), 60, opened=False, found=["nginx"])
    marked = "".join(
        piece.text for each in made for piece in each if piece.style and piece.style.bgcolor == FOUND.bgcolor
    )
    assert marked == "nginx"


@pytest.mark.parametrize(
    ("current", "step", "wanted"), [(None, 1, 3), (None, -1, 9), (3, 1, 5), (9, 1, 3), (3, -1, 9), (4, 1, 3)]
)
def test_hits_follow_one_another_in_a_ring(current, step: int, wanted: int) -> None:
    assert following_hit([3, 5, 9], current, step) == wanted
    assert following_hit([], current, step) is None


# --- changes ---


@pytest.fixture
def db():
    with sessiondb.open("memory://") as store:
        for name in "abc":
            store.create_session(name, "cli")
            store.append_message(name, "user", f"text of {name}")
        yield store


def test_changes_are_taken_back_the_last_first(db) -> None:
    undo = changes.Undo()
    before = [db.get_session(name) for name in "abc"]
    undo.push(changes.rename(db, "a", "new name"))
    undo.push(changes.pin(db, ["a", "b"], True))
    undo.push(changes.archive(db, ["c"], True))
    undo.push(changes.tag(db, ["a", "b"], ["work"], []))
    assert [db.get_session(name) for name in "abc"] != before
    while (last := undo.pop()) is not None:
        assert last.undo()
    assert [db.get_session(name) for name in "abc"] == before
    assert db.get_tags("a") == []


def test_a_tag_that_was_there_before_stays(db) -> None:
    db.tag_session("a", "work")
    changes.tag(db, ["a", "b"], ["work"], []).undo()
    assert (db.get_tags("a"), db.get_tags("b")) == (["work"], [])


def test_what_was_done_before_a_problem_can_be_taken_back(db) -> None:
    made = changes.delete(db, ["a", "gone", "b"])
    assert isinstance(made.problem, NotFound)
    assert made.said.startswith("Moved 1 session ")
    made.undo()
    assert [db.get_session(name) is not None for name in "ab"] == [True, True]
    with pytest.raises(NotFound):
        changes.delete(db, ["gone"])


def test_a_taken_title_is_refused(db) -> None:
    changes.rename(db, "a", "one")
    with pytest.raises(TitleTaken):
        changes.rename(db, "b", "one")


def test_tags_are_typed_as_words() -> None:
    assert changes.wanted_tags(" #work urgent -#old - # ") == (["work", "urgent"], ["old"])


# --- lanes ---


class Screen:
    """Runs what is posted, in its own time."""

    def __init__(self) -> None:
        self.posted: list = []

    def post(self, function, *given) -> None:
        self.posted.append((function, given))

    def run(self, lane) -> None:
        until = time.monotonic() + 10
        while lane.waiting and time.monotonic() < until:
            while self.posted:
                function, given = self.posted.pop(0)
                function(*given)
            time.sleep(0.001)


def test_only_the_last_question_is_answered() -> None:
    screen, shown = Screen(), []
    lane = Lane(screen.post)
    release, begun, asked = threading.Event(), threading.Semaphore(0), []

    def question(number: int):
        def ask() -> int:
            asked.append(number)
            begun.release()
            release.wait(10)
            return number

        return ask

    def show(done: Future[int]) -> None:
        shown.append(done.result())

    for number in range(20):
        lane.ask(question(number), show)
        if number < 2:
            begun.acquire(timeout=10)
    release.set()
    screen.run(lane)
    lane.close()
    assert shown == [19]
    assert asked == [0, 1, 19]


def test_changes_are_made_in_order_and_errors_come_back() -> None:
    screen, made, shown = Screen(), [], []
    queue = Queue(screen.post)

    def fail() -> None:
        raise SessionDBError("no")

    for number in range(5):
        queue.add(lambda number=number: made.append(number), shown.append)
    queue.add(fail, shown.append)
    screen.run(queue)
    queue.close()
    assert made == [0, 1, 2, 3, 4]
    assert str(shown[-1].exception()) == "no"
