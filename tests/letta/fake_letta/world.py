"""The database of the fake, and what Letta does to it."""

from __future__ import annotations

import json
import re
import threading
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from .mcp_side import HttpServer, McpSide, Unreachable
from .schemas import health, normalized, stored_schema

__all__ = ["BUILT_INS", "Agent", "Entry", "Refused", "Tool", "World", "is_id"]

BUILT_INS = {
    "letta_core": (
        *("send_message", "conversation_search"),
        *("archival_memory_insert", "archival_memory_search"),
    ),
    "letta_memory_core": (
        *("core_memory_append", "core_memory_replace"),
        *("memory", "memory_apply_patch"),
    ),
    "letta_sleeptime_core": (
        *("memory_replace", "memory_insert"),
        *("memory_rethink", "memory_finish_edits"),
    ),
    "letta_voice_sleeptime_core": (
        *("store_memories", "rethink_user_memory"),
        *("finish_rethinking_memory", "search_memory"),
    ),
    "letta_builtin": (
        *("run_code", "run_code_with_tools"),
        *("web_search", "fetch_webpage"),
    ),
    "letta_files_core": ("open_files", "grep_files", "semantic_search_files"),
    "letta_multi_agent_core": (
        "send_message_to_agent_and_wait_for_reply",
        "send_message_to_agents_matching_tags",
        "send_message_to_agent_async",
    ),
}
"""The 26 tools that every organisation has, by type."""

# What an agent of each type is created with.
_DEFAULT_TOOLS = {
    "letta_v1_agent": ("conversation_search", "memory_insert", "memory_replace"),
    "memgpt_v2_agent": (
        *("conversation_search", "memory_insert", "memory_replace"),
        "send_message",
    ),
    "memgpt_agent": (
        *("conversation_search", "core_memory_append", "core_memory_replace"),
        *("memory", "memory_apply_patch", "send_message"),
    ),
    "react_agent": (),
}
_RULE_FIELDS: dict[str, dict[str, Any]] = {
    "run_first": {"prompt_template": None, "args": None},
    "exit_loop": {"prompt_template": None},
    "continue_loop": {"prompt_template": None},
    "constrain_child_tools": {
        "prompt_template": None,
        "children": ...,
        "child_arg_nodes": None,
    },
    "parent_last_tool": {"prompt_template": None, "children": ...},
    "conditional": {
        "prompt_template": None,
        "default_child": None,
        "child_output_mapping": ...,
        "require_output_mapping": False,
    },
    "max_count_per_step": {"prompt_template": None, "max_count_limit": ...},
    "required_before_exit": {"prompt_template": None},
    "requires_approval": {"prompt_template": None},
}
_LONGEST_NAME = 48
_REFRESH_LOOKS_AT = 50


class Refused(Exception):
    """An answer other than 200."""

    def __init__(self, status: int, detail: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.body = (
            detail
            if isinstance(detail, dict) and list(detail) == ["error"]
            else {"detail": detail}
        )


@dataclass
class Tool:
    """A row of the registry."""

    id: str
    name: str
    tool_type: str
    created: int
    description: str | None = None
    json_schema: dict[str, Any] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    metadata_: dict[str, Any] = field(default_factory=dict)
    source_code: str | None = None
    return_char_limit: int = 50_000
    default_requires_approval: bool | None = None
    enable_parallel_execution: bool = False

    def shown(self) -> dict[str, Any]:
        """As the API shows it."""
        row = asdict(self)
        del row["created"]
        row |= {"source_type": "python", "args_json_schema": None, "project_id": None}
        return row


@dataclass
class Entry:
    """An entry of an MCP server."""

    id: str
    server_name: str
    config: dict[str, Any]

    def shown(self) -> dict[str, Any]:
        """As the API shows it, secrets in clear."""
        return {**self.config, "server_name": self.server_name, "id": self.id}

    def headers(self, secrets: Mapping[str, str]) -> dict[str, str]:
        """What is sent to the server, with the agent's variables filled in."""
        headers = dict(self.config.get("custom_headers") or {})
        if self.config.get("auth_header") and self.config.get("auth_token"):
            headers[self.config["auth_header"]] = self.config["auth_token"]

        def fill(match: re.Match[str]) -> str:
            name, _, default = match[1].partition("|")
            return secrets.get(name.strip(), default.strip())

        return {
            key: re.sub(r"\{\{(.*?)\}\}", fill, value) for key, value in headers.items()
        }


@dataclass
class Agent:
    """An agent."""

    id: str
    name: str
    agent_type: str
    tool_ids: list[str] = field(default_factory=list)
    tool_rules: list[dict[str, Any]] = field(default_factory=list)
    llm_config: dict[str, Any] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    blocks: dict[str, dict[str, Any]] = field(default_factory=dict)
    passages: dict[str, dict[str, Any]] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)
    last_stop_reason: str | None = None
    pending_approval: dict[str, Any] | None = None


def is_id(kind: str, text: str) -> bool:
    """Whether a text is an id of a kind: `agent-<uuid4>`."""
    pattern = (
        rf"{kind}-[0-9a-f]{{8}}-[0-9a-f]{{4}}-4[0-9a-f]{{3}}-[89ab][0-9a-f]{{3}}"
        r"-[0-9a-f]{12}"
    )
    return re.fullmatch(pattern, text) is not None


class World:
    """One organisation.

    Attributes:
        servers: the MCP servers that can be reached, by URL; others are asked over HTTP.
        version: what `/v1/health/` says.
        password: the bearer token of secure mode; None lets everybody in.
    """

    def __init__(self, version: str = "0.16.6", password: str | None = None) -> None:
        self.version = version
        self.password = password
        self.servers: dict[str, McpSide] = {}
        self.tools: dict[str, Tool] = {}
        self.entries: dict[str, Entry] = {}
        self.agents: dict[str, Agent] = {}
        self.mcp_tools: list[tuple[str, str]] = []
        self.lock = threading.RLock()
        self._clock = 0
        self.ensure_built_ins()

    def new_id(self, kind: str) -> str:
        """`kind-<uuid4>`."""
        return f"{kind}-{uuid.uuid4()}"

    # -- registry ---------------------------------------------------------------------

    def tool_named(self, name: str) -> Tool | None:
        """The organisation's tool of a name; names are unique."""
        return next((t for t in self.tools.values() if t.name == name), None)

    def upsert(self, name: str, **values: Any) -> Tool:
        """Letta's upsert by name: what is there keeps its id and nothing else.

        Settings go back to their defaults; tags are kept when none are given. So a tool
        of another owner, a built-in too, changes hands.
        """
        if len(name) > _LONGEST_NAME:
            raise Refused(
                400,
                f"Tool name {name} is too long. It must be less than"
                f" {_LONGEST_NAME} characters.",
            )
        self._clock += 1
        there = self.tool_named(name)
        row = Tool(self.new_id("tool"), name, created=self._clock, **values)
        if there is not None:
            row.id, row.created = there.id, there.created
            row.tags = row.tags or there.tags
        self.tools[row.id] = row
        return row

    def ensure_built_ins(self) -> None:
        """Upserts every built-in tool by its name."""
        for kind, names in BUILT_INS.items():
            for name in names:
                schema = {
                    "name": name,
                    "description": f"{name}.",
                    "parameters": {"type": "object", "properties": {}, "required": []},
                }
                self.upsert(
                    name,
                    tool_type=kind,
                    description=f"{name}.",
                    json_schema=schema,
                    tags=[kind],
                )

    def custom_tool(self, name: str, **values: Any) -> Tool:
        """A Python tool, as a person creates it."""
        schema = {
            "name": name,
            "description": f"{name}.",
            "parameters": {"type": "object", "properties": {}, "required": []},
        }
        given = {"json_schema": schema, "description": f"{name}.", **values}
        return self.upsert(name, tool_type="custom", **given)

    def list_tools(
        self,
        *,
        limit: int | None = 50,
        after: str | None = None,
        before: str | None = None,
        ascending: bool = False,
        names: list[str] | None = None,
        types: list[str] | None = None,
    ) -> list[Tool]:
        """A page. Not a pure read: a page without every built-in upserts them all."""
        page = self._page(limit, after, before, ascending, names, types)
        wanted = {name for group in BUILT_INS.values() for name in group}
        if not after and wanted - {tool.name for tool in page}:
            self.ensure_built_ins()
            page = self._page(limit, after, before, ascending, names, types)
        return page

    def _page(
        self,
        limit: int | None,
        after: str | None,
        before: str | None,
        ascending: bool,
        names: list[str] | None,
        types: list[str] | None,
    ) -> list[Tool]:
        def key(tool: Tool) -> tuple[int, str]:
            return tool.created, tool.id

        rows = sorted(self.tools.values(), key=key, reverse=not ascending)
        if names is not None:
            rows = [tool for tool in rows if tool.name in names]
        if types is not None:
            rows = [tool for tool in rows if tool.tool_type in types]
        for cursor, is_after in ((after, True), (before, False)):
            at = self.tools.get(cursor or "")
            if at is not None:
                later = ascending if is_after else not ascending
                rows = [t for t in rows if (key(t) > key(at)) == later and t is not at]
        return rows[:limit]

    def delete_tool(self, tool_id: str) -> None:
        """Deletes a row; every agent loses it, its rules stay."""
        del self.tools[tool_id]
        self.mcp_tools = [pair for pair in self.mcp_tools if pair[1] != tool_id]
        for agent in self.agents.values():
            agent.tool_ids = [one for one in agent.tool_ids if one != tool_id]

    # -- MCP servers ------------------------------------------------------------------

    def entry_named(self, name: str) -> Entry | None:
        """The entry of a name."""
        return next((e for e in self.entries.values() if e.server_name == name), None)

    def reach(self, config: Mapping[str, Any]) -> McpSide:
        """The server behind a configuration."""
        url = config.get("server_url")
        if not isinstance(url, str):
            raise Refused(501, "this fake speaks to MCP servers at URLs only")
        return self.servers.get(url) or HttpServer(url)

    def live_tools(
        self, entry: Entry, secrets: Mapping[str, str] | None = None
    ) -> list[dict[str, Any]]:
        """The server's first page, normalized and judged.

        Raises:
            Unreachable: it does not answer.
        """
        headers = entry.headers(secrets or {})
        listed = self.reach(entry.config).list_tools(headers)
        for tool in listed:
            tool.setdefault("health", None)
            if tool.get("inputSchema"):
                tool["inputSchema"] = normalized(tool["inputSchema"])
                status, reasons = health(tool["inputSchema"])
                tool["health"] = {"status": status, "reasons": reasons}
        return listed

    def register(self, entry: Entry, live: dict[str, Any]) -> Tool:
        """Upserts one live tool as the entry's."""
        owner = {"server_name": entry.server_name, "server_id": entry.id}
        tool = self.upsert(
            live["name"],
            tool_type="external_mcp",
            description=live.get("description"),
            json_schema=stored_schema(live),
            tags=[f"mcp:{entry.server_name}"],
            metadata_={"mcp": owner},
            source_code=f"def {live['name']}(**kwargs):\n    raise RuntimeError()",
        )
        self.mcp_tools.append((entry.id, tool.id))
        return tool

    def create_entry(self, name: str, config: dict[str, Any]) -> Entry:
        """Creates an entry and registers its tools; an unreachable server is no error."""
        if self.entry_named(name) is not None:
            raise Refused(
                409,
                "(sqlalchemy.dialects.postgresql.asyncpg.IntegrityError) duplicate key"
                ' value violates unique constraint "uix_name_organization_mcp_server"',
            )
        if config.get("auth_token") and not config.get("auth_header"):
            config = {**config, "auth_token": None}
        entry = Entry(self.new_id("mcp_server"), name, config)
        self.entries[entry.id] = entry
        try:
            listed = self.live_tools(entry)
        except Unreachable:
            return entry
        for live in listed:
            if (live["health"] or {}).get("status") == "INVALID":
                continue
            try:
                self.register(entry, live)
            except Refused:
                # Letta notes it in its log and goes on.
                continue
        return entry

    def update_entry(self, entry: Entry, name: str | None, config: Any) -> Entry:
        """Changes an entry; a new token is accepted and not taken."""
        changes = {
            key: value
            for key, value in config.items()
            if key not in ("auth_token", "auth_header") and value is not None
        }
        entry.config = {**entry.config, **changes}
        if name is not None:
            entry.server_name = name
        return entry

    def delete_entry(self, entry: Entry) -> None:
        """Deletes an entry with the tools that are its own by now."""
        for tool in list(self.tools.values()):
            if _owner(tool) == entry.id:
                self.delete_tool(tool.id)
        self.mcp_tools = [pair for pair in self.mcp_tools if pair[0] != entry.id]
        del self.entries[entry.id]

    def refresh(self, entry: Entry) -> dict[str, list[str]]:
        """Letta's refresh: destructive, and blind beyond 50 tools of the organisation."""
        try:
            live = {tool["name"]: tool for tool in self.live_tools(entry)}
        except Unreachable as error:
            raise Refused(
                404,
                {
                    "code": "MCPServerUnavailable",
                    "message": f"Could not connect to MCP server {entry.server_name} to"
                    " resync tools",
                    "error": str(error),
                },
            ) from error
        seen = self._page(_REFRESH_LOOKS_AT, None, None, True, None, None)
        mine = {tool.name: tool for tool in seen if _owner(tool) == entry.id}
        result: dict[str, list[str]] = {"deleted": [], "updated": [], "added": []}
        for name, tool in mine.items():
            if name not in live:
                self.delete_tool(tool.id)
                result["deleted"].append(name)
        for name, offered in live.items():
            if name in mine:
                schema = stored_schema(offered)
                if mine[name].json_schema != schema:
                    mine[name].json_schema = schema
                    mine[name].description = offered.get("description")
                    result["updated"].append(name)
            elif (offered["health"] or {}).get("status") != "INVALID":
                self.register(entry, offered)
                result["added"].append(name)
        return result

    # -- agents -----------------------------------------------------------------------

    def create_agent(self, body: Mapping[str, Any]) -> Agent:
        """Creates an agent with the tools and rules of its type."""
        kind = body.get("agent_type") or "letta_v1_agent"
        if kind not in _DEFAULT_TOOLS:
            raise Refused(501, f"this fake knows no {kind}")
        names = list(body.get("tools") or ())
        if body.get("include_base_tools", True):
            names += _DEFAULT_TOOLS[kind]
        ids = list(body.get("tool_ids") or ())
        for name in names:
            tool = self.tool_named(name)
            if tool is None:
                raise Refused(400, f"Tools not found: {{'{name}'}}")
            ids.append(tool.id)
        if any(one not in self.tools for one in ids):
            missing = {one for one in ids if one not in self.tools}
            raise Refused(400, f"Tools not found: {missing}")
        ids = list(dict.fromkeys(ids))
        attached = [self.tools[one] for one in ids]
        rules = [rule_of(rule) for rule in body.get("tool_rules") or ()]
        if not rules and kind in ("memgpt_v2_agent", "memgpt_agent"):
            for tool in attached:
                if tool.name == "send_message":
                    rules.append(rule_of({"tool_name": tool.name, "type": "exit_loop"}))
                elif tool.name in _DEFAULT_TOOLS[kind]:
                    rules.append(
                        rule_of({"tool_name": tool.name, "type": "continue_loop"})
                    )
        approving = [tool for tool in attached if tool.default_requires_approval]
        rules += [
            rule_of({"tool_name": tool.name, "type": "requires_approval"})
            for tool in approving
        ]
        agent = Agent(
            self.new_id("agent"), body.get("name") or "agent", kind, ids, rules
        )
        agent.llm_config = dict(body.get("llm_config") or {"model": "fake"})
        agent.tags = list(body.get("tags") or ())
        agent.secrets = dict(body.get("secrets") or {})
        for block in body.get("memory_blocks") or ():
            self.add_block(agent, block["label"], block.get("value", ""))
        self.agents[agent.id] = agent
        return agent

    def add_block(self, agent: Agent, label: str, value: str) -> dict[str, Any]:
        """Gives an agent a core-memory block."""
        block = {
            "id": self.new_id("block"),
            "label": label,
            "value": value,
            "limit": 100_000,
            "description": None,
            "read_only": False,
            "metadata": {},
        }
        agent.blocks[label] = block
        return block

    def update_agent(self, agent: Agent, body: Mapping[str, Any]) -> None:
        """PATCH: null is no change, a list replaces, unknown fields are ignored.

        All or nothing: an unknown tool id changes nothing.
        """
        ids = body.get("tool_ids")
        rules = body.get("tool_rules")
        checked = None if rules is None else [rule_of(rule) for rule in rules]
        if ids is not None:
            for one in ids:
                if one not in self.tools:
                    raise Refused(
                        409,
                        "(sqlalchemy.dialects.postgresql.asyncpg.IntegrityError)"
                        " <class 'asyncpg.exceptions.ForeignKeyViolationError'>: insert"
                        ' or update on table "tools_agents" violates foreign key'
                        ' constraint "tools_agents_tool_id_fkey" DETAIL: Key'
                        f' (tool_id)=({one}) is not present in table "tools".',
                    )
            agent.tool_ids = list(dict.fromkeys(ids))
        if checked is not None:
            agent.tool_rules = checked
        if body.get("name") is not None:
            agent.name = body["name"]
        if body.get("llm_config") is not None:
            agent.llm_config = dict(body["llm_config"])
        if body.get("tags") is not None:
            agent.tags = list(body["tags"])

    def attach(self, agent: Agent, tool: Tool) -> None:
        """Additive and idempotent; brings the approval rule along."""
        if tool.id not in agent.tool_ids:
            agent.tool_ids.append(tool.id)
        if tool.default_requires_approval:
            self.set_approval(agent, tool.name, True)

    def set_approval(self, agent: Agent, name: str, required: bool) -> None:
        """Adds or takes the rule, whether the tool is attached or not."""
        rule = rule_of({"tool_name": name, "type": "requires_approval"})
        others = [
            one
            for one in agent.tool_rules
            if (one["tool_name"], one["type"]) != (name, "requires_approval")
        ]
        agent.tool_rules = [*others, rule] if required else others

    def attached(self, agent: Agent) -> list[Tool]:
        """The agent's tools."""
        return [self.tools[one] for one in agent.tool_ids]

    def run_tool(
        self, agent: Agent | None, tool: Tool, arguments: Mapping[str, Any]
    ) -> tuple[str, bool]:
        """Runs a tool as Letta does, and what it gave with whether it succeeded."""
        if tool.tool_type != "external_mcp":
            return json.dumps({"status": "OK", "message": f"ran {tool.name}"}), True
        tagged = [tag for tag in tool.tags if tag.startswith("mcp:")]
        entry = self.entry_named(tagged[0].split(":")[1]) if tagged else None
        if entry is None:
            # What its own code raises is the result, under any name.
            return "Argument mcp_server_id does not match type <class 'str'>", False
        headers = entry.headers(agent.secrets if agent else {})
        if agent is not None:
            headers["X-Agent-Id"] = agent.id
        side = self.reach(entry.config)
        # The tool may ask this server something before it answers.
        self.lock.release()
        try:
            return side.call(tool.name, arguments, headers)
        except Unreachable as error:
            return str(error), False
        finally:
            self.lock.acquire()


def _owner(tool: Tool) -> str | None:
    return tool.metadata_.get("mcp", {}).get("server_id")


def rule_of(given: Any) -> dict[str, Any]:
    """A rule with its defaults.

    Raises:
        Refused: 422 for an unknown type or a missing field; nothing else is checked.
    """
    if not isinstance(given, Mapping) or given.get("type") not in _RULE_FIELDS:
        raise Refused(422, "[{'type': 'union_tag_invalid', 'loc': ('tool_rules',)}]")
    rule = {"tool_name": given.get("tool_name"), "type": given["type"]}
    for key, default in _RULE_FIELDS[given["type"]].items():
        if default is ... and key not in given:
            raise Refused(
                422, f"[{{'type': 'missing', 'loc': ('tool_rules', '{key}')}}]"
            )
        rule[key] = given.get(key, None if default is ... else default)
    if not isinstance(rule["tool_name"], str):
        raise Refused(422, "[{'type': 'missing', 'loc': ('tool_rules', 'tool_name')}]")
    return rule
