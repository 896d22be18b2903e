"""Which chat belongs to which session, and when a new one begins."""
