"""The keys, in one table: the bindings and the help are made of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Key:
    """`keys` as Textual names them, `shown` as people do."""

    keys: str
    action: str
    shown: str
    what: str
    writes: bool = False
    # Before the next key is looked at: what is typed ahead must not be taken for other keys.
    at_once: bool = False


MOVING = (
    Key("j,down,ctrl+n", "move(1)", "j ↓", "one down"),
    Key("k,up,ctrl+p", "move(-1)", "k ↑", "one up"),
    Key("ctrl+d", "leap(0.5)", "Ctrl-D", "half a page down"),
    Key("ctrl+u", "leap(-0.5)", "Ctrl-U", "half a page up"),
    Key("pagedown,ctrl+f", "leap(1)", "PgDn", "a page down"),
    Key("pageup,ctrl+b", "leap(-1)", "PgUp", "a page up"),
    Key("g,home", "edge(-1)", "g Home", "to the first"),
    Key("G,end", "edge(1)", "G End", "to the last"),
    Key("tab", "other_pane", "Tab", "list or conversation"),
    Key("l,right", "pane('preview')", "l →", "into the conversation"),
    Key("h,left", "pane('list')", "h ←", "back to the list"),
    Key("w", "zoom", "w", "the conversation alone, and back"),
    Key("escape", "back", "Esc", "back: search, marks, lineage, words"),
)
FINDING = (
    Key("slash", "search", "/", "search while you type; Enter leaves the box", at_once=True),
    Key("s", "scope", "s", "scope: directory, repository, all"),
    Key("S", "order", "S", "sort"),
    Key("f", "source", "f", "only one source"),
    Key("number_sign", "tags", "#", "only sessions with tags"),
    Key("v", "view", "v", "current, pinned, archived, or all"),
    Key("T", "tree", "T", "lineage of the session"),
    Key("ctrl+r", "reload", "Ctrl-R", "read the store again"),
)
READING = (
    Key("n", "hit(1)", "n", "next hit in the conversation"),
    Key("N", "hit(-1)", "N", "hit before"),
    Key("right_square_bracket", "message(1)", "]", "next message"),
    Key("left_square_bracket", "message(-1)", "[", "message before"),
    Key("z", "fold", "z", "open or close code, tools and thoughts"),
    Key("Z", "fold_all", "Z", "the same in all messages"),
)
DOING = (
    Key("enter", "resume", "Enter", "take the conversation up"),
    Key("space", "mark", "Space", "mark, for what follows"),
    Key("A", "mark_all", "A", "mark all that are loaded, or none"),
    Key("r", "rename", "r", "rename", writes=True),
    Key("t", "tag", "t", "tag: words add, -words take away", writes=True),
    Key("p", "pin", "p", "pin, or let go", writes=True),
    Key("a", "archive", "a", "archive, or bring back", writes=True),
    Key("d,delete", "delete", "d Del", "move to the trash", writes=True),
    Key("u", "undo", "u", "take the last change back", writes=True),
    Key("y", "copy_id", "y", "copy the id"),
    Key("Y", "copy_command", "Y", "copy the command that takes it up"),
    Key("c", "copy_code", "c", "copy a code block; again: the next"),
    Key("i", "insights", "i", "insights: tokens, costs, tools, hours"),
    Key("question_mark", "help", "?", "this help"),
    Key("q,ctrl+c,ctrl+q", "leave", "q", "quit"),
)
GROUPS = {"Move": MOVING, "Find": FINDING, "Read": READING, "Do": DOING}
ALL = tuple(key for group in GROUPS.values() for key in group)
HINTS = "Enter take up · / search · s scope · d delete · u undo · ? help · q quit"


def help_lines(read_only: bool) -> list[tuple[str, str]]:
    """(key, what it does); a heading has no key."""
    lines: list[tuple[str, str]] = []
    for heading, group in GROUPS.items():
        lines.append(("", heading))
        lines += [(key.shown, key.what) for key in group if not (read_only and key.writes)]
    return lines
