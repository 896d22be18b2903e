"""`SQLProvider`: the contract on any SQL database; a backend adds dialect, driver, schema and search."""

from __future__ import annotations

from .bindings import BindingPrimitives
from .lineage import LineagePrimitives
from .merges import MergePrimitives
from .messages import MessagePrimitives
from .moves import MovePrimitives
from .revision import RevisionPrimitives
from .sessions import SessionPrimitives
from .stats import StatPrimitives
from .surroundings import SurroundingPrimitives
from .trash import TrashPrimitives


class SQLProvider(
    SessionPrimitives,
    MessagePrimitives,
    MergePrimitives,
    MovePrimitives,
    RevisionPrimitives,
    SurroundingPrimitives,
    LineagePrimitives,
    TrashPrimitives,
    StatPrimitives,
    BindingPrimitives,
):
    """Every primitive but life, health and size, which are the backend's."""
