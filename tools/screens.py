"""Makes the pictures in docs/screens: real commands in a real terminal on the store of the demo, drawn as SVG.

.venv/bin/python tools/screens.py [DIRECTORY]
"""

from __future__ import annotations

import asyncio
import io
import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

import sessiondb
from sessiondb.tui import listing
from sessiondb.tui.app import BrowserApp
from sessiondb.tui.choice import Choice
from sessiondb.tui.scope import Scope

SCREENS = Path(__file__).resolve().parent.parent / "docs" / "screens"
COLUMNS = 100
RUNS = {
    "list": ("list", "--limit", "8"),
    "search": ("search", "nginx"),
    "resume": ("resume", "refactoring auth"),
    "resume-elsewhere": ("resume", "checkout page"),
    "insights": ("insights",),
}
# The chat host: what is typed, and what the model answers to it.
CHATTED = {
    "chat": (
        ("chat", "-c", "nginx", "502"),
        ("did the socket come back after the restart?", "/titel deploys", "/history socket"),
    ),
    "chat-compress": (
        ("chat", "-c", "nginx", "502"),
        ("/compress", "what was wrong?", "/usage"),
    ),
    "chat-trouble": (
        ("chat",),
        ("summarise the incident", "/retry", "in Chinese, and with the command"),
    ),
}
# The browser: its size, and the keys that lead to the picture.
BROWSED = {
    "browse": ((120, 32), ("down", "down")),
    "browse-search": ((120, 32), ("slash", *"nginx", "enter", "down")),
    "browse-narrow": ((80, 24), ("down", "space", "space", "down")),
    "browse-tree": ((120, 20), ("down", "T")),
    "browse-insights": ((100, 40), ("i",)),
    "browse-help": ((80, 52), ("question_mark",)),
}


def captured(arguments: tuple[str, ...], home: str) -> str:
    """What a terminal is sent."""
    terminal, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("SESSIONDB_URL", "NO_COLOR")}
    environment |= {"SESSIONDB_HOME": home, "SESSIONDB_PAGER": "", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    process = subprocess.Popen(
        [sys.executable, "-m", "sessiondb", *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(terminal, 65536)
        except OSError:  # the other side is closed
            break
    os.close(terminal)
    if process.wait() != 0:
        raise SystemExit(f"sessiondb {shlex.join(arguments)} failed: {shown.decode()}")
    return shown.decode().replace("\r\n", "\n")


def typed(arguments: tuple[str, ...], lines: tuple[str, ...], home: str) -> str:
    """What a terminal is sent while somebody types, each line when the program waits for it."""
    terminal, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("SESSIONDB_URL", "NO_COLOR")}
    environment |= {"SESSIONDB_HOME": home, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    process = subprocess.Popen(
        [sys.executable, "-m", "sessiondb", *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    shown, waiting = b"", list(lines)
    while True:
        try:
            shown += os.read(terminal, 65536)
        except OSError:  # the other side is closed
            break
        if shown.endswith(_PROMPT):
            os.write(terminal, f"{waiting.pop(0)}\n".encode() if waiting else b"\x04")
    os.close(terminal)
    process.wait()
    return _settled(re.sub(r"\x1b\[\?2004[hl]", "", shown.decode()).replace("\r\n", "\n").replace("\r", ""))


def _settled(shown: str) -> str:
    """As a terminal has it in the end: what is gone back over is overwritten."""
    while "\b" in shown:
        shown = re.sub("[^\b\n]\b", "", shown)
    return shown


_PROMPT = "●\x1b[0m ".encode()


def _endpoint() -> Any:
    """The scripted endpoint of the tests, with something to say."""
    sys.path.insert(0, str(SCREENS.parents[1] / "tests"))
    from chat_endpoint import BREAK, ChatEndpoint, tool_call

    calls = [tool_call("session_search", '{"query": "socket after the deploy"}')]
    told = "Yes. The unit was restarted after the migration, and /run/app.sock is there again; `curl -I` answers 200."
    asked: list[str] = []

    def reply(request: dict[str, Any]) -> Any:
        last = request["messages"][-1]
        if last["role"] == "tool" or "max_tokens" in request:
            return told if last["role"] == "tool" else "The socket of the app was gone after the deploy; it is back."
        asked.append(last["content"])
        if "Chinese" in last["content"]:
            return _CHINESE
        if "summarise" in last["content"] and asked.count(last["content"]) == 1:
            return ["The deploy at noon left", BREAK]
        return calls if "socket" in last["content"] else _pieces("Nginx answered 502: " + told.removeprefix("Yes. "))

    made = ChatEndpoint()
    made.reply = reply
    return made


def _pieces(text: str) -> list[str]:
    return [text[at : at + 4] for at in range(0, len(text), 4)]


_CHINESE = (
    "中午部署之后，应用的套接字消失了，所以 nginx 返回 502。迁移完成之后服务重新启动，套接字又回来了。"
    "以后请先迁移，再重新启动服务，然后检查套接字是否存在。\n\n"
    "```sh\nsystemctl restart app && test -S /run/app.sock\n```"
)


def drawn(arguments: tuple[str, ...], shown: str) -> str:
    """The picture, without the fonts that rich would load from elsewhere."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi(f"\x1b[1m$ sessiondb {shlex.join(arguments)}\x1b[0m\n" + shown.rstrip("\n")))
    return _plain(console.export_svg(title="sessiondb", theme=MONOKAI, unique_id="screen"))


async def browsed(home: str, size: tuple[int, int], keys: tuple[str, ...]) -> str:
    """The picture of the browser after some keys."""
    known = [Scope("all")]
    with sessiondb.open(os.path.join(home, "state.db")) as db:
        early: Future[listing.Loaded] = Future()
        early.set_result(listing.first(db, Choice(), known))
        app = BrowserApp(db, Choice(), known, early=early)
        async with app.run_test(size=size) as pilot:
            for key in keys:
                await pilot.press(key)
            # Long enough for every answer.
            await pilot.pause(2)
            return _plain(app.export_screenshot(title="sessiondb browse"))


def _plain(svg: str) -> str:
    """Without fonts from elsewhere, and with blanks that every viewer keeps."""
    svg = re.sub(r"terminal-\d+", "screen", svg)
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = _LED_BY_BLANKS.sub(_moved, svg)
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


_BLANK = "&#160;"
_COLUMN = 12.2
_LED_BY_BLANKS = re.compile(rf' x="([\d.]+)" (y="[\d.]+") textLength="([\d.]+)" ([^>]*)>((?:{_BLANK})+)')


def _moved(found: re.Match[str]) -> str:
    """Text that begins with blanks begins further right without them: some viewers swallow them."""
    taken = found[5].count(_BLANK) * _COLUMN
    x, length = round(float(found[1]) + taken, 1), round(max(float(found[3]) - taken, 0), 1)
    return f' x="{x:g}" {found[2]} textLength="{length:g}" {found[4]}>'


def main(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sessiondb-screens-") as scratch:
        home = os.path.join(scratch, "home")
        subprocess.run(
            [sys.executable, "-m", "sessiondb", "demo", "--keep", home], stdout=subprocess.DEVNULL, check=True
        )
        for name, arguments in RUNS.items():
            (directory / f"{name}.svg").write_text(drawn(arguments, captured(arguments, home)), encoding="utf-8")
            print(directory / f"{name}.svg")
        with _endpoint() as endpoint:
            endpoint.configure(Path(home))
            for name, (arguments, lines) in CHATTED.items():
                shown = typed(arguments, lines, home)
                (directory / f"{name}.svg").write_text(drawn(arguments, shown), encoding="utf-8")
                print(directory / f"{name}.svg")
        for name, (size, keys) in BROWSED.items():
            (directory / f"{name}.svg").write_text(asyncio.run(browsed(home, size, keys)), encoding="utf-8")
            print(directory / f"{name}.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else SCREENS)
