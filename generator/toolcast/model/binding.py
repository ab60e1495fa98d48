"""Makes the model from documents that the spec language's schema allows."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any

from ..language.spec_language import annotated
from ..reading.tree import Document
from .clients import Client, NameEntry, expanded
from .mcp_servers import bind_mcp_servers, bind_router
from .model import (
    Action,
    Actions,
    Case,
    CliDecision,
    Confirm,
    Example,
    Exclusion,
    HandlerReference,
    Section,
    SelectionGates,
    Suppression,
    TokenBudget,
    Toolset,
    ToolSpec,
)

__all__ = [
    "bind_tool",
    "bind_toolset",
]


def bind_tool(document: Document, extension_fields: Collection[str] = ()) -> ToolSpec:
    """The tool of a document that is valid as a tool spec.

    `extension_fields` names the fields that extensions add to the spec language.
    """
    value: Mapping[str, Any] = document.value
    mcp = value.get("mcp", {})
    usage = value.get("when_to_use")
    has_text = isinstance(usage, str)
    plain = _as_they_are("tool", ToolSpec, value)
    converted = {k: bind(value[k]) for k, bind in _CONVERTED.items() if k in value}
    return replace(
        ToolSpec(fields=tuple(value), **plain | converted),
        when_to_use=usage if has_text else None,
        no_usage_reason=None if has_text or usage is None else usage["reason"],
        mcp_omit=tuple(mcp.get("omit", ())),
        mcp_extra=mcp.get("extra", {}),
        cases=_cases(value, value["name"]),
        extensions={key: value[key] for key in extension_fields if key in value},
        source=document.source,
    )


def _as_they_are(kind: str, model: type, value: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a file that the model has under their own names."""
    return {key: value[key] for key in _in_both(kind, model) if key in value}


@cache
def _in_both(kind: str, model: type) -> tuple[str, ...]:
    known = annotated(kind)["properties"]
    return tuple(field.name for field in fields(model) if field.name in known)


def _actions(value: Mapping[str, Any]) -> Actions:
    return Actions(
        value["parameter"],
        tuple(
            Action(
                name,
                body.get("summary", ""),
                tuple(body.get("requires", ())),
                tuple(body.get("requires_any", ())),
                tuple(body["accepts"]) if "accepts" in body else None,
            )
            for name, body in value["values"].items()
        ),
    )


def _example(value: Mapping[str, Any]) -> Example:
    return Example(
        value["arguments"],
        value.get("title", ""),
        "result" in value,
        value.get("result"),
        value.get("error"),
    )


def _cases(value: Mapping[str, Any], tool: str | None = None) -> tuple[Case, ...]:
    """The cases of a file; `tool` is meant where an entry does not say which."""
    return tuple(
        Case(
            entry["message"],
            entry.get("tool", tool),
            tuple(entry.get("never", ())),
            tuple(entry.get("near", ())),
            entry.get("top"),
        )
        for entry in value.get("cases", ())
    )


def _suppressions(value: Mapping[str, Any]) -> tuple[Suppression, ...]:
    return tuple(Suppression(**entry) for entry in value.get("suppress", ()))


_CONVERTED: Mapping[str, Callable[[Any], Any]] = {
    "actions": _actions,
    "icons": lambda icons: None if icons is None else tuple(icons),
    "handler": HandlerReference.parse,
    "uses": tuple,
    "arguments_type": HandlerReference.parse,
    "result_type": HandlerReference.parse,
    "clients": tuple,
    "confirm": lambda confirm: Confirm(**confirm),
    "cli": lambda decision: CliDecision(**decision),
    "renamed_from": tuple,
    "examples": lambda examples: tuple(_example(example) for example in examples),
    "suppress": lambda entries: tuple(Suppression(**entry) for entry in entries),
}
"""How fields of a tool spec are converted, where the model does not have them as they are."""


def bind_toolset(
    document: Document,
    tools: tuple[ToolSpec, ...],
    default_targets: tuple[str, ...],
    extension_fields: Collection[str] = (),
) -> Toolset:
    """The toolset of a document that is valid as a toolset file, with its tools.

    `extension_fields` names the fields that extensions add to the spec language.
    """
    value: Mapping[str, Any] = document.value
    sections = tuple(
        Section(
            name,
            body["heading"],
            body.get("label", body["heading"]),
            body.get("intro", ""),
            body.get("footer", ""),
        )
        for name, body in value.get("sections", {}).items()
    )
    targets = value.get("targets")
    if targets is None:
        targets = dict.fromkeys(default_targets)
    preamble = value.get("preamble", {})
    servers = bind_mcp_servers(value)
    proxies = {value.get("proxy"), *(tool.proxy for tool in tools)}
    outside = [n for s in servers if s.name not in proxies for n in s.declared_names]
    places = {tool.name: tool.section for tool in tools}
    folder = posixpath.dirname(document.source.file)
    return replace(
        Toolset(folder=folder, **_as_they_are("toolset", Toolset, value)),
        tools=_in_declared_order(tools, sections),
        fields=tuple(value),
        lifespan=(
            HandlerReference.parse(value["lifespan"]) if "lifespan" in value else None
        ),
        resources={
            name: HandlerReference.parse(type_)
            for name, type_ in value.get("resources", {}).items()
        },
        timeout=float(value.get("timeout", 60.0)),
        preamble_heading=preamble.get("heading", "Platform Capabilities"),
        preamble_intro=preamble.get("intro", ""),
        sections=sections,
        clients=tuple(
            _client(name, body, places, outside)
            for name, body in value.get("clients", {}).items()
        ),
        token_budget=_token_budget(value.get("token_budget", {})),
        pools={
            name: tuple(body["tables"]) for name, body in value.get("pools", {}).items()
        },
        pool_accessors={
            name: tuple(body.get("accessors", ()))
            for name, body in value.get("pools", {}).items()
        },
        mcp_servers=servers,
        router=bind_router(value),
        reserved_names={
            entry["name"]: entry["reason"] for entry in value.get("reserved_names", ())
        },
        targets={name: options or {} for name, options in targets.items()},
        exclusions=tuple(Exclusion(**entry) for entry in value.get("exclusions", ())),
        cases=_cases(value),
        selection=SelectionGates(**value.get("selection", {})),
        extensions={key: value[key] for key in extension_fields if key in value},
        suppress=_suppressions(value),
        source=document.source,
    )


def _client(
    name: str,
    body: Mapping[str, Any],
    sections: Mapping[str, str | None],
    outside: Sequence[str],
) -> Client:
    allow = body.get("allow", ())
    is_open = allow == "*"
    allowed = () if is_open else expanded(allow, sections, outside)
    restricted = expanded(body.get("restrict", ()), sections, outside)
    return Client(
        name,
        body.get("title", ""),
        None if is_open else _all_names(allowed),
        _all_names(restricted),
        body.get("path"),
        body.get("token_variable"),
        tuple(body.get("permissions", ())),
        body.get("kind"),
        body.get("approves", False),
        allowed,
        restricted,
    )


def _all_names(entries: tuple[NameEntry, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for entry in entries for name in entry.names))


def _token_budget(value: Mapping[str, Any]) -> TokenBudget:
    upfront = value.get("upfront", {})
    return TokenBudget(
        upfront if isinstance(upfront, Mapping) else {None: upfront},
        value.get("tool"),
        value.get("blocks", {}),
    )


def _in_declared_order(
    tools: tuple[ToolSpec, ...], sections: tuple[Section, ...]
) -> tuple[ToolSpec, ...]:
    """Tools by section, then `order`, then name; undeclared ones last.

    The order never comes from the file system.
    """
    places = {section.name: index for index, section in enumerate(sections)}

    def key(tool: ToolSpec) -> tuple[int, bool, int, str]:
        section = places.get(tool.section or "", len(places))
        return section, tool.order is None, tool.order or 0, tool.name

    return tuple(sorted(tools, key=key))
