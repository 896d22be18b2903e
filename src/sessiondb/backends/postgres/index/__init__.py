"""Search: words made by the program, kept as tsvectors beside the messages, in the same transactions."""
