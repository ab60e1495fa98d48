"""Server of the same tools on the SDK's MCPServer or FastMCP: `high_level.py sdk|fastmcp TOOLS.json [--http PORT]`."""

from __future__ import annotations

import sys

from functions import build_functions

if sys.argv[1] == "sdk":
    from mcp.server import MCPServer

    server = MCPServer("high-level")
    for function in build_functions(sys.argv[2]):
        server.add_tool(function, structured_output=False)
    if "--http" in sys.argv:
        server.run("streamable-http", port=int(sys.argv[-1]), stateless_http=True)
    else:
        server.run("stdio")
else:
    from fastmcp import FastMCP

    fast = FastMCP("fastmcp")
    for function in build_functions(sys.argv[2]):
        fast.tool(function)
    if "--http" in sys.argv:
        port = int(sys.argv[-1])
        fast.run(transport="http", port=port, stateless_http=True, show_banner=False)
    else:
        fast.run(show_banner=False)
