"""SQLite through apsw: one engine per process and file, WAL, durable commits."""

from .provider import SQLiteProvider

__all__ = ["SQLiteProvider"]
