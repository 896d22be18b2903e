"""Small questions above the browser, and its help. Stored text is shown without markup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from ..cli.text import cut, line, pad
from .keys import help_lines

_WIDEST = 64


class Ask(ModalScreen[str | None]):
    """One line of text; None when it was left with Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,ctrl+c", "dismiss(None)", show=False)]

    def __init__(self, question: str, value: str = "", hint: str = "") -> None:
        super().__init__()
        self._question, self._value, self._hint = question, value, hint

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(Text(line(self._question), Style(bold=True)), markup=False)
            yield Input(self._value, compact=True, select_on_focus=False)
            yield Static(Text(line(self._hint), Style(dim=True)), markup=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value)


class Pick(ModalScreen[str | None]):
    """One of several; None when it was left with Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,ctrl+c", "dismiss(None)", show=False),
        Binding("j,down,ctrl+n", "move(1)", show=False),
        Binding("k,up,ctrl+p", "move(-1)", show=False),
        Binding("enter,space", "choose", show=False),
    ]

    def __init__(self, question: str, options: Sequence[tuple[str, str]], at: int = 0) -> None:
        """`options` are (value, how it is told)."""
        super().__init__()
        self._question, self._options, self._at = question, options, at

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(Text(line(self._question), Style(bold=True)), markup=False)
            with VerticalScroll(can_focus=False):
                yield Static(self._told(), id="options", markup=False)

    def _told(self) -> Text:
        rows = [
            Text(pad(f" {cut(line(told), _WIDEST - 6)} ", _WIDEST - 4), Style(reverse=place == self._at))
            for place, (_, told) in enumerate(self._options)
        ]
        return Text("\n").join(rows)

    def action_move(self, step: int) -> None:
        self._at = (self._at + step) % len(self._options)
        self.query_one("#options", Static).update(self._told())
        scroll = self.query_one(VerticalScroll)
        scroll.scroll_to(y=self._at - scroll.size.height // 2, animate=False)

    def action_choose(self) -> None:
        self.dismiss(self._options[self._at][0])


class Help(ModalScreen[None]):
    """Every key and what it does."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter,ctrl+c", "dismiss(None)", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("pagedown,ctrl+d,space", "scroll(10)", show=False),
        Binding("pageup,ctrl+u", "scroll(-10)", show=False),
    ]

    def __init__(self, read_only: bool) -> None:
        super().__init__()
        self._read_only = read_only

    def compose(self) -> ComposeResult:
        told = Text()
        for key, what in help_lines(self._read_only):
            if key:
                told.append(f"  {pad(key, 9)}", Style(color="cyan"))
                told.append(f"{what}\n")
            else:
                told.append(f"{what}\n", Style(bold=True))
        if self._read_only:
            told.append("Read-only: nothing can be changed here.\n", Style(color="yellow"))
        told.append("Esc closes this.", Style(dim=True))
        with VerticalScroll(classes="box", can_focus=False):
            yield Static(told, markup=False)

    def action_scroll(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)
