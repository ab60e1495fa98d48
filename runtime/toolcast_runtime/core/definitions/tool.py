"""A tool as data, the names of its files, and what gives tools that are not the toolset's own."""

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
"""Names that Windows takes for devices, whatever their ending."""


@dataclass(frozen=True, slots=True)
class Action:
    """What a call must carry when its action parameter has this value.

    Attributes:
        summary: one line: what the action does.
        requires: parameters that must be present.
        requires_any: parameters of which at least one must be present.
        accepts: every other parameter that may be present; None when any may.
    """

    summary: str = ""
    requires: tuple[str, ...] = ()
    requires_any: tuple[str, ...] = ()
    accepts: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Confirm:
    """A person has to say yes before a call does its work.

    Attributes:
        message: what the person is asked.
        when: a JSON Schema; only calls whose arguments it allows are asked about. None for
            every call.
    """

    message: str
    when: Any = None


@dataclass(frozen=True, slots=True)
class ResultForm:
    """What callers are sent of a tool's results.

    Attributes:
        send: in which form clients of MCP get them: `text`, `structured`, or `both`.
        budget: how large an answer is at most, in `tokens` or `characters`, and how callers go
            on where something is left out, `next`; None for any size.
        fields: the `parameter` by which callers pick properties, those that they may pick
            (`allowed`), and those that are sent where they do not (`default`); None where
            nobody picks.
        returns: the JSON Schema of whole results where the tool is listed with another one.
    """

    send: str = "both"
    budget: Mapping[str, Any] | None = None
    fields: Mapping[str, Any] | None = None
    returns: Any = None


@dataclass(frozen=True, slots=True)
class PromptPieces:
    """The pieces of a tool in prompt blocks: finished Markdown, line by line.

    Attributes:
        bullet: the tool in a list.
        usage: when and how to use it; empty where the spec has no such text.
        before: the lines above `usage`, such as its heading.
        after: the lines below `usage`.
    """

    bullet: Sequence[str]
    usage: Sequence[str] = ()
    before: Sequence[str] = ()
    after: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Attributes:
        name: the name that models and callers use.
        summary: one line.
        description: what models read.
        definition: the tool exactly as MCP's `tools/list` shows it.
        handler: `module:function` of the code that does the work; None when the spec
            names none yet.
        proxy: the external server that answers its calls; None when its handler does.
        uses: the resources of the toolset's lifespan that the handler is given.
        timeout: seconds until a call is given up.
        action_parameter: the parameter that selects an action; None without actions.
        actions: what each action requires.
        always: offered to the model in every turn, not through the router.
        persistent: calls are written to the ledger.
        service: the service that the tool depends on.
        permission: the permission that a client needs to have it; not asked for in a
            toolset without clients.
        confirm: what a person is asked before a call; None when nobody is.
        result: what is sent of its results; None for all of each.
        has_python_values: the handler is given, and gives, Python's dates, times, durations,
            UUIDs and bytes instead of texts of their formats.
        arguments_type: `module:Class` in which the handler is given the arguments; None for
            none.
        result_type: `module:Class` in which it gives its result; None for none.
        deprecated: since when, until when, why, and what to use instead; whether its
            description says so (`show`).
        examples: calls with their `arguments` and, where known, `result` or `error`.
        section: its section of the prompt docs; None without.
        order: its declared place in the section; None without.
        prompt: its pieces of the prompt blocks; None for a tool that is not in them.
        cli: its decision about the command line, as the definition has it; None without.
        clients: the only clients that it is meant for; None for all.
        exclusions: the targets that it is declared not to be in, with the reasons.
        former_names: names that it had before.
        parts: the members of its definition by which the runtime does not act: those of
            extensions' targets, and fields that only its handler's side reads.
        kind: what its answers call it; a resource or MCP prompt that has a handler is
            run as a tool is.
        source: the JSON text that `definition` was read from; None for a tool that was
            not read from a file.
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
        """The JSON Schema of whole structured results; None when there is none."""
        if self.result is not None and self.result.returns is not None:
            return self.result.returns
        return self.definition.get("outputSchema")

    @property
    def handled_parameters(self) -> Mapping[str, Any]:
        """The JSON Schema of what its handler is given, who leaves it to others to pick."""
        if self.result is None or self.result.fields is None:
            return self.parameters
        properties = self.handled(self.parameters["properties"])
        return {**self.parameters, "properties": properties}

    def handled(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments of a call without the one that picks properties of its result."""
        if self.result is None or self.result.fields is None:
            return arguments
        picks = self.result.fields["parameter"]
        return {name: arguments[name] for name in arguments if name != picks}

    @property
    def when_to_use(self) -> str:
        """What the docs say first: when to choose it. The router reads that."""
        return "\n".join(takewhile(bool, self.prompt.usage if self.prompt else ()))

    def is_in(self, target: str) -> bool:
        """Whether it is not declared to be excluded from a target."""
        return target not in self.exclusions

    def openai(self) -> dict[str, Any]:
        """The tool in OpenAI's Chat Completions format.

        A schema without `properties` gets empty ones: for its lack OpenAI refuses all tools of a
        request, and LangChain reads them without asking.
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

    def mcp_json(self, *, without: str | None = None) -> bytes:
        """`definition` as JSON on one line, its numbers and escapes spelled as the spec has them.

        Args:
            without: a key that is left out.
        """
        import json

        if self.source is None:
            shown = {k: v for k, v in self.definition.items() if k != without}
            return json.dumps(shown, ensure_ascii=False).encode("utf-8")
        # A line break never stands inside of a JSON string, so that only layout goes.
        text = "".join([line.strip(" \t\r") for line in self.source.split("\n")])
        if without in self.definition:
            text = _without(text, str(without))
        return text.encode("utf-8")


# No sentence begins with a small letter or a digit: `e.g. files`, `approx. 5`.
_END = re.compile(r"[.!?][\"')\]*_`]{0,4}(?= [^a-z\d])|[\u3002\uff01\uff1f]")


def first_sentence(text: str) -> str:
    """What a description says first, on one line: the summary of a tool that has no other.

    Of a paragraph without an end of a sentence that is the whole; a list begins a new one.
    Empty where a text has no words.
    """
    first, *more = text.strip().splitlines() or [""]
    more = list(takewhile(lambda line: line.strip() and not _ITEM.match(line), more))
    line = " ".join(" ".join([first, *more]).split())
    end = _END.search(line)
    return line if end is None else line[: end.end()]


_ITEM = re.compile(r"\s*(?:[-*+\u2022#>|<]|\d+[.)])")


def deprecation_line(deprecated: Mapping[str, Any]) -> str:
    """`Deprecated, and removed on 2030-01-31: use save_note instead. It is slow.`

    Args:
        deprecated: what the tool's spec says, and its definition.
    """
    removal, instead = deprecated.get("removal"), deprecated.get("replacement")
    line = f"Deprecated, and removed on {removal}" if removal else "Deprecated"
    line += f": use {instead} instead." if instead else "."
    reason = " ".join(deprecated.get("reason", "").split())
    return f"{line} {reason}" if reason else line


def _without(text: str, key: str) -> str:
    """The text of a JSON object without one of its keys; the others stay as they are."""
    import json

    decode = json.JSONDecoder().raw_decode
    members = []
    start = _next(text, 1)
    while text[start] != "}":
        name, end = decode(text, start)
        _, end = decode(text, _next(text, end))
        if name != key:
            members.append(text[start:end])
        start = _next(text, end)
    return "{" + ",".join(members) + "}"


def _next(text: str, place: int) -> int:
    """Where the next key or value begins, or the end of the object is."""
    while text[place] in " ,:":
        place += 1
    return place


def spec_name(tool: str) -> str:
    """The name of a tool's spec, without its ending: the tool's own where a file can have it.

    It cannot where Windows has a device of that name, where the file would be hidden, and
    where it is one of the toolset's own files: `con`, `.a` and `toolset` stand in
    `tool_con`, `tool_.a` and `tool_toolset`.
    """
    lower = tool.lower()
    start = lower.partition(".")[0]
    is_taken = start in WINDOWS_DEVICES or lower in ("toolset", "definitions")
    return tool if start and not is_taken else f"tool_{tool}"


@lru_cache(maxsize=65536)
def module_name(tool: str) -> str:
    """The module, file and fixture name of a tool: `[a-z0-9_]+`, an importable one.

    Total: a section's or client's name may be any text, the empty one too. Two tools may
    derive the same name; one of them then has its `distinct_name`.
    """
    name = re.sub(r"[^a-z0-9_]", "_", tool.lower()) or "_"
    if name[0].isdigit():
        name = f"n{name}"
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
    """The name of the spec and of the module of a tool whose module another tool has.

    It depends on the tool alone: what comes and goes beside it changes no name of a file.
    """
    return f"{module_name(tool)}_{sha256(tool.encode()).hexdigest()[:6]}"


def command_name(tool: str) -> str:
    """The command of a tool whose spec chooses none: its name in kebab case.

    `list_peers` and `listPeers` are `list-peers`; a name without a letter in front gets one.
    """
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", tool).lower()
    name = re.sub(r"[^a-z0-9]+", "-", words).strip("-")
    return name if name[:1].isalpha() else f"tool-{name}".rstrip("-")


def look_alike_key(name: str) -> str:
    """The same for names that differ in case, separators and look-alike characters only.

    `send_mail`, `sendMail`, `send-mai1` and `send_maiI` have one key.
    """
    folded = re.sub(r"[^a-z0-9]", "", name.lower()).replace("i", "l")
    # `v1` and `v10` differ in their number; `mai1` and `mail` in a look-alike.
    return re.sub(r"(?<=[a-z])[015]+(?=[a-z]|$)", _letters, folded)


def _letters(match: re.Match[str]) -> str:
    return match.group().translate(_LOOK_ALIKE)


class Wanted(NamedTuple):
    """Which tools a list is asked for.

    Attributes:
        only: the only names; None for any.
        without: names that are not wanted.
        client: who asks; None for nobody in particular.
    """

    only: Collection[str] | None = None
    without: Collection[str] = ()
    client: str | None = None


class ToolProvider(Protocol):
    """Remote tools, such as an external MCP server's.

    The registry asks its providers in their order, after the toolset's own, local tools; the
    first that has a name wins. It decides on access itself, by the name that the provider
    gives, and asks for no tool that the client may not have. A provider keeps its own
    deadlines when it lists; what it cannot reach it leaves out, with a line in the log.
    """

    @property
    def has_always_tools(self) -> bool:
        """Whether a tool of it could be one that is offered in every turn."""

    def reserve_names(self, names: Collection[str]) -> None:
        """Learns the present, former and reserved names of the toolset: it must not offer those."""

    def may_have(self, name: str) -> bool:
        """Whether it could have a tool of this name, now or later. Does no I/O.

        Lists of clients may name such tools before they were ever seen.
        """

    def is_meant_for(self, name: str, client: str | None) -> bool:
        """Whether its tool of this name is for this client at all.

        Beside the client's own lists, as a tool's `clients` are. Does no I/O.
        """

    async def list_tools(self, wanted: Wanted) -> Sequence[Tool]:
        """The tools that it has now, under the names that callers use. Never raises.

        There may be others than the wanted ones among them; what can have none of those is
        not waited for.

        Their `always` and `persistent` are what the toolset wants of them; their handler
        is None.
        """

    async def find_tool(self, name: str) -> Tool | None:
        """Its tool of this name; None when there is none, or it cannot be reached.

        Never raises.
        """

    async def call_tool(
        self, tool: Tool, arguments: Mapping[str, Any], context: CallContext
    ) -> ToolResponse:
        """Calls a tool that it gave, with the arguments exactly as the caller sent them.

        The registry gives up after `tool.timeout` seconds and cancels the call. The text
        of a ToolError reaches the caller; that of every other exception only the log.
        """

    async def close(self) -> None:
        """Ends its connections and processes. What is called afterwards may open them."""


ServerState = Literal["up", "down", "unused"]
"""How an external server is reached: nobody has asked one that is `unused` for anything yet."""


@runtime_checkable
class HasServers(Protocol):
    """A provider that can tell how its servers are reached."""

    def states(self) -> Mapping[str, ServerState]:
        """Each server's, by its name. Does no I/O."""

    def unset_variables(self) -> Mapping[str, str]:
        """What servers lack in the environment, in words by their names. Does no I/O."""


@runtime_checkable
class Proxies(Protocol):
    """The servers that answer calls of the toolset's own tools whose `proxy` names one."""

    async def call_proxied(
        self, tool: Tool, arguments: Mapping[str, Any], context: CallContext
    ) -> ToolResponse:
        """Passes a call on, with the arguments exactly as the caller sent them.

        They are valid, and whoever has to allow the call did. The answer is not checked yet;
        what goes wrong is an answer with an error.
        """
