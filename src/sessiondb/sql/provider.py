"""`SQLProvider`: the contract on any SQL database; a backend adds dialect, driver, schema and search."""

from __future__ import annotations

from .lineage import LineagePrimitives
from .merges import MergePrimitives
from .messages import MessagePrimitives
from .moves import MovePrimitives
from .sessions import SessionPrimitives
from .stats import StatPrimitives
from .surroundings import SurroundingPrimitives
from .trash import TrashPrimitives


class SQLProvider(
    SessionPrimitives,
    MessagePrimitives,
    MergePrimitives,
    MovePrimitives,
    SurroundingPrimitives,
    LineagePrimitives,
    TrashPrimitives,
    StatPrimitives,
):
    """Every primitive but life, health and size, which are the backend's."""
