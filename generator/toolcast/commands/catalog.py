"""`toolcast catalog`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from ..analysis.client_kinds import list_callers
from ..analysis.token_costs import (
    compute_client_costs,
    estimate_listed_tool,
    estimate_tokens,
)
from ..diff.change import AUDIENCES, Change, Grade
from ..diff.comparison import Comparison, compare
from ..encoders.json_text import encode_compact_json
from ..encoders.markdown import (
    encode_html_text,
    encode_script_json,
    fill_document,
    hash_source,
)
from ..model.model import Confirm, Example, Toolset, ToolSpec, Workspace
from ..model.toolset_parts import Client, PromptSpec, ResourceSpec
from ..package_data import read_packaged
from ..targets.exposure import Exposure, build_exposures
from ..targets.prompt_blocks import PromptDocs, build_prompt_docs
from ..targets.table import list_enabled_targets
from .compared_versions import sides_or_end
from .exit_codes import counted, project_root, workspace_or_end, write_or_end
from .options import project_option

_NOTHING = Comparison([], [])


@click.command(name="catalog")
@project_option
@click.option("--output", metavar="FILE", required=True, help="HTML file to write.")
@click.option(
    "--against",
    metavar="REF|DIR",
    help="Show the changes since a git reference, or another folder with a toolcast.yaml.",
)
def command(project: str | None, output: str, against: str | None) -> None:
    """Write one HTML file with all tools.

    It contains search, filters, schemas, access with reasons, and token costs, and loads
    nothing from other servers. Do not commit it: it repeats the specs, and `toolcast check`
    does not update it.
    """
    if against is None:
        after, comparison, name = workspace_or_end(project), _NOTHING, ""
    else:
        sides = sides_or_end(project_root(project), against)
        after, name = sides.after, sides.against
        comparison = _NOTHING if sides.before is None else compare(sides.before, after)
    page = _page(_data(after, comparison, name))
    write_or_end(after, output, page, _MARK, "catalog", "catalog.html")
    tools = sum(len(toolset.tools) for toolset in after.toolsets)
    click.echo(f"{counted(tools, 'tool')} -> {output} ({len(page) / 1024:,.0f} KiB)")


def _mcp_specs(workspace: Workspace) -> list[dict[str, Any]]:
    """The resources and MCP prompts of all toolsets, in their order."""
    return [
        {"toolset": number, **_spec(toolset, spec)}
        for number, toolset in enumerate(workspace.toolsets)
        for spec in toolset.mcp_specs
    ]


def _spec(toolset: Toolset, spec: ResourceSpec | PromptSpec) -> dict[str, Any]:
    facts = _of_resource(spec) if isinstance(spec, ResourceSpec) else _of_prompt(spec)
    handler = {"handler": str(spec.handler)} if spec.handler else {}
    clients = {"clients": ", ".join(spec.clients or ()) or "nobody"}
    return {
        "kind": _kind(spec),
        "name": spec.name,
        "title": spec.title,
        "description": spec.description,
        "clients": spec.clients,
        "facts": {
            **dict(facts),
            **handler,
            **({"uses": ", ".join(spec.uses)} if spec.uses else {}),
            **(clients if toolset.clients else {}),
            "spec": spec.source.file,
        },
    }


def _kind(spec: ResourceSpec | PromptSpec) -> str:
    is_template = isinstance(spec, ResourceSpec) and spec.uri_template is not None
    return "template" if is_template else spec.kind


def _of_resource(spec: ResourceSpec) -> Iterator[tuple[str, str]]:
    if address := spec.uri or spec.uri_template:
        yield "URI", address
    if spec.mime_type:
        yield "media type", spec.mime_type
    for name, values in spec.variables.items():
        yield f"{{{name}}}", f"one of {', '.join(values)}"
    if spec.file:
        yield "file", spec.file


def _of_prompt(spec: PromptSpec) -> Iterator[tuple[str, str]]:
    for one in spec.arguments:
        parts = ["required" if one.required else "optional"]
        parts += [f"one of {', '.join(one.enum)}"] if one.enum else []
        parts += [one.description] if one.description else []
        yield f"{{{{{one.name}}}}}", "; ".join(parts)


_WORDS = 400
_MAX_TEXT_CHARACTERS = 800
"""Characters of a text in the catalog; longer ones are cut."""


def _data(workspace: Workspace, comparison: Comparison, against: str) -> dict[str, Any]:
    """The workspace as the catalog's script reads it.

    Schemas are JSON texts in it, so that their numbers stay as they are and the page does
    not read those of tools that nobody opens.

    Args:
        comparison: what is different from another state of the specs.
        against: what a person calls that state; empty without one.

    Raises:
        ExtensionError: a listed extension cannot be used.
    """
    worst = _worst(comparison.changes)
    tools, toolsets = [], []
    for number, toolset in enumerate(workspace.toolsets):
        found = build_exposures(workspace, toolset)
        docs = build_prompt_docs(workspace, toolset)
        toolsets.append(_toolset(workspace, toolset, docs))
        for tool in _in_sections(toolset):
            shown = _tool(toolset, tool, found[tool.name], docs)
            grade = worst.get((toolset.name, tool.name))
            word = None if grade is None else grade.word
            tools.append({"toolset": number, **shown, "worst": word})
    return {
        "title": os.path.basename(workspace.root) or "toolcast",
        "against": against,
        "toolsets": toolsets,
        "tools": tools,
        "mcp_specs": _mcp_specs(workspace),
        "changes": [_change(change) for change in comparison.changes],
        "effects": [
            {"toolset": one.toolset, "tool": one.tool, "message": one.message}
            for one in comparison.effects
        ],
    }


def _worst(changes: Sequence[Change]) -> dict[tuple[str, str], Grade]:
    worst: dict[tuple[str, str], Grade] = {}
    for change in changes:
        key = change.toolset, change.tool
        worst[key] = max(worst.get(key, Grade.SAFE), change.grades.worst)
    return worst


def _in_sections(toolset: Toolset) -> Iterator[ToolSpec]:
    """The tools by section in the declared order, those without one last."""
    names = [section.name for section in toolset.sections]
    places = {name: at for at, name in enumerate(names)}
    last = len(places)
    yield from sorted(toolset.tools, key=lambda t: places.get(t.section or "", last))


def _toolset(
    workspace: Workspace, toolset: Toolset, docs: PromptDocs
) -> dict[str, Any]:
    chosen = list_enabled_targets(tuple(toolset.targets), workspace.extensions)
    return {
        "name": toolset.name,
        "title": toolset.title,
        "clients": [client.name for client in toolset.clients],
        "targets": [target.name for target in chosen],
        "router": toolset.router is not None,
        "costs": [_cost(toolset, client, docs) for client in list_callers(toolset)],
    }


def _cost(toolset: Toolset, client: Client | None, docs: PromptDocs) -> Any:
    """What all of a client's tools cost it, as `toolcast tokens` has it."""
    costs = compute_client_costs(toolset, client, docs.texts(client))
    return {
        "client": None if client is None else client.name,
        "kind": None if costs.kind is None else costs.kind.title,
        "upfront": costs.total.upfront,
        "names": costs.total.names,
        "on_demand": costs.total.on_demand,
    }


def _tool(
    toolset: Toolset, tool: ToolSpec, exposure: Exposure, docs: PromptDocs
) -> dict[str, Any]:
    headings = {section.name: section.heading for section in toolset.sections}
    return {
        "name": tool.name,
        "title": tool.title,
        "summary": tool.summary,
        "description": tool.description,
        "when_to_use": tool.when_to_use,
        "guidance": tool.guidance,
        "section": headings.get(tool.section or "", tool.section),
        "parameters": encode_compact_json(tool.listed_parameters),
        "returns": (
            None if tool.returns is None else encode_compact_json(tool.listed_returns)
        ),
        "words": list(_words(tool.listed_parameters))[:_WORDS],
        "annotations": tool.annotations,
        "clients": exposure.clients,
        "targets": exposure.targets,
        "always": tool.always,
        "confirm": None if tool.confirm is None else _confirm(tool.confirm),
        "deprecated": _deprecated(tool),
        "renamed_from": tool.renamed_from,
        "costs": {
            "list": estimate_listed_tool(tool),
            "prompt": estimate_tokens(docs.tool_texts[tool.name]),
        },
        "examples": [
            {"title": example.title, "call": encode_compact_json(_call(example))}
            for example in tool.examples
        ],
        "facts": _facts(toolset, tool),
    }


def _call(example: Example) -> dict[str, Any]:
    """The call, and what it gives."""
    return {key: value for key, value in example.as_json.items() if key != "title"}


def _words(schema: Any) -> Iterator[str]:
    """Names and descriptions of parameters, which the search finds, from the outside in."""
    waiting = [schema]
    for node in waiting:
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, Mapping):
            properties = node.get("properties")
            if isinstance(properties, Mapping):
                yield from (str(name) for name in properties)
            description = node.get("description")
            if isinstance(description, str):
                yield description
            waiting += node.values()


def _deprecated(tool: ToolSpec) -> str | None:
    if tool.deprecated is None:
        return None
    parts = ["Deprecated"]
    if removal := tool.deprecated.get("removal"):
        parts.append(f"removed on {removal}")
    if replacement := tool.deprecated.get("replacement"):
        parts.append(f"use {replacement} instead")
    if reason := tool.deprecated.get("reason"):
        parts.append(str(reason))
    return "; ".join(parts)


def _confirm(confirm: Confirm) -> dict[str, str | None]:
    when = None if confirm.when is None else encode_compact_json(confirm.when)
    return {"message": confirm.message, "when": when}


def _facts(toolset: Toolset, tool: ToolSpec) -> dict[str, str]:
    facts = {
        "spec": tool.source.file,
        "handler": tool.handler and str(tool.handler),
        "uses": ", ".join(tool.uses),
        "opened by": tool.uses and toolset.lifespan,
        "command": tool.cli and tool.cli.keyword,
        "permission": tool.permission,
        "service": tool.service,
        "time-out": tool.timeout and f"{tool.timeout:g} s",
        "recorded": "in the ledger" if tool.persistent else None,
        "former names": ", ".join(tool.renamed_from),
        "since": tool.since,
    }
    return {name: str(value) for name, value in facts.items() if value}


def _text(value: Any) -> str | None:
    """A text on one side of a change, cut where it is long; None of other values."""
    if not isinstance(value, str):
        return None
    return (
        value
        if len(value) <= _MAX_TEXT_CHARACTERS
        else f"{value[:_MAX_TEXT_CHARACTERS]}…"
    )


def _change(change: Change) -> dict[str, Any]:
    grades = zip(AUDIENCES, change.grades, strict=True)
    return {
        "rule": change.rule.id,
        "toolset": change.toolset,
        "tool": change.tool,
        "message": change.message,
        "before": _text(change.before),
        "after": _text(change.after),
        "reason": change.reason,
        "grades": {audience: grade.word for audience, grade in grades},
    }


_MARK = b'<meta name="generator" content="toolcast catalog">'
"""By which a catalog is known: no other file is overwritten."""
_PARTS = ("elements", "tools", "views", "detail", "mcp_specs", "steering")


def _page(data: Mapping[str, Any]) -> bytes:
    """The file.

    Nothing may run or load in it but its own script and style sheet, which a policy names by
    their digests. What specs say stands in a JSON value, and the script makes text of it.

    Args:
        data: see `_data`.
    """
    picture, style = (
        read_packaged("catalog_page", f"catalog.{kind}").decode("utf-8")
        for kind in ("html", "css")
    )
    script = _script()
    policy = (
        f"default-src 'none'; style-src {hash_source(style)};"
        f" script-src {hash_source(script)}; base-uri 'none'; form-action 'none'"
    )
    page = fill_document(
        picture,
        policy=policy,
        title=encode_html_text(f"Tools of {data['title']}"),
        style=style,
        script=script,
        data=encode_script_json(data),
    )
    return page.encode("utf-8")


def _script() -> str:
    """The parts of the script, in one function."""
    texts = (
        read_packaged("catalog_page", f"{name}.js").decode("utf-8") for name in _PARTS
    )
    whole = "\n".join(texts)
    return f'"use strict";\n(() => {{\n{whole}}})();\n'
