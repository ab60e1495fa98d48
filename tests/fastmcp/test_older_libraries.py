"""Lists of FastMCP 3 and SDK 1 are imported, and the handlers are stubs."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from tests.fastmcp.public_servers_setup import OLDER_LIBRARIES, get_python, is_installed
from tests.module_graph import ROOT
from tests.program import run_toolcast

SHOPS = {
    "fastmcp-3": ("fastmcp_shop", "FastMCP 3.4.11", 6),
    "sdk-1": ("sdk1_shop", "the MCP SDK 1.30.0", 4),
}
pytestmark = pytest.mark.servers


@pytest.mark.timeout(200)
@pytest.mark.parametrize("name", OLDER_LIBRARIES)
def test_older_library_lists_are_imported_with_stubs(name: str, tmp_path: Path) -> None:
    if not is_installed(name):
        pytest.skip("not set up: make test-servers")
    package, title, count = SHOPS[name]
    servers = ROOT / "tests/importing/module_servers"
    shutil.copytree(servers / package, tmp_path / package)
    python = str(get_python(name))
    source = ("--python", f"{package}.server", "--interpreter", python)
    printed = run_toolcast(tmp_path, "import", *source, "--toolset", "shop")
    assert f"{count} new tools, 0 changed" in printed
    [note] = [line for line in printed.splitlines() if "stub" in line]
    assert note == (
        f"note: all handlers are stubs: {title} needs mcp 1, and Toolcast serves with"
        " mcp 2; upgrade to FastMCP 4 or SDK 2 and import again"
    )
    text = (tmp_path / "handlers/shop.py").read_text("utf-8")
    assert text.count("raise NotImplementedError(") == count
    assert "adapt" not in text
    # The version of the library, which SDK 1 reports, is not the server's.
    settings = (tmp_path / "specs/shop/toolset.yaml").read_text("utf-8")
    assert "1.30.0" not in settings
    run_toolcast(tmp_path, "generate")
    run_toolcast(tmp_path, "check")
    command = shlex.join([python, "-m", f"{package}.server"])
    printed = run_toolcast(tmp_path, "verify", "--mcp-stdio", command)
    assert printed == "no change against the toolset shop\n"
    printed = run_toolcast(tmp_path, "verify", *source, code=2)
    assert printed == (
        f"error: `{package}.server` uses {title}, which needs mcp 1: the generated server"
        " cannot run in its environment\n"
        "  help: compare only the lists, with `--mcp-stdio COMMAND`\n"
    )
