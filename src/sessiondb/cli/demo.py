"""`sessiondb demo`"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from .. import demo, registry
from ..db import SessionDB
from ..errors import AlreadyExists
from ..provider import SessionDBProvider
from . import ink, options, output

_TOUR = (
    ("Some weeks of conversations are stored. What is there?", ("list", "--limit", "8")),
    ("Words are found as they were typed, paths and Chinese too.", ("search", "/etc/nginx/nginx.conf")),
    (None, ("search", "天气")),
    ('"nginx 502" grew too long and went on elsewhere; it is resumed where it went on.', ("resume", "nginx", "502")),
    ("A conversation of another agent is resumed there.", ("resume", "checkout page")),
    ("What the last days were like.", ("insights",)),
    ("Numbers, and the proof that nothing is missing.", ("stats",)),
    (None, ("verify",)),
)


@options.command("demo")
@options.option("--keep", metavar="DIR", help="Write the store into this new directory, and keep it to play with.")
@options.common
def command(keep: str | None) -> None:
    """Show what there is to see, in a store of its own.

    Conversations of some weeks are written into a throw-away home, then listed, searched, resumed and counted. Your
    own store is not touched.

    \b
    Example:
        sessiondb demo
        sessiondb demo --keep playground
    """
    with _home(keep) as home:
        _fill(os.path.join(home, "state.db"))
        for words, arguments in _TOUR:
            if words:
                output.say()
                output.say(ink.dim(f"# {words}"))
            _run(home, arguments)
        if keep:
            output.say()
            output.say(f"The store stays. To look around: export SESSIONDB_HOME={shlex.quote(home)}")


def _fill(path: str) -> None:
    # Not by way of the configuration: nothing of the person's own is looked at.
    provider: SessionDBProvider = registry.load("providers", "sqlite")()
    provider.initialize(path=path, synchronous="NORMAL")
    clock = demo.Clock()
    with SessionDB(provider=provider, clock=clock) as db:
        demo.write(db, clock)


@contextmanager
def _home(keep: str | None) -> Iterator[str]:
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="sessiondb-demo-") as home:
            yield home
        return
    home = os.path.abspath(keep)
    if os.path.lexists(home):
        raise AlreadyExists(f"{home} exists; give --keep a directory that does not")
    os.makedirs(home, mode=0o700)
    yield home


def _run(home: str, arguments: tuple[str, ...]) -> None:
    """Run the real command as a shell would show it."""
    output.say()
    output.say(ink.bold(f"$ sessiondb {shlex.join(arguments)}"))
    sys.stdout.flush()
    environment = {name: value for name, value in os.environ.items() if name != "SESSIONDB_URL"}
    environment |= {"SESSIONDB_HOME": home, "SESSIONDB_PAGER": ""}
    shown = [*arguments, "--color", "always" if ink.palette.on else "never"]
    subprocess.run([sys.executable, "-m", "sessiondb", *shown], env=environment, check=True)
