"""Conversations as trees: which messages are on the branch that is shown, and all of them in order."""

from __future__ import annotations

from collections.abc import Mapping


def shown(parents: Mapping[str, str | None], leaf: str | None) -> set[str]:
    """The ids from a leaf up to its root."""
    found: set[str] = set()
    while leaf is not None and leaf in parents and leaf not in found:
        found.add(leaf)
        leaf = parents[leaf]
    return found


def in_order(parents: Mapping[str, str | None]) -> list[str]:
    """Every id after its parent, branch after branch; those without a known parent begin."""
    children: dict[str | None, list[str]] = {}
    for name, parent in parents.items():
        children.setdefault(parent if parent in parents else None, []).append(name)
    ordered: dict[str, None] = {}
    waiting = children.get(None, [])[::-1]
    while waiting:
        name = waiting.pop()
        ordered[name] = None
        waiting += children.get(name, [])[::-1]
    # What hangs in a circle has no beginning.
    return [*ordered, *(name for name in parents if name not in ordered)]
