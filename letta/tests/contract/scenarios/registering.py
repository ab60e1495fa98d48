"""Contract scenarios for MCP servers and the tools that they register."""

from __future__ import annotations

from typing import Any

from letta.tests.changing_mcp import tool
from letta.tests.contract.exchange import Exchange

__all__ = ["SCENARIOS"]

INTEGER = {"type": "integer", "description": "A number."}
TOOLS = "sort_by(@, &name)[].{name: name, id: id, type: tool_type}"
OWNED = "sort_by(@, &name)[].{name: name, id: id, mcp: metadata_.mcp}"
MCP_TOOLS = "/v1/tools/?tool_types=external_mcp&limit=1000"


def build_entry(name: str, url: str, **more: Any) -> dict[str, Any]:
    """Return the request body that creates a server entry."""
    config = {"mcp_server_type": "streamable_http", "server_url": url, **more}
    return {"server_name": name, "config": config}


def health(letta: Exchange) -> None:
    letta.request("GET", "/v1/health/", keep="@")
    letta.request("GET", "/v1/health", keep=None)
    letta.request("GET", "/v1/tools/count", keep="type(@)")
    for path in ("agents", "tools", "mcp-servers"):
        letta.request("GET", f"/v1/{path}")


def built_ins(letta: Exchange) -> None:
    letta.request(
        "GET", "/v1/tools/?limit=1000", keep="sort_by(@, &name)[].[name, tool_type]"
    )
    letta.request("GET", "/v1/tools/", keep="length(@)")
    letta.request("GET", "/v1/tools/?names=send_message&names=nothing", keep="[].name")


def creating(letta: Exchange) -> None:
    lab = letta.mcp("lab", tool("add", a=INTEGER), tool("mul", a=INTEGER))
    headers = {"Authorization": "Bearer first"}
    made = letta.request(
        "POST",
        "/v1/mcp-servers/",
        build_entry("lab", lab.url, custom_headers=headers),
        keep="@",
    )
    letta.request("GET", f"/v1/mcp-servers/{made['id']}/tools", keep=TOOLS)
    letta.request("GET", MCP_TOOLS, keep=OWNED)
    letta.request(
        "POST", "/v1/mcp-servers/", build_entry("lab", lab.url), keep="type(detail)"
    )
    letta.request("GET", "/v1/mcp-servers/", keep="[].{name: server_name, id: id}")
    letta.note("the token at the MCP server", lab.headers[-1].get("authorization"))
    missing = made["id"][:-4] + "0000"
    letta.request("GET", f"/v1/mcp-servers/{missing}/tools", keep="@")
    letta.request("DELETE", f"/v1/mcp-servers/{made['id']}")
    letta.request("GET", MCP_TOOLS, keep=OWNED)


def unreachable(letta: Exchange) -> None:
    lab = letta.mcp("lab", tool("add"))
    lab.is_down = True
    made = letta.request("POST", "/v1/mcp-servers/", build_entry("lab", lab.url))
    letta.request("GET", f"/v1/mcp-servers/{made['id']}/tools", keep="@")
    letta.request("PATCH", f"/v1/mcp-servers/{made['id']}/refresh", keep="detail.code")
    letta.request("GET", "/v1/tools/mcp/servers/lab/tools", keep="error.type")
    letta.request("POST", "/v1/tools/mcp/servers/lab/add", keep="error.type")
    lab.is_down = False
    letta.request("PATCH", f"/v1/mcp-servers/{made['id']}/refresh", keep="@")
    letta.request("GET", f"/v1/mcp-servers/{made['id']}/tools", keep=TOOLS)
    lab.is_down = True
    letta.request("PATCH", f"/v1/mcp-servers/{made['id']}/refresh", keep="detail.code")
    letta.request("GET", f"/v1/mcp-servers/{made['id']}/tools", keep=TOOLS)


def live_list(letta: Exchange) -> None:
    bad = tool("no_items", a={"type": "array", "description": "Anything."})
    loose = tool("loose", a={"type": "object", "additionalProperties": True})
    odd = tool("odd", a={"type": "nonsense"})
    lab = letta.mcp("lab", tool("add", a=INTEGER), bad, loose, odd)
    made = letta.request("POST", "/v1/mcp-servers/", build_entry("lab", lab.url))
    letta.request("GET", f"/v1/mcp-servers/{made['id']}/tools", keep=TOOLS)
    letta.request(
        "GET",
        "/v1/tools/mcp/servers/lab/tools",
        keep="[].{name: name, inputSchema: inputSchema, health: health}",
    )
    letta.request("GET", "/v1/tools/mcp/servers/nobody/tools", keep="type(detail)")
    letta.request("POST", "/v1/tools/mcp/servers/nobody/add", keep="type(detail)")
    lab.tools = [*lab.tools, tool("later", a=INTEGER)]
    letta.request("GET", "/v1/tools/mcp/servers/lab/tools", keep="[].name")
    letta.request("GET", f"/v1/mcp-servers/{made['id']}/tools", keep=TOOLS)


def stored_schemas(letta: Exchange) -> None:
    shared = tool("shared", a={"$ref": "#/$defs/pair"})
    pair = {"type": "object", "properties": {"x": INTEGER}, "required": ["x"]}
    shared["inputSchema"]["$defs"] = {"pair": pair}
    optional = tool("optional", a=INTEGER, b={"type": "string", "default": "x"})
    optional["inputSchema"]["required"] = ["a"]
    either = tool("either", a={"anyOf": [INTEGER, {"type": "null"}]})
    listed = tool("listed", a={"type": "array", "items": {"type": "string"}})
    lab = letta.mcp("lab", shared, optional, either, listed, tool("none"))
    letta.request("POST", "/v1/mcp-servers/", build_entry("lab", lab.url))
    letta.request("GET", MCP_TOOLS, keep="sort_by(@, &name)[].json_schema")


def pages(letta: Exchange) -> None:
    lab = letta.mcp("lab", *(tool(f"tool_{number}") for number in range(6)))
    lab.page = 2
    made = letta.request("POST", "/v1/mcp-servers/", build_entry("lab", lab.url))
    letta.request("GET", f"/v1/mcp-servers/{made['id']}/tools", keep=TOOLS)


def long_names(letta: Exchange) -> None:
    long = "x" * 49
    lab = letta.mcp("lab", tool("before"), tool(long), tool("behind"))
    made = letta.request("POST", "/v1/mcp-servers/", build_entry("lab", lab.url))
    letta.request("GET", f"/v1/mcp-servers/{made['id']}/tools", keep=TOOLS)
    letta.request("PATCH", f"/v1/mcp-servers/{made['id']}/refresh", keep="type(detail)")
    letta.request("GET", f"/v1/mcp-servers/{made['id']}/tools", keep=TOOLS)
    lab.tools = [tool("x" * 48), tool("dots.and-dashes")]
    letta.request("PATCH", f"/v1/mcp-servers/{made['id']}/refresh", keep="@")
    letta.request("GET", f"/v1/mcp-servers/{made['id']}/tools", keep=TOOLS)


def one_by_one(letta: Exchange) -> None:
    lab = letta.mcp("lab", tool("add", a=INTEGER))
    letta.request("POST", "/v1/mcp-servers/", build_entry("lab", lab.url))
    lab.tools = [tool("add", "Adds up.", a=INTEGER), tool("mul", a=INTEGER)]
    path = "/v1/tools/mcp/servers/lab"
    kept = "{name: name, id: id, description: description, mcp: metadata_.mcp}"
    added = letta.request("POST", f"{path}/mul", keep=kept)
    letta.request("POST", f"{path}/add", keep=kept)
    letta.request("POST", f"{path}/unknown", keep=None)
    settings = {"return_char_limit": 77, "default_requires_approval": True}
    seen = "{limit: return_char_limit, approval: default_requires_approval}"
    letta.request("PATCH", f"/v1/tools/{added['id']}", settings, keep=seen)
    servers = letta.request("GET", "/v1/mcp-servers/", keep="[].server_name")
    letta.request("PATCH", f"/v1/mcp-servers/{servers[0]['id']}/refresh", keep="@")
    letta.request("GET", f"/v1/tools/{added['id']}", keep=seen)
    letta.request("POST", f"{path}/mul", keep=kept)
    letta.request("GET", f"/v1/tools/{added['id']}", keep=seen)


def tokens(letta: Exchange) -> None:
    lab = letta.mcp("lab", tool("add"))
    first = {"Authorization": "Bearer first"}
    made = letta.request(
        "POST", "/v1/mcp-servers/", build_entry("lab", lab.url, custom_headers=first)
    )

    def record_sent_token() -> None:
        letta.request("PATCH", f"/v1/mcp-servers/{made['id']}/refresh")
        letta.note("the token", lab.headers[-1].get("authorization"))

    record_sent_token()
    kept = "custom_headers"
    second = {
        "config": build_entry(
            "", lab.url, custom_headers={"Authorization": "Bearer second"}
        )["config"]
    }
    letta.request("PATCH", f"/v1/mcp-servers/{made['id']}", second, keep=kept)
    record_sent_token()
    other = build_entry(
        "other", lab.url, auth_header="Authorization", auth_token="Bearer one"
    )
    made = letta.request("POST", "/v1/mcp-servers/", other, keep="auth_token")
    record_sent_token()
    rotated = {"config": {**other["config"], "auth_token": "Bearer two"}}
    letta.request("PATCH", f"/v1/mcp-servers/{made['id']}", rotated)
    record_sent_token()


SCENARIOS = (
    health,
    built_ins,
    creating,
    unreachable,
    live_list,
    stored_schemas,
    pages,
    long_names,
    one_by_one,
    tokens,
)
