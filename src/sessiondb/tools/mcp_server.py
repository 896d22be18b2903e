"""The SDK's server, with the protocol's codes and our reasons for what cannot be given; needs the extra `mcp`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from ..errors import SessionDBError
from ..redact import redact


class Server(MCPServer):
    async def get_prompt(self, *given: Any, **named: Any) -> Any:
        """As the SDK's, which answers with the code 0 where the protocol wants -32602."""
        try:
            return await super().get_prompt(*given, **named)
        except ValueError as exc:
            raise MCPError(INVALID_PARAMS, redact(str(exc))) from exc


@contextmanager
def explained() -> Iterator[None]:
    """Our errors as errors of the protocol, with their reason: the SDK tells that of no other."""
    try:
        yield
    except SessionDBError as exc:
        asked_wrongly = isinstance(exc, ValueError | LookupError)
        raise MCPError(INVALID_PARAMS if asked_wrongly else INTERNAL_ERROR, redact(str(exc))) from exc
