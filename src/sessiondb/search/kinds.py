"""Kinds."""

KINDS = ("command", "path", "url", "decision", "todo")
