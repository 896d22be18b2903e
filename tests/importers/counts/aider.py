"""Counts over the chat histories of aider."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from .tally import empty


def count(paths: list[Path]) -> dict[str, dict[str, Any]]:
    sessions = {}
    for path in paths:
        text = path.read_text()
        for chat in re.split(r"(?m)^# aider chat started at ", text)[1:]:
            moment, _, told = chat.partition("\n")
            prompts = re.findall(r"(?m)(?:^#### .*\n)+", fenced_out(told))
            if prompts:
                first = prompts[0].split("\n")[0].removeprefix("####").strip()
                digest = hashlib.sha256(first.encode()).hexdigest()[:8]
                sessions[f"aider-{re.sub('[^0-9]', '', moment)}-{digest}"] = tally_of(fenced_out(told), prompts)
    return sessions


def fenced_out(told: str) -> str:
    """Without the insides of code blocks."""
    return re.sub(r"(?ms)^```.*?^```$", "CODE", told)


def tally_of(told: str, prompts: list[str]) -> dict[str, Any]:
    tally = empty()
    tally["human"] = len(prompts)
    bare = re.sub(r"(?m)^#### .*$", "\x00", told)
    bare = re.sub(r"(?m)^> .*$", "\x01", bare)
    tally["assistant"] = sum(bool(run.strip()) for run in re.split("[\x00\x01]+", bare))
    for sent, received in re.findall(r"> Tokens: ([\d.]+)k sent, ([\d.]+) received", told):
        tally["input"] += round(float(sent) * 1000)
        tally["output"] += int(received)
    return tally
