"""The search index: derived files beside the data, which may be lost, damaged or behind without harm to a message."""
