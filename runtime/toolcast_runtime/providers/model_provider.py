"""Description of a model provider, and rendering of tool lists from it.

To add a provider, add a module with a `ModelProvider` and an entry in `provider_lists`. A
`ModelProvider` has:

* the loose `Dialect`, and a strict one if the provider has a strict form;
* the pattern of valid tool names;
* `form`, which converts a rendered tool to the provider's JSON;
* `answer`, which converts the result of a call to the provider's JSON;
* `arranged`, if a list is not simply its tools in order;
* the spec fields that the format can express, and the limits of a whole list.

`render_tools` does the rest: names, schemas, losses, strict forms, deferred tools, and the
conversion of a model's arguments to those of the spec.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..core.context import ToolResponse
from ..core.definitions.tool import Tool
from ..core.validation.compiled import build_validator
from ..core.validation.references import format_pointer, list_subschemas
from .argument_restoration import list_valid_examples, restore_arguments
from .dialect import Dialect, InexpressibleError, Loss, Severity
from .provider_names import provider_names
from .schema_rendering import RenderedSchema, render_schema
from .tool_results import Answer

_OPTIONAL_FIELDS = ("returns", "examples", "confirm", "annotations", "title")


class ArgumentsError(ValueError):
    """Arguments of a model's call that are not a JSON object."""


class ToolCall(NamedTuple):
    """A model's call with the spec's names, to be passed to `call_tool(*call)`.

    Attributes:
        name: the tool's name in the spec.
        arguments: the arguments, with the spec's property names.
    """

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class RenderedTool:
    """Tool with its schemas and name converted for a provider, but not yet in its format.

    Attributes:
        tool: the tool as defined in the spec.
        name: the tool's name at the provider.
        parameters: the schema of the arguments in the provider's loose or strict dialect.
        is_strict: whether `parameters` is in the strict dialect.
        losses: the keywords and fields that the format cannot express.
        returns: the schema of the result in the provider's dialect for results; None if the
            tool has none, or the format cannot express it.
        is_deferred: whether the model has to find the tool with the provider's tool search.
        is_programmatic: whether code that the model writes may call the tool.
        examples: the arguments of the tool's examples with the provider's names; empty if the
            format has no field for examples.
    """

    tool: Tool
    name: str
    parameters: RenderedSchema
    is_strict: bool
    losses: tuple[Loss, ...]
    returns: RenderedSchema | None
    is_deferred: bool
    is_programmatic: bool
    examples: tuple[Mapping[str, Any], ...]


class ListOptions(NamedTuple):
    """Options of a tool list. An option that the provider does not support has no effect.

    Attributes:
        strict: whether models must follow the schemas exactly: for all tools, no tools, or
            the tools with these names. A tool whose schema has no strict form is rendered in
            the loose form, with a loss that states the reason.
        tool_search: whether tools that are not `always` are deferred, so that the model has to
            search for them.
        programmatic: whether code that the model writes may call the tools that have a result
            schema and need no confirmation.
    """

    strict: bool | Collection[str] = False
    tool_search: bool = False
    programmatic: bool = False


class Budget(NamedTuple):
    """Limit of a whole tool list, or of each namespace in it.

    Attributes:
        maximum: the maximum of each count.
        counts: the function that counts; returns counts by a label for messages, such as
            `tools`.
        source: the documentation or error message that the limit comes from.
        is_refused: whether the provider rejects requests above the limit; False if it only
            advises against them or may reject them.
    """

    maximum: int
    counts: Callable[[Sequence[RenderedTool]], Mapping[str, int]]
    source: str
    is_refused: bool = True


class StrictLimit(NamedTuple):
    """Limit of each strict schema.

    Attributes:
        label: the label of the count in messages, such as `properties`.
        count: the function that counts in a rendered schema.
        maximum: the maximum of the count.
    """

    label: str
    count: Callable[[Mapping[str, Any]], int]
    maximum: int

    def budget(self, source: str, is_refused: bool = True) -> Budget:
        """Return a limit of the whole list, with the same maximum.

        It limits the sum of the counts of all strict schemas in the list.
        """

        def counts(tools: Sequence[RenderedTool]) -> Mapping[str, int]:
            schemas = [tool.parameters.schema for tool in tools if tool.is_strict]
            label = f"{self.label} in its strict schemas together"
            return {label: sum(map(self.count, schemas))}

        return Budget(self.maximum, counts, source, is_refused)


def _list_tools_in_order(provider_tools: ProviderTools) -> list[dict[str, Any]]:
    return [provider_tools.provider.form(tool) for tool in provider_tools.rendered]


@dataclass(frozen=True, kw_only=True)
class ModelProvider:
    """Formats and limits of a model provider's tools.

    Attributes:
        name: the name in code and in `toolset.yaml`.
        title: the name in messages and documentation.
        dialect: the dialect of the loose form.
        strict: the dialect of the strict form; None if the provider has none.
        returns: the dialect of result schemas; None if the provider does not accept them.
        names: the pattern of valid tool names; None if all names of specs are valid.
        own_names: the names of the provider's built-in tools that a list may contain.
        accepts: the spec fields that the format can express, out of `returns`, `examples`,
            `confirm`, `annotations` and `title`. A spec that sets one of the other fields has
            a loss.
        form: converts a rendered tool to the provider's JSON.
        answer: converts the result of a call to the provider's JSON.
        arranged: converts a whole list to the provider's JSON.
        has_tool_search: whether the provider has a tool search for deferred tools.
        has_programs: whether the provider runs code that the model writes and that calls tools.
        budgets: the limits of a whole list.
        is_strict_by_name: whether only tools listed by name can be strict, because the provider
            rejects requests with too many strict tools. `strict: true` is then a loss of each
            tool.
        refuses: returns the reason why the provider rejects rendered parameters as strict, or
            None. A tool with a reason is rendered in the loose form.
    """

    name: str
    title: str
    dialect: Dialect
    strict: Dialect | None = None
    returns: Dialect | None = None
    names: re.Pattern[str] | None = None
    own_names: frozenset[str] = frozenset()
    accepts: frozenset[str] = frozenset()
    form: Callable[[RenderedTool], dict[str, Any]]
    answer: Callable[[Answer], dict[str, Any]]
    arranged: Callable[[ProviderTools], list[dict[str, Any]]] = _list_tools_in_order
    has_tool_search: bool = False
    has_programs: bool = False
    budgets: tuple[Budget, ...] = ()
    is_strict_by_name: bool = False
    refuses: Callable[[Mapping[str, Any]], str | None] = lambda _: None

    @property
    def options(self) -> frozenset[str]:
        """Names of the `ListOptions` attributes that the provider supports."""
        supported = {
            "strict": self.strict is not None,
            "tool_search": self.has_tool_search,
            "programmatic": self.has_programs,
        }
        return frozenset(
            name for name, is_supported in supported.items() if is_supported
        )


@dataclass(frozen=True)
class ProviderTools:
    """Tool list for a provider, with conversion of the model's calls and their results.

    Attributes:
        provider: the provider.
        rendered: the tools in order.
        sections: the heading of each section of the toolset, by the section's name.
        omissions: a loss with the reason for each tool that was omitted.
    """

    provider: ModelProvider
    rendered: tuple[RenderedTool, ...]
    sections: Mapping[str, str] = field(default_factory=dict)
    omissions: tuple[Loss, ...] = ()

    @property
    def tools(self) -> list[Any]:
        """Value of `tools` in a request: JSON that also matches the types of the SDK."""
        return self.provider.arranged(self)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Losses of all tools, sorted; includes the reasons of omitted tools."""
        losses = [loss for tool in self.rendered for loss in tool.losses]
        return tuple(sorted([*losses, *self.omissions]))

    def call(self, name: str, arguments: Mapping[str, Any] | str) -> ToolCall:
        """Convert a model's call to the names and arguments of the spec.

        Restores the spec's names, and removes null where the model omitted an optional
        parameter. Adds and changes no other values. Arguments are not validated: the call
        itself rejects invalid ones.

        Args:
            name: the tool's name at the provider. Unknown names are returned unchanged.
            arguments: the arguments as JSON text or as an object.

        Raises:
            ArgumentsError: the arguments are not a JSON object.
        """
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except (ValueError, RecursionError) as failure:
                raise ArgumentsError(
                    f"the arguments are not valid JSON: {failure}"
                ) from None
        if not isinstance(arguments, Mapping):
            raise ArgumentsError("the arguments are not a JSON object")
        tool = self._find_tool(name)
        if tool is None:
            return ToolCall(name, dict(arguments))
        try:
            restored = restore_arguments(arguments, tool.parameters)
        except ValueError:
            # A string has a lone surrogate. Pass the arguments on unchanged: the call rejects
            # them.
            restored = dict(arguments)
        return ToolCall(tool.tool.name, restored)

    def answer(
        self, response: ToolResponse, name: str, call_id: str | None = None
    ) -> Any:
        """Convert the result of a call to the object that the provider expects.

        The object contains the text, and the images and files that the provider accepts. Other
        media are replaced by a text that describes them. For Gemini and Bedrock media are
        `bytes`, as their SDKs require, so an object with media is not JSON.

        Args:
            response: the result of the call.
            name: the tool's name at the provider, as in the model's call.
            call_id: the ID of the call in the model's message, if it has one.
        """
        tool = self._find_tool(name)
        has_returns = tool is not None and tool.returns is not None
        return self.provider.answer(Answer(response, name, call_id or "", has_returns))

    def _find_tool(self, name: str) -> RenderedTool | None:
        return next((tool for tool in self.rendered if tool.name == name), None)


def schemas_within(
    schema: Any, level: int = 0
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield a schema and all its subschemas, each with its level.

    The level is the number of enclosing objects and arrays: 0 for the schema itself.
    """
    if isinstance(schema, Mapping):
        yield level, schema
        for path, subschema in list_subschemas(schema):
            is_nested = path[0] in ("properties", "items")
            yield from schemas_within(subschema, level + is_nested)


def render_tools(
    provider: ModelProvider,
    tools: Iterable[Tool],
    options: ListOptions = ListOptions(),  # noqa: B008
    sections: Mapping[str, str] | None = None,
) -> ProviderTools:
    """Render tools for a provider.

    Tools with an invalid schema, for example from an external server, are omitted, because the
    provider would reject the whole request.

    Args:
        provider: the provider.
        tools: the tools in the order of the list.
        options: the options of the list.
        sections: the heading of each section of the toolset, by the section's name.
    """
    tools = list(tools)
    names = provider_names(
        (tool.name for tool in tools), provider.names, provider.own_names
    )
    rendered, omissions = [], []
    for tool in tools:
        try:
            rendered.append(_render_tool(provider, tool, names[tool.name], options))
        except InexpressibleError as error:
            message = f"the schema {error.reason}; the tool is omitted"
            omissions.append(_build_loss(tool, error, message, Severity.ERROR))
    return ProviderTools(provider, tuple(rendered), sections or {}, tuple(omissions))


def _build_loss(
    tool: Tool,
    error: InexpressibleError,
    message: str,
    severity: Severity,
    keyword: str | None = None,
) -> Loss:
    path = format_pointer(error.path)
    return Loss(tool.name, path, keyword or error.keyword, message, severity)


def _render_tool(
    provider: ModelProvider, tool: Tool, name: str, options: ListOptions
) -> RenderedTool:
    losses = list(_list_lost_fields(provider, tool, name))
    strict = _render_strict_parameters(provider, tool, options, losses)
    parameters = strict or _render_schema(tool, "parameters", provider.dialect)
    losses += parameters.losses
    returns = None
    has_returns = _result_schema(tool) is not None
    if has_returns and provider.returns is not None:
        try:
            returns = _render_schema(tool, "returns", provider.returns)
            losses += returns.losses
        except InexpressibleError as error:
            message = f"the schema {error.reason}; it is omitted"
            loss = _build_loss(tool, error, message, Severity.NOTE, "returns")
            losses.append(loss)
    examples: list[Mapping[str, Any]] = []
    if "examples" in provider.accepts:
        valid_examples = list_valid_examples(tool, parameters)
        examples = [*filter(provider.dialect.accepts_integers, valid_examples)]
        if omitted := len(tool.examples) - len(examples):
            message = (
                f"{omitted} of {len(tool.examples)} are omitted: they fail, or the form"
                " has other arguments"
            )
            losses.append(Loss(tool.name, "/examples", "examples", message))
    can_search = options.tool_search and provider.has_tool_search
    can_run_programs = options.programmatic and provider.has_programs
    return RenderedTool(
        tool,
        name,
        parameters,
        strict is not None,
        tuple(losses),
        returns,
        is_deferred=can_search and not tool.always,
        is_programmatic=can_run_programs and has_returns and tool.confirm is None,
        examples=tuple(examples),
    )


def _render_strict_parameters(
    provider: ModelProvider, tool: Tool, options: ListOptions, losses: list[Loss]
) -> RenderedSchema | None:
    """Return a tool's parameters in the strict dialect; None if the tool is not strict.

    Adds a loss if the options request a strict tool that the provider cannot express.
    """
    strict = options.strict
    if strict is True and provider.is_strict_by_name:
        message = "not strict: too many strict tools are refused together; name those that need it"
        losses.append(Loss(tool.name, "", "strict", message, Severity.WARNING))
        return None
    is_requested = strict if isinstance(strict, bool) else tool.name in strict
    if not is_requested or provider.strict is None:
        return None
    try:
        parameters = _render_schema(tool, "parameters", provider.strict)
        reason = provider.refuses(parameters.schema)
        if reason:
            # Treat a schema beyond the provider's limits like an inexpressible schema.
            raise InexpressibleError(("parameters",), "strict", reason)
    except InexpressibleError as error:
        message = f"no strict schema: it {error.reason}; the tool is not strict"
        losses.append(_build_loss(tool, error, message, Severity.WARNING))
        return None
    return parameters


def _render_schema(tool: Tool, field_name: str, dialect: Dialect) -> RenderedSchema:
    """Render `parameters` or `returns` of a tool in a dialect.

    Raises:
        InexpressibleError: the dialect cannot express the schema, or the schema is invalid.
            Schemas of external servers were not checked when they were loaded.
    """
    schema = _result_schema(tool) if field_name == "returns" else tool.parameters
    if field_name == "parameters":
        # Arguments are always an object, so a `const` or `enum` of other values rejects all.
        for keyword in schema.keys() & {"const", "enum"}:
            values = [schema[keyword]] if keyword == "const" else schema[keyword]
            if not any(isinstance(value, Mapping) for value in values):
                raise InexpressibleError(
                    (field_name,),
                    keyword,
                    "does not accept objects, so no call is valid",
                )
    try:
        build_validator(schema)
        return render_schema(schema, dialect, tool.name, field_name)
    # A schema of an external server may be anything, so every error of the renderer means
    # that the schema is invalid.
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        reason = "is not a valid schema"
        raise InexpressibleError((field_name,), field_name, reason) from None


def _result_schema(tool: Tool) -> Any:
    """Return the output schema of the tool's MCP definition; None if it has none."""
    return tool.definition.get("outputSchema")


def _list_lost_fields(provider: ModelProvider, tool: Tool, name: str) -> Iterable[Loss]:
    if name != tool.name:
        yield Loss(tool.name, "/name", "name", f"renamed to `{name}`")
    is_set = {
        "returns": _result_schema(tool) is not None,
        "examples": bool(tool.examples),
        "confirm": tool.confirm is not None,
        "annotations": bool(tool.definition.get("annotations")),
        "title": bool(tool.definition.get("title")),
    }
    for field_name in _OPTIONAL_FIELDS:
        if is_set[field_name] and field_name not in provider.accepts:
            yield Loss(
                tool.name,
                f"/{field_name}",
                field_name,
                "the format has no field for it",
            )
