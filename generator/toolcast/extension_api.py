"""Public names for extensions of Toolcast, each imported on first use.

An extension imports from this module and from `toolcast_runtime`; all other modules of the
generator are internal and may change in any release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcast_runtime.core.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from .analysis.mcp_definitions import mcp_definition
    from .analysis.tool_search import directly_listed
    from .commands.exit_codes import (
        CLEAN,
        FINDINGS,
        USAGE,
        fail,
        print_findings,
        project_root,
    )
    from .commands.options import project_option
    from .diff.comparison import ChangeFunctions
    from .encoders.code import Code
    from .encoders.markdown import block, cell, fenced, inline, listed, span, table_row
    from .encoders.plain_text import word
    from .encoders.python import literal, words
    from .extensions import Fields
    from .findings import Severity, has_errors, in_order
    from .json_schema.graph import JsonSchema, Reference
    from .model.loading import load_workspace
    from .model.model import Toolset, ToolSpec, Workspace
    from .parsing.tree import Path
    from .rendering.output_shape import MarkdownShape, PythonShape
    from .rendering.renderer import render
    from .reports.escaping import printable
    from .rules.handler import place, way_to
    from .rules.rule import Problem, Rule, at, rule
    from .rules.runner import check_workspace
    from .rules.subjects import Where
    from .static_analysis.call_graph import Noted, Reached, reached_from
    from .static_analysis.function_body import Seen
    from .static_analysis.local_names import Locals
    from .static_analysis.modules import arguments_of, last_name
    from .static_analysis.string_values import texts_of
    from .suggestions import did_you_mean, quoted_list
    from .targets.table import enabled
    from .targets.target import Context, Target, header, markdown_header, package_of

__all__ = [
    "CLEAN",
    "ChangeFunctions",
    "Code",
    "Context",
    "FINDINGS",
    "Fields",
    "JsonSchema",
    "Locals",
    "MarkdownShape",
    "Noted",
    "Path",
    "Problem",
    "PythonShape",
    "Reached",
    "Reference",
    "Rule",
    "Seen",
    "Severity",
    "Target",
    "ToolSpec",
    "Toolset",
    "USAGE",
    "Where",
    "Workspace",
    "arguments_of",
    "at",
    "block",
    "cell",
    "check_workspace",
    "did_you_mean",
    "directly_listed",
    "enabled",
    "fail",
    "fenced",
    "has_errors",
    "header",
    "in_order",
    "inline",
    "last_name",
    "listed",
    "literal",
    "load_workspace",
    "markdown_header",
    "mcp_definition",
    "package_of",
    "place",
    "print_findings",
    "printable",
    "project_option",
    "project_root",
    "quoted_list",
    "reached_from",
    "render",
    "rule",
    "span",
    "table_row",
    "texts_of",
    "way_to",
    "word",
    "words",
]

__getattr__ = lazy_getattr(
    __name__,
    {
        "CLEAN": "toolcast.commands.exit_codes",
        "ChangeFunctions": "toolcast.diff.comparison",
        "Code": "toolcast.encoders.code",
        "Context": "toolcast.targets.target",
        "FINDINGS": "toolcast.commands.exit_codes",
        "Fields": "toolcast.extensions",
        "JsonSchema": "toolcast.json_schema.graph",
        "Locals": "toolcast.static_analysis.local_names",
        "MarkdownShape": "toolcast.rendering.output_shape",
        "Noted": "toolcast.static_analysis.call_graph",
        "Path": "toolcast.parsing.tree",
        "Problem": "toolcast.rules.rule",
        "PythonShape": "toolcast.rendering.output_shape",
        "Reached": "toolcast.static_analysis.call_graph",
        "Reference": "toolcast.json_schema.graph",
        "Rule": "toolcast.rules.rule",
        "Seen": "toolcast.static_analysis.function_body",
        "Severity": "toolcast.findings",
        "Target": "toolcast.targets.target",
        "ToolSpec": "toolcast.model.model",
        "Toolset": "toolcast.model.model",
        "USAGE": "toolcast.commands.exit_codes",
        "Where": "toolcast.rules.subjects",
        "Workspace": "toolcast.model.model",
        "arguments_of": "toolcast.static_analysis.modules",
        "at": "toolcast.rules.rule",
        "block": "toolcast.encoders.markdown",
        "cell": "toolcast.encoders.markdown",
        "check_workspace": "toolcast.rules.runner",
        "did_you_mean": "toolcast.suggestions",
        "directly_listed": "toolcast.analysis.tool_search",
        "enabled": "toolcast.targets.table",
        "fail": "toolcast.commands.exit_codes",
        "fenced": "toolcast.encoders.markdown",
        "has_errors": "toolcast.findings",
        "header": "toolcast.targets.target",
        "in_order": "toolcast.findings",
        "inline": "toolcast.encoders.markdown",
        "last_name": "toolcast.static_analysis.modules",
        "listed": "toolcast.encoders.markdown",
        "literal": "toolcast.encoders.python",
        "load_workspace": "toolcast.model.loading",
        "markdown_header": "toolcast.targets.target",
        "mcp_definition": "toolcast.analysis.mcp_definitions",
        "package_of": "toolcast.targets.target",
        "place": "toolcast.rules.handler",
        "print_findings": "toolcast.commands.exit_codes",
        "printable": "toolcast.reports.escaping",
        "project_option": "toolcast.commands.options",
        "project_root": "toolcast.commands.exit_codes",
        "quoted_list": "toolcast.suggestions",
        "reached_from": "toolcast.static_analysis.call_graph",
        "render": "toolcast.rendering.renderer",
        "rule": "toolcast.rules.rule",
        "span": "toolcast.encoders.markdown",
        "table_row": "toolcast.encoders.markdown",
        "texts_of": "toolcast.static_analysis.string_values",
        "way_to": "toolcast.rules.handler",
        "word": "toolcast.encoders.plain_text",
        "words": "toolcast.encoders.python",
    },
)
