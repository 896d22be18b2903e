"""Chat logs, to and from sessiondb."""
