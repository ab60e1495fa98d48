"""Resources, MCP prompts, completion and links of a server in both protocol versions."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from tests.conftest import Project
from tests.http.serving import run_server
from tests.mcp.servers import ERAS, MODERN, HttpServer, StdioServer, stdio_server

INVALID = -32602
TEMPLATES = "resourceTemplates"
CHART = {"name": "chart", "arguments": {}}


@pytest.fixture(scope="module", params=ERAS)
def server(project: Path, request: pytest.FixtureRequest) -> Iterator[StdioServer]:
    with stdio_server(project, "generated.shop", era=request.param) as started:
        yield started


def read_resource(server: StdioServer, uri: str) -> dict[str, Any]:
    return server.request("resources/read", {"uri": uri})


def read_content(server: StdioServer, uri: str) -> dict[str, Any]:
    result = read_resource(server, uri)["result"]
    if server.era == MODERN:
        assert result["ttlMs"] >= 0
        assert result["cacheScope"] in ("public", "private")
    (content,) = result["contents"]
    assert content["uri"] == uri
    assert isinstance(content, dict)
    return content


def get_prompt(server: StdioServer, name: str, **arguments: str) -> dict[str, Any]:
    return server.request("prompts/get", {"name": name, "arguments": arguments})


def load_definitions(project: Path, folder: str) -> list[dict[str, Any]]:
    files = sorted((project / "generated/shop" / folder).glob("*.json"))
    return [json.loads(file.read_text("utf-8")) for file in files]


def test_resource_and_prompt_lists_equal_the_clients_generated_definitions(
    server: StdioServer, project: Path
) -> None:
    for method, key, folder, kind in (
        ("resources/list", "resources", "mcp_resources", "uri"),
        ("resources/templates/list", TEMPLATES, "mcp_resources", "uriTemplate"),
        ("prompts/list", "prompts", "mcp_prompts", "name"),
    ):
        entries = server.request(method)["result"][key]
        assert entries
        assert entries == [
            entry["mcp"]
            for entry in load_definitions(project, folder)
            if kind in entry["mcp"] and "staff" in entry.get("clients", [])
        ]


def test_resources_read_returns_a_static_file_or_text(server: StdioServer) -> None:
    policy = read_content(server, "shop://policies/returns")
    assert policy["mimeType"] == "text/markdown"
    assert policy["text"] == "# Returns\n\nWithin 30 days, or {{never}}.\n"
    logo = read_content(server, "shop://logo")
    assert base64.b64decode(logo["blob"]) == b"\x89PNG\x00\xff"
    assert read_content(server, "shop://hours")["mimeType"] == "text/plain"


def test_resource_handler_receives_decoded_uri_variables(server: StdioServer) -> None:
    report = read_content(server, "shop://reports/north/7")
    assert (report["text"], report["mimeType"]) == ("north,7", "text/csv")
    assert read_content(server, "shop://reports/south/a%2520b")["text"] == "south,a%20b"
    page = read_content(server, "shop://pages/a/b.html?part=head")
    assert base64.b64decode(page["blob"]) == b"a/b.html head"
    assert base64.b64decode(read_content(server, "shop://pages/a")["blob"]) == b"a all"


@pytest.mark.parametrize(
    "uri",
    [
        *"""
        shop://unassigned shop://reports/east/7 shop://reports/north/13
        shop://reports/north/..%2F..%2Fetc%2Fpasswd shop://reports/north/..
        shop://reports/north/%2Fetc%2Fpasswd shop://reports/north/a%00b
        shop://pages/a/../../../etc/passwd shop://pages/%2e%2e/x
        shop://pages/open/../closed shop://pages/open/..%2fclosed
        shop://pages/open%5C..%5Cclosed shop://pages/ shop://pages/a%0Ab
        shop://pages/a%FFb shop://pages/a?part=../x shop://reports/north/
        shop://reports/north/a%2Fb shop://reports/north/a%5Cb shop://pages//etc/passwd
        shop://pages/C:%5CWindows kept://shop/guess/raw.csv file:///etc/passwd
        """.split(),
        "",
        "shop://pages/" + "a" * 100_000,
    ],
)
def test_resources_read_with_an_unknown_or_unsafe_uri_is_a_resource_not_found_error(
    server: StdioServer, uri: str
) -> None:
    error = read_resource(server, uri)["error"]
    assert error["code"] == (INVALID if server.era == MODERN else -32002)
    assert (error["message"], error["data"]) == ("Resource not found", {"uri": uri})


def test_uri_template_variable_may_be_two_dots_of_its_enum(server: StdioServer) -> None:
    assert read_content(server, "shop://reports/../7")["text"] == "..,7"


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("resources/read", {"uri": "shop://reports/north/7"}, "reading"),
        (
            "prompts/get",
            {"name": "illustrated", "arguments": {"order_id": "7"}},
            "writing",
        ),
    ],
)
def test_resource_and_prompt_handler_progress_is_sent_only_with_a_progress_token(
    server: StdioServer, method: str, params: dict[str, Any], message: str
) -> None:
    server.request(method, params)
    assert not server.notifications
    server.request(method, {**params, "_meta": {"progressToken": "p"}})
    reports = [entry["params"] for entry in server.notifications]
    server.notifications.clear()
    expected = {"progressToken": "p", "progress": 1, "total": 2, "message": message}
    assert reports == [expected]


def test_resources_read_reports_errors_without_secrets(server: StdioServer) -> None:
    expected = read_resource(server, "shop://failing/expected")["error"]
    assert expected["message"] == "The archive is closed."
    secret = read_resource(server, "shop://failing/secret")["error"]["message"]
    assert secret.startswith("the resource failed; the log has the details (incident ")
    error = read_resource(server, "shop://failing/wrong")["error"]["message"]
    assert error == "the resource's handler returned neither str nor bytes"
    assert "hunter2" not in b"".join(server.lines).decode()


def test_prompts_get_keeps_placeholders_in_argument_values(server: StdioServer) -> None:
    order = "{{tone}} {% raw %} {{order_id}} \\1"
    result = get_prompt(server, "review_order", order_id=order, tone="polite")["result"]
    assert result["description"] == "Finds unusual details of an order."
    texts = [(m["role"], m["content"]["text"]) for m in result["messages"]]
    assert texts == [
        ("user", f"Review {order} in a polite tone."),
        ("assistant", f"I look at {order}."),
    ]
    result = get_prompt(server, "review_order", order_id="7")["result"]
    assert result["messages"][0]["content"]["text"] == "Review 7 in a  tone."


def test_prompts_get_returns_handler_messages(server: StdioServer) -> None:
    messages = get_prompt(server, "illustrated", order_id="7")["result"]["messages"]
    kinds = [(m["role"], m["content"]["type"]) for m in messages]
    users = [("user", "text"), ("user", "image")]
    assert kinds == [*users, ("assistant", "text"), ("user", "resource_link")]
    assert read_content(server, messages[3]["content"]["uri"])["text"] == "Fragile."
    assert messages[2]["content"]["text"] == "7 in a plain tone for staff"
    error = get_prompt(server, "mute")["error"]["message"]
    assert error == (
        "the prompt's handler returned a message with a role other than `user` and"
        " `assistant`"
    )


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("review_order", {}, "`order_id` is missing"),
        ("illustrated", {"tone": "plain"}, "`order_id` is missing"),
        ("unassigned", {}, "Unknown prompt: unassigned"),
        ("absent", {}, "Unknown prompt: absent"),
    ],
)
def test_invalid_prompts_get_request_is_a_json_rpc_error_with_the_reason(
    server: StdioServer, name: str, arguments: dict[str, str], message: str
) -> None:
    error = get_prompt(server, name, **arguments)["error"]
    assert (error["code"], error["message"]) == (INVALID, message)


def test_completion_returns_allowed_values_with_prefix(server: StdioServer) -> None:
    def complete(ref: dict[str, str], name: str, prefix: str) -> Any:
        argument = {"name": name, "value": prefix}
        return server.request("completion/complete", {"ref": ref, "argument": argument})

    review = {"type": "ref/prompt", "name": "review_order"}
    template = {"type": "ref/resource", "uri": "shop://reports/{region}/{month}"}
    completion = complete(review, "tone", "p")["result"]["completion"]
    assert completion == {"values": ["plain", "polite"], "total": 2, "hasMore": False}
    for ref, name, prefix, expected in (
        (review, "tone", "pl", ["plain"]),
        (review, "order_id", "", []),
        (template, "region", "n", ["north"]),
        (template, "month", "", []),
    ):
        answer = complete(ref, name, prefix)["result"]["completion"]
        assert answer["values"] == expected
    unassigned = complete({"type": "ref/prompt", "name": "unassigned"}, "x", "")
    assert unassigned["error"]["code"] == INVALID


def test_tool_result_has_content_blocks_and_readable_links(server: StdioServer) -> None:
    blocks = server.call("chart")["result"]["content"]
    kinds = [block["type"] for block in blocks]
    assert kinds == "text image audio resource resource_link resource_link".split()
    resource = blocks[3]["resource"]
    assert resource["uri"] == "attachment:///sales.csv"
    assert resource["text"] == "month,sales\n1,30\n"
    assert blocks[4]["uri"] == "shop://policies/returns"
    raw_link = blocks[5]
    members = (raw_link["name"], raw_link["mimeType"], raw_link["size"])
    assert members == ("raw.csv", "text/csv", 17)
    assert read_content(server, raw_link["uri"])["text"] == "month,sales\n1,30\n"
    # Every call stores its content under a new URI.
    assert server.call("chart")["result"]["content"][5]["uri"] != raw_link["uri"]

    content = server.call("picture")["result"]["content"]
    assert [(b["type"], b["mimeType"]) for b in content] == [("image", "image/png")]


def test_tool_with_link_above_byte_limit_is_a_tool_error(server: StdioServer) -> None:
    result = server.call("chart", {"rows": 30})["result"]
    assert result["isError"]
    text = result["content"][0]["text"]
    assert text == "`raw.csv` has 162 bytes; links may have at most 100"


def test_list_requests_with_a_cursor_are_json_rpc_errors(server: StdioServer) -> None:
    for method in ("resources/list", "resources/templates/list", "prompts/list"):
        error = server.request(method, {"cursor": "2"})["error"]
        assert error["code"] == INVALID


def test_http_link_content_is_readable_only_by_calling_client(project: Path) -> None:
    with run_server(package="generated.shop", root=project) as server:
        staff, guests = HttpServer(server), HttpServer(server, "/mcp/guests/")
        for era in ERAS:
            response = staff.request(era, "tools/call", CHART)
            uri = response["result"]["content"][5]["uri"]
            own_read = staff.request(era, "resources/read", {"uri": uri})["result"]
            assert own_read["contents"][0]["text"] == "month,sales\n1,30\n"
            denied = guests.request(era, "resources/read", {"uri": uri})["error"]
            assert denied["message"] == "Resource not found"
            policy = {"uri": "shop://policies/returns"}
            assert "result" in guests.request(era, "resources/read", policy)
            hours = {"uri": "shop://hours"}
            assert "error" in guests.request(era, "resources/read", hours)
            assert "error" in guests.request(era, "prompts/list")


PATTERN_CLIENTS = """
clients:
  docs:
    allow: "*"
    mcp_resources: {allow: ["docs_*", item], deny: [docs_secret]}
    mcp_prompts: {allow: ["ask*"]}
  every: {mcp_resources: {allow: "*"}, mcp_prompts: {allow: "*"}}
  none: {allow: "*"}
targets:
  mcp: {client: docs}
"""


async def read_allowed(url: str, mode: str) -> tuple[set[str], set[str]]:
    """Return the names that a client lists, after reading each listed and other entry."""
    async with Client(url, mode=mode) as client:
        # A server does not offer the method without an entry for the client.
        offered = client.server_capabilities
        listed, templates, prompts = [], [], []
        if offered.resources is not None:
            listed = (await client.list_resources()).resources
            templates = (await client.list_resource_templates()).resource_templates
        if offered.prompts is not None:
            prompts = (await client.list_prompts()).prompts
        resources = {entry.name for entry in (*listed, *templates)}
        for name in ("docs_open", "docs_secret", "item", "other"):
            uri = "toy://items/7" if name == "item" else f"toy://{name}"
            if name in resources:
                [content] = (await client.read_resource(uri)).contents
                assert content.text == ("item 7" if name == "item" else name)
            else:
                with pytest.raises(MCPError):
                    await client.read_resource(uri)
        for name in ("ask", "ask_again", "tell"):
            if name in {prompt.name for prompt in prompts}:
                [message] = (await client.get_prompt(name)).messages
                assert message.content.text == name
            else:
                with pytest.raises(MCPError):
                    await client.get_prompt(name)
        return resources, {prompt.name for prompt in prompts}


def test_client_lists_only_resources_and_prompts_that_its_allow_and_deny_patterns_permit(
    make_project: Callable[..., Project],
) -> None:
    """The specs of the resources and prompts have no `clients`."""
    handlers = "def item(number: str) -> str:\n    return f'item {number}'\n"
    project = make_project({}, toolset=PATTERN_CLIENTS, handlers=handlers)
    folder = "specs/toy/mcp_resources"
    for name in ("docs_open", "docs_secret", "other"):
        spec = f"name: {name}\nuri: toy://{name}\ntext: {name}\n"
        project.write(f"{folder}/{name}.yaml", spec)
    template = "uri_template: toy://items/{number}\nhandler: handlers.toy:item\n"
    project.write(f"{folder}/item.yaml", f"name: item\n{template}")
    for name in ("ask", "ask_again", "tell"):
        spec = f"name: {name}\nmessages: [{{text: {name}}}]\n"
        project.write(f"specs/toy/mcp_prompts/{name}.yaml", spec)
    project.generate()
    with run_server(package="generated.toy", root=project.root) as server:
        paths = ("/mcp/", "/mcp/every/", "/mcp/none/")
        urls = [HttpServer(server, path).url for path in paths]
        for mode in ("auto", "legacy"):
            docs, every, none = [asyncio.run(read_allowed(url, mode)) for url in urls]
            assert docs == ({"docs_open", "item"}, {"ask", "ask_again"})
            assert every[0] == {"docs_open", "docs_secret", "item", "other"}
            assert every[1] == {"ask", "ask_again", "tell"}
            assert none == (set(), set())


@pytest.mark.slow
def test_server_with_several_workers_embeds_linked_content(project: Path) -> None:
    with run_server("--workers", "2", package="generated.shop", root=project) as server:
        staff = HttpServer(server)
        for _ in range(6):
            response = staff.request(MODERN, "tools/call", CHART)
            block = response["result"]["content"][5]
            assert block["resource"]["text"] == "month,sales\n1,30\n"
