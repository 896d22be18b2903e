"""The SDK's server, with the protocol's codes for prompts that cannot be given; needs the extra `mcp`."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS

from ..errors import SessionDBError
from ..redact import redact


class Server(MCPServer):
    async def get_prompt(self, *given: Any, **named: Any) -> Any:
        """As the SDK's, which answers with the code 0 where the protocol wants -32602, or -32603 for our failures."""
        try:
            return await super().get_prompt(*given, **named)
        except ValueError as exc:
            code = INTERNAL_ERROR if _is_ours(exc) else INVALID_PARAMS
            raise MCPError(code, redact(str(exc))) from exc


def _is_ours(exc: BaseException | None) -> bool:
    """Whether the store failed, and not the name or the arguments that were asked with."""
    while exc is not None:
        if isinstance(exc, SessionDBError) and not isinstance(exc, ValueError | LookupError):
            return True
        exc = exc.__cause__
    return False
