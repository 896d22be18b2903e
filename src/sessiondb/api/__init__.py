"""The parts of `SessionDB`, one file per noun; `sessiondb.db` puts them together."""
