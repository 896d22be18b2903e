"""Private database servers for the tests: in temporary directories, on free loopback ports, ended by their pid."""
