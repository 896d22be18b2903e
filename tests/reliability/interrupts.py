"""Ctrl-C at every moment, one after the other: KeyboardInterrupt where the interpreter looks for signals.

It looks when a function begins, after a call, and at the end of a loop's body; so does the tracer here.
"""

from __future__ import annotations

import dis
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import sessiondb.backends.sqlite

HOME = str(Path(sessiondb.backends.sqlite.__file__).parent)
CHECKING = {"RESUME", "CALL", "CALL_KW", "CALL_FUNCTION_EX", "JUMP_BACKWARD"}


class Interrupter:
    """Interrupts the calling thread at the n-th moment inside the SQLite backend, counted from 1."""

    def __init__(self, moment: int) -> None:
        self._left = moment
        self._last: dict[FrameType, int] = {}
        self.place = ""

    def run(self, work: Callable[[], Any]) -> bool:
        """Whether the work was interrupted; False when it has fewer moments."""
        sys.settrace(self._enter)
        try:
            work()
            return False
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
            self._last.clear()

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(HOME):
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return self._step

    def _step(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "opcode":
            before = self._last.get(frame)
            self._last[frame] = frame.f_lasti
            if before is not None and _operation(frame, before) in CHECKING:
                self._count(frame)
        return self._step

    def _count(self, frame: FrameType) -> None:
        self._left -= 1
        if self._left == 0:
            self.place = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno} in {frame.f_code.co_name}"
            raise KeyboardInterrupt


def _operation(frame: FrameType, offset: int) -> str:
    return dis.opname[frame.f_code.co_code[offset]]
