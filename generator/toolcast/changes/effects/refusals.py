"""What programs, providers and frameworks refuse or lose of a tool, and did not before."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.costs.client_kinds import Limited, crossed, limits_here
from ...facts.mcp_definition import mcp_definition
from ...facts.providers.provider_forms import (
    LANGCHAIN_LOSES,
    lost_keywords,
    name_problem,
)
from ...facts.providers.strict_clients import refused_by
from ...model.model import Toolset, ToolSpec
from ..json_values import said
from .effect import Effect, EffectKind

__all__ = ["refusal_effects"]


def refusal_effects(
    toolsets: tuple[Toolset, Toolset], old: ToolSpec | None, new: ToolSpec
) -> Iterator[Effect]:
    """What begins or ceases to be refused or lost of a tool.

    Args:
        toolsets: the toolset before and after.
        old: the tool before; None for a new one.
    """
    toolset = toolsets[1]
    if "mcp" in toolset.targets:
        yield from _strict(toolset.name, old, new)
    yield from _names(toolsets, old, new)
    if old is None:
        yield from _length(toolset, new)
    if old is None or old.parameters is not new.parameters:
        yield from _forms(toolset.name, old, new)
        yield from _langchain(toolset, old, new)


def _strict(toolset: str, old: ToolSpec | None, new: ToolSpec) -> Iterator[Effect]:
    before = {} if old is None else refused_by(mcp_definition(old))
    after = refused_by(mcp_definition(new))
    for revision in dict.fromkeys((*after, *before)):
        was, is_ = before.get(revision, []), after.get(revision, [])
        if bool(was) == bool(is_):
            continue
        verb = "refuse" if is_ else "no longer refuse"
        places = " and ".join(map(said, is_ or was))
        yield Effect(
            EffectKind.REFUSED,
            f"MCP {revision}",
            toolset,
            new.name,
            f"clients that check lists by MCP {revision} {verb} this server's: {places}",
            was,
            is_,
            is_worse=bool(is_),
        )


def _names(
    toolsets: tuple[Toolset, Toolset], old: ToolSpec | None, new: ToolSpec
) -> Iterator[Effect]:
    names = ["" if old is None else old.name, new.name]
    if names[0] == names[1] and toolsets[0].name == toolsets[1].name:
        return
    problems = [name_problem(name) if name else "" for name in names]
    if bool(problems[0]) != bool(problems[1]):
        words = problems[1] or "is taken by every provider"
        yield _name("providers", toolsets[1], names, words, bool(problems[1]))
    for limit in limits_here(toolsets[1], new, Limited.NAME):
        sizes = [
            len(limit.prefix.format(toolset.name)) + len(name) if name else 0
            for toolset, name in zip(toolsets, names, strict=True)
        ]
        is_over = [size > limit.most for size in sizes]
        if is_over[0] != is_over[1]:
            words = (
                f"has {sizes[1]} characters with the prefix of {limit.client}, which"
                f" takes {limit.most}"
            )
            yield _name(limit.client, toolsets[1], names, words, is_over[1])


def _name(
    reader: str, toolset: Toolset, names: list[str], words: str, is_worse: bool
) -> Effect:
    message = f"the name {said(names[1])} {words}"
    values = names[0] or None, names[1]
    return Effect(
        EffectKind.NAME, reader, toolset.name, names[1], message, *values, is_worse
    )


def _length(toolset: Toolset, new: ToolSpec) -> Iterator[Effect]:
    size = len(new.model_description)
    limits = limits_here(toolset, new, Limited.DESCRIPTION)
    for limit in crossed(limits, 0, size):
        verb = "takes" if limit.is_refused else "shows"
        yield Effect(
            EffectKind.LENGTH,
            limit.client,
            toolset.name,
            new.name,
            f"the description has {size:,} characters; {limit.client} {verb}"
            f" {limit.most:,} ({limit.source})",
            after=size,
            is_worse=True,
        )


def _forms(toolset: str, old: ToolSpec | None, new: ToolSpec) -> Iterator[Effect]:
    before = {} if old is None else {f.name: lost for f, lost in lost_keywords(old)}
    for form, lost in lost_keywords(new):
        was = before.get(form.name, frozenset())
        if was == lost:
            continue
        more = sorted(lost - was)
        less = sorted(was - lost)
        words = [f"loses {' and '.join(more)}"] if more else []
        words += [f"no longer loses {' and '.join(less)}"] if less else []
        yield Effect(
            EffectKind.FORM,
            form.name,
            toolset,
            new.name,
            f"the form of {form.name} {', and '.join(words)} ({form.source})",
            sorted(was),
            sorted(lost),
            is_worse=bool(more),
        )


def _langchain(
    toolset: Toolset, old: ToolSpec | None, new: ToolSpec
) -> Iterator[Effect]:
    names = [
        set() if one is None else LANGCHAIN_LOSES.keys() & one.properties
        for one in (old, new)
    ]
    for name in sorted(names[0] ^ names[1]):
        is_worse = name in names[1]
        what = (
            LANGCHAIN_LOSES[name]
            if is_worse
            else "LangChain takes it for its own no more"
        )
        yield Effect(
            EffectKind.FORM,
            "LangChain over MCP",
            toolset.name,
            new.name,
            f"the parameter `{name}`: {what}",
            sorted(names[0]),
            sorted(names[1]),
            is_worse,
        )
