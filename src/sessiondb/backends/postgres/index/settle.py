"""After a load: what the server's autovacuum would do minutes later, and searches are slow until then.

New words wait in a list that every search reads, and plans for words are guesses until the tables were looked at.
"""

from __future__ import annotations

from ....sql.driver import Tx
from ..dialect import quoted

# Columns by which searches choose and join; looking at the texts would take longer than all of them.
COLUMNS = {
    "messages": "id, session_id, active",
    "search_tokens": "message_id, chunks, tsv",
    "sessions": "id, source",
}
# Tables of which so many rows are new, and a tenth, are looked at again.
MANY = 1000
OWNED = f"""
    SELECT t.relname, t.n_mod_since_analyze > {MANY} + 0.1 * t.n_live_tup
      FROM pg_stat_user_tables t
      JOIN pg_class c ON c.oid = t.relid
     WHERE c.relnamespace = to_regnamespace(:schema)
       AND t.relname IN ('messages', 'search_tokens', 'sessions')
       AND pg_has_role(c.relowner, 'USAGE')
"""
LISTS = """
    SELECT gin_clean_pending_list(x.indexrelid)
      FROM pg_index x
      JOIN pg_class c ON c.oid = x.indexrelid
      JOIN pg_am a ON a.oid = c.relam
     WHERE x.indrelid = to_regclass(:table)
       AND a.amname = 'gin'
       AND x.indisvalid
"""


def settle(tx: Tx, schema: str) -> None:
    """Only by who owns the tables: others have to wait for the server."""
    name = quoted(schema)
    owned: dict[str, bool] = dict(tx.rows(OWNED, {"schema": name}))
    if "search_tokens" in owned:
        tx.rows(LISTS, {"table": f"{name}.search_tokens"})
    for table in sorted(table for table, changed in owned.items() if changed):
        tx.run(f"ANALYZE {name}.{table} ({COLUMNS[table]})")
