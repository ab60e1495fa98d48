"""One way in for every model provider: a table, and what is made with it.

To add a provider is one module with one `ModelProvider`, and its row in `provider_lists`:

* its loose `Dialect`, and its strict one if it has a strict form;
* the grammar of its names;
* `form`, which puts one rendered tool into the provider's JSON;
* `answer`, which puts the answer of a call into it;
* `arranged`, where a list is more than its tools one after the other;
* which fields of a spec the form has a place for, and the limits of the whole list.

`render_tools` does the rest: names, schemas, losses, the strict form where a tool asks for it
and has one, which tools are deferred, and the adapter that takes arguments back.
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
from .dialect import Dialect, InexpressibleError, Loss, Severity
from .provider_names import provider_names
from .schema_rendering import (
    RenderedSchema,
    rendered_schema,
    restored_arguments,
    sendable_examples,
)
from .tool_results import Answer

_FIELDS = ("returns", "examples", "confirm", "annotations", "title")


class ArgumentsError(ValueError):
    """What a model sent as arguments is no JSON object."""


class ToolCall(NamedTuple):
    """A call as the spec says it, ready for `call_tool(*call)`.

    Attributes:
        name: the spec's name of the tool.
        arguments: in the spec's words.
    """

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class RenderedTool:
    """A tool on its way into a provider's form.

    Attributes:
        tool: as the spec says it.
        name: as the provider takes it.
        parameters: its arguments in the provider's dialect.
        is_strict: whether the provider's strict dialect is meant.
        losses: what the form does not say.
        returns: its result in the dialect of the provider's `returns`; None when it has
            none, or the form has no place for it.
        is_deferred: whether the model finds it by the provider's tool search.
        is_programmatic: whether programs of the model may call it.
        examples: the arguments of its examples as the provider takes them; none where the
            form has no place for them.
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
    """What a list is made for.

    Attributes:
        strict: whether the provider has to follow each schema exactly, or of which tools.
            A tool that no strict schema says stays loose, with a loss that gives the reason.
        tool_search: whether the model searches for the tools that are not `always` in each
            request, where the provider has such a search.
        programmatic: whether programs of the model, too, may call the tools that say what
            they return and ask nobody, where the provider runs such programs.
    """

    strict: bool | Collection[str] = False
    tool_search: bool = False
    programmatic: bool = False


class Budget(NamedTuple):
    """A limit of a whole list, or of each namespace in it.

    Attributes:
        most: the largest number that is taken.
        counts: the numbers of a list by what each counts, as a message says it: `tools`.
        source: where the figure comes from.
        is_refused: whether a request beyond is refused; else the provider advises against.
    """

    most: int
    counts: Callable[[Sequence[RenderedTool]], Mapping[str, int]]
    source: str
    is_refused: bool = True


class StrictLimit(NamedTuple):
    """A limit of each strict schema.

    Attributes:
        what: what is counted, in words: `properties`.
        count: the number in a rendered schema.
        most: the largest number that is taken.
    """

    what: str
    count: Callable[[Mapping[str, Any]], int]
    most: int

    def budget(self, source: str, is_refused: bool = True) -> Budget:
        """The same limit for all strict schemas of a list together."""

        def counts(tools: Sequence[RenderedTool]) -> Mapping[str, int]:
            strict = [tool.parameters.schema for tool in tools if tool.is_strict]
            what = f"{self.what} in its strict schemas together"
            return {what: sum(map(self.count, strict))}

        return Budget(self.most, counts, source, is_refused)


def _one_after_the_other(listed: ProviderTools) -> list[dict[str, Any]]:
    return [listed.provider.form(tool) for tool in listed.rendered]


@dataclass(frozen=True, kw_only=True)
class ModelProvider:
    """A provider's form for lists of tools: data, and three functions.

    Attributes:
        name: as callers and `toolset.yaml` name it.
        title: as people call it.
        dialect: what its loose form takes of JSON Schema.
        strict: what its strict form takes; None without such a form.
        returns: what it takes of the schema of a result; None when it takes none.
        names: the grammar of the names of tools; None for that of specs.
        own_names: the names of tools of its own that a list may have.
        takes: the fields of a spec that it has a place for, of `returns`, `examples`,
            `confirm`, `annotations` and `title`. What else a spec sets of these is a loss.
        form: a rendered tool as the provider's JSON.
        answer: the answer of a call as the provider takes it back.
        arranged: the whole list as the provider's JSON.
        has_tool_search: whether it has a search for tools that are deferred.
        has_programs: whether it runs programs of the model that call tools.
        budgets: the limits of a whole list.
        is_strict_by_name: whether only tools that are named are strict: too many together
            are refused, and `strict: true` is a loss of each.
        refuses: what a strict tool must not have, in words, of its rendered parameters;
            it is then rendered loose. None for none.
    """

    name: str
    title: str
    dialect: Dialect
    strict: Dialect | None = None
    returns: Dialect | None = None
    names: re.Pattern[str] | None = None
    own_names: frozenset[str] = frozenset()
    takes: frozenset[str] = frozenset()
    form: Callable[[RenderedTool], dict[str, Any]]
    answer: Callable[[Answer], dict[str, Any]]
    arranged: Callable[[ProviderTools], list[dict[str, Any]]] = _one_after_the_other
    has_tool_search: bool = False
    has_programs: bool = False
    budgets: tuple[Budget, ...] = ()
    is_strict_by_name: bool = False
    refuses: Callable[[Mapping[str, Any]], str | None] = lambda _: None

    @property
    def options(self) -> frozenset[str]:
        """The attributes of `ListOptions` that change its lists."""
        has = {
            "strict": self.strict is not None,
            "tool_search": self.has_tool_search,
            "programmatic": self.has_programs,
        }
        return frozenset(name for name in has if has[name])


@dataclass(frozen=True)
class ProviderTools:
    """A list of tools for a provider, and the way back.

    Attributes:
        provider: whose form it has.
        rendered: the tools, in their order.
        sections: the headings of the toolset's sections by their names.
        left_out: the tools that are not in it, each with the reason.
    """

    provider: ModelProvider
    rendered: tuple[RenderedTool, ...]
    sections: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[Loss, ...] = ()

    @property
    def tools(self) -> list[Any]:
        """The value of `tools` in a request, as JSON, which the SDK's types take, too."""
        return self.provider.arranged(self)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What the list does not say of its tools, sorted."""
        found = [loss for tool in self.rendered for loss in tool.losses]
        return tuple(sorted([*found, *self.left_out]))

    def call(self, name: str, arguments: Mapping[str, Any] | str) -> ToolCall:
        """What a model wants to call, as the spec says it.

        A null that stands for an optional parameter is taken out, names become the spec's;
        no value is added or changed. What is not valid stays as it is: the call refuses it.

        Args:
            name: the provider's name of the tool. One that is not in the list stays.
            arguments: as JSON text or read.

        Raises:
            ArgumentsError: they are no JSON object.
        """
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except (ValueError, RecursionError) as failure:
                raise ArgumentsError(f"the arguments are no JSON: {failure}") from None
        if not isinstance(arguments, Mapping):
            raise ArgumentsError("the arguments are no JSON object")
        found = self._called(name)
        if found is None:
            return ToolCall(name, dict(arguments))
        try:
            meant = restored_arguments(arguments, found.parameters)
        except ValueError:  # A text that is no Unicode, which the call refuses.
            meant = dict(arguments)
        return ToolCall(found.tool.name, meant)

    def answer(
        self, response: ToolResponse, name: str, call_id: str | None = None
    ) -> Any:
        """What goes back to the model, in the provider's form of a result: a JSON object.

        Texts, images and files that the provider takes are in it; what it does not take is
        named. Bytes stand as bytes where the provider's own package wants them.

        Args:
            response: what the call gave.
            name: the provider's name of the tool, as the model called it.
            call_id: what the model's message calls the call, where it does.
        """
        found = self._called(name)
        has_returns = found is not None and found.returns is not None
        return self.provider.answer(Answer(response, name, call_id or "", has_returns))

    def _called(self, name: str) -> RenderedTool | None:
        return next((one for one in self.rendered if one.name == name), None)


def schemas_within(
    schema: Any, level: int = 0
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Every schema in a rendered one, with the number of objects and lists around it."""
    if isinstance(schema, Mapping):
        yield level, schema
        for steps, inner in list_subschemas(schema):
            is_below = steps[0] in ("properties", "items")
            yield from schemas_within(inner, level + is_below)


def render_tools(
    provider: ModelProvider,
    tools: Iterable[Tool],
    options: ListOptions = ListOptions(),  # noqa: B008
    sections: Mapping[str, str] | None = None,
) -> ProviderTools:
    """Tools in a provider's form.

    One whose schema is no valid one, an external server's say, is left out: with it the provider
    would refuse the whole request.

    Args:
        provider: whose form is wanted.
        tools: in the order that they are listed in.
        options: what the list is made for.
        sections: the headings of the toolset's sections by their names.
    """
    listed = list(tools)
    names = provider_names(
        (tool.name for tool in listed), provider.names, provider.own_names
    )
    rendered, left_out = [], []
    for tool in listed:
        try:
            rendered.append(_rendered(provider, tool, names[tool.name], options))
        except InexpressibleError as refusal:
            what = f"the schema {refusal.why}; the tool is left out"
            left_out.append(_loss(tool, refusal, what, Severity.ERROR))
    return ProviderTools(provider, tuple(rendered), sections or {}, tuple(left_out))


def _loss(
    tool: Tool,
    refusal: InexpressibleError,
    what: str,
    severity: Severity,
    keyword: str | None = None,
) -> Loss:
    path = format_pointer(refusal.path)
    return Loss(tool.name, path, keyword or refusal.keyword, what, severity)


def _rendered(
    provider: ModelProvider, tool: Tool, name: str, options: ListOptions
) -> RenderedTool:
    losses = list(_lost_fields(provider, tool, name))
    strict = _strict_parameters(provider, tool, options, losses)
    parameters = strict or _schema(tool, "parameters", provider.dialect)
    losses += parameters.losses
    returns = None
    has_returns = _returns(tool) is not None
    if has_returns and provider.returns is not None:
        try:
            returns = _schema(tool, "returns", provider.returns)
            losses += returns.losses
        except InexpressibleError as refusal:
            what = f"the schema {refusal.why}; it is left out"
            losses.append(_loss(tool, refusal, what, Severity.NOTE, "returns"))
    examples: list[Mapping[str, Any]] = []
    if "examples" in provider.takes:
        examples = list(sendable_examples(tool, parameters))
        if left_out := len(tool.examples) - len(examples):
            what = (
                f"{left_out} of {len(tool.examples)} are left out: they fail, or the form"
                " has other arguments"
            )
            losses.append(Loss(tool.name, "/examples", "examples", what))
    is_searched = options.tool_search and provider.has_tool_search
    is_run = options.programmatic and provider.has_programs
    return RenderedTool(
        tool,
        name,
        parameters,
        strict is not None,
        tuple(losses),
        returns,
        is_deferred=is_searched and not tool.always,
        is_programmatic=is_run and has_returns and tool.confirm is None,
        examples=tuple(examples),
    )


def _strict_parameters(
    provider: ModelProvider, tool: Tool, options: ListOptions, losses: list[Loss]
) -> RenderedSchema | None:
    """The arguments in the strict dialect; None where they stay loose, with a loss."""
    wanted = options.strict
    if wanted is True and provider.is_strict_by_name:
        what = "not strict: too many strict tools are refused together; name those that need it"
        losses.append(Loss(tool.name, "", "strict", what, Severity.WARNING))
        return None
    is_wanted = wanted if isinstance(wanted, bool) else tool.name in wanted
    if not is_wanted or provider.strict is None:
        return None
    try:
        parameters = _schema(tool, "parameters", provider.strict)
        too_much = provider.refuses(parameters.schema)
        if too_much:
            raise InexpressibleError(("parameters",), "strict", too_much)
    except InexpressibleError as refusal:
        what = f"no strict schema: it {refusal.why}; the tool is not strict"
        losses.append(_loss(tool, refusal, what, Severity.WARNING))
        return None
    return parameters


def _schema(tool: Tool, name: str, dialect: Dialect) -> RenderedSchema:
    """A schema of a tool in a dialect.

    Raises:
        InexpressibleError: the dialect does not say it, or it is no valid schema: that of an
            external server's tool, say, which nobody has checked.
    """
    schema = _returns(tool) if name == "returns" else tool.parameters
    if name == "parameters":
        for keyword in schema.keys() & {"const", "enum"}:
            values = [schema[keyword]] if keyword == "const" else schema[keyword]
            if not any(isinstance(value, Mapping) for value in values):
                raise InexpressibleError(
                    (name,), keyword, "takes no object, and so no call"
                )
    try:
        build_validator(schema)
        return rendered_schema(schema, dialect, tool.name, name)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise InexpressibleError((name,), name, "is no valid one") from None


def _returns(tool: Tool) -> Any:
    """The schema of results as models are told it; None for none."""
    return tool.definition.get("outputSchema")


def _lost_fields(provider: ModelProvider, tool: Tool, name: str) -> Iterable[Loss]:
    if name != tool.name:
        yield Loss(tool.name, "/name", "name", f"it is called `{name}`")
    has = {
        "returns": _returns(tool) is not None,
        "examples": bool(tool.examples),
        "confirm": tool.confirm is not None,
        "annotations": bool(tool.definition.get("annotations")),
        "title": bool(tool.definition.get("title")),
    }
    for name in _FIELDS:
        if has[name] and name not in provider.takes:
            yield Loss(tool.name, f"/{name}", name, "there is no place for it")
