"""Forms of tool lists: MCP's, OpenAI's, Anthropic's, and plain ones with `parameters`.

* MCP: https://modelcontextprotocol.io/specification/2025-11-25/server/tools
* OpenAI Chat Completions: `{"type": "function", "function": {"name": ...}}`, and
  Responses: `{"type": "function", "name": ...}`, which may stand in a `namespace`:
  https://platform.openai.com/docs/api-reference
* Anthropic Messages: `input_schema`: https://docs.anthropic.com/en/api/messages
* Gemini: `functionDeclarations` with `parametersJsonSchema`, or with `parameters`, which are
  no JSON Schema there (`type: OBJECT`): https://ai.google.dev/api/caching#FunctionDeclaration
* Bedrock Converse: `toolSpec` with `inputSchema: {json}`, in a `toolConfig`:
  https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html
* Without a provider: `name`, `description`, `parameters`, and fields of tool specs under
  their own names (`persistent`, `always`, `clients`, `service`, `guidance`, ...).

Nothing is changed on the way: a value is put at its place as it came, or is named in a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any

from toolcast_runtime.core.calls.untrusted_text import escape_excerpt

from ..mcp_client.server_listing import ListingError, ServerListing, listing_of
from ..model.language_fields import mcp_members


@dataclass(frozen=True, slots=True)
class Source:
    """A list of tools.

    Attributes:
        name: as the person gave it.
        forms: what it is written in, as messages say it: `OpenAI's chat form`.
        listing: its tools, as MCP lists them.
        cannot_say: members of an MCP tool that the form of a tool has no place for, by the
            tool's name. That they are absent says nothing.
        fields: what the form says of a tool that MCP does not, by the tool's name: fields
            of a spec.
        notes: what is not taken, a line each, escaped; the listing has notes of its own.
        refused: listed tools of which no spec can be, and which the listing does not have
            here, by their names: what is wrong, a line each, escaped.
    """

    name: str
    forms: tuple[str, ...]
    listing: ServerListing
    cannot_say: Mapping[str, frozenset[str]] = field(default_factory=dict)
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)

    def tool(self, name: str) -> Mapping[str, Any] | None:
        """A tool as MCP lists it."""
        return next((t for t in self.listing.tools if t["name"] == name), None)

    def without(self, refused: Mapping[str, str]) -> Source:
        """The source without tools of which no spec can be, each with a line that says why."""
        tools = tuple(t for t in self.listing.tools if t["name"] not in refused)
        listing = replace(self.listing, tools=tools)
        return replace(self, listing=listing, refused={**self.refused, **refused})

    def can_say(self, name: str, member: str) -> bool:
        """Whether the form of a tool has a place for a member of an MCP tool."""
        return member not in self.cannot_say.get(name, frozenset())


def source_of_server(listing: ServerListing) -> Source:
    """The source of what a live server lists; raises nothing, and changes nothing."""
    return Source(listing.source, (MCP,), listing)


OPENAI_CHAT = "OpenAI's chat form"
OPENAI_RESPONSES = "OpenAI's Responses form"
ANTHROPIC = "Anthropic's form"
GEMINI = "Gemini's form"
BEDROCK = "Bedrock's form"
PLAIN = "a form without a provider"
MCP = "MCP's form"

_OF_SPECS = ("always", "clients", "guidance", "persistent", "service", "when_to_use")
_SCHEMAS = frozenset(["inputSchema", "input_schema", "parameters"])
_DECLARATIONS = ("functionDeclarations", "function_declarations")
_OF_OTHERS = frozenset(
    ["function", "input_schema", "parameters", "toolSpec", "type", *_DECLARATIONS]
)
_LABELS = ("name", "server_label", "mcp_server_name")
_LISTS = ("resources", "resourceTemplates", "prompts", "instructions")


@dataclass(slots=True)
class _ToolDraft:
    """One tool, so far."""

    form: str
    definition: dict[str, Any]
    fields: dict[str, Any] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    says: frozenset[str] = frozenset()


def source_of(value: Any, name: str, notes: tuple[str, ...] = ()) -> Source:
    """The source of a JSON value.

    Args:
        value: a list of tools; or an object or JSON-RPC response that has it as `tools`.
        name: of the source, for messages.
        notes: what is known of it already.

    Raises:
        ListingError: it is no list of tools. The text has a line for each thing wrong.
    """
    body = _body(value)
    if isinstance(body.get("toolConfig"), Mapping):
        body = body["toolConfig"]
    tools = body.get("tools", body.get("functions"))
    if isinstance(tools, Mapping) and all(isinstance(t, dict) for t in tools.values()):
        tools = [{"name": key, **tool} for key, tool in tools.items()]
    if "mcpServers" in body:
        raise ListingError(
            "it names servers, and no tools\n"
            "  help: --mcp-stdio COMMAND or --mcp-url URL asks one for its tools"
        )
    if not isinstance(tools, list) or not _is_other(tools):
        # A list of one is given as such; every other value as it is, for what is said of it.
        whole = body if isinstance(tools, list) and "tools" not in value else value
        listing = listing_of(whole, name, notes)
        return Source(name, (MCP,), listing)
    taken: list[_ToolDraft] = []
    left_out: list[str] = []
    problems: list[str] = []
    for path, tool in _flat(tools, "tools"):
        if not isinstance(tool, dict):
            problems.append(f"{path}: no object")
            continue
        one = _taken(tool)
        if one is None:
            left_out.append(f"{_told(tool)}; it is left out")
            continue
        if not isinstance(one.definition.get("name"), str):
            problems.append(f"{path}: it has no text as its `name`")
            continue
        if _is_geminis(one.definition["inputSchema"]):
            problems.append(
                f"{path}: its `parameters` are Gemini's own, and no JSON Schema; list it"
                " with `parametersJsonSchema`"
            )
            continue
        taken.append(one)
    if left_out and not taken:
        problems += left_out
    if problems:
        raise ListingError("\n".join(problems))
    others = {key: body[key] for key in _LISTS if key in body}
    listing = listing_of(
        {"tools": [t.definition for t in taken], **others}, name, notes
    )
    not_taken = [
        f"`{escape_excerpt(one.definition['name'], 80)}`: `{escape_excerpt(key, 80)}` is not taken"
        for one in taken
        for key in one.left
    ]
    return Source(
        name,
        tuple(sorted({one.form for one in taken})),
        listing,
        {t.definition["name"]: frozenset(mcp_members()) - t.says for t in taken},
        {t.definition["name"]: t.fields for t in taken if t.fields},
        (*left_out, *not_taken),
    )


def _body(value: Any) -> Mapping[str, Any]:
    if isinstance(value, list):
        return {"tools": value}
    if isinstance(value, dict) and isinstance(value.get("result"), dict):
        body: Mapping[str, Any] = value["result"]
        return body
    if not isinstance(value, dict):
        return {}
    if isinstance(value.get("name"), str) and _SCHEMAS & value.keys():
        return {"tools": [value]}
    is_named = value and all(
        isinstance(one, dict) and ("parameters" in one or "description" in one)
        for one in value.values()
    )
    return {"tools": value} if is_named else value


def _is_other(tools: list[Any]) -> bool:
    """Whether a tool is in another form than MCP's."""
    return any(
        isinstance(tool, dict)
        and "inputSchema" not in tool
        and bool(_OF_OTHERS & tool.keys())
        for tool in tools
    )


def _flat(tools: list[Any], path: str) -> Iterator[tuple[str, Any]]:
    """Every tool with its path, those that stand together in one too."""
    for index, tool in enumerate(tools):
        here = f"{path}[{index}]"
        rest = tool
        if isinstance(tool, dict):
            is_namespace = tool.get("type") == "namespace"
            keys = ("tools",) if is_namespace else _DECLARATIONS
            lists = [key for key in keys if isinstance(tool.get(key), list)]
            for key in lists:
                yield from _flat(tool[key], f"{here}.{key}")
            if lists:
                # Beside Gemini's declarations its own tools may stand.
                rest = {k: v for k, v in tool.items() if k not in lists}
                rest = {} if is_namespace else rest
            elif isinstance(tool.get("toolSpec"), dict):
                rest = tool["toolSpec"]
        if rest or rest is tool:
            yield here, rest


def _is_hosted(tool: Mapping[str, Any]) -> bool:
    """Whether it is only named and set up, as `{"googleSearch": {}}`."""
    return (
        len(tool) == 1
        and not _SCHEMAS & tool.keys()
        and all(isinstance(value, dict) for value in tool.values())
    )


def _is_geminis(schema: Any) -> bool:
    """Whether it is in Gemini's own words, which look like JSON Schema and are none."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    return isinstance(kind, str) and kind.isupper()


def _told(tool: Mapping[str, Any]) -> str:
    """What a tool is that is none of the caller's."""
    kind = str(tool.get("type", next(iter(tool), "")))
    name = next((tool[key] for key in _LABELS if isinstance(tool.get(key), str)), kind)
    of_type = "" if name == kind else f" (`{escape_excerpt(kind, 80)}`)"
    if kind == "custom":
        return (
            f"`{escape_excerpt(name, 80)}`{of_type} takes free text, and no parameters"
        )
    return f"`{escape_excerpt(name, 80)}`{of_type} is a tool of the provider's own"


def _taken(tool: Mapping[str, Any]) -> _ToolDraft | None:
    """One tool of any form; None for what is no function of the caller's."""
    schema = tool.get("inputSchema")
    if isinstance(schema, dict) and list(schema) == ["json"]:
        names = {"inputSchema": "inputSchema"}
        return _placed(BEDROCK, {**tool, "inputSchema": schema["json"]}, names)
    if "inputSchema" in tool:
        return _ToolDraft(MCP, dict(tool), says=frozenset(mcp_members()))
    if "input_schema" in tool:
        one = _placed(ANTHROPIC, tool, {"input_schema": "inputSchema"}, {"type"})
        examples = tool.get("input_examples")
        if isinstance(examples, list):
            one.fields["examples"] = [{"arguments": given} for given in examples]
            one.left.remove("input_examples")
        return one
    kind = tool.get("type")
    if kind == "function" and isinstance(tool.get("function"), dict):
        one = _placed(OPENAI_CHAT, tool["function"], {"parameters": "inputSchema"})
        one.left += [key for key in tool if key not in ("type", "function")]
    elif kind == "function":
        names = {"parameters": "inputSchema", "output_schema": "outputSchema"}
        one = _placed(OPENAI_RESPONSES, tool, names, {"type"})
    elif kind is None and "parametersJsonSchema" in tool:
        names = {
            "parametersJsonSchema": "inputSchema",
            "responseJsonSchema": "outputSchema",
        }
        one = _placed(GEMINI, tool, names)
    elif kind is None and not _is_hosted(tool):
        names = {"parameters": "inputSchema", "returns": "outputSchema"}
        one = _placed(PLAIN, tool, names, says={"title", "outputSchema"})
        one.fields = {key: tool[key] for key in _OF_SPECS if key in tool}
        # What stands there and depends on nothing has nothing to say.
        none = {key for key in one.left if tool[key] in (None, [], {})}
        one.left = [key for key in one.left if key not in {*none, *_OF_SPECS}]
        if not isinstance(one.definition.get("outputSchema", {}), dict):
            del one.definition["outputSchema"]
            one.left.append("returns")
    else:
        return None
    one.definition.setdefault("inputSchema", {"type": "object", "properties": {}})
    return one


def _placed(
    form: str,
    tool: Mapping[str, Any],
    names: Mapping[str, str],
    known: Set[str] = frozenset(),
    says: Set[str] = frozenset(),
) -> _ToolDraft:
    """A tool of a form with each of its keys at its place, in the tool's order.

    Args:
        names: the keys of schemas there, and the members of an MCP tool that they are.
        known: keys that say nothing of the tool.
        says: members that the form has a place for beside a description and parameters.
    """
    one = _ToolDraft(form, {}, says=frozenset({"description", "inputSchema", *says}))
    plain = {"name"} | (one.says - set(names.values()))
    for key, value in tool.items():
        if key in names and (value is not None or key != "output_schema"):
            one.definition[names[key]] = value
        elif key in plain:
            if value is not None:
                one.definition[key] = value
        elif key not in known and value is not None:
            one.left.append(key)
    # A list without results is common: most models are not told of them.
    one.says |= one.definition.keys() & {"outputSchema"}
    return one
