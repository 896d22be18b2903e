"""Finding messages again: text to words, search box to query, query to matches and snippets; pure."""
