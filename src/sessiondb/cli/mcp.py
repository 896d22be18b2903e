"""`sessiondb mcp`"""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..errors import Invalid
from . import options, output

if TYPE_CHECKING:
    from ..db import SessionDB

_TOKEN = "SESSIONDB_MCP_TOKEN"
_LOOPBACK = "127.0.0.1"


@options.command("mcp")
@options.flag("--http", help="Serve HTTP on loopback instead of stdin and stdout.")
@options.option("--port", convert=options.whole(0), default=8484, show_default=True, metavar="N", help="With --http.")
@options.flag("--allow-append", help="Offer session_append too, which stores messages.")
@options.flag("--redact", "wish", value="redact", help="Leave credentials out of all answers, as by default.")
@options.flag("--no-redact", "wish", value="keep", help="Leave credentials in.")
@options.creating
def command(db: SessionDB, http: bool, port: int, allow_append: bool, wish: str | None) -> None:
    """Let agents search and read the store over MCP.

    Agents start it themselves and talk over stdin and stdout; `sessiondb hook install` registers it with them. With
    --http it serves http://127.0.0.1:PORT/mcp, and callers need the token in $SESSIONDB_MCP_TOKEN; without one, a new
    token is printed.

    \b
    Example:
        sessiondb mcp
        sessiondb mcp --allow-append
    """
    from ..tools import mcp

    server = mcp.build(
        db, allow_append=allow_append, summarize=_summaries(), version=__version__, redact=wish != "keep"
    )
    if http:
        _serve(server, port)
    else:
        server.run("stdio")


def _summaries() -> Any:
    from .. import llm
    from ..tools.summaries import Summaries

    endpoint = llm.endpoint()
    return Summaries(endpoint) if endpoint else None


def _serve(server: Any, port: int) -> None:
    import uvicorn

    from ..tools import mcp

    token = os.environ.get(_TOKEN) or secrets.token_urlsafe(24)
    if len(token) < 16:
        raise Invalid(f"${_TOKEN} is too short to be a secret; use 16 characters or more")
    output.complain(f"serving http://{_LOOPBACK}:{port}/mcp")
    if _TOKEN not in os.environ:
        output.complain(f"the token for this run: {token}")
    uvicorn.run(mcp.http_app(server, token), host=_LOOPBACK, port=port, log_level="warning")
