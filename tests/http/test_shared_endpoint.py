"""One server for several toolsets: listings, call routing, tokens and lifespans."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.conftest import Project
from tests.http.serving import rpc
from toolcast_runtime import RUNTIME_LEVEL, DefinitionError, Registry
from toolcast_runtime.http import SettingsError
from toolcast_runtime.http.app import build_http_app
from toolcast_runtime.http.endpoints import ListenSettings
from toolcast_runtime.lifespan import Lifespan
from toolcast_runtime.mcp import McpServer
from toolcast_runtime.testing.generated_package import request_tools_list

WORKSPACE = """
    version: 1
    toolsets: [specs/notes, specs/plans]
    output: shared_desk
    endpoints: {desk: {toolsets: [notes, plans], title: The desk}}
"""
NOTES = """
    name: notes
    title: Notes
    instructions: Notes are short.
    handlers: desk_work
    lifespan: desk_work.notes:lifespan
    dependencies: {db: "desk_work.notes:Db"}
    ledger: {path: notes.sqlite3}
    permissions: {write: Write notes.}
    clients:
      assistant: {allow: "*", permissions: [write]}
      guest: {allow: [read_note]}
    targets: {registry: {}, mcp: {client: assistant}, prompts: {}, skills: {}, snapshots: {}}
"""
PLANS = """
    name: plans
    title: Plans
    instructions: Plans are long.
    handlers: desk_work
    lifespan: desk_work.plans:lifespan
    dependencies: {db: "desk_work.plans:Db"}
    clients:
      assistant: {allow: "*", deny: [drop_plan]}
      planner: {allow: ["*_plan*"]}
    targets: {registry: {}, mcp: {client: assistant}, prompts: {}, skills: {}, snapshots: {}}
"""
TOOL = """
    name: {name}
    summary: Do the {name} of the desk.
    parameters: {{type: object, properties: {{word: {{type: string}}}}, additionalProperties: false}}
    handler: desk_work.{toolset}:{name}
    uses: [db]
"""
WORK = """
    from contextlib import contextmanager
    from toolcast_runtime import current_call

    events = []

    class Db:
        name = "{toolset}"

    @contextmanager
    def lifespan():
        events.append("opened")
        yield {{"db": Db()}}
        events.append("closed")

    def describe_call(db, word=""):
        return {{"from": db.name, "word": word, "client": current_call().client}}

    def guide(db):
        return f"{{db.name}}: the guide"
"""
TOKENS = {
    "DESK_TOKEN_ASSISTANT": "assistant-token",
    "DESK_TOKEN_GUEST": "guest-token",
    "DESK_TOKEN_PLANNER": "planner-token",
    "DESK_ADMIN_TOKEN": "admin-token",
}
LISTS = {
    "assistant": ["read_note", "write_note", "list_plans"],
    "guest": ["read_note"],
    "planner": ["drop_plan", "list_plans"],
}
PATHS = {"assistant": "/mcp/", "guest": "/mcp/guest/", "planner": "/mcp/planner/"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """Generate a project whose endpoint `desk` has the toolsets `notes` and `plans`."""
    project = Project(tmp_path_factory.mktemp("shared"))
    project.write("toolcast.yaml", WORKSPACE)
    project.write("desk_work/__init__.py", "")
    tools = {"notes": ("read_note", "write_note"), "plans": ("list_plans", "drop_plan")}
    for toolset, names in tools.items():
        project.write(
            f"specs/{toolset}/toolset.yaml", NOTES if toolset == "notes" else PLANS
        )
        work = WORK.format(toolset=toolset)
        for name in names:
            spec = TOOL.format(name=name, toolset=toolset)
            spec += "    permission: write\n" * (name == "write_note")
            spec += "    persistent: true\n" * (name == "write_note")
            spec += "    renamed_from: [add_note]\n" * (name == "write_note")
            project.write(f"specs/{toolset}/{name}.yaml", spec)
            work += f"\n    def {name}(*, db, word=''):\n        return describe_call(db, word)\n"
        project.write(f"desk_work/{toolset}.py", work)
        project.write(
            f"specs/{toolset}/mcp_resources/{toolset}_guide.yaml",
            f"""
            name: {toolset}_guide
            uri: desk://{toolset}/guide
            mime_type: text/plain
            handler: desk_work.{toolset}:guide
            uses: [db]
            clients: [assistant, {"guest" if toolset == "notes" else "planner"}]
            """,
        )
        project.write(
            f"specs/{toolset}/mcp_prompts/{toolset}_hello.yaml",
            f"""
            name: {toolset}_hello
            messages: [{{role: user, text: Hello {toolset}}}]
            clients: [assistant]
            """,
        )
    project.generate()
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(project.root))
        patch.setenv("NOTES_LEDGER", str(project.root / "notes.sqlite3"))
        yield project


@pytest.fixture(scope="module")
def server(project: Project) -> McpServer:
    server = importlib.import_module("shared_desk.desk.mcp_server").SERVER
    assert isinstance(server, McpServer)
    return server


def test_importing_a_package_generated_for_a_newer_runtime_raises_import_error(
    project: Project,
) -> None:
    package = project.root / "shared_desk/desk/__init__.py"
    text = package.read_text("utf-8")
    newer = RUNTIME_LEVEL + 1
    source = text.replace(f"level({RUNTIME_LEVEL}, ", f"level({newer}, ")
    with pytest.raises(ImportError, match=f"^desk is generated for .* {newer}, "):
        exec(source, {"__name__": "desk"})


@pytest.fixture
def client(server: McpServer) -> Iterator[TestClient]:
    assert server.http is not None
    app = build_http_app(
        server, ListenSettings.from_environment(server.http, "127.0.0.1", TOKENS)
    )

    async def whole(scope: Any, receive: Any, send: Any) -> None:
        await app(scope, receive, send)

    with server.registry, TestClient(whole, base_url="http://localhost") as client:
        yield client


def request(
    client: TestClient,
    caller: str,
    method: str,
    params: Any = None,
    token: str = "",
) -> Any:
    body, headers = rpc(method, params)
    headers["Authorization"] = f"Bearer {token or f'{caller}-token'}"
    answer = client.post(PATHS[caller], content=body, headers=headers)
    if answer.status_code != 200:
        return answer.status_code
    data = [line for line in answer.text.splitlines() if line.startswith("data:")]
    return json.loads(data[-1][5:] if data else answer.text)


def call(client: TestClient, caller: str, name: str, **arguments: Any) -> Any:
    params = {"name": name, "arguments": arguments}
    answer = request(client, caller, "tools/call", params)
    if "error" in answer:
        return answer["error"]["message"]
    [block] = answer["result"]["content"]
    text = block["text"]
    return text if answer["result"].get("isError") else json.loads(text)


@pytest.mark.parametrize("caller", LISTS)
def test_combined_server_client_lists_and_calls_tools_of_toolsets_that_allow_it(
    client: TestClient, server: McpServer, caller: str
) -> None:
    """A call runs in the tool's toolset; a tool that is not allowed is unknown."""
    listed = request(client, caller, "tools/list")["result"]["tools"]
    assert [tool["name"] for tool in listed] == LISTS[caller]
    registries = [member.registry for member in server.toolsets]
    granted = [r.names(caller, target="mcp") for r in registries if caller in r.clients]
    assert LISTS[caller] == [name for names in granted for name in names]
    for name in ("read_note", "write_note", "list_plans", "drop_plan"):
        toolset = "notes" if "note" in name else "plans"
        answer = call(client, caller, name, word="w")
        if name in LISTS[caller]:
            assert answer == {"from": toolset, "word": "w", "client": caller}
        else:
            assert answer == f"Unknown tool: {name}"


def test_combined_server_applies_each_toolset_validation_and_ledger(
    client: TestClient, project: Project
) -> None:
    """Former names of a renamed tool work, too."""
    assert "`x` is not a parameter" in call(client, "planner", "list_plans", x=1)
    assert call(client, "assistant", "add_note", word="old")["from"] == "notes"
    assert call(client, "guest", "add_note") == "Unknown tool: add_note"
    assert (project.root / "notes.sqlite3").exists()


def test_combined_server_token_is_valid_only_at_its_client_path(
    client: TestClient,
) -> None:
    for caller, owner in product(LISTS, (*LISTS, "admin")):
        answer = request(client, caller, "tools/list", token=f"{owner}-token")
        assert (answer == 401) == (caller != owner)


def test_combined_server_lists_resources_prompts_and_skills_allowed_to_a_client(
    client: TestClient,
) -> None:
    for caller, guides in {
        "assistant": ["notes", "plans"],
        "guest": ["notes"],
        "planner": ["plans"],
    }.items():
        listed = request(client, caller, "resources/list")["result"]["resources"]
        skills = [f"skill://{g}/SKILL.md" for g in guides]
        uris = [f"desk://{g}/guide" for g in guides]
        assert [entry["uri"] for entry in listed] == uris + skills
        listed = request(client, caller, "skills/list")["result"]["skills"]
        assert [entry["uri"] for entry in listed] == skills
        for guide in ("notes", "plans"):
            params = {"uri": f"desk://{guide}/guide"}
            answer = request(client, caller, "resources/read", params)
            if guide in guides:
                [contents] = answer["result"]["contents"]
                assert contents["text"] == f"{guide}: the guide"
            else:
                assert answer["error"]["message"] == "Resource not found"
            params = {"uri": f"skill://{guide}/SKILL.md"}
            for method in ("skills/get", "resources/read"):
                assert ("result" in request(client, caller, method, params)) == (
                    guide in guides
                )
    prompts = request(client, "assistant", "prompts/list")["result"]["prompts"]
    assert [prompt["name"] for prompt in prompts] == ["notes_hello", "plans_hello"]


def test_combined_server_describes_all_toolsets_in_initialize_and_admin_list(
    client: TestClient, server: McpServer
) -> None:
    """Initialization returns the endpoint's title and the joined instructions."""
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"},
    }
    result = request(client, "assistant", "initialize", params)["result"]
    assert result["serverInfo"]["title"] == "The desk"
    assert result["instructions"] == "Notes are short.\n\nPlans are long."
    assert client.get("/ready").json()["status"] == "ready"
    headers = {"Authorization": "Bearer admin-token"}
    listed = client.get("/api/admin/list-mcp-tools", headers=headers).json()
    assert {
        caller: [tool["name"] for tool in entry["tools"]]
        for caller, entry in listed["clients"].items()
    } == LISTS


def test_combined_server_enters_each_toolset_lifespan_once_per_start(
    client: TestClient,
) -> None:
    for toolset in ("notes", "plans"):
        work = importlib.import_module(f"desk_work.{toolset}")
        assert work.events.count("opened") == work.events.count("closed") + 1


@pytest.mark.slow
def test_combined_server_module_serves_stdio_and_prints_usage_for_help_option(
    project: Project,
) -> None:
    result = request_tools_list(
        ["-m", "shared_desk.desk.mcp_server", "--client", "planner"],
        project.root,
        "2026-07-28",
    )
    assert [tool["name"] for tool in json.loads(result)] == LISTS["planner"]
    output = project.run("-m", "shared_desk.desk.mcp_server", "--help").stdout
    assert "python -m shared_desk.desk.mcp_server" in output


@pytest.mark.parametrize("missing_tools", [0, 1])
def test_combined_server_snapshot_test_fails_if_a_tool_is_missing(
    server: McpServer, monkeypatch: pytest.MonkeyPatch, missing_tools: int
) -> None:
    def listed(command: list[str], root: Path, revision: str) -> bytes:
        assert command[:2] == ["-m", "shared_desk.desk.mcp_server"]
        assert command[2:] == "--local-tools --no-lifespan --client assistant".split()
        assert (root / "shared_desk").is_dir()
        return json.dumps(server.list_tools("assistant")[missing_tools:]).encode()

    generated = importlib.import_module("shared_desk.desk.test_snapshots")
    monkeypatch.setattr(
        "toolcast_runtime.testing.generated_tests.request_tools_list", listed
    )
    tests = generated.TestSnapshots()
    tests.test_resources_and_prompts_match_definitions("assistant")
    with (
        pytest.raises(AssertionError, match=r"-.*read_note")
        if missing_tools
        else nullcontext()
    ):
        tests.test_mcp_tools_list_is_exact("assistant", "2026-07-28")


@pytest.mark.slow
def test_check_preflight_reports_missing_combined_server_token_variables(
    project: Project,
) -> None:
    output = project.toolcast("check", "--preflight").stderr
    assert (
        "toolcast.yaml:5:13: warning: handler/missing-setting: a setting that a server of"
        " `desk` needs is missing"
    ) in output
    assert "DESK_TOKEN_PLANNER" in output


def test_unknown_combined_server_client_cannot_list_or_call_tools(
    server: McpServer,
) -> None:
    with pytest.raises(LookupError, match="stranger"):
        server.registry.tools("stranger")
    with pytest.raises(LookupError):
        server.tools(None)
    output = server.registry.call_tool_sync("read_note", {}, "stranger")
    assert output.error == "unknown tool `read_note`"
    assert server.registry.call_tool_sync("read_note", {}, None).error is not None


def test_combined_server_without_tokens_is_refused_on_a_public_address(
    server: McpServer,
) -> None:
    assert server.http is not None
    with pytest.raises(SettingsError, match="DESK_TOKEN_ASSISTANT, DESK_TOKEN_GUEST"):
        ListenSettings.from_environment(server.http, "0.0.0.0", {})


def test_combined_server_refuses_toolsets_with_equal_tools_or_without_clients(
    server: McpServer,
) -> None:
    notes, plans = server.toolsets
    tools = importlib.import_module("shared_desk.notes.tools")
    lifespan = Lifespan("desk_work.notes:lifespan", ("db",))
    without_clients = Registry(tools, handlers="desk_work", lifespan=lifespan)
    with pytest.raises(DefinitionError, match="both have a tool `"):
        servers = (notes, plans, replace(notes, registry=without_clients))
        McpServer.combine("x", servers, name="x")
    with pytest.raises(DefinitionError, match="some of its toolsets have no clients"):
        servers = (plans, replace(notes, registry=without_clients))
        McpServer.combine("x", servers, name="x")
