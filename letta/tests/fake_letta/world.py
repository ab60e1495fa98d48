"""The fake server's database and Letta's operations on it."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

from .built_ins import DEFAULT_TOOLS
from .entries import Entries
from .errors import RequestRefusedError
from .mcp_side import UnreachableError
from .rows import Agent, Tool
from .tool_rules import parse_rule

__all__ = ["World"]


class World(Entries):
    """An organization: a registry, MCP servers and agents.

    Attributes:
        version: the version that `/v1/health/` returns.
        password: the bearer token of secure mode; None disables authentication.
    """

    def __init__(self, version: str = "0.16.6", password: str | None = None) -> None:
        super().__init__()
        self.version = version
        self.password = password
        self.agents: dict[str, Agent] = {}
        self.lock = threading.RLock()

    def delete_tool(self, tool_id: str) -> None:
        """Delete a tool and detach it from every agent; rules are kept."""
        super().delete_tool(tool_id)
        for agent in self.agents.values():
            agent.tool_ids = [
                attached_id for attached_id in agent.tool_ids if attached_id != tool_id
            ]

    def create_agent(self, body: Mapping[str, Any]) -> Agent:
        """Create an agent with the tools and rules of its type."""
        kind = body.get("agent_type") or "letta_v1_agent"
        if kind not in DEFAULT_TOOLS:
            raise RequestRefusedError(501, f"this fake knows no {kind}")
        names = list(body.get("tools") or ())
        if body.get("include_base_tools", True):
            names += DEFAULT_TOOLS[kind]
        ids = list(body.get("tool_ids") or ())
        for name in names:
            tool = self.find_tool(name)
            if tool is None:
                raise RequestRefusedError(400, f"Tools not found: {{'{name}'}}")
            ids.append(tool.id)
        if any(tool_id_ not in self.tools for tool_id_ in ids):
            missing = {tool_id_ for tool_id_ in ids if tool_id_ not in self.tools}
            raise RequestRefusedError(400, f"Tools not found: {missing}")
        ids = list(dict.fromkeys(ids))
        attached = [self.tools[tool_id_] for tool_id_ in ids]
        rules = [parse_rule(rule) for rule in body.get("tool_rules") or ()]
        if not rules and kind in ("memgpt_v2_agent", "memgpt_agent"):
            for tool in attached:
                if tool.name == "send_message":
                    rules.append(
                        parse_rule({"tool_name": tool.name, "type": "exit_loop"})
                    )
                elif tool.name in DEFAULT_TOOLS[kind]:
                    rules.append(
                        parse_rule({"tool_name": tool.name, "type": "continue_loop"})
                    )
        approving = [tool for tool in attached if tool.default_requires_approval]
        rules += [
            parse_rule({"tool_name": tool.name, "type": "requires_approval"})
            for tool in approving
        ]
        agent = Agent(
            self.new_id("agent"), body.get("name") or "agent", kind, ids, rules
        )
        agent.llm_config = dict(body.get("llm_config") or {"model": "fake"})
        agent.tags = list(body.get("tags") or ())
        agent.secrets = dict(body.get("secrets") or {})
        for block in body.get("memory_blocks") or ():
            memory_block = self.add_block(agent, block["label"], block.get("value", ""))
            memory_block["limit"] = block.get("limit") or memory_block["limit"]
        self.agents[agent.id] = agent
        return agent

    def add_block(self, agent: Agent, label: str, value: str) -> dict[str, Any]:
        """Add a core-memory block to an agent."""
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
        """Update an agent as PATCH does.

        Null means no change, a list replaces, unknown fields are ignored. An unknown
        tool id changes nothing.
        """
        ids = body.get("tool_ids")
        rules = body.get("tool_rules")
        checked = None if rules is None else [parse_rule(rule) for rule in rules]
        if ids is not None:
            for tool_id in ids:
                if tool_id not in self.tools:
                    raise RequestRefusedError(
                        409,
                        "(sqlalchemy.dialects.postgresql.asyncpg.IntegrityError)"
                        " <class 'asyncpg.exceptions.ForeignKeyViolationError'>: insert"
                        ' or update on table "tools_agents" violates foreign key'
                        ' constraint "tools_agents_tool_id_fkey" DETAIL: Key'
                        f' (tool_id)=({tool_id}) is not present in table "tools".',
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
        """Attach a tool and add its approval rule."""
        if tool.id not in agent.tool_ids:
            agent.tool_ids.append(tool.id)
        if tool.default_requires_approval:
            self.set_approval(agent, tool.name, True)

    def set_approval(self, agent: Agent, name: str, required: bool) -> None:
        """Add or remove the approval rule, whether the tool is attached or not."""
        rule = parse_rule({"tool_name": name, "type": "requires_approval"})
        others = [
            rule_
            for rule_ in agent.tool_rules
            if (rule_["tool_name"], rule_["type"]) != (name, "requires_approval")
        ]
        agent.tool_rules = [*others, rule] if required else others

    def list_attached_tools(self, agent: Agent) -> list[Tool]:
        """Return the agent's tools."""
        return [self.tools[tool_id] for tool_id in agent.tool_ids]

    def run_tool(
        self, agent: Agent | None, tool: Tool, arguments: Mapping[str, Any]
    ) -> tuple[str, bool]:
        """Run a tool as Letta does; return its text and whether it succeeded."""
        if tool.tool_type != "external_mcp":
            return json.dumps({"status": "OK", "message": f"ran {tool.name}"}), True
        tagged = [tag for tag in tool.tags if tag.startswith("mcp:")]
        entry = self.find_entry(tagged[0].split(":")[1]) if tagged else None
        if entry is None:
            # Letta returns the error of the tool's own code as the result.
            return "Argument mcp_server_id does not match type <class 'str'>", False
        headers = entry.headers(agent.secrets if agent else {})
        if agent is not None:
            headers["X-Agent-Id"] = agent.id
        side = self.get_server(entry.config)
        # The tool may send requests to this server before it answers.
        self.lock.release()
        try:
            return side.call(tool.name, arguments, headers)
        except UnreachableError as error:
            return str(error), False
        finally:
            self.lock.acquire()
