"""The browser in the terminal (extra `tui`). What it decides is in modules without Textual; widgets only show it."""
