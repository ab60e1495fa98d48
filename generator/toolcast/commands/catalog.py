"""The command `toolcast catalog`."""

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
from ..package_data import read_package_file
from ..targets.exposure import Exposure, build_exposures
from ..targets.prompt_blocks import PromptDocs, build_prompt_docs
from ..targets.table import list_enabled_targets
from .compared_versions import load_versions_or_exit
from .exit_codes import (
    format_count,
    load_workspace_or_exit,
    project_root,
    write_output_or_exit,
)
from .options import project_option

_NO_COMPARISON = Comparison([], [])


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

    The file contains search, filters, schemas, access with reasons, and token costs, and
    loads nothing from other servers. Do not commit it: it repeats the specs, and `toolcast
    check` does not update it. Exit codes: 2 if specs have errors or the file cannot be
    written.
    """
    comparison, old_name = _NO_COMPARISON, ""
    if against is None:
        workspace = load_workspace_or_exit(project)
    else:
        versions = load_versions_or_exit(project_root(project), against)
        workspace, old_name = versions.new, versions.old_name
        if versions.old is not None:
            comparison = compare(versions.old, workspace)
    page = _render_page(_build_data(workspace, comparison, old_name))
    write_output_or_exit(workspace, output, page, _MARK, "catalog", "catalog.html")
    tools = sum(len(toolset.tools) for toolset in workspace.toolsets)
    click.echo(
        f"{format_count(tools, 'tool')} -> {output} ({len(page) / 1024:,.0f} KiB)"
    )


def _list_mcp_specs(workspace: Workspace) -> list[dict[str, Any]]:
    """Return the catalog entries of MCP resources and prompts, in the order of toolsets."""
    return [
        {"toolset": index, **_build_mcp_spec(toolset, spec)}
        for index, toolset in enumerate(workspace.toolsets)
        for spec in toolset.mcp_specs
    ]


def _build_mcp_spec(
    toolset: Toolset, spec: ResourceSpec | PromptSpec
) -> dict[str, Any]:
    if isinstance(spec, ResourceSpec):
        facts = dict(_list_resource_facts(spec))
    else:
        facts = dict(_list_prompt_facts(spec))
    if spec.handler:
        facts["handler"] = str(spec.handler)
    if spec.uses:
        facts["uses"] = ", ".join(spec.uses)
    # In a toolset with clients, only the listed clients can use a resource or prompt.
    if toolset.clients:
        facts["clients"] = ", ".join(spec.clients or ()) or "none"
    facts["spec"] = spec.source.file
    return {
        "kind": _get_kind(spec),
        "name": spec.name,
        "title": spec.title,
        "description": spec.description,
        "clients": spec.clients,
        "facts": facts,
    }


def _get_kind(spec: ResourceSpec | PromptSpec) -> str:
    """Return `resource`, `template` (a resource with a URI template) or `prompt`."""
    is_template = isinstance(spec, ResourceSpec) and spec.uri_template is not None
    return "template" if is_template else spec.kind


def _list_resource_facts(spec: ResourceSpec) -> Iterator[tuple[str, str]]:
    """Yield the label and the text of each row in a resource's table of properties."""
    if uri := spec.uri or spec.uri_template:
        yield "URI", uri
    if spec.listed_name is not None:
        yield "listed name", spec.listed_name
    if spec.mime_type:
        yield "media type", spec.mime_type
    for name, values in spec.variables.items():
        yield f"{{{name}}}", f"one of {', '.join(values)}"
    if spec.file:
        yield "file", spec.file


def _list_prompt_facts(spec: PromptSpec) -> Iterator[tuple[str, str]]:
    """Yield the label and the description of each argument of a prompt."""
    for argument in spec.arguments:
        parts = ["required" if argument.required else "optional"]
        if argument.enum:
            parts.append(f"one of {', '.join(argument.enum)}")
        if argument.description:
            parts.append(argument.description)
        yield f"{{{{{argument.name}}}}}", "; ".join(parts)


_MAX_SEARCH_TEXTS = 400
"""Maximum number of parameter names and descriptions per tool that the search covers."""
_MAX_TEXT_CHARACTERS = 800
"""Maximum number of characters of an old or new text of a change; longer texts are cut."""


def _build_data(
    workspace: Workspace, comparison: Comparison, old_name: str
) -> dict[str, Any]:
    """Return the JSON data that the JavaScript of the catalog reads.

    Schemas are included as JSON text: their numbers keep their spelling, and the page parses a
    schema only when its tool is opened.

    Args:
        comparison: the changes since the old version of the specs.
        old_name: the name of the old version; empty without one.

    Raises:
        ExtensionError: an extension of the project cannot be used.
    """
    worst_grades = _find_worst_grades(comparison.changes)
    tools, toolsets = [], []
    for index, toolset in enumerate(workspace.toolsets):
        exposures = build_exposures(workspace, toolset)
        docs = build_prompt_docs(workspace, toolset)
        toolsets.append(_build_toolset(workspace, toolset, docs))
        for tool in _sort_by_section(toolset):
            grade = worst_grades.get((toolset.name, tool.name))
            tools.append(
                {
                    "toolset": index,
                    **_build_tool(toolset, tool, exposures[tool.name], docs),
                    "worst": None if grade is None else grade.label,
                }
            )
    return {
        "title": os.path.basename(workspace.root) or "toolcast",
        "against": old_name,
        "toolsets": toolsets,
        "tools": tools,
        "mcp_specs": _list_mcp_specs(workspace),
        "changes": [_build_change(change) for change in comparison.changes],
        "effects": [
            {"toolset": effect.toolset, "tool": effect.tool, "message": effect.message}
            for effect in comparison.effects
        ],
    }


def _find_worst_grades(changes: Sequence[Change]) -> dict[tuple[str, str], Grade]:
    """Return the worst grade of the changes to each tool, by toolset and tool name."""
    grades: dict[tuple[str, str], Grade] = {}
    for change in changes:
        key = change.toolset, change.tool
        grades[key] = max(grades.get(key, Grade.SAFE), change.grades.worst)
    return grades


def _sort_by_section(toolset: Toolset) -> list[ToolSpec]:
    """Return the tools in the order of their sections; tools without a section are last.

    Tools of the same section keep their order.
    """
    positions = {section.name: i for i, section in enumerate(toolset.sections)}
    last = len(positions)
    return sorted(
        toolset.tools, key=lambda tool: positions.get(tool.section or "", last)
    )


def _build_toolset(
    workspace: Workspace, toolset: Toolset, docs: PromptDocs
) -> dict[str, Any]:
    targets = list_enabled_targets(tuple(toolset.targets), workspace.extensions)
    return {
        "name": toolset.name,
        "title": toolset.title,
        "clients": [client.name for client in toolset.clients],
        "targets": [target.name for target in targets],
        "router": toolset.router is not None,
        "costs": [
            _build_costs(toolset, client, docs) for client in list_callers(toolset)
        ],
    }


def _build_costs(toolset: Toolset, client: Client | None, docs: PromptDocs) -> Any:
    """Return the token counts of a client as JSON; None is a caller without a client."""
    costs = compute_client_costs(toolset, client, docs.texts(client))
    return {
        "client": None if client is None else client.name,
        "kind": None if costs.kind is None else costs.kind.title,
        "upfront": costs.total.upfront,
        "names": costs.total.names,
        "on_demand": costs.total.on_demand,
    }


def _build_tool(
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
        # If there are too many names, those of nested properties are cut, since names of
        # parameters precede them.
        "words": list(_list_search_texts(tool.listed_parameters))[:_MAX_SEARCH_TEXTS],
        "annotations": tool.annotations,
        "clients": exposure.clients,
        "targets": exposure.targets,
        "always": tool.always,
        "confirm": None if tool.confirm is None else _build_confirm(tool.confirm),
        "deprecated": _format_deprecation(tool),
        "renamed_from": tool.renamed_from,
        "costs": {
            "list": estimate_listed_tool(tool),
            "prompt": estimate_tokens(docs.tool_texts[tool.name]),
        },
        "examples": [
            {
                "title": example.title,
                "call": encode_compact_json(_remove_title(example)),
            }
            for example in tool.examples
        ],
        "facts": _list_tool_facts(toolset, tool),
    }


def _remove_title(example: Example) -> dict[str, Any]:
    return {key: value for key, value in example.as_json.items() if key != "title"}


def _list_search_texts(schema: Any) -> Iterator[str]:
    """Yield the names and descriptions of parameters, breadth first."""
    queue = [schema]
    for node in queue:
        if isinstance(node, list):
            queue += node
        elif isinstance(node, Mapping):
            properties = node.get("properties")
            if isinstance(properties, Mapping):
                yield from (str(name) for name in properties)
            description = node.get("description")
            if isinstance(description, str):
                yield description
            queue += node.values()


def _format_deprecation(tool: ToolSpec) -> str | None:
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


def _build_confirm(confirm: Confirm) -> dict[str, str | None]:
    when = None if confirm.when is None else encode_compact_json(confirm.when)
    return {"message": confirm.message, "when": when}


def _list_tool_facts(toolset: Toolset, tool: ToolSpec) -> dict[str, str]:
    """Return the text of each row in a tool's table of properties, by label.

    Rows without a value are left out.
    """
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
        "previous names": ", ".join(tool.renamed_from),
        "since": tool.since,
    }
    return {name: str(value) for name, value in facts.items() if value}


def _cut_text(value: Any) -> str | None:
    """Return a text with at most `_MAX_TEXT_CHARACTERS` and `…`; None for other values."""
    if not isinstance(value, str):
        return None
    if len(value) <= _MAX_TEXT_CHARACTERS:
        return value
    return f"{value[:_MAX_TEXT_CHARACTERS]}…"


def _build_change(change: Change) -> dict[str, Any]:
    grades = zip(AUDIENCES, change.grades, strict=True)
    return {
        "rule": change.rule.id,
        "toolset": change.toolset,
        "tool": change.tool,
        "message": change.message,
        "before": _cut_text(change.before),
        "after": _cut_text(change.after),
        "reason": change.reason,
        "grades": {audience: grade.label for audience, grade in grades},
    }


_MARK = b'<meta name="generator" content="toolcast catalog">'
"""HTML tag that identifies a catalog: an existing file without this tag is not overwritten."""
_SCRIPTS = ("elements", "tools", "views", "detail", "mcp_specs", "steering")


def _render_page(data: Mapping[str, Any]) -> bytes:
    """Return the bytes of the HTML file.

    A content security policy admits only the page's own script and style sheet by their
    digests. Text of specs is only in a JSON block, from which the script creates text nodes,
    so that HTML in a spec has no effect.

    Args:
        data: the result of `_build_data`.
    """
    document, style = (
        read_package_file("catalog_page", f"catalog.{kind}").decode("utf-8")
        for kind in ("html", "css")
    )
    script = _render_script()
    # `default-src 'none'` does not restrict `base-uri` and `form-action`.
    policy = (
        f"default-src 'none'; style-src {hash_source(style)};"
        f" script-src {hash_source(script)}; base-uri 'none'; form-action 'none'"
    )
    page = fill_document(
        document,
        policy=policy,
        title=encode_html_text(f"Tools of {data['title']}"),
        style=style,
        script=script,
        data=encode_script_json(data),
    )
    return page.encode("utf-8")


def _render_script() -> str:
    """Return the catalog's JavaScript files, joined and wrapped in one function."""
    texts = [
        read_package_file("catalog_page", f"{name}.js").decode("utf-8")
        for name in _SCRIPTS
    ]
    body = "\n".join(texts)
    return f'"use strict";\n(() => {{\n{body}}})();\n'
