"""MySQL and MariaDB through PyMySQL: a small pool, one dialect, words in an encoded FULLTEXT column."""

from .provider import MySQLProvider

__all__ = ["MySQLProvider"]
