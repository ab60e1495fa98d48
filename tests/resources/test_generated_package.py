"""Resources and MCP prompts of a generated package, used without a server process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from toolcast_runtime import UnknownClientError


@pytest.fixture
def mcp_server(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Import the generated package; yield its server object."""
    monkeypatch.syspath_prepend(str(project))
    for name in list(sys.modules):
        if name.partition(".")[0] in ("generated", "shop"):
            monkeypatch.delitem(sys.modules, name)
    yield import_module("generated.shop.mcp_server").SERVER
    for name in list(sys.modules):
        if name.partition(".")[0] in ("generated", "shop"):
            del sys.modules[name]


def test_server_lists_only_resources_and_prompts_of_the_client(mcp_server: Any) -> None:
    names = [entry.name for entry in mcp_server.resources("guests")]
    assert names == ["returns_policy"]
    assert mcp_server.prompts("guests") == []
    for list_entries in (mcp_server.resources, mcp_server.prompts):
        with pytest.raises(UnknownClientError):
            list_entries("stranger")
        with pytest.raises(UnknownClientError):
            list_entries(None)


def test_server_capabilities_include_prompts_only_for_clients_with_prompts(
    mcp_server: Any,
) -> None:
    from toolcast_runtime.mcp.sdk_server import build_server

    def list_capabilities(client: str, **more: Any) -> set[str]:
        server = build_server(mcp_server, client, **more)
        capabilities = server.create_initialization_options().capabilities
        return set(capabilities.model_dump(exclude_none=True)) - {"extensions"}

    own = {"tools", "resources", "prompts", "completions"}
    assert list_capabilities("staff") == {*own, "logging"}
    # The client has a resource, but neither prompts nor values to complete.
    assert list_capabilities("guests") == {"tools", "resources", "logging"}


def test_registry_call_result_contains_linked_content_embedded(mcp_server: Any) -> None:
    blocks = mcp_server.registry.call_tool_sync("chart", {}, "staff").content
    assert blocks is not None
    assert blocks[5]["resource"]["uri"] == "attachment:///raw.csv"


def test_generated_resource_definition_that_was_edited_by_hand_raises_import_error(
    project: Path, mcp_server: Any
) -> None:
    file = project / "generated/shop/mcp_resources/hours.json"
    text = file.read_text("utf-8")
    try:
        file.write_text(text.replace('"uri"', '"url"'), encoding="utf-8")
        with pytest.raises(ImportError, match="toolcast generate") as caught:
            mcp_server.resources("staff")
    finally:
        file.write_text(text, encoding="utf-8")
    assert "hours.json" in str(caught.value)
    assert "it has no URI" in str(caught.value)


def test_generated_tests_fail_if_a_generated_mcp_prompt_definition_changes(
    project: Path, mcp_server: Any
) -> None:
    from toolcast_runtime.testing.generated_tests import snapshot_tests

    registry = import_module("generated.shop.registry")
    server = import_module("generated.shop.mcp_server")
    tests = snapshot_tests(registry, server, specs="specs/shop")()
    tests.test_resources_and_prompts_match_definitions("staff")
    file = project / "generated/shop/mcp_prompts/mute.json"
    text = file.read_text("utf-8")
    assert mcp_server.prompts("staff")
    try:
        file.write_text(text.replace('"mute"', '"deaf"'), encoding="utf-8")
        with pytest.raises(AssertionError, match="the MCP prompts of staff differs"):
            tests.test_resources_and_prompts_match_definitions("staff")
    finally:
        file.write_text(text, encoding="utf-8")


def test_generated_cli_command_writes_an_image_to_a_file_and_prints_linked_content(
    mcp_server: Any, tmp_path: Path
) -> None:
    main = import_module("generated.shop.cli").main
    target = tmp_path / "picture.png"
    process = CliRunner().invoke(main, ["--output", str(target), "picture"])
    assert (process.exit_code, process.stdout) == (0, "[image/png, 4 bytes]\n")
    assert target.read_bytes() == b"\x89PNG"
    # A command has no store for links: it prints their content.
    printed = CliRunner().invoke(main, ["chart"]).stdout
    assert printed.count("month,sales\n1,30\n") == 2
