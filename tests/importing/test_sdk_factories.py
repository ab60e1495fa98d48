"""Functions that SDK servers register in the function that creates the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.importing.imports import run_import
from tests.program import run_toolcast


@pytest.mark.parametrize("parameter", ["", "currency='EUR'"])
def test_import_python_writes_stubs_for_tools_that_an_sdk_factory_registers(
    tmp_path: Path, parameter: str
) -> None:
    """The optional parameter is not the server."""
    (tmp_path / "depot.py").write_text(
        "from mcp.server.mcpserver import MCPServer\n\n"
        f"def create_server({parameter}) -> MCPServer:\n"
        "    server = MCPServer('Depot')\n"
        "    @server.tool()\n"
        "    def price(item: str) -> str:\n"
        "        return item\n"
        "    return server\n",
        "utf-8",
    )
    reference = ("--python", "depot:create_server", "--toolset", "shop")
    output = run_import(tmp_path, *reference)
    shown = parameter.replace("'EUR'", "...")
    assert f"tool `price` is a stub: `create_server({shown})` registers it" in output
    run_toolcast(tmp_path, "generate")
    run_toolcast(tmp_path, "check")
