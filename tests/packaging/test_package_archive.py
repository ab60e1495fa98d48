"""Archives of `toolcast package`: unpacked, installed with `uv`, started and called."""

from __future__ import annotations

import json
import os
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.commands.run_module import run
from tests.git_command import run_git

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def unpacked_archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the archive of a project made by `toolcast init`; return its folder."""
    root = tmp_path_factory.mktemp("packaged")
    run(root, "toolcast", "init", "--name", "demo")
    toolset = root / "specs/demo/toolset.yaml"
    text = toolset.read_text("utf-8")
    variables = "    environment: {DEMO_NAME: {description: Yours., default: Ann}}\n"
    assert text.count("\ntargets:\n") == 1
    package = f"\ntargets:\n  package:\n    namespace: com.example\n{variables}"
    toolset.write_text(text.replace("\ntargets:\n", package), "utf-8")
    project = root / "pyproject.toml"
    text = project.read_text("utf-8")
    authors = '[project]\nauthors = [{ name = "Ann" }]\n'
    text = text.replace("mcp,langchain,cli", "mcp")
    project.write_text(text.replace("[project]\n", authors, 1), "utf-8")
    run(root, "toolcast", "generate")
    for command in (["init", "--quiet"], ["add", "."]):
        run_git(root, *command)
    run(root, "toolcast", "package")
    [archive] = (root / "dist").iterdir()
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(archive) as stream:
        stream.extractall(folder)
    return folder


async def test_server_from_an_unpacked_package_archive_lists_and_calls_tools(
    unpacked_archive: Path, wheels: dict[str, Path], tmp_path: Path
) -> None:
    """`uv` runs the command of the manifest; the official SDK connects over stdio."""
    manifest = json.loads((unpacked_archive / "manifest.json").read_text("utf-8"))
    assert (unpacked_archive / manifest["server"]["entry_point"]).is_file()
    mcp_config: dict[str, Any] = manifest["server"]["mcp_config"]
    text = json.dumps(mcp_config).replace("${__dirname}", str(unpacked_archive))
    for name, setting in manifest["user_config"].items():
        text = text.replace(f"${{user_config.{name}}}", setting["default"])
    assert "${" not in text
    mcp_config = json.loads(text)
    inherited = {
        k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "VIRTUAL"))
    }
    uv_settings = {
        # Use the runtime of this checkout, and the package index for the rest.
        "UV_FIND_LINKS": str(wheels["toolcast-runtime"].parent),
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "UV_SYSTEM_CERTS": "1",
    }
    parameters = StdioServerParameters(
        command=str(Path(sys.executable).with_name("uv")),
        args=mcp_config["args"],
        env={**inherited, **uv_settings, **mcp_config["env"]},
        cwd=tmp_path,
    )
    async with (
        stdio_client(parameters) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        tools = (await session.list_tools()).tools
        assert [tool.name for tool in tools] == [
            tool["name"] for tool in manifest["tools"]
        ]
        result = await session.call_tool("count_words", {"text": "one two"})
        assert result.structured_content is not None
        assert result.structured_content["words"] == 2
