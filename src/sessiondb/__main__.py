"""`python -m sessiondb` is `sessiondb`."""

from .cli.main import main

main()
