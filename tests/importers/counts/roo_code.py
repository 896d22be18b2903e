"""Counts over tasks of Roo Code, which are Cline's."""

from __future__ import annotations

from .cline import count

__all__ = ["count"]
