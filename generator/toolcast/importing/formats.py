"""Formats of tool lists: MCP, OpenAI, Anthropic, Gemini, Bedrock, and a generic one.

* MCP: https://modelcontextprotocol.io/specification/2025-11-25/server/tools
* OpenAI Chat Completions: `{"type": "function", "function": {"name": ...}}`, and OpenAI
  Responses: `{"type": "function", "name": ...}`, also inside a `namespace`:
  https://platform.openai.com/docs/api-reference
* Anthropic Messages: `input_schema`: https://docs.anthropic.com/en/api/messages
* Gemini: `functionDeclarations` with `parametersJsonSchema`, or with `parameters` in lower case,
  whose `nullable` becomes a type. Others (`type: OBJECT`) are rejected:
  https://ai.google.dev/api/caching#FunctionDeclaration
* Bedrock Converse: `toolSpec` with `inputSchema: {json}`, in a `toolConfig`:
  https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html
* Generic: `name`, `description`, `parameters`, and fields of tool specs under
  their own names (`persistent`, `always`, `clients`, `service`, `guidance`, ...).

The dumps of the official Python SDK are lists in MCP format: `model_dump()` has the SDK's own
spelling (`input_schema`, `meta`) and null for absent members.

Values are copied without conversion. A key that is not imported is reported in a note.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any

from toolcast_runtime.core.calls.untrusted_text import escape_excerpt

from ..mcp_client.server_listing import (
    KINDS,
    ListingError,
    ServerListing,
    parse_listing,
)
from ..model.language_fields import get_mcp_members
from .gemini_schemas import convert_gemini_schema
from .python_server import PythonServer


@dataclass(frozen=True, slots=True)
class ToolSource:
    """A parsed tool list that specs are imported from.

    Attributes:
        name: the file or server as the user named it.
        formats: the formats of its tools, as messages name them.
        listing: its tools, converted to MCP definitions.
        inexpressible_members: per tool, the members of an MCP definition that the tool's format
            cannot express, so that their absence is not a conflict with other sources.
        fields: per tool, the spec fields that the format has in addition to MCP's members.
        notes: keys and tools that were not imported, one escaped line each, in addition to
            the listing's notes.
        rejected: tools that no spec can represent, with an escaped line on the reason. They
            are not in the listing.
        has_mcp_specs: whether resources and MCP prompts are imported, too.
        server: the server's Python object, if its functions become handlers.
    """

    name: str
    formats: tuple[str, ...]
    listing: ServerListing
    inexpressible_members: Mapping[str, frozenset[str]] = field(default_factory=dict)
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    rejected: Mapping[str, str] = field(default_factory=dict)
    has_mcp_specs: bool = False
    server: PythonServer | None = None

    @property
    def server_version(self) -> str:
        """The server's own version, or "".

        Servers without a version report that of the library on which they are built.
        """
        version = (self.listing.server_info or {}).get("version")
        if self.server is not None and version == self.server.version:
            return ""
        for library in _SERVER_LIBRARIES:
            with contextlib.suppress(importlib.metadata.PackageNotFoundError):
                if version == importlib.metadata.version(library):
                    return ""
        return version if isinstance(version, str) else ""

    def find_tool(self, name: str) -> Mapping[str, Any] | None:
        """Return the MCP definition of a tool, or None if the source does not list it."""
        return next((t for t in self.listing.tools if t["name"] == name), None)

    def reject_tools(self, rejected: Mapping[str, str]) -> ToolSource:
        """Return a copy in which entries are moved from the listing to `rejected`.

        Args:
            rejected: the names of tools, and `get_entry_label` of other entries, each with a
                line on the reason.
        """
        tools = tuple(t for t in self.listing.tools if t["name"] not in rejected)
        listing = replace(
            self.listing,
            tools=tools,
            resources=_keep(self.listing, "resources", rejected),
            resource_templates=_keep(self.listing, "resourceTemplates", rejected),
            prompts=_keep(self.listing, "prompts", rejected),
        )
        return replace(self, listing=listing, rejected={**self.rejected, **rejected})

    def can_express(self, name: str, member: str) -> bool:
        """Return whether a tool's format can express a member of an MCP definition."""
        return member not in self.inexpressible_members.get(name, frozenset())


def get_entry_label(kind: str, entry: Mapping[str, Any]) -> str:
    """Return the key of a resource or MCP prompt in `rejected`; no tool has such a name.

    Args:
        kind: the key of its list in the listing.
        entry: the entry.
    """
    return f"{kind}: {entry[KINDS[kind][1]]}"


def _keep(
    listing: ServerListing, kind: str, rejected: Mapping[str, str]
) -> tuple[Mapping[str, Any], ...]:
    entries = listing.entries(kind)
    return tuple(e for e in entries if get_entry_label(kind, e) not in rejected)


def source_from_server(
    listing: ServerListing, server: PythonServer | None = None
) -> ToolSource:
    """Return the listing of a live server as a source.

    Args:
        listing: the listing.
        server: the server's Python object, if its functions become handlers.
    """
    return ToolSource(
        listing.source, (MCP,), listing, has_mcp_specs=True, server=server
    )


_SERVER_LIBRARIES = ("fastmcp", "mcp")
"""Distributions whose version a server without one reports."""
OPENAI_CHAT = "OpenAI Chat Completions format"
OPENAI_RESPONSES = "OpenAI Responses format"
ANTHROPIC = "Anthropic format"
GEMINI = "Gemini format"
BEDROCK = "Bedrock format"
PLAIN = "generic format"
MCP = "MCP format"

_SPEC_FIELDS = ("always", "clients", "guidance", "persistent", "service", "when_to_use")
"""Spec fields that a tool of the generic format may have."""
_SCHEMA_KEYS = frozenset(["inputSchema", "input_schema", "parameters"])
_DECLARATION_KEYS = ("functionDeclarations", "function_declarations")
_NON_MCP_KEYS = frozenset(
    [
        "function",
        "input_schema",
        "parameters",
        "toolSpec",
        "type",
        *_DECLARATION_KEYS,
    ]
)
"""Keys that identify a tool in another format than MCP's."""
_SDK_KEYS = {
    "cache_scope": "cacheScope",
    "destructive_hint": "destructiveHint",
    "idempotent_hint": "idempotentHint",
    "input_schema": "inputSchema",
    "last_modified": "lastModified",
    "list_changed": "listChanged",
    "meta": "_meta",
    "mime_type": "mimeType",
    "next_cursor": "nextCursor",
    "open_world_hint": "openWorldHint",
    "output_schema": "outputSchema",
    "protocol_version": "protocolVersion",
    "read_only_hint": "readOnlyHint",
    "resource_templates": "resourceTemplates",
    "result_type": "resultType",
    "server_info": "serverInfo",
    "task_support": "taskSupport",
    "ttl_ms": "ttlMs",
    "uri_template": "uriTemplate",
    "website_url": "websiteUrl",
}
"""Names of members in the Python SDK's models, with MCP's names."""
_SDK_ONLY_KEYS = frozenset(
    ["annotations", "execution", "icons", "meta", "_meta", "output_schema", "title"]
)
"""Keys that a tool with `input_schema` has in the SDK's dumps, but not for Anthropic."""
_OPAQUE_KEYS = frozenset(
    ["_meta", "experimental", "inputSchema", "outputSchema", "extensions"]
)
"""Members whose values have no names of the protocol."""
_LABEL_KEYS = ("name", "server_label", "mcp_server_name")
_OTHER_LISTS = ("resources", "resourceTemplates", "prompts", "instructions")


@dataclass(slots=True)
class _ToolDraft:
    """A tool while it is converted.

    Attributes:
        format: the tool's format.
        definition: the MCP definition so far.
        fields: spec fields that MCP does not define.
        ignored_keys: keys that are not imported.
        expressible_members: members of an MCP definition that the format can express.
    """

    format: str
    definition: dict[str, Any]
    fields: dict[str, Any] = field(default_factory=dict)
    ignored_keys: list[str] = field(default_factory=list)
    expressible_members: frozenset[str] = frozenset()

    def keep_all(self, tool: Mapping[str, Any]) -> None:
        """Move the keys that are not part of the definition into it."""
        inner = tool.get("function")
        members = {**tool, **inner} if isinstance(inner, Mapping) else tool
        for key in (*self.ignored_keys, *self.fields):
            self.definition.setdefault(key, members.get(key, self.fields.get(key)))
        self.ignored_keys, self.fields = [], {}


def parse_tool_list(
    value: Any, name: str, notes: tuple[str, ...] = (), *, keeps_all: bool = False
) -> ToolSource:
    """Convert a JSON value in any supported format into a source.

    Args:
        value: a list of tools, or an object or JSON-RPC response that has it as `tools`.
        name: the source's name in messages.
        notes: notes that the listing begins with.
        keeps_all: keep keys that are not imported as members of the definitions.

    Raises:
        ListingError: the value is not a list of tools. The message has a line per problem.
    """
    body = _extract_body(value)
    if isinstance(body.get("toolConfig"), Mapping):
        body = body["toolConfig"]
    tools = body.get("tools", body.get("functions"))
    if isinstance(tools, Mapping) and all(isinstance(t, dict) for t in tools.values()):
        tools = [{"name": key, **tool} for key, tool in tools.items()]
    if "mcpServers" in body:
        raise ListingError(
            "`mcpServers` configures servers, but lists no tools\n"
            "  help: read a server's tools with --mcp-stdio COMMAND or --mcp-url URL"
        )
    if isinstance(tools, list) and any(map(_is_sdk_dump, tools)):
        body = value = _convert_sdk_dump({**body, "tools": tools})
        tools = body["tools"]
    if not isinstance(tools, list):
        return ToolSource(name, (MCP,), parse_listing(value, name, notes))
    if not _has_non_mcp_tools(tools):
        members = {k: v for k, v in body.items() if k != "functions" or "tools" in body}
        source = ToolSource(
            name, (MCP,), parse_listing({**members, "tools": tools}, name, notes)
        )
        return source if keeps_all else _extract_clients(source)
    drafts: list[_ToolDraft] = []
    omissions: list[str] = []
    problems: list[str] = []
    for path, tool in _flatten_tools(tools, "tools"):
        if not isinstance(tool, dict):
            problems.append(f"`{path}` is not an object")
            continue
        draft = _convert_tool(tool)
        is_declaration = any(f".{key}[" in path for key in _DECLARATION_KEYS)
        if draft is not None and is_declaration and draft.format == PLAIN:
            schema = draft.definition["inputSchema"]
            draft.definition["inputSchema"] = convert_gemini_schema(schema)
        if draft is None:
            omissions.append(_describe_unsupported_tool(tool))
        elif not isinstance(draft.definition.get("name"), str):
            problems.append(f"`{path}.name` is missing or not a string")
        elif _is_gemini_schema(draft.definition["inputSchema"]):
            problems.append(
                f"`{path}.parameters` is a Gemini schema, not JSON Schema; use"
                " `parametersJsonSchema` instead"
            )
        else:
            if keeps_all:
                draft.keep_all(tool)
            drafts.append(draft)
    if omissions and not drafts:
        problems += omissions
    if problems:
        raise ListingError("\n".join(problems))
    other_lists = {key: body[key] for key in _OTHER_LISTS if key in body}
    definitions = [draft.definition for draft in drafts]
    listing = parse_listing({"tools": definitions, **other_lists}, name, notes)
    ignored_keys = [
        f"{quote_name(draft.definition['name'])}: {quote_name(key)} is not imported"
        for draft in drafts
        for key in draft.ignored_keys
    ]
    all_members = frozenset(get_mcp_members())
    return ToolSource(
        name,
        tuple(sorted({draft.format for draft in drafts})),
        listing,
        inexpressible_members={
            draft.definition["name"]: all_members - draft.expressible_members
            for draft in drafts
        },
        fields={
            draft.definition["name"]: draft.fields for draft in drafts if draft.fields
        },
        notes=(*omissions, *ignored_keys),
    )


def _extract_body(value: Any) -> Mapping[str, Any]:
    """Return the object that has the list of tools, as `tools` if it had no name."""
    if isinstance(value, list):
        return {"tools": value}
    if isinstance(value, dict) and isinstance(value.get("result"), dict):
        body: Mapping[str, Any] = value["result"]
        return body
    if not isinstance(value, dict):
        return {}
    if isinstance(value.get("name"), str) and _SCHEMA_KEYS & value.keys():
        return {"tools": [value]}
    is_object_of_tools = value and all(
        isinstance(tool, dict) and ("parameters" in tool or "description" in tool)
        for tool in value.values()
    )
    return {"tools": value} if is_object_of_tools else value


def _extract_clients(source: ToolSource) -> ToolSource:
    """Return a copy in which `clients` of tools are spec fields: MCP has no such member."""
    fields = {
        tool["name"]: {"clients": tool["clients"]}
        for tool in source.listing.tools
        if _is_client_list(tool.get("clients"))
    }
    tools = tuple(
        {k: v for k, v in tool.items() if k != "clients" or tool["name"] not in fields}
        for tool in source.listing.tools
    )
    return replace(source, listing=replace(source.listing, tools=tools), fields=fields)


def _is_client_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _has_non_mcp_tools(tools: list[Any]) -> bool:
    return any(
        isinstance(tool, dict)
        and "inputSchema" not in tool
        and bool(_NON_MCP_KEYS & tool.keys())
        for tool in tools
    )


def _is_sdk_dump(tool: Any) -> bool:
    """Return whether a tool is a `model_dump()` of the Python SDK 1.x or 2.x."""
    if not isinstance(tool, dict):
        return False
    if "inputSchema" in tool:
        return {"title", "annotations", "meta"} <= tool.keys() and "_meta" not in tool
    return "input_schema" in tool and not _SDK_ONLY_KEYS.isdisjoint(tool)


def _convert_sdk_dump(value: Any) -> Any:
    """Return a value with MCP's names, and without the nulls of absent members."""
    if isinstance(value, list):
        return [_convert_sdk_dump(item) for item in value]
    if not isinstance(value, dict):
        return value
    members = {}
    for key, member in value.items():
        name = _SDK_KEYS.get(key, key)
        if member is not None:
            members[name] = (
                member if name in _OPAQUE_KEYS else _convert_sdk_dump(member)
            )
    return members


def _flatten_tools(tools: list[Any], path: str) -> Iterator[tuple[str, Any]]:
    """Yield each tool with its path, including those nested in namespaces and declarations."""
    for index, tool in enumerate(tools):
        tool_path = f"{path}[{index}]"
        rest = tool
        if isinstance(tool, dict):
            is_namespace = tool.get("type") == "namespace"
            keys = ("tools",) if is_namespace else _DECLARATION_KEYS
            list_keys = [key for key in keys if isinstance(tool.get(key), list)]
            for key in list_keys:
                yield from _flatten_tools(tool[key], f"{tool_path}.{key}")
            if is_namespace and list_keys:
                rest = {}
            elif list_keys:
                # The same object may also have built-in tools of Gemini.
                rest = {k: v for k, v in tool.items() if k not in list_keys}
            elif isinstance(tool.get("toolSpec"), dict):
                rest = tool["toolSpec"]
        if rest or rest is tool:
            yield tool_path, rest


def _is_built_in_tool(tool: Mapping[str, Any]) -> bool:
    """Return whether a tool consists of a name and settings, as `{"googleSearch": {}}`."""
    return (
        len(tool) == 1
        and not _SCHEMA_KEYS & tool.keys()
        and all(isinstance(value, dict) for value in tool.values())
    )


def _is_gemini_schema(schema: Any) -> bool:
    """Return whether a schema has an upper-case type, as Gemini's own schemas do."""
    type_name = schema.get("type") if isinstance(schema, dict) else None
    return isinstance(type_name, str) and type_name.isupper()


def quote_name(name: str) -> str:
    """Return the first 80 characters of a name, escaped and in backquotes."""
    return f"`{escape_excerpt(name, 80)}`"


def _describe_unsupported_tool(tool: Mapping[str, Any]) -> str:
    tool_type = str(tool.get("type", next(iter(tool), "")))
    labels = [tool[key] for key in _LABEL_KEYS if isinstance(tool.get(key), str)]
    label = labels[0] if labels else tool_type
    subject = quote_name(label)
    if label != tool_type:
        subject += f" ({quote_name(tool_type)})"
    if tool_type == "custom":
        return f"{subject} is skipped: it accepts free text instead of parameters"
    return f"{subject} is skipped: it is a built-in tool of the provider"


def _convert_tool(tool: Mapping[str, Any]) -> _ToolDraft | None:
    """Convert a tool in any format; return None if it is not a function of the caller."""
    schema = tool.get("inputSchema")
    if isinstance(schema, dict) and list(schema) == ["json"]:
        members = {"inputSchema": "inputSchema"}
        return _rename_keys(BEDROCK, {**tool, "inputSchema": schema["json"]}, members)
    if "inputSchema" in tool:
        draft = _ToolDraft(
            MCP, dict(tool), expressible_members=frozenset(get_mcp_members())
        )
        if _is_client_list(tool.get("clients")):
            draft.fields["clients"] = draft.definition.pop("clients")
        return draft
    if "input_schema" in tool:
        draft = _rename_keys(
            ANTHROPIC, tool, {"input_schema": "inputSchema"}, dropped_keys={"type"}
        )
        examples = tool.get("input_examples")
        if isinstance(examples, list):
            draft.fields["examples"] = [{"arguments": example} for example in examples]
            draft.ignored_keys.remove("input_examples")
        return draft
    tool_type = tool.get("type")
    if tool_type == "function" and isinstance(tool.get("function"), dict):
        members = {"parameters": "inputSchema"}
        draft = _rename_keys(OPENAI_CHAT, tool["function"], members)
        draft.ignored_keys += [key for key in tool if key not in ("type", "function")]
    elif tool_type == "function":
        members = {"parameters": "inputSchema", "output_schema": "outputSchema"}
        draft = _rename_keys(OPENAI_RESPONSES, tool, members, dropped_keys={"type"})
    elif tool_type is None and "parametersJsonSchema" in tool:
        members = {
            "parametersJsonSchema": "inputSchema",
            "responseJsonSchema": "outputSchema",
        }
        draft = _rename_keys(GEMINI, tool, members)
    elif tool_type is None and not _is_built_in_tool(tool):
        draft = _convert_plain_tool(tool)
    else:
        return None
    draft.definition.setdefault("inputSchema", {"type": "object", "properties": {}})
    return draft


def _convert_plain_tool(tool: Mapping[str, Any]) -> _ToolDraft:
    members = {"parameters": "inputSchema", "returns": "outputSchema"}
    draft = _rename_keys(
        PLAIN, tool, members, expressible_members={"title", "outputSchema"}
    )
    draft.fields = {key: tool[key] for key in _SPEC_FIELDS if key in tool}
    # An empty value, such as `depends_on: []`, loses nothing and needs no note.
    draft.ignored_keys = [
        key
        for key in draft.ignored_keys
        if key not in _SPEC_FIELDS and tool[key] not in (None, [], {})
    ]
    if not isinstance(draft.definition.get("outputSchema", {}), dict):
        del draft.definition["outputSchema"]
        draft.ignored_keys.append("returns")
    return draft


def _rename_keys(
    format_: str,
    tool: Mapping[str, Any],
    schema_members: Mapping[str, str],
    dropped_keys: Set[str] = frozenset(),
    expressible_members: Set[str] = frozenset(),
) -> _ToolDraft:
    """Return a draft with the keys of a tool renamed to MCP's, in the tool's order.

    Args:
        format_: the tool's format.
        schema_members: the format's keys for schemas, with the MCP members they become.
        dropped_keys: keys without information, which are dropped without a note.
        expressible_members: MCP members that the format can express, in addition to the
            description and the input schema.
    """
    draft = _ToolDraft(
        format_,
        {},
        expressible_members=frozenset(
            {"description", "inputSchema", *expressible_members}
        ),
    )
    same_keys = {"name", *draft.expressible_members} - set(schema_members.values())
    for key, value in tool.items():
        # `output_schema: null` is the same as no output schema, not an invalid schema.
        is_missing_output = key == "output_schema" and value is None
        if key in schema_members and not is_missing_output:
            draft.definition[schema_members[key]] = value
        elif key in same_keys:
            if value is not None:
                draft.definition[key] = value
        elif key not in dropped_keys and value is not None:
            draft.ignored_keys.append(key)
    # Lists written for models often omit output schemas, so that their absence is no conflict.
    draft.expressible_members |= draft.definition.keys() & {"outputSchema"}
    return draft
