"""An archive of tools, as a program opens it: unpacked, installed, started, called."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.commands.run_module import run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of a project that `toolcast init` laid out, in a folder of its own."""
    root = tmp_path_factory.mktemp("packaged")
    run(root, "toolcast", "init", "--name", "demo")
    toolset = root / "specs/demo/toolset.yaml"
    text = toolset.read_text("utf-8")
    asked = "    environment: {DEMO_NAME: {description: Yours., default: Ann}}\n"
    assert text.count("\ntargets:\n") == 1
    package = f"\ntargets:\n  package:\n    namespace: com.example\n{asked}"
    toolset.write_text(text.replace("\ntargets:\n", package), "utf-8")
    project = root / "pyproject.toml"
    said = project.read_text("utf-8")
    authors = '[project]\nauthors = [{ name = "Ann" }]\n'
    said = said.replace("mcp,langchain,cli", "mcp")
    project.write_text(said.replace("[project]\n", authors, 1), "utf-8")
    run(root, "toolcast", "generate")
    for command in (["init", "--quiet"], ["add", "."]):
        subprocess.run(["git", *command], cwd=root, check=True)
    run(root, "toolcast", "package")
    [archive] = (root / "dist").iterdir()
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder)
    return folder


async def test_it_is_installed_and_a_tool_is_called(
    unpacked: Path, wheels: dict[str, Path], tmp_path: Path
) -> None:
    """By the command of its manifest, with `uv`, and the official SDK over stdio."""
    manifest = json.loads((unpacked / "manifest.json").read_text("utf-8"))
    assert (unpacked / manifest["server"]["entry_point"]).is_file()
    started: dict[str, Any] = manifest["server"]["mcp_config"]
    asked = manifest["user_config"]
    text = json.dumps(started).replace("${__dirname}", str(unpacked))
    for name, one in asked.items():
        text = text.replace(f"${{user_config.{name}}}", one["default"])
    assert "${" not in text
    started = json.loads(text)
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "VIRTUAL"))
    }
    own = {
        # The runtime of this checkout; all else from where packages come from.
        "UV_FIND_LINKS": str(wheels["toolcast-runtime"].parent),
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "UV_SYSTEM_CERTS": "1",
    }
    parameters = StdioServerParameters(
        command=str(Path(sys.executable).with_name("uv")),
        args=started["args"],
        env={**kept, **own, **started["env"]},
        cwd=tmp_path,
    )
    async with (
        stdio_client(parameters) as (read, write),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        listed = (await session.list_tools()).tools
        assert [tool.name for tool in listed] == [
            one["name"] for one in manifest["tools"]
        ]
        answer = await session.call_tool("count_words", {"text": "one two"})
        assert answer.structured_content is not None
        assert answer.structured_content["words"] == 2
