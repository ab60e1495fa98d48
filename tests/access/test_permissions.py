"""Tools with a permission: available only to clients that have it, on every path."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Project
from tests.http.serving import run_server
from tests.runtime.packages import Package, definition
from toolcast_runtime import AccessError, Client, OverrideFile, Registry

TOOLS = {
    "look": """
        summary: Look through the window.
        parameters: {type: object}
        handler: handlers.toy:answer
        cli: {keyword: look}
        """,
    "open_door": """
        summary: Open the door.
        parameters: {type: object}
        handler: handlers.toy:answer
        cli: {keyword: unlock}
        permission: doors
        renamed_from: [unlock_door]
        """,
    "greet": """
        summary: Greet a visitor.
        parameters: {type: object}
        handler: handlers.toy:answer
        cli: {keyword: greet}
        permission: doors
        always: true
        """,
}
TOOLSET = """
permissions: {doors: Open doors and speak through them.}
targets: {registry: {}, mcp: {client: owner}, langchain: {}, cli: {client: owner}, prompts: {}}
"""
CLIENTS = """
clients:
  owner: {allow: "*", permissions: [doors]}
  guest: {allow: "*"}
"""
HANDLERS = "def answer(arguments, /):\n    return 'done'\n"
# Prints the tool names that each path returns to each client.
PROBE = """
import json
from click.testing import CliRunner
from generated.toy import cli, langchain_tools, prompts, registry
from generated.toy.mcp_server import SERVER

NAMES = ["look", "open_door", "unlock_door", "greet"]

def found(find, client):
    def has(name):
        try:
            find(name, client)
        except LookupError:
            return False
        return True
    return [name for name in NAMES if has(name)]

def functions(tools):
    return [tool["function"]["name"] for tool in tools]

def paths(client):
    by_name = registry.get_openai_tools_by_names_sync
    shown = CliRunner().invoke(cli.main, ["--client", client, "--help"]).output
    ran = {w: CliRunner().invoke(cli.main, ["--client", client, w]) for w in
           ["look", "unlock", "greet"]}
    section = "".join(prompts.section(n, client) for n in prompts.PROMPTS.sections)
    return {
        "mcp": [tool["name"] for tool in registry.get_mcp_tools_sync(client)],
        "openai": functions(registry.get_openai_tools_sync(client)),
        "always": functions(registry.get_always_tools_sync(client)),
        "catalog": list(registry.get_routed_tools_catalog_sync(client)),
        "routed": registry.route_tools_sync("open the door", client=client),
        "found": found(registry.get_tool, client),
        "named": found(lambda name, who: by_name([name], who), client),
        "called": [n for n in NAMES if registry.call_tool_sync(n, {}, client).success],
        "served": list(SERVER.names(client)),
        "langchain": [t.name for t in langchain_tools.get_langchain_tools(client)],
        "wrapped": found(langchain_tools.get_langchain_tool, client),
        "help": [w for w in ran if f"  {w}  " in shown],
        "ran": [w for w in ran if ran[w].output == "done\\n"],
        "preamble": [n for n in NAMES if f"**{n}**" in prompts.preamble(client)],
        "section": [n for n in NAMES if f"**{n}**" in section],
        "block": [w for w in ran if f" {w}  " in prompts.cli_block(client)],
    }

clients = registry.REGISTRY.clients or [None]
print(json.dumps({client: paths(client) for client in clients}))
"""


@pytest.fixture
def project(make_project: Callable[..., Project]) -> Project:
    new_project = make_project(TOOLS, toolset=TOOLSET + CLIENTS, handlers=HANDLERS)
    new_project.generate()
    return new_project


@pytest.mark.slow
def test_registry_langchain_cli_and_prompts_have_only_tools_with_the_clients_permission(
    project: Project,
) -> None:
    result = project.run("-c", PROBE)
    assert result.returncode == 0, result.stderr
    paths: dict[str, dict[str, list[str]]] = json.loads(result.stdout)
    for path, names in paths["guest"].items():
        assert names == ([] if path == "always" else ["look"]), path
    all_names = ["greet", "look", "open_door"]
    owner = {path: sorted(names) for path, names in paths["owner"].items()}
    assert owner.pop("always") == ["greet"]
    assert owner.pop("catalog") == ["look", "open_door"]
    assert "open_door" in owner.pop("routed")
    for path in ("found", "named", "called", "wrapped"):
        assert owner.pop(path) == [*all_names, "unlock_door"], path
    for path in ("help", "ran", "block"):
        assert owner.pop(path) == ["greet", "look", "unlock"], path
    for path, names in owner.items():
        assert names == all_names, path


def test_mcp_endpoints_list_and_call_only_tools_whose_permission_the_client_has(
    project: Project,
) -> None:
    with run_server(package="generated.toy", root=project.root) as server:
        for (path, permitted), modern in product(
            (("/mcp/", True), ("/mcp/guest/", False)), (False, True)
        ):
            listed = server.request(path, "tools/list", modern=modern).message
            names = {tool["name"] for tool in listed["result"]["tools"]}
            assert names == ({*TOOLS} if permitted else {"look"})
            for name in ("open_door", "unlock_door", "greet"):
                call = {"name": name, "arguments": {}}
                response = server.request(path, "tools/call", call, modern=modern)
                answer = response.message
                if permitted:
                    assert answer["result"]["content"][0]["text"] == "done"
                else:
                    error = {"code": -32602, "message": f"Unknown tool: {name}"}
                    assert answer["error"] == error


def test_tool_permission_has_no_effect_in_a_toolset_without_clients(
    make_project: Callable[..., Project],
) -> None:
    targets = TOOLSET.replace("client: owner", "")
    project = make_project(TOOLS, toolset=targets, handlers=HANDLERS)
    project.generate()
    code = "from generated.toy import registry as r; print(r.call_tool_sync('greet'))"
    assert "result='done'" in project.run("-c", code).stdout
    assert "permission" not in project.toolcast("check").stdout


def make_registry(folder: Path, override: Any) -> Registry:
    file = folder / "clients.json"
    file.write_text(json.dumps(override))
    return Registry(
        Package(folder, definition("open_door", permission="doors")).load(),
        clients={"owner": Client(permissions=("doors",)), "guest": Client()},
        override=OverrideFile("NO_SUCH_VARIABLE", str(file)),
    )


def test_client_override_file_cannot_allow_a_tool_whose_permission_is_missing(
    tmp_path: Path,
) -> None:
    registry = make_registry(
        tmp_path, {"owner": {"allow": "*"}, "guest": {"allow": "*"}}
    )
    assert registry.names("owner") == ("open_door",)
    assert registry.names("guest") == ()
    registry_with_name = make_registry(tmp_path, {"guest": {"allow": ["open_door"]}})
    with pytest.raises(AccessError, match="`guest` allows `open_door`, but lacks its"):
        registry_with_name.names("owner")
