"""The mixed tools in FastMCP, for an environment that has it: `fastmcp_server.py PORT`."""

from __future__ import annotations

import sys

import work
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("mixed", strict_input_validation=True)


def cancel_visit(visit_id: int) -> str:
    """Cancels a visit: there is none, and the caller is told."""
    try:
        return work.cancel_visit(visit_id)
    except work.NoSuchVisitError as error:
        raise ToolError(str(error)) from None


if __name__ == "__main__":
    names = [name for name in work.__all__ if name != "NoSuchVisitError"]
    for name in names:
        function = cancel_visit if name == "cancel_visit" else getattr(work, name)
        # Without a schema of results an answer is sent once, as the others send it.
        mcp.tool(function, output_schema=None)
    port = int(sys.argv[1])
    mcp.run("http", port=port, path="/mcp", stateless_http=True, show_banner=False)
