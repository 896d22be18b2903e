"""One script per contender; each is started as a process of its own."""
