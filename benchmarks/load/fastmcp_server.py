"""FastMCP server of the mixed tools: `fastmcp_server.py PORT`."""

from __future__ import annotations

import sys

import work
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("mixed", strict_input_validation=True)


def cancel_visit(visit_id: int) -> str:
    """Cancel a visit; it does not exist, so the call always fails."""
    try:
        return work.cancel_visit(visit_id)
    except work.NoSuchVisitError as error:
        raise ToolError(str(error)) from None


if __name__ == "__main__":
    names = [name for name in work.__all__ if name != "NoSuchVisitError"]
    for name in names:
        function = cancel_visit if name == "cancel_visit" else getattr(work, name)
        # Without an output schema the result is sent once, as by the other servers.
        mcp.tool(function, output_schema=None)
    port = int(sys.argv[1])
    mcp.run("http", port=port, path="/mcp", stateless_http=True, show_banner=False)
