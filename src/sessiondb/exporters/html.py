"""One HTML file to look at or to send: no script, nothing loaded, every stored character escaped."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import TextIO

from ..models import MessageRow
from .base import Conversation, calls, heading, words
from .markdown import moment

NAME = "html"
SUFFIXES = (".html", ".htm")

STYLE = """
:root { color-scheme: light dark; --dim: #767676; --line: #8884; --user: #2f6feb18; --tool: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; border-top: 1px solid var(--line); padding-top: 1.5rem; overflow-wrap: anywhere; }
p.facts, h2 { color: var(--dim); font-size: .85rem; font-weight: normal; }
h2 { margin: 1.2rem 0 .2rem; }
h2 b { color: CanvasText; }
article { padding: .1rem .8rem; border-radius: .5rem; }
article.user { background: var(--user); }
article.tool, article.injected { background: var(--tool); font-size: .85rem; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; margin: .4rem 0; }
pre.code { font-family: ui-monospace, monospace; font-size: .85rem; }
details { color: var(--dim); margin: .4rem 0; }
"""
_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'"
HEAD = f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Conversations</title>
<style>{STYLE}</style>
</head>
<body>
"""
_NAMES = {"user": "User", "assistant": "Assistant", "tool": "Tool", "system": "System", "developer": "System"}
_LONG = 2000
# C0 but tab and line ends, DEL and C1, marks that turn the direction of writing, surrogates.
_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def write(conversations: Iterable[Conversation], out: TextIO) -> None:
    out.write(HEAD)
    for conversation in conversations:
        for piece in _section(conversation):
            out.write(piece + "\n")
    out.write("</body>\n</html>\n")


def shown(text: str) -> str:
    """Text that is only text; controls and lone surrogates become a sign for them."""
    return escape(_UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text))


def _section(conversation: Conversation) -> Iterator[str]:
    session = conversation.session
    yield f"<section>\n<h1>{shown(heading(session))}</h1>"
    facts = [session["id"], session["source"], moment(session["started_at"]), session["model"], session["cwd"]]
    tags = [f"#{tag}" for tag in conversation.tags]
    yield f'<p class="facts">{" · ".join(shown(str(each)) for each in [*facts, *tags] if each)}</p>'
    if session["system_prompt"]:
        yield _folded("System prompt", session["system_prompt"])
    for message in conversation.messages():
        yield from _turn(message)
    yield "</section>"


def _turn(message: MessageRow) -> Iterator[str]:
    role = message["role"] if message["role"] in _NAMES else "other"
    name = _NAMES.get(role, message["role"])
    tool = f" {shown(message['tool_name'])}" if message["tool_name"] else ""
    kind = f"{role} injected" if message["injected"] else role
    yield f'<article class="{kind}">\n<h2><b>{shown(name)}</b>{tool} · {moment(message["timestamp"])}</h2>'
    if message["reasoning"]:
        yield _folded("Reasoning", message["reasoning"])
    if text := words(message):
        folded = len(text) > _LONG and (role == "tool" or message["injected"])
        yield _folded(f"{len(text):,} characters", text) if folded else f"<pre>{shown(text)}</pre>"
    for call in calls(message):
        name = shown(call["tool_name"] or "a tool")
        yield f'<p>Calls <b>{name}</b></p>\n<pre class="code">{shown(call["arguments"] or "")}</pre>'
    yield "</article>"


def _folded(summary: str, text: str) -> str:
    return f"<details><summary>{shown(summary)}</summary><pre>{shown(text)}</pre></details>"
