"""PostgreSQL: the SQL core on a pool of connections, with an index of words in the same transactions."""

from .provider import PostgreSQLProvider

__all__ = ["PostgreSQLProvider"]
