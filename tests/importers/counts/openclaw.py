"""Counts over sessions of OpenClaw, which are those of pi."""

from __future__ import annotations

from .pi import count

__all__ = ["count"]
