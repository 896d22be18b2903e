"""Plugging recall into agents: their settings, edited in place and undone, and the spool of what they did."""
