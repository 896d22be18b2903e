"""Messages drawn as lines of a terminal: Markdown rendered, code and tools closed or open, found words marked.

Runs beside the screen. The text of blocks is safe already; Rich is given no markup of its own and makes no links.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

from ..cli.conversation import AGENT, OTHER, PERSON, TOOL
from ..cli.output import count
from ..cli.text import line
from ..models import MessageRow
from .blocks import Block, blocks

if TYPE_CHECKING:
    from rich.markdown import Markdown, MarkdownElement

Line = list[Segment]
FOUND = Style(bold=True, color="black", bgcolor="yellow")
DIM = Style(dim=True)
_MARKS = {"user": (PERSON, "yellow"), "assistant": (AGENT, "green"), "tool": (TOOL, "cyan"), "function": (TOOL, "cyan")}
_THEME = "ansi_dark"
# Code is told by its first lines.
_HEAD = 3
_INDENT = 2
OPENED, CLOSED = "▾", "▸"


def drawn(message: MessageRow, columns: int, *, opened: bool, found: Sequence[str] = ()) -> list[Line]:
    """The lines of a message, none longer than `columns`; the last one is blank."""
    parts = blocks(message)
    made: list[RenderableType] = [_head(message)]
    made += [Padding(part, (0, 0, 0, _INDENT)) for block in parts for part in _block(block, opened)]
    lines = [row for part in made for row in _lines(part, columns)]
    pattern = _pattern(found)
    return [*(_marked(row, pattern) if pattern else row for row in lines), []]


def _lines(part: RenderableType, columns: int) -> Iterator[Line]:
    console = _console(max(columns, 10))
    for row in console.render_lines(part, pad=False):
        yield [Segment(each.text, each.style) for each in row if not each.control]


@cache
def _console(columns: int) -> Console:
    return Console(
        width=columns, color_system="truecolor", force_terminal=True, markup=False, emoji=False, highlight=False,
        legacy_windows=False,
    )  # fmt: skip


def _head(message: MessageRow) -> Text:
    mark, color = _MARKS.get(message["role"], (OTHER, "bright_black"))
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(message["timestamp"]))
    told = Text(no_wrap=True, overflow="ellipsis")
    told.append(f"{mark} ", Style(color=color))
    told.append(line(message["role"]), Style(bold=True, color=color))
    told.append(f" · {when} · #{message['id']}", DIM)
    if message.get("injected"):
        told.append(" · injected", DIM)
    return told


def _block(block: Block, opened: bool) -> Iterator[RenderableType]:
    if block.kind == "prose":
        yield _markdown(block.text)
    elif block.kind == "code":
        yield from _code(block, opened)
    else:
        yield from _folded(block, opened)


def _folded(block: Block, opened: bool) -> Iterator[RenderableType]:
    """Thoughts, calls and results: one line, and the rest when opened."""
    lines = block.text.count("\n") + 1 if block.text else 0
    size = "" if block.kind == "calls" else f" · {count(lines, 'line')}"
    first = "" if opened or block.kind == "calls" else f" · {line(block.text[:200])}"
    sign = OPENED if opened else CLOSED
    yield Text(f"{sign} {block.label}{size}{first}", Style(dim=True, color="cyan"), no_wrap=True, overflow="ellipsis")
    if opened and block.text:
        yield Padding(Text(block.text, DIM, overflow="fold"), (0, 0, 0, _INDENT))


def _code(block: Block, opened: bool) -> Iterator[RenderableType]:
    lines = block.text.split("\n")
    shown = lines if opened or len(lines) <= _HEAD + 1 else lines[:_HEAD]
    sign = OPENED if shown is lines else CLOSED
    rest = "" if shown is lines else f" · {len(lines) - len(shown)} more"
    named = f"{block.label or 'code'} · {count(len(lines), 'line')}{rest}"
    yield Text(f"{sign} {line(named)}", Style(dim=True, color="cyan"), no_wrap=True, overflow="ellipsis")
    yield Padding(_highlighted("\n".join(shown), block.label), (0, 0, 0, _INDENT))


def _highlighted(code: str, language: str) -> RenderableType:
    from rich.syntax import Syntax

    return Syntax(code, language or "text", theme=_THEME, word_wrap=True, background_color="default")


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    # What looks like HTML is text that somebody wrote: List<String> must not lose its half.
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


@cache
def _renderer() -> type[Markdown]:
    from rich.markdown import Heading, Markdown

    class LeftHeading(Heading):
        """At the left, where the text of a conversation begins."""

        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            self.text.justify = "left"
            yield self.text

    class Rendered(Markdown):
        elements: ClassVar[dict[str, type[MarkdownElement]]] = {**Markdown.elements, "heading_open": LeftHeading}

    return Rendered


def _markdown(text: str) -> Markdown:
    made = _renderer()("", code_theme=_THEME, hyperlinks=False)
    made.parsed = _parser().parse(text)
    for token in made.parsed:
        for child in token.children or ():
            # In a chat people break lines where they mean it.
            if child.type == "softbreak":
                child.type = "hardbreak"
    return made


def _pattern(words: Iterable[str]) -> re.Pattern[str] | None:
    listed = sorted({re.escape(word) for word in words}, key=len, reverse=True)
    return re.compile("|".join(listed), re.IGNORECASE) if listed else None


def _marked(row: Line, pattern: re.Pattern[str]) -> Line:
    """The line with every match in the style of a match; it may reach over several segments."""
    text = "".join(segment.text for segment in row)
    spans = [match.span() for match in pattern.finditer(text) if match[0]]
    if not spans:
        return row
    cuts = sorted({place for span in spans for place in span})
    made, at = [], 0
    for segment in row:
        for start, end in _pieces(at, at + len(segment.text), cuts):
            inside = any(first <= start < last for first, last in spans)
            style = (segment.style or Style.null()) + FOUND if inside else segment.style
            made.append(Segment(text[start:end], style))
        at += len(segment.text)
    return made


def _pieces(start: int, end: int, cuts: Sequence[int]) -> Iterator[tuple[int, int]]:
    at = start
    for place in cuts:
        if at < place < end:
            yield at, place
            at = place
    if at < end:
        yield at, end
