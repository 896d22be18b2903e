"""The command line: `main` runs it, one file per command, loaded when it is called."""
