"""Every key of the table does what the help says."""

from __future__ import annotations

import pytest

from sessiondb.tui.keys import ALL, help_lines


async def down_and_up(user) -> None:
    for keys, step in (("j", 1), ("down", 1), ("k", -1), ("up", -1), ("ctrl+n", 1), ("ctrl+p", -1)):
        before = user.browser.sessions.cursor
        await user.press(keys)
        assert user.browser.sessions.cursor == before + step, keys


async def leaps(user) -> None:
    for down, up in (("ctrl+d", "ctrl+u"), ("pagedown", "pageup"), ("ctrl+f", "ctrl+b")):
        await user.press(down)
        assert user.here == "a"
        await user.press(up)
        assert user.here == "c"


async def edges(user) -> None:
    for last, first in (("G", "g"), ("end", "home")):
        await user.press(last)
        assert user.here == "a"
        await user.press(first)
        assert user.here == "c"


async def panes(user) -> None:
    browser = user.browser
    for into, back in (("tab", "tab"), ("l", "h"), ("right", "left"), ("l", "escape")):
        await user.press(into)
        assert browser.focused is browser.preview
        await user.press(back)
        assert browser.focused is browser.sessions


async def scrolls_in_the_conversation(user) -> None:
    await user.press("j", "l", "g")
    assert user.browser.preview.place == 0
    assert "Why does nginx answer" in user.screen
    await user.press("G")
    assert user.browser.preview.place == 4
    assert "List<String>" in user.screen
    await user.press("ctrl+u")
    assert user.browser.preview.place < 4
    await user.press("g", "j", "j")
    assert user.here == "b"


async def zoom(user) -> None:
    await user.press("w")
    assert not user.browser.sessions.display
    assert "sessions" in user.screen
    await user.press("w")
    assert user.browser.sessions.display


async def back(user) -> None:
    await user.press("space", "T", "escape")
    assert not user.browser.sessions.marked
    await user.press("escape")
    assert user.browser.choice.family is None
    await user.press("slash", "n", "g", "escape", "escape")
    assert user.browser.choice.query == ""
    assert len(user.listed) == 3


async def search(user) -> None:
    await user.press("slash")
    await user.type("ngin")
    assert user.listed == ["b"]
    assert "Why does nginx answer 502" in user.screen
    await user.press("slash")
    assert user.browser.box.value == "ngin/"
    await user.press("enter")
    assert user.browser.focused is user.browser.sessions


async def scope(user) -> None:
    seen = []
    for _ in user.browser.known:
        seen.append(user.browser.known[user.browser.loaded.scope].name)
        await user.press("s")
    assert seen == ["all", "all"]
    assert "Nothing in this directory; showing everywhere." in user.screen


async def order(user) -> None:
    orders = []
    for _ in range(3):
        orders.append((user.browser.choice.order, user.listed))
        await user.press("S")
    assert orders == [("activity", ["c", "b", "a"]), ("started", ["c", "b", "a"]), ("tokens", ["a", "b", "c"])]
    await user.press("slash", "n", "o", "w", "enter", "S")
    assert user.browser.choice.search_order == "newest"


async def source(user) -> None:
    await user.press("f")
    assert "all sources" in user.screen
    await user.press("j", "j", "enter")
    assert user.listed == ["a"]
    await user.press("f", "k", "k", "enter")
    assert len(user.listed) == 3
    await user.press("f", "escape")
    assert len(user.listed) == 3


async def tags(user) -> None:
    user.browser.db.tag_session("a", "work")
    await user.press("number_sign")
    await user.type("#work")
    await user.press("enter")
    assert user.listed == ["a"]
    assert "#work" in user.lines[0]


async def view(user) -> None:
    user.browser.db.pin_session("a")
    user.browser.db.archive_session("b")
    seen = []
    for _ in range(4):
        await user.press("v")
        seen.append(user.listed)
    assert seen == [["a"], ["b"], ["c", "b", "a"], ["c", "a"]]


async def tree(user) -> None:
    user.browser.db.fork_session("b", new_id="b2")
    await user.press("j", "T")
    assert user.listed == ["b", "b2"]
    assert user.here == "b"
    assert "└─ fork: Why does" in user.screen
    await user.press("T")
    assert "b" in user.listed
    assert user.browser.choice.family is None


async def reload(user) -> None:
    user.browser.db.create_session("d", "cli")
    await user.press("ctrl+r")
    assert "d" in user.listed


async def hits(user) -> None:
    await user.press("slash")
    await user.type("nginx")
    await user.press("enter")
    preview = user.browser.preview
    seen = []
    for key in ("n", "n", "N", "N", "N"):
        await user.press(key)
        seen.append(preview.place)
    assert "hit 1/3" in user.screen or "hit 3/3" in user.screen
    assert seen == [1, 3, 1, 0, 3]


async def no_hits(user) -> None:
    await user.press("n")
    assert user.status == "There are no hits here; / searches."


async def messages(user) -> None:
    await user.press("j")
    preview = user.browser.preview
    assert preview.place == 4
    await user.press("left_square_bracket", "left_square_bracket")
    assert preview.place == 2
    await user.press("right_square_bracket")
    assert preview.place == 3


async def folds(user) -> None:
    await user.press("j", "left_square_bracket", "w")
    assert "python · 12 lines · 9 more" in user.screen
    assert "line_11" not in user.screen
    await user.press("z")
    assert "line_11 = 11" in user.screen
    await user.press("z")
    assert "line_11" not in user.screen
    await user.press("g")
    assert "1 tool call: terminal" in user.screen
    assert "nginx -t" not in user.screen
    await user.press("Z")
    assert 'terminal({"cmd": "nginx -t"})' in user.screen
    assert "the socket?" in user.screen


async def resume(user) -> None:
    await user.press("j", "enter")
    assert user.app.return_value == "b"


async def mark(user) -> None:
    await user.press("space", "space")
    assert user.browser.sessions.marked == {"c", "b"}
    assert "2 marked" in user.lines[0]
    assert "●" in user.lines[2]


async def mark_all(user) -> None:
    await user.press("A")
    assert user.browser.sessions.marked == {"a", "b", "c"}
    await user.press("A")
    assert user.browser.sessions.marked == set()


async def rename(user) -> None:
    await user.press("r")
    await user.type("new [b]name")
    await user.press("enter")
    assert user.browser.db.get_session_title("c") == "new [b]name"
    assert "new [b]name" in user.lines[2]
    await user.press("j", "r", "escape", "u")
    assert user.browser.db.get_session_title("c") is None


async def rename_to_a_taken_title(user) -> None:
    await user.press("r")
    await user.type("nginx 502")
    await user.press("enter")
    assert "nginx 502" in user.status
    assert user.browser.db.get_session_title("c") is None
    await user.press("u")
    assert user.status == "There is nothing to take back."


async def tag(user) -> None:
    db = user.browser.db
    db.tag_session("c", "old")
    await user.press("space", "space", "t")
    await user.type("#work -old")
    await user.press("enter")
    assert (db.get_tags("b"), db.get_tags("c")) == (["work"], ["work"])
    await user.press("u")
    assert (db.get_tags("b"), db.get_tags("c")) == ([], ["old"])


async def pin(user) -> None:
    await user.press("p")
    assert user.browser.db.get_session("c")["pinned_at"]
    assert "★" in user.lines[2]
    await user.press("p", "u")
    assert user.browser.db.get_session("c")["pinned_at"]
    await user.press("u")
    assert not user.browser.db.get_session("c")["pinned_at"]


async def archive(user) -> None:
    await user.press("a")
    assert user.listed == ["b", "a"]
    await user.press("u")
    assert user.listed == ["c", "b", "a"]


async def delete(user) -> None:
    for key in ("d", "delete"):
        await user.press("space", "space", key)
        assert user.listed == ["a"]
        assert user.status == "Moved 2 sessions to the trash for 30 days; u brings back."
        await user.press("u")
        assert user.listed == ["c", "b", "a"]
        assert user.browser.db.message_count("b") == 5


async def copy_id(user) -> None:
    await user.press("y")
    assert user.app.clipboard == "c"
    await user.press("space", "space", "y")
    assert user.app.clipboard == "c\nb"


async def copy_command(user) -> None:
    await user.press("Y")
    assert user.app.clipboard == "cd /srv/www/shop && claude --resume n-1"
    await user.press("j", "Y")
    assert user.app.clipboard == "sessiondb resume b"


async def copy_code(user) -> None:
    await user.press("j", "left_square_bracket", "c")
    assert user.app.clipboard.startswith("line_0 = 0\nline_1")
    await user.press("c")
    assert user.app.clipboard == "nginx -s reload"
    await user.press("right_square_bracket", "c")
    assert user.status == "No code block in this message; [ and ] go to others."


async def insights(user) -> None:
    await user.press("i")
    assert "last 30 days" in user.lines[0]
    assert "█" in user.screen
    assert "terminal" in user.screen
    await user.press("right_square_bracket")
    assert "last 90 days" in user.lines[0]
    await user.press("left_square_bracket", "left_square_bracket", "G", "k", "j", "pageup", "g")
    assert "last 7 days" in user.lines[0]
    await user.press("escape")
    assert user.here == "c"


async def help_screen(user) -> None:
    await user.press("question_mark")
    assert "one down" in user.screen
    await user.press("pagedown", "pagedown", "pagedown", "pagedown", "j")
    assert "quit" in user.screen
    await user.press("escape")
    assert user.here == "c"


async def leave(user) -> None:
    await user.press("q")
    assert user.app._exit
    assert user.app.return_value is None


CHECKS = {
    "move(1)": [down_and_up],
    "move(-1)": [down_and_up],
    "leap(0.5)": [leaps],
    "leap(-0.5)": [leaps],
    "leap(1)": [leaps],
    "leap(-1)": [leaps],
    "edge(-1)": [edges],
    "edge(1)": [edges, scrolls_in_the_conversation],
    "other_pane": [panes],
    "pane('preview')": [panes],
    "pane('list')": [panes],
    "zoom": [zoom],
    "back": [back],
    "search": [search],
    "scope": [scope],
    "order": [order],
    "source": [source],
    "tags": [tags],
    "view": [view],
    "tree": [tree],
    "reload": [reload],
    "hit(1)": [hits, no_hits],
    "hit(-1)": [hits],
    "message(1)": [messages],
    "message(-1)": [messages],
    "fold": [folds],
    "fold_all": [folds],
    "resume": [resume],
    "mark": [mark],
    "mark_all": [mark_all],
    "rename": [rename, rename_to_a_taken_title],
    "tag": [tag],
    "pin": [pin],
    "archive": [archive],
    "delete": [delete],
    "undo": [delete],
    "copy_id": [copy_id],
    "copy_command": [copy_command],
    "copy_code": [copy_code],
    "insights": [insights],
    "help": [help_screen],
    "leave": [leave],
}


def test_every_key_has_a_check() -> None:
    assert {key.action for key in ALL} == CHECKS.keys()


def test_every_key_is_bound_and_told_once() -> None:
    keys = [each for key in ALL for each in key.keys.split(",")]
    assert len(keys) == len(set(keys))
    assert [what for shown, what in help_lines(False) if shown] == [key.what for key in ALL]


@pytest.mark.parametrize(
    "check",
    list(dict.fromkeys(check for checks in CHECKS.values() for check in checks)),
    ids=lambda each: each.__name__,
)
def test_key(browse, db, check) -> None:
    browse(db, check)
