"""Tool search: a server lists few tools, and two that search and call the others.

`search_tools` returns definitions. A call of `call_found_tool` is processed as a call of the tool
that it names. Clients see only the names of these two tools, so `call_found_tool` is annotated with
the worst case of the tools behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ..core.context import ArgumentConversionError, ToolError, ToolResponse
from ..core.definitions.tool import Tool
from ..core.optional import OptionalPartError
from ..core.toolset import ToolMatch

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ..core.context import CallContext
    from ..core.definitions.tool import ToolProvider
    from ..core.registry import Registry

SEARCH = "search_tools"
CALL = "call_found_tool"
DEFAULT_RESULTS = 5
"""Maximum number of tools that a search without `limit` returns."""
_MAX_RESULTS = 20
"""Maximum value of `limit` in a search."""
_NO_MATCH = "No tool matches. Try other terms: the action and its object."
_QUERY = {
    "type": "string",
    "minLength": 1,
    "maxLength": 1_000,
    "description": "What the tool has to do, in a few words.",
}
_LIMIT = {
    "type": "integer",
    "minimum": 1,
    "maximum": _MAX_RESULTS,
    "description": f"How many tools at most; {DEFAULT_RESULTS}, if not given.",
}
_NAME = {"type": "string", "description": "The tool's name."}
_ARGUMENTS = {"type": "object", "description": "As the tool's inputSchema has them."}
_SEARCH_HINTS = {"readOnlyHint": True, "openWorldHint": False}
# Annotations of `call_found_tool` describe the worst case, because a client decides about its
# user's approval before it knows which tool is called.
_CALL_HINTS = {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}


def _build_tool(
    name: str, description: str, hints: Mapping[str, bool], /, **properties: Any
) -> Tool:
    definition = {
        "name": name,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": properties,
            "required": [next(iter(properties))],
            "additionalProperties": False,
        },
        "annotations": hints,
        # Claude Code has its own tool search; with this key it always lists the tool directly.
        "_meta": {"anthropic/alwaysLoad": True},
    }
    return Tool(name, description, description, definition, always=True)


_SEARCH_DESCRIPTION = (
    "Finds tools of this server that are not listed, by what they do. It answers with their"
    f" definitions, the best first; {CALL} calls them."
)
_CALL_DESCRIPTION = f"Calls a tool that {SEARCH} has found."
SEARCH_TOOLS = {
    SEARCH: _build_tool(
        SEARCH, _SEARCH_DESCRIPTION, _SEARCH_HINTS, query=_QUERY, limit=_LIMIT
    ),
    CALL: _build_tool(
        CALL, _CALL_DESCRIPTION, _CALL_HINTS, name=_NAME, arguments=_ARGUMENTS
    ),
}
"""The two tools for searching and calling, by name."""


def add_search_instructions(
    instructions: str | None, hidden: int, *, has_others: bool
) -> str | None:
    """Return a server's instructions, preceded by a sentence about the unlisted tools.

    The sentence comes first because clients truncate long instructions.

    Args:
        instructions: the toolset's own instructions.
        hidden: the number of local tools that are not listed.
        has_others: whether there are tools of external servers, which are not listed either.
    """
    tools = f"{hidden} more tool{'' if hidden == 1 else 's'}" if hidden else ""
    others = "tools of external servers" if has_others else ""
    if not tools and not others:
        return instructions
    unlisted = " and ".join(filter(None, (tools, others)))
    sentence = (
        f"Beyond its list this server has {unlisted}:"
        f" {SEARCH} finds them by what they do, and {CALL} calls them."
    )
    return f"{sentence}\n\n{instructions}" if instructions else sentence


def unwrap_search_call(name: str, arguments: Any) -> tuple[str, Any, bool]:
    """Return (name, arguments, is_found): those of the inner call for `call_found_tool`.

    `is_found` is True if the call was unwrapped. Other calls are returned unchanged, and so is a
    `call_found_tool` with invalid arguments, whose validation rejects it later.
    """
    if name == CALL and isinstance(arguments, Mapping):
        tool = arguments.get("name")
        tool_arguments = arguments.get("arguments", {})
        is_valid = isinstance(tool, str) and isinstance(tool_arguments, Mapping)
        if is_valid and not arguments.keys() - {"name", "arguments"}:
            return str(tool), tool_arguments, True
    return name, arguments, False


@dataclass(frozen=True)
class SearchToolProvider:
    """Provider of the two search tools for one request; runs searches.

    Attributes:
        registry: ranks the tools, and runs these calls like all others: with a log line and a
            span.
        list_tools: returns the tools that the client may call now.
    """

    registry: Registry
    list_tools: Callable[[], Awaitable[list[Tool]]]

    def find(self, name: str) -> ToolMatch:
        """Return a search tool by name, with this object as its provider."""
        # This class is not a full ToolProvider, but a call uses only the method `call_tool`.
        return ToolMatch(
            SEARCH_TOOLS[name], cast("ToolProvider", self), self.registry.toolsets[0]
        )

    async def call_tool(
        self, tool: Tool, arguments: Mapping[str, Any], context: CallContext
    ) -> ToolResponse:
        """Return the response to a search, as a `ToolProvider`.

        The response is only text. Structured content would repeat it, at the cost of the
        tokens that a search saves.

        Raises:
            ArgumentConversionError: the arguments are invalid, or `tool` is `call_found_tool`:
                the server replaces a valid call of it by a call of the found tool.
            ToolError: the router cannot be loaded.
        """
        validators = self.registry.toolsets[0].calls.validators
        problems = validators.check_arguments(tool, arguments)
        if problems or tool.name == CALL:
            raise ArgumentConversionError(problems)
        tools = {
            available.name: available
            for available in await self.list_tools()
            if not available.always
        }
        query = arguments["query"].strip()
        try:
            names = await self.registry.best_first(query, [*tools.values()])
        except OptionalPartError as missing:
            raise ToolError(f"tools cannot be searched: {missing}") from missing
        # If the query is a tool's name, put this tool first, regardless of the ranking.
        names = [*dict.fromkeys([self.registry.resolve(query), *names])]
        matches = [tools[name] for name in names if name in tools]
        matches = matches[: int(arguments.get("limit", DEFAULT_RESULTS))]
        definitions = b",".join(match.to_mcp_json() for match in matches).decode()
        texts = [f'{{"tools":[{definitions}]}}']
        if not matches:
            texts.append(_NO_MATCH)
        return ToolResponse(content=[{"type": "text", "text": text} for text in texts])
