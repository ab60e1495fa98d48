"""Tools that are found: a server lists those of every turn, and two that lead to the others.

`search_tools` answers with definitions. A call of `call_found_tool` is a call of the tool that it
names, from its arguments to its answer, as if that tool had been called by its own name. Clients
see no more of it than these two names, so the second is annotated as the worst that it can be.
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

SEARCH, CALL = "search_tools", "call_found_tool"
USUAL, _MAX_RESULTS = 5, 20
"""So many tools are found where nobody says how many, and never more."""
_NOTHING = "No tool has these words. Try others: what is done, and to what."
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
    "description": f"How many tools at most; {USUAL}, if not given.",
}
_NAME = {"type": "string", "description": "The tool's name."}
_ARGUMENTS = {"type": "object", "description": "As the tool's inputSchema has them."}
_READS = {"readOnlyHint": True, "openWorldHint": False}
# Which tool it will be, no client can know when it asks its person.
_ANYTHING = {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}


def _tool(
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
        # Clients that search by themselves (Claude Code) show these two all the same.
        "_meta": {"anthropic/alwaysLoad": True},
    }
    return Tool(name, description, description, definition, always=True)


_FINDS = (
    "Finds tools of this server that are not listed, by what they do. It answers with their"
    f" definitions, the best first; {CALL} calls them."
)
_CALLS = f"Calls a tool that {SEARCH} has found."
OWN = {
    SEARCH: _tool(SEARCH, _FINDS, _READS, query=_QUERY, limit=_LIMIT),
    CALL: _tool(CALL, _CALLS, _ANYTHING, name=_NAME, arguments=_ARGUMENTS),
}
"""The server's own two tools by their names, as they are listed."""


def introduced(
    instructions: str | None, hidden: int, *, has_others: bool = False
) -> str | None:
    """A server's instructions, behind a sentence that says how many tools are not listed.

    It stands in front because clients cut long instructions off. With `has_others` the tools
    of external servers are not listed either.
    """
    tools = f"{hidden} more tool{'' if hidden == 1 else 's'}" if hidden else ""
    others = "tools of external servers" if has_others else ""
    if not tools and not others:
        return instructions
    told = (
        f"Beyond its list this server has {' and '.join(filter(None, (tools, others)))}:"
        f" {SEARCH} finds them by what they do, and {CALL} calls them."
    )
    return f"{told}\n\n{instructions}" if instructions else told


def meant(name: str, arguments: Any) -> tuple[str, Any, bool]:
    """The name and the arguments of the tool that a call means; and whether it is a found one.

    A `call_found_tool` whose own arguments are not valid means itself, and is refused as a call
    of any tool is.
    """
    if name == CALL and isinstance(arguments, Mapping):
        tool, given = arguments.get("name"), arguments.get("arguments", {})
        is_valid = isinstance(tool, str) and isinstance(given, Mapping)
        if is_valid and not arguments.keys() - {"name", "arguments"}:
            return str(tool), given, True
    return name, arguments, False


@dataclass(frozen=True)
class OwnTools:
    """Answers the calls of a server's own tools.

    Attributes:
        registry: ranks tools, and runs these calls as others: with a line in the log, and a span.
        offered: gives the tools that the client may have now.
    """

    registry: Registry
    offered: Callable[[], Awaitable[list[Tool]]]

    def find(self, name: str) -> ToolMatch:
        """One of the two, to be called."""
        # Of the provider of a tool, its call asks for nothing but `call_tool`.
        return ToolMatch(
            OWN[name], cast("ToolProvider", self), self.registry.toolsets[0]
        )

    async def call_tool(
        self, tool: Tool, arguments: Mapping[str, Any], context: CallContext
    ) -> ToolResponse:
        """The answer to a search, as of `ToolProvider`.

        It is text alone: a copy as structured content would cost what the search saves.

        Raises:
            ArgumentConversionError: the arguments are not valid; a valid `call_found_tool` means another tool.
            ToolError: there is no router.
        """
        validators = self.registry.toolsets[0].calls.validators
        problems = validators.check_arguments(tool, arguments)
        if problems or tool.name == CALL:
            raise ArgumentConversionError(problems)
        tools = {one.name: one for one in await self.offered() if not one.always}
        query = arguments["query"].strip()
        try:
            names = await self.registry.best_first(query, [*tools.values()])
        except OptionalPartError as missing:
            raise ToolError(f"nothing can be searched for: {missing}") from missing
        # What is asked for by its name is the best, whatever its words are.
        names = [*dict.fromkeys([self.registry.resolve(query), *names])]
        best = [tools[name] for name in names if name in tools]
        best = best[: int(arguments.get("limit", USUAL))]
        found = b",".join(tool.to_mcp_json() for tool in best).decode()
        texts = [f'{{"tools":[{found}]}}', *([] if best else [_NOTHING])]
        return ToolResponse(content=[{"type": "text", "text": one} for one in texts])
