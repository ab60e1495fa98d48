"""The data of a tool, names derived from its name, and the interface of tool providers."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..context import CallContext, ToolResponse

_LOOK_ALIKE = str.maketrans("015", "ols")

WINDOWS_DEVICES = frozenset(
    ["con", "prn", "aux", "nul"]
    + [f"{device}{number}" for device in ("com", "lpt") for number in range(1, 10)]
)
"""File names that Windows reserves for devices, with any suffix."""


@dataclass(frozen=True, slots=True)
class Action:
    """Action of a tool: a value of the action parameter, with rules for other arguments.

    Attributes:
        summary: what the action does, in one line.
        requires: parameters that must be present.
        requires_any: parameters of which at least one must be present.
        accepts: the only further parameters that are allowed; None if all are allowed.
    """

    summary: str = ""
    requires: tuple[str, ...] = ()
    requires_any: tuple[str, ...] = ()
    accepts: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Confirm:
    """Confirmation that a tool requires from the user before a call runs.

    Attributes:
        message: the question to the user.
        when: a JSON Schema; only calls whose arguments match it need a confirmation. None
            for every call.
    """

    message: str
    when: Any = None


@dataclass(frozen=True, slots=True)
class ResultForm:
    """Settings for sending the results of a tool to callers.

    Attributes:
        send: the form of results for MCP clients: `text`, `structured`, or `both`.
        budget: the maximum size of a result, in `tokens` or `characters`, and `next`, which
            tells callers how to get the omitted part; None for no maximum.
        fields: the `parameter` with which callers select properties of the result, the
            properties that they may select (`allowed`), and those that are sent without a
            selection (`default`); None if callers cannot select.
        returns: the JSON Schema of whole results, if the tool is listed with another one.
    """

    send: str = "both"
    budget: Mapping[str, Any] | None = None
    fields: Mapping[str, Any] | None = None
    returns: Any = None


@dataclass(frozen=True, slots=True)
class PromptPieces:
    """Rendered text of a tool in prompt blocks, as lines of Markdown.

    Attributes:
        bullet: the tool's entry in a list of tools.
        usage: when and how to use the tool; empty if the spec does not state it.
        before: the lines above `usage`, such as its heading.
        after: the lines below `usage`.
    """

    bullet: Sequence[str]
    usage: Sequence[str] = ()
    before: Sequence[str] = ()
    after: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """Tool with the settings of its definition.

    Attributes:
        name: the name that models and callers use.
        summary: a description in one line.
        description: the description for models.
        definition: the MCP definition, exactly as `tools/list` returns it.
        handler: `module:function` of the handler; None if the spec names none yet.
        proxy: the external server that runs the calls; None if the handler does.
        uses: the names of the lifespan's dependencies that are passed to the handler.
        timeout: the timeout of a call, in seconds.
        action_parameter: the parameter that selects an action; None without actions.
        actions: the rules of each action, by the value of the action parameter.
        always: whether the model gets the tool in every turn, instead of only when the router
            or a tool search selects it.
        persistent: whether calls are recorded in the ledger.
        service: the service that the tool depends on.
        permission: the permission that a client needs for the tool. In a toolset without
            clients it is only checked against the caller's token.
        confirm: the confirmation that a call needs; None if it needs none.
        result: how results are sent; None for whole results, as text and structured content.
        has_python_values: whether the handler gets and returns Python dates, times,
            durations, UUIDs and bytes instead of strings of their formats.
        has_pydantic_values: whether Pydantic converts the handler's arguments by its
            annotations, and its results.
        arguments_type: `module:Class` of the object in which the handler gets the arguments;
            None for keywords or a dict.
        result_type: `module:Class` of the handler's result; None for a JSON value.
        deprecated: since when, until when and why the tool is deprecated, its replacement,
            and whether the description states this (`show`); None if it is not deprecated.
        examples: calls with `arguments` and, if known, `result` or `error`.
        section: the tool's section in the prompt docs; None without.
        order: the declared position in the section; None without.
        prompt: the tool's parts of prompt blocks; None if it is not in them.
        cli: the tool's settings for the command line, as in the definition; None without.
        clients: the only clients that may use the tool; None for all.
        exclusions: the targets that the tool is excluded from, with the reasons.
        former_names: the earlier names of the tool.
        parts: other fields of the definition: those of extensions' targets, and fields that
            only handlers read.
        kind: the noun in error messages, `tool`, `resource` or `prompt`: handlers of MCP
            resources and prompts are run as tools, too.
        source: the JSON text that `definition` was parsed from; None if the tool was not
            read from a file.
    """

    name: str
    summary: str
    description: str
    definition: Mapping[str, Any]
    handler: str | None = None
    proxy: str | None = None
    uses: tuple[str, ...] = ()
    timeout: float = 60.0
    action_parameter: str | None = None
    actions: Mapping[str, Action] = field(default_factory=dict)
    always: bool = False
    persistent: bool = False
    service: str | None = None
    permission: str | None = None
    confirm: Confirm | None = None
    result: ResultForm | None = None
    has_python_values: bool = False
    has_pydantic_values: bool = False
    arguments_type: str | None = None
    result_type: str | None = None
    deprecated: Mapping[str, Any] | None = None
    examples: Sequence[Mapping[str, Any]] = ()
    section: str | None = None
    order: int | None = None
    prompt: PromptPieces | None = None
    cli: Mapping[str, Any] | None = None
    clients: tuple[str, ...] | None = None
    exclusions: Mapping[str, str] = field(default_factory=dict)
    former_names: tuple[str, ...] = ()
    parts: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "tool"
    source: str | None = field(default=None, repr=False, compare=False)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The JSON Schema of the arguments."""
        schema: Mapping[str, Any] = self.definition["inputSchema"]
        return schema

    @property
    def returns(self) -> Any:
        """The JSON Schema of whole structured results; None if there is none."""
        if self.result is not None and self.result.returns is not None:
            return self.result.returns
        return self.definition.get("outputSchema")

    @property
    def has_fastmcp_results(self) -> bool:
        """Whether results have FastMCP's form, because the definition is from its server."""
        meta, schema = self.definition.get("_meta"), self.definition.get("outputSchema")
        return self.has_pydantic_values and (
            "fastmcp" in (meta or ()) or "x-fastmcp-wrap-result" in (schema or ())
        )

    @property
    def handler_parameters(self) -> Mapping[str, Any]:
        """The JSON Schema of the handler's arguments, without the field selection."""
        if self.result is None or self.result.fields is None:
            return self.parameters
        properties = self.strip_field_selection(self.parameters["properties"])
        return {**self.parameters, "properties": properties}

    def strip_field_selection(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return arguments without the parameter that selects properties of the result."""
        if self.result is None or self.result.fields is None:
            return arguments
        selection = self.result.fields["parameter"]
        return {name: arguments[name] for name in arguments if name != selection}

    @property
    def when_to_use(self) -> str:
        """First paragraph of the tool's usage in prompts, for the router; "" without usage."""
        return "\n".join(takewhile(bool, self.prompt.usage if self.prompt else ()))

    def is_in(self, target: str) -> bool:
        """Return whether the tool is part of a target, that is, not excluded from it."""
        return target not in self.exclusions

    def openai(self) -> dict[str, Any]:
        """Return the tool in OpenAI's Chat Completions format.

        A schema without `properties` gets an empty object: without it OpenAI rejects all tools
        of the request, and LangChain fails.
        """
        parameters = {**self.parameters}
        parameters.setdefault("properties", {})
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.description,
                "parameters": parameters,
            },
        }

    def to_mcp_json(self, *, omit: str | None = None) -> bytes:
        """Return `definition` as JSON on one line, with numbers and escapes as in its file.

        Args:
            omit: a key of the definition to leave out.
        """
        import json

        if self.source is None:
            content = {k: v for k, v in self.definition.items() if k != omit}
            return json.dumps(content, ensure_ascii=False).encode("utf-8")
        # JSON strings contain no raw line breaks, so stripping each line removes only
        # indentation.
        text = "".join([line.strip(" \t\r") for line in self.source.split("\n")])
        if omit in self.definition:
            text = _remove_key(text, str(omit))
        return text.encode("utf-8")


# The end of a sentence: not before a space and a lower-case letter or digit, which follow
# abbreviations such as `e.g.` and `approx.`.
_SENTENCE_END = re.compile(r"[.!?][\"')\]*_`]{0,4}(?= [^a-z\d])|[\u3002\uff01\uff1f]")
_LIST_ITEM = re.compile(r"\s*(?:[-*+\u2022#>|<]|\d+[.)])")


def extract_first_sentence(text: str) -> str:
    """Return the first sentence of a description on one line, to use as a summary.

    If the first paragraph has no end of a sentence, return the whole paragraph, up to a list if
    it contains one. Return "" for an empty text.
    """
    first, *rest = text.strip().splitlines() or [""]
    paragraph = takewhile(
        lambda line: line.strip() and not _LIST_ITEM.match(line), rest
    )
    line = " ".join(" ".join([first, *paragraph]).split())
    end = _SENTENCE_END.search(line)
    return line if end is None else line[: end.end()]


def format_deprecation(deprecated: Mapping[str, Any]) -> str:
    """Return the sentence that states a tool's deprecation.

    For example: `Deprecated, and removed on 2030-01-31: use save_note instead. It is slow.`

    Args:
        deprecated: the field `deprecated` of the tool's spec or definition.
    """
    removal, replacement = deprecated.get("removal"), deprecated.get("replacement")
    line = f"Deprecated, and removed on {removal}" if removal else "Deprecated"
    line += f": use {replacement} instead." if replacement else "."
    reason = " ".join(deprecated.get("reason", "").split())
    return f"{line} {reason}" if reason else line


def _remove_key(text: str, key: str) -> str:
    """Remove a key from the text of a JSON object; the other members stay unchanged."""
    import json

    decode = json.JSONDecoder().raw_decode
    members = []
    start = _skip_separators(text, 1)
    while text[start] != "}":
        name, end = decode(text, start)
        _, end = decode(text, _skip_separators(text, end))
        if name != key:
            members.append(text[start:end])
        start = _skip_separators(text, end)
    return "{" + ",".join(members) + "}"


def _skip_separators(text: str, position: int) -> int:
    """Return the position of the next key, value or closing brace."""
    while text[position] in " ,:":
        position += 1
    return position


def spec_name(tool: str) -> str:
    """Return the name of a tool's spec file, without its suffix.

    This is the tool's name, with the prefix `tool_` if it is not a safe file name: the name of
    a Windows device (`con`), of a hidden file (`.a`), of an option of programs (`-rf`), or of
    one of the toolset's own files (`toolset`, `definitions`).
    """
    # Windows does not distinguish case, neither in device names nor in file names.
    lower = tool.lower()
    start = lower.partition(".")[0]
    is_reserved = start in WINDOWS_DEVICES or lower in ("toolset", "definitions")
    is_plain = bool(start) and not start.startswith("-") and not is_reserved
    return tool if is_plain else f"tool_{tool}"


@lru_cache(maxsize=65536)
def module_name(tool: str) -> str:
    """Return an importable name, `[a-z0-9_]+`, for a tool's module, file and fixture.

    Any text has a module name, even an empty one: sections and clients use it as well. If two
    tools have the same module name, one of them gets its `distinct_name` instead.
    """
    name = re.sub(r"[^a-z0-9_]", "_", tool.lower()) or "_"
    if name[0].isdigit():
        name = f"n{name}"
    # Avoid Python's keywords, Windows' devices, and names that pytest or packaging tools treat
    # specially.
    if (
        keyword.iskeyword(name)
        or name in WINDOWS_DEVICES
        or name.startswith(("test_", "_"))
        or name.endswith("_test")
        or name in ("conftest", "setup")
    ):
        name = f"tool_{name.strip('_')}"
    return name


def distinct_name(tool: str) -> str:
    """Return the module and spec name of a tool whose `module_name` another tool has.

    It depends only on the tool's name, so adding or removing other tools renames no files.
    """
    return f"{module_name(tool)}_{sha256(tool.encode()).hexdigest()[:6]}"


def command_name(tool: str) -> str:
    """Return the default command name of a tool: its name in kebab case.

    For example, `list_peers` and `listPeers` become `list-peers`. A name that does not begin
    with a letter gets the prefix `tool-`.
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", tool).lower()
    name = re.sub(r"[^a-z0-9]+", "-", spaced).strip("-")
    return name if name[:1].isalpha() else f"tool-{name}".rstrip("-")


def get_similarity_key(name: str) -> str:
    """Return a key that is equal for names that look alike.

    Such names differ only in case, separators and similar characters. For example,
    `send_mail`, `sendMail`, `send-mai1` and `send_maiI` have the same key.
    """
    folded = re.sub(r"[^a-z0-9]", "", name.lower()).replace("i", "l")
    # Replace only digits that follow a letter and end the name or precede a letter (`mai1`).
    # Longer numbers are compared as digits.
    return re.sub(r"(?<=[a-z])[015]+(?=[a-z]|$)", _replace_digits, folded)


def _replace_digits(match: re.Match[str]) -> str:
    return match.group().translate(_LOOK_ALIKE)


class ToolFilter(NamedTuple):
    """Filter for the tools of a provider.

    Attributes:
        only: the only requested names; None for all.
        excluded: names that are not requested.
        client: the client that the list is for; None if it is for no particular client.
    """

    only: Collection[str] | None = None
    excluded: Collection[str] = ()
    client: str | None = None


class ToolProvider(Protocol):
    """Source of remote tools, such as external MCP servers.

    The registry asks its providers in their order, after the toolset's own tools; the first
    tool with a name wins. The registry enforces access by the name that the provider uses, and
    requests no tool that the client may not use. A provider has its own timeouts for listing.
    It omits tools of servers that it cannot reach, and logs this.
    """

    @property
    def has_always_tools(self) -> bool:
        """Whether one of the provider's tools may be marked `always`."""

    def reserve_names(self, names: Collection[str]) -> None:
        """Reserve names, so that the provider offers no tools with these names."""

    def can_provide(self, name: str) -> bool:
        """Return whether the provider could have a tool of this name, now or later.

        Clients may allow such tools before they were ever listed. Does no I/O.
        """

    def is_available_to(self, name: str, client: str | None) -> bool:
        """Return whether a client may use the provider's tool of this name.

        This check is like a tool's own `clients`, in addition to the client's lists. Does no
        I/O.
        """

    async def list_tools(self, wanted: ToolFilter) -> Sequence[Tool]:
        """Return the currently available tools, under the names that callers use.

        The list may contain tools that are not requested. The method does not wait for
        servers that cannot have a requested tool. It never raises.

        `always` and `persistent` of the tools are set by the toolset; `handler` is None.
        """

    async def find_tool(self, name: str) -> Tool | None:
        """Return the tool of this name; None if it does not exist or cannot be reached.

        Never raises.
        """

    async def call_tool(
        self, tool: Tool, arguments: Mapping[str, Any], context: CallContext
    ) -> ToolResponse:
        """Call one of the provider's tools, with the caller's arguments unchanged.

        The registry cancels the call after `tool.timeout` seconds. The message of a ToolError
        is sent to the caller; the message of every other exception is only logged.
        """

    async def close(self) -> None:
        """Close connections and stop processes. Later calls may open them again."""


ServerState = Literal["up", "down", "unused"]
"""The connection state of an external server; `unused` if it was never needed so far."""


@runtime_checkable
class HasServers(Protocol):
    """Tool provider that can report the state of its external servers."""

    def get_server_states(self) -> Mapping[str, ServerState]:
        """Return the state of each server by name. Does no I/O."""

    def list_unset_variables(self) -> Mapping[str, str]:
        """Return, by server, a message about missing environment variables. Does no I/O."""


@runtime_checkable
class Proxies(Protocol):
    """Tool provider that runs calls of proxied tools on its external servers."""

    async def call_proxied(
        self, tool: Tool, arguments: Mapping[str, Any], context: CallContext
    ) -> ToolResponse:
        """Pass a call on to the server that the tool's `proxy` names.

        The arguments are passed unchanged. They are already validated, and the call is
        confirmed if needed. The response is not validated yet; every failure is a response
        with an error.
        """
