"""Conversations written out: one file per format."""
