"""Public names for extensions of Toolcast, each imported on first use.

An extension imports from this module and from `toolcast_runtime`; all other modules of the
generator are internal and may change in any release.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolcast_runtime.core.lazy_names import lazy_getattr

if TYPE_CHECKING:
    from .analysis.mcp_definitions import build_mcp_definition
    from .analysis.tool_search import select_listed_tools
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
    from .encoders.markdown import (
        encode_block,
        encode_cell,
        encode_code_block,
        encode_code_span,
        encode_inline,
        encode_table_row,
        join_values,
    )
    from .encoders.plain_text import encode_shell_argument
    from .encoders.python import encode_literal, encode_safe_text
    from .extensions import Fields
    from .findings import Severity, has_errors, sort_findings
    from .json_schema.graph import JsonSchema, Reference
    from .model.loading import load_workspace
    from .model.model import Toolset, ToolSpec, Workspace
    from .parsing.tree import Path
    from .rendering.output_shape import MarkdownShape, PythonShape
    from .rendering.renderer import render
    from .reports.escaping import printable
    from .rules.handler import format_call_path, format_location
    from .rules.rule import Problem, Rule, problem_at, rule
    from .rules.runner import check_workspace
    from .rules.subjects import Scope
    from .static_analysis.call_graph import (
        ReachableCode,
        TracedObservation,
        trace_handler,
    )
    from .static_analysis.function_body import Observation
    from .static_analysis.local_names import LocalScope
    from .static_analysis.modules import get_last_name, list_arguments
    from .static_analysis.string_values import find_strings
    from .suggestions import did_you_mean, format_quoted_list
    from .targets.table import list_enabled_targets
    from .targets.target import (
        Context,
        Target,
        encode_header,
        encode_markdown_header,
        get_package_name,
    )

__all__ = [
    "CLEAN",
    "ChangeFunctions",
    "Code",
    "Context",
    "FINDINGS",
    "Fields",
    "JsonSchema",
    "LocalScope",
    "MarkdownShape",
    "Observation",
    "Path",
    "Problem",
    "PythonShape",
    "ReachableCode",
    "Reference",
    "Rule",
    "Scope",
    "Severity",
    "Target",
    "ToolSpec",
    "Toolset",
    "TracedObservation",
    "USAGE",
    "Workspace",
    "build_mcp_definition",
    "check_workspace",
    "did_you_mean",
    "encode_block",
    "encode_cell",
    "encode_code_block",
    "encode_code_span",
    "encode_header",
    "encode_inline",
    "encode_literal",
    "encode_markdown_header",
    "encode_safe_text",
    "encode_shell_argument",
    "encode_table_row",
    "fail",
    "find_strings",
    "format_quoted_list",
    "get_last_name",
    "get_package_name",
    "has_errors",
    "join_values",
    "list_arguments",
    "list_enabled_targets",
    "load_workspace",
    "format_location",
    "print_findings",
    "printable",
    "problem_at",
    "project_option",
    "project_root",
    "render",
    "rule",
    "select_listed_tools",
    "sort_findings",
    "trace_handler",
    "format_call_path",
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
        "LocalScope": "toolcast.static_analysis.local_names",
        "MarkdownShape": "toolcast.rendering.output_shape",
        "Observation": "toolcast.static_analysis.function_body",
        "Path": "toolcast.parsing.tree",
        "Problem": "toolcast.rules.rule",
        "PythonShape": "toolcast.rendering.output_shape",
        "ReachableCode": "toolcast.static_analysis.call_graph",
        "Reference": "toolcast.json_schema.graph",
        "Rule": "toolcast.rules.rule",
        "Scope": "toolcast.rules.subjects",
        "Severity": "toolcast.findings",
        "Target": "toolcast.targets.target",
        "ToolSpec": "toolcast.model.model",
        "Toolset": "toolcast.model.model",
        "TracedObservation": "toolcast.static_analysis.call_graph",
        "USAGE": "toolcast.commands.exit_codes",
        "Workspace": "toolcast.model.model",
        "build_mcp_definition": "toolcast.analysis.mcp_definitions",
        "check_workspace": "toolcast.rules.runner",
        "did_you_mean": "toolcast.suggestions",
        "encode_block": "toolcast.encoders.markdown",
        "encode_cell": "toolcast.encoders.markdown",
        "encode_code_block": "toolcast.encoders.markdown",
        "encode_code_span": "toolcast.encoders.markdown",
        "encode_header": "toolcast.targets.target",
        "encode_inline": "toolcast.encoders.markdown",
        "encode_literal": "toolcast.encoders.python",
        "encode_markdown_header": "toolcast.targets.target",
        "encode_safe_text": "toolcast.encoders.python",
        "encode_shell_argument": "toolcast.encoders.plain_text",
        "encode_table_row": "toolcast.encoders.markdown",
        "fail": "toolcast.commands.exit_codes",
        "find_strings": "toolcast.static_analysis.string_values",
        "format_quoted_list": "toolcast.suggestions",
        "get_last_name": "toolcast.static_analysis.modules",
        "get_package_name": "toolcast.targets.target",
        "has_errors": "toolcast.findings",
        "join_values": "toolcast.encoders.markdown",
        "list_arguments": "toolcast.static_analysis.modules",
        "list_enabled_targets": "toolcast.targets.table",
        "load_workspace": "toolcast.model.loading",
        "format_location": "toolcast.rules.handler",
        "print_findings": "toolcast.commands.exit_codes",
        "printable": "toolcast.reports.escaping",
        "problem_at": "toolcast.rules.rule",
        "project_option": "toolcast.commands.options",
        "project_root": "toolcast.commands.exit_codes",
        "render": "toolcast.rendering.renderer",
        "rule": "toolcast.rules.rule",
        "select_listed_tools": "toolcast.analysis.tool_search",
        "sort_findings": "toolcast.findings",
        "trace_handler": "toolcast.static_analysis.call_graph",
        "format_call_path": "toolcast.rules.handler",
    },
)
